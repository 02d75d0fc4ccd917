// Package words formats numbers and short texts. It has a name for each rounding that
// verdicts, tables and reports use.
package words

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Count formats a number with its noun: "1 cell", "2 cells".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Dash stands for a number that is not printed, or that does not exist.
const Dash = "—"

// OneLine joins the lines of a text.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Shorten cuts a text to at most n characters.
func Shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}

// longestMessage is the number of characters of an external message that fit in a line of a report.
const longestMessage = 320

// Message formats a message that this program did not write as one line.
func Message(s string) string {
	return Shorten(OneLine(strings.ToValidUTF8(s, "?")), longestMessage)
}

// Yes returns "yes" or "no", or "" if the answer is not known.
func Yes(answer, known bool) string {
	switch {
	case !known:
		return ""
	case answer:
		return "yes"
	}
	return "no"
}

// Finite reports whether a value is neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// A Nullable is a float64 that is null in JSON if it is not finite. Documents for
// other programs use it for numbers.
type Nullable float64

// MarshalJSON implements json.Marshaler.
func (n Nullable) MarshalJSON() ([]byte, error) {
	if Finite(float64(n)) {
		return json.Marshal(float64(n))
	}
	return []byte("null"), nil
}

// Exact formats a value for programs, so that it reads back as itself.
func Exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Plain formats a value for readers with as few digits as it has.
func Plain(v float64) string { return minus(Exact(v)) }

// Four formats a value with four significant digits, and a large value with all
// digits before the decimal point.
func Four(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "−∞"
	case math.Abs(v) >= 1000:
		return Decimals(v, 0)
	}
	return minus(strconv.FormatFloat(v, 'g', 4, 64))
}

// Decimals formats a value with n digits after the decimal point.
func Decimals(v float64, n int) string { return minus(strconv.FormatFloat(v, 'f', n, 64)) }

// Signed formats a value with its sign and n digits after the decimal point; 0 has no sign.
func Signed(v float64, n int) string {
	s := fmt.Sprintf("%+.*f", n, v)
	if strings.Trim(s, "+-0.") == "" {
		s = s[1:]
	}
	return minus(s)
}

// Grouped formats a count with commas between thousands, from 10,000 on.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	if n < 10_000 {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// minus replaces hyphens with minus signs.
func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }
