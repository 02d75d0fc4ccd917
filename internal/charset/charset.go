// Package charset writes this program's text for terminals that show ASCII only.
package charset

import (
	"os"
	"strings"
)

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
