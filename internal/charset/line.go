package charset

import (
	"os"
	"strings"
)

// Chosen reports whether the environment names a locale at all. Without one a
// terminal is taken to show ASCII only, and a file to be read by something that
// knows UTF-8.
func Chosen() bool {
	return os.Getenv("LC_ALL") != "" || os.Getenv("LC_CTYPE") != "" || os.Getenv("LANG") != ""
}

// symbols stand for what is not among the substitutes of single words: the
// mathematics of tables and help.
var symbols = strings.NewReplacer(
	"‖", "||", "²", "^2", "³", "^3", "√", "sqrt", "∇", "grad", "∂", "d", "ℓ", "l", "½", "1/2", "÷", "/", "ᵀ", "^T",
	"κ", "kappa", "γ", "gamma", "φ", "phi", "χ", "chi", "π", "pi", "ν", "nu", "β", "beta", "δ", "delta", "Σ", "sum", "µ", "u", "μ", "u",
	"⁻¹", "^-1", "⁻", "^-", "¹", "^1", "⁴", "^4", "⁶", "^6", "⁸", "^8", "⁹", "^9", "₀", "0", "₁", "1", "₂", "2", "₄", "4",
	"\u0303", "~", "\u0302", "^", "─", "-", "│", "|", "┼", "+",
)

// Line returns a line of text for people with ASCII in place of the characters
// that this program writes. What it does not know, as in a user's names, is left
// alone. Columns of a table stay where they are as far as the blanks between them
// allow.
func Line(s string) string {
	var b strings.Builder
	debt := 0 // characters by which the line has become longer
	for len(s) > 0 {
		blanks := len(s) - len(strings.TrimLeft(s, " "))
		if blanks > 1 {
			less := min(debt, blanks-1)
			debt -= less
			b.WriteString(s[:blanks-less])
			s = s[blanks:]
			continue
		}
		end := strings.Index(s, "  ")
		if end <= 0 {
			end = len(s)
		}
		word := symbols.Replace(substitutes.Replace(s[:end]))
		debt += len([]rune(word)) - len([]rune(s[:end]))
		b.WriteString(word)
		s = s[end:]
	}
	return b.String()
}
