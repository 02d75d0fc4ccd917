// Package charset writes text for terminals: without what a terminal would obey.
package charset

import (
	"strings"
	"unicode"
)

// Printable reports whether text is one line of characters that are seen: no control
// sequence of a terminal among them.
func Printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Showable reports whether text is printable and does not begin as a formula does, for
// which a spreadsheet would take it in a table.
func Showable(text string) bool {
	return Printable(text) && !strings.ContainsAny(text[:min(1, len(text))], "=+-@")
}

// Hidden reports whether a character is obeyed by a terminal, changes the direction of
// text or is not seen. Blanks of all kinds, and joiners within words, are none.
func Hidden(r rune) bool {
	return !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) && !unicode.Is(unicode.Join_Control, r)
}

// Shown returns text that may have come from outside with a dot in place of each hidden
// character but the ends of lines and tabs. Bytes that are not UTF-8 become U+FFFD.
func Shown(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && Hidden(r) {
			return '·'
		}
		return r
	}, text)
}
