package rows

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxLabel bounds the length of a label, in bytes.
const maxLabel = 256

// CanonicalLabel returns the label that a text stands for. Labels of classes are
// compared as text, with one exception, because some programs write the class 1
// as +1, as 1.0 or, as NumPy's savetxt does, as 1.000000000000000000e+00: an integer without
// leading zeros loses the sign +, a fraction of zeros and an exponent of savetxt, and −0 becomes
// 0. Any other text is a label as written;
// [Labels.Add] rejects two labels that are the same number. An empty text, a text
// of more than 256 bytes, NaN and infinities are errors.
//
// The label is a string of its own: a part of a line would keep all of the line
// in memory.
func CanonicalLabel(text string) (string, error) {
	switch {
	case text == "":
		return "", errors.New("the label is missing")
	case len(text) > maxLabel:
		return "", fmt.Errorf("label %.40q is longer than %d bytes", text, maxLabel)
	case notFinite(text):
		return "", fmt.Errorf("label %.40q is not finite", text)
	}
	integer := withoutFraction(text)
	switch _, digits := cutSign(integer); {
	case digits == "0":
		return "0", nil
	case isDigits(digits) && digits[0] != '0':
		text = strings.TrimPrefix(integer, "+")
	}
	return strings.Clone(text), nil
}

// savetxt is the format of NumPy's savetxt: a digit, 18 digits, and an exponent of two digits.
var savetxt = regexp.MustCompile(`^[+-]?\d\.\d{18}e[+-]\d\d$`)

// withoutFraction returns an integer that is written with a fraction of zeros, or as savetxt writes it,
// without its fraction. Other texts stay as they are.
func withoutFraction(text string) string {
	if savetxt.MatchString(text) {
		if v, err := strconv.ParseFloat(text, 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	if whole, zeros, ok := strings.Cut(text, "."); ok && strings.Trim(zeros, "0") == "" {
		return whole
	}
	return text
}

// ParseNumber reads a finite decimal number: a sign, digits with a point among
// them, and an exponent. Other notations of Go, digits separated by
// underscores and hexadecimal numbers, are errors.
func ParseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "":
		return 0, errors.New("missing")
	case strings.ContainsAny(text, "_xX") || err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, errors.New("not a number")
	case err != nil:
		return 0, errors.New("out of range")
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, errors.New("not finite")
	}
	return v, nil
}

// ParseWeight reads the weight of a row: a finite number of at least 0.
func ParseWeight(text string) (float64, error) {
	w, err := ParseNumber(text)
	if err == nil && w < 0 {
		err = errors.New("negative")
	}
	if err != nil {
		return 0, fmt.Errorf("weight %.40q is %w: want a number of at least 0", text, err)
	}
	return w, nil
}

// notFinite reports whether a text is NaN or an infinity as programs write them.
func notFinite(text string) bool {
	_, word := cutSign(text)
	switch strings.ToLower(word) {
	case "nan", "inf", "infinity":
		return true
	}
	return false
}

// cutSign splits a number's sign from the rest.
func cutSign(text string) (sign, rest string) {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		return text[:1], text[1:]
	}
	return "", text
}

// isDigits reports whether a text consists of digits only.
func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// parseDecimal parses a decimal number; ok is false for any other text. Different numbers
// of maxLabel bytes differ by at least 2⁻⁸⁵¹ of their size, so they stay different. The
// last parsed bits depend on how a number is written and are dropped.
func parseDecimal(text string) (d *big.Float, ok bool) {
	d, _, err := big.ParseFloat(text, 10, 1024, big.ToNearestEven)
	if err != nil || d.IsInf() || strings.ContainsAny(text, "pP") { // a binary exponent
		return nil, false
	}
	return d.Add(d.SetPrec(900), new(big.Float)), true // −0 is 0
}

// Labels counts the canonical labels of the classes of one task. The zero value is empty.
type Labels struct {
	counts  map[string]int
	numbers map[string]string // the labels that are numbers, by value
}

// Len returns the number of different labels.
func (s *Labels) Len() int { return len(s.counts) }

// Add counts a label. A label that is the same number as another, but written differently,
// is an error: they could be one class or two, like the codes 250.1 and 250.10.
func (s *Labels) Add(label string) error {
	if s.counts[label] > 0 {
		s.counts[label]++
		return nil
	}
	if s.counts == nil {
		s.counts, s.numbers = make(map[string]int), make(map[string]string)
	}
	if d, ok := parseDecimal(label); ok {
		number := d.Text('p', 0)
		if other, ok := s.numbers[number]; ok {
			return fmt.Errorf("label %.40q is the same number as label %.40q: labels are text, so write each class in one way", label, other)
		}
		s.numbers[number] = label
	}
	s.counts[label] = 1
	return nil
}

// fewLabels is the least number of labels that occur once for which Unrepeated can be
// true: in a small file, fewer such labels may all be classes.
const fewLabels = 20

// Unrepeated reports whether the labels are too many to be classes: more than half of the
// rows have a label that no other row has.
func (s *Labels) Unrepeated() bool {
	rows, once := 0, 0
	for _, n := range s.counts {
		rows += n
		if n == 1 {
			once++
		}
	}
	return once >= fewLabels && 2*once > rows
}

// Count returns how often a label was added.
func (s *Labels) Count(label string) int { return s.counts[label] }

// Numbers reports whether all labels are numbers.
func (s *Labels) Numbers() bool { return len(s.numbers) == len(s.counts) }

// Same returns the probability that two rows, drawn at random, have the same label: Σp².
func (s *Labels) Same() (sum float64) {
	rows := 0
	for _, n := range s.counts {
		rows += n
		sum += float64(float64(n) * float64(n))
	}
	return sum / float64(rows) / float64(rows)
}

// Sorted returns the labels in ascending order: as numbers if all labels are
// numbers, of any length, else as text.
func (s *Labels) Sorted() []string {
	labels := slices.Sorted(maps.Keys(s.counts))
	if s.Numbers() {
		slices.SortFunc(labels, func(a, b string) int {
			x, _ := parseDecimal(a)
			y, _ := parseDecimal(b)
			return x.Cmp(y)
		})
	}
	return labels
}
