package rows

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Values of Options.Header.
const (
	HeaderAuto = "auto"
	HeaderYes  = "yes"
	HeaderNo   = "no"
)

// HeaderWords returns all values of Options.Header.
func HeaderWords() []string { return []string{HeaderAuto, HeaderYes, HeaderNo} }

// Names are the names in a header. Features is the SHA-256 of the names of all features.
type Names struct {
	Label    string `json:"label,omitempty"`
	Features string `json:"features"`
}

// namesOf returns the names in a header. label is the label's column, from 0, or −1 if
// there is no label.
func namesOf(fields []string, label int) (n Names) {
	sum := sha256.New()
	for at, name := range fields {
		if at == label {
			n.Label = canonicalOr(name)
			continue
		}
		fmt.Fprintf(sum, "%q\n", name)
	}
	n.Features = hex.EncodeToString(sum.Sum(nil))
	return n
}

// Limits of the lines that are read ahead to detect a header.
const (
	maxAhead      = 1000
	maxAheadBytes = 1 << 22
)

// readFirst reads the first row of a CSV or TSV file and decides whether it is a header.
func (r *Reader) readFirst() error {
	l, err := r.scan()
	if err != nil {
		return err
	}
	split, err := r.split(l.text)
	if err != nil {
		return r.wrong(l, err)
	}
	if len(split) == 1 && r.o.Dim != 1 {
		return r.wrong(l, errors.New("the first row has one column: no features (are columns separated by commas?)"))
	}
	fields := slices.Clone(split)
	header, why, err := r.isHeader(fields, r.labelOf(len(fields)))
	if err != nil {
		return r.wrong(l, err)
	}
	var names []string
	if header {
		names = fields
	}
	if err := r.choose(names, len(fields)); err != nil {
		return r.wrong(l, err)
	}
	r.layout.Line, r.layout.Why = l.number, why
	if !header {
		r.held = slices.Insert(r.held, 0, l)
	}
	return nil
}

// labelOf returns the label's column among n columns, from 0, or −1 if there is none or
// only the header can tell.
func (r *Reader) labelOf(n int) int {
	at := r.o.Label.Number - 1
	switch {
	case r.o.Like != nil:
		at = r.o.Like.Label
	case n == r.o.Dim:
		return -1
	case r.o.Label.Number < 0:
		at = n + r.o.Label.Number
	}
	if at >= n {
		return -1
	}
	return max(at, -1)
}

// isHeader decides whether the first row is a header, and says why it is one. The row is a
// header if none of its fields is a number, or if its label is the only label that is a
// word. The row is data if its features are numbers that do not number the columns, and
// its label is a number or the label of another row. Any other row is an error, which
// advises to set Options.Header.
//
// A row with the names known from training data is a header. A row whose label is a word
// that is a known class is never a header. isHeader looks at the labels of the first 1,000
// other rows, unless Options.Now is set.
func (r *Reader) isHeader(fields []string, label int) (header bool, why string, err error) {
	o := &r.o
	names := namesOf(fields, label)
	known := o.Names.Features != ""
	words := hasNames(fields, label) && !(label >= 0 && slices.Contains(o.Classes, names.Label))
	switch {
	case o.Header == HeaderYes:
		return true, "the header setting says so", r.contradiction(names, label)
	case o.Header == HeaderNo:
		return false, "", nil
	case o.Like != nil && slices.Equal(fields, o.Like.Names),
		known && names.Features == o.Names.Features && (label < 0 || strings.EqualFold(names.Label, o.Names.Label)):
		return true, "its names are those of the training data's header", nil
	case words:
		return true, "none of its fields is a number", r.contradiction(names, label)
	case known:
		return false, "", nil
	}
	features := fields
	if label >= 0 {
		features = slices.Delete(slices.Clone(fields), label, label+1)
	}
	doubt := ""
	switch {
	case slices.ContainsFunc(features, func(s string) bool { return !isNumber(s) && !isMissing(s) }):
		doubt = "not all its features are numbers"
	case counts(fields, 0), counts(fields, 1):
		doubt = "its fields number the columns"
	}
	if word := names.Label; label >= 0 && isWord(word) && !slices.Contains(o.Classes, word) {
		again, alone := r.others(word, label)
		switch {
		case alone:
			return true, fmt.Sprintf("its label, %q, is the only one that is not a number", word), nil
		case again:
			return false, "", nil
		case doubt == "":
			doubt = fmt.Sprintf("no other row has its label, %q", word)
		}
	}
	if doubt == "" {
		return false, "", nil
	}
	return false, "", &OptionError{"header", fmt.Errorf("the first row may be a header (%s): use %s or %s", doubt, o.Say.Setting("header", HeaderYes), o.Say.Setting("header", HeaderNo))}
}

