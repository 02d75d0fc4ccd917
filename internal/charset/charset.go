// Package charset writes text for terminals: without what a terminal would obey, and
// where it shows ASCII only, in ASCII.
package charset

import (
	"os"
	"strings"
	"unicode"
)

// Printable reports whether text is one line of characters that are seen: no control
// sequence of a terminal among them.
func Printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
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

// UTF8 reports whether the locale's character set is UTF-8. The first of
// $LC_ALL, $LC_CTYPE and $LANG that is not empty names the locale; with none of
// them, as with the locales C and POSIX, it is ASCII.
func UTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := os.Getenv(name); locale != "" {
			_, set, _ := strings.Cut(locale, ".")
			set, _, _ = strings.Cut(strings.ToLower(set), "@")
			return set == "utf-8" || set == "utf8"
		}
	}
	return false
}

// substitutes stand for the characters outside ASCII that this program writes.
var substitutes = strings.NewReplacer(
	"→", "->", "✓", "ok", "≠", "!=", "–", "-", "—", "-", "−", "-",
	"±", "+-", "×", "x", "·", "-", "≤", "<=", "≥", ">=", "∞", "inf", "…", "...",
	"η", "eta", "ε", "epsilon", "λ", "lambda", "Δ", "delta", "σ", "sigma",
	"ö", "o", "’", "'", "“", `"`, "”", `"`,
)

// ASCII returns s in ASCII. A character without a substitute becomes a question
// mark.
func ASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '?'
		}
		return r
	}, substitutes.Replace(s))
}

// Text returns s as the locale can show it.
func Text(s string) string {
	if UTF8() {
		return s
	}
	return ASCII(s)
}
