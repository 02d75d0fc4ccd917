// Package charset checks and cleans text for terminals, which interpret control characters.
package charset

import (
	"strings"
	"unicode"
)

// Printable reports whether text is one line of visible characters, without terminal
// control sequences.
func Printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Showable reports whether text is printable and does not start like a formula, which
// a spreadsheet would evaluate in a table.
func Showable(text string) bool {
	return Printable(text) && !strings.ContainsAny(text[:min(1, len(text))], "=+-@")
}

// Hidden reports whether a character is interpreted by a terminal, changes the direction
// of text or is invisible. Spaces of all kinds, and joiners within words, are not hidden.
func Hidden(r rune) bool {
	return !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) && !unicode.Is(unicode.Join_Control, r)
}

// Shown returns text from an external source with a dot in place of each hidden
// character, except newlines and tabs. Bytes that are not UTF-8 become U+FFFD.
func Shown(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && Hidden(r) {
			return '·'
		}
		return r
	}, text)
}