// contradiction returns an error if a header's names differ from those of the training
// data. The label's name does not matter if labels are not read.
func (r *Reader) contradiction(names Names, label int) error {
	of := r.o.Names
	if of.Features == "" || of.Features == names.Features && (label < 0 || r.o.NoLabels || strings.EqualFold(of.Label, names.Label)) {
		return nil
	}
	return errors.New("the header does not match the names or the order of the training data; delete the header to skip this check")
}

// others examines the labels of the rows after the first. again reports whether one of
// them is the given word; numbers reports whether all are numbers. For a regression, the
// first label that is read decides: again reports whether it is not a number.
func (r *Reader) others(word string, label int) (again, numbers bool) {
	for size := 0; !r.o.Now && len(r.held) < maxAhead && size < maxAheadBytes; {
		l, err := r.scan()
		if err != nil {
			r.pending = err
			break
		}
		r.held = append(r.held, l)
		size += len(l.text)
		fields, err := r.split(l.text)
		if err != nil || label >= len(fields) {
			continue // Next returns this error later
		}
		other := canonicalOr(fields[label])
		if other == word {
			return true, false
		}
		numbers = (numbers || len(r.held) == 1) && isNumber(other)
		if r.o.Regression { // words can't be targets
			return !numbers, numbers
		}
	}
	return false, numbers
}

// hasNames reports whether the fields of a row can be the names in a header: none is a
// number or missing, and no two features have the same name. The first name may be empty,
// as pandas leaves it above its index. Beside other names, Na is a name (sodium).
func hasNames(fields []string, label int) bool {
	named, index := false, label != 0 && len(fields) > 1
	if label > 0 {
		index = len(fields) > 2
	}
	for at, s := range fields {
		switch {
		case at == 0 && s == "" && index:
			continue
		case isNumber(s) || at != label && slices.Contains([]string{"", "?", "-"}, s):
			return false
		case at == label:
			continue
		}
		other := slices.Index(fields[:at], s)
		if other >= 0 && other != label {
			return false
		}
		named = named || !isMissing(s)
	}
	return named
}

// isWord reports whether a label has a letter and is neither a number nor missing.
func isWord(text string) bool {
	return !isNumber(text) && !isMissing(text) && strings.ContainsFunc(text, unicode.IsLetter)
}

// isMissing reports whether a text is one that programs write for a missing value.
func isMissing(text string) bool {
	return slices.Contains([]string{"", "?", "-", "na", "n/a", "nan", "null", "none"}, strings.ToLower(text))
}

// counts reports whether there are at least two fields, and they are from, from + 1, and
// so on.
func counts(fields []string, from int) bool {
	for i, s := range fields {
		if s != strconv.Itoa(from+i) {
			return false
		}
	}
	return len(fields) > 1
}

// canonicalOr returns the canonical label of a text, or the text if it is not a label.
func canonicalOr(text string) string {
	if label, err := CanonicalLabel(text); err == nil {
		return label
	}
	return text
}

// isNumber reports whether a text is a number of any kind, even one that no feature
// can be.
func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}
