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

// readFirst reads the first row of a CSV or TSV file and decides whether it is a header.
func (r *Reader) readFirst() error {
	l, err := r.nextLine()
	if err != nil {
		return err
	}
	split, err := r.split(l.text)
	if err != nil {
		return r.wrong(l, err)
	}
	if r.o.Format == FormatCSV && r.o.Delimiter == "" {
		if err := semicolons(l.text); err != nil {
			return r.wrong(l, err)
		}
	}
	if len(split) == 1 && r.o.width() != 1 {
		return r.wrong(l, fmt.Errorf("the first row has one column: no features (are columns separated by %q? else name their --delimiter)", r.comma()))
	}
	fields, seen := slices.Clone(split), slices.Clone(split)
	for i, f := range seen {
		if r.o.Decimal == "," && isNumber(pointed(f)) {
			seen[i] = pointed(f)
		}
	}
	header, err := r.isHeader(seen, r.labelOf(seen))
	if err != nil {
		return r.wrong(l, err)
	}
	var names []string
	if header {
		names, r.blank = fields, 0
	} else {
		r.held = []textLine{l}
	}
	if err := r.choose(names, len(fields), l.number); err != nil {
		return r.wrong(l, err)
	}
	return nil
}

// labelOf returns the label's column in the first row, from 0, or −1 if there is none. A label's
// name is looked up in that row, which may be a header.
func (r *Reader) labelOf(fields []string) int {
	named := r.o.Label.Name != ""
	if at := r.trainedLabel(fields); at >= 0 && !named {
		return at
	}
	l := &Layout{Columns: len(fields), Names: fields}
	at, err := l.find("", r.o.Label)
	if err != nil || len(fields) == r.o.width() && !named {
		return -1
	}
	return at
}

// isHeader decides whether the first row is a header: it is one if none of its fields is a
// number, and data if its features are numbers that do not number the columns. Any other
// row is an error, which advises to set Options.Header. So is a row of data whose label is
// a word that no other row has, see checkFirst.
//
// A row with the names known from training data is a header. A row whose label is a word
// that is a known class is never a header.
func (r *Reader) isHeader(fields []string, label int) (bool, error) {
	o := &r.o
	names, words := namesOf(fields, label), r.words(fields)
	known, class := o.Names.Features != "", label >= 0 && slices.Contains(o.Classes, names.Label)
	switch {
	case o.Header == HeaderNo:
		return false, nil
	case o.Header == HeaderYes, o.Fitted == nil && o.named(), hasNames(fields, label, words) && !class, known && r.knows(fields, names, label):
		return true, r.contradiction(names, label)
	case len(words) > 0 && !class && !known && !slices.ContainsFunc(fields, isNumber):
		return false, doubtful("no column tells")
	case r.numbersColumns(fields, label):
		return false, doubtful("its fields number the columns")
	case known:
		return false, nil
	}
	for at, s := range fields {
		switch {
		case at == label || isNumber(s) || isMissing(s) || slices.Contains(words, at):
		case label == len(fields)-1 && fields[label] == "":
			return false, errEndsWithComma
		default:
			return false, doubtful("not all its features are numbers")
		}
	}
	if word := names.Label; label >= 0 && !class && !o.NoLabels && !isNumber(word) && !isMissing(word) && strings.ContainsFunc(word, unicode.IsLetter) {
		r.first = word
	}
	return false, nil
}

// errEndsWithComma is the error of a row whose label is in the last column, which is empty.
var errEndsWithComma = errors.New("the label is missing, because the row ends with a separator: if all rows do, remove it (sed 's/,$//')")

// doubtful returns the error for a first row that may be a header.
func doubtful(why string) error {
	return &OptionError{"header", fmt.Errorf("the first row may be a header (%s): use --header yes or --header no; in a spec, header: yes or no", why)}
}

// contradiction returns an error if a header's names differ from those of the training
// data. The label's name does not matter if labels are not read.
func (r *Reader) contradiction(names Names, label int) error {
	of := r.o.Names
	byName := r.o.Fitted != nil && r.o.Fitted.Names != nil // choose finds each name
	if of.Features == "" || byName || of.Features == names.Features && (label < 0 || r.o.NoLabels || strings.EqualFold(of.Label, names.Label)) {
		return nil
	}
	return errors.New("the header does not match the names or the order of the training data; delete the header to skip this check")
}

// knows reports whether a row has the names of the training data.
func (r *Reader) knows(fields []string, names Names, label int) bool {
	if f := r.o.Fitted; f != nil && f.Names != nil {
		return !slices.ContainsFunc(f.Names, func(name string) bool { return !slices.Contains(fields, name) })
	}
	return r.contradiction(names, label) == nil
}

// trainedLabel returns the column in a header that has the name of the label in the training data,
// or −1.
func (r *Reader) trainedLabel(fields []string) int {
	f, name := r.o.Fitted, r.o.Names.Label
	if f == nil || f.Names == nil || name == "" {
		return -1
	}
	return slices.IndexFunc(fields, func(s string) bool { return strings.EqualFold(canonicalOr(s), name) })
}

// words returns the columns of the first row that may hold words: categories and those that are ignored.
// If an option gives them by name, the row is a header anyway.
func (r *Reader) words(fields []string) (columns []int) {
	l := &Layout{Columns: len(fields)}
	for _, c := range slices.Concat(r.o.Categories, r.o.Ignore) {
		if at, err := l.find("", c); err == nil {
			columns = append(columns, at)
		}
	}
	if f := r.o.Fitted; f != nil && f.Columns == len(fields) {
		for at := range fields {
			if q := slices.Index(f.Numbers, at+1); q < 0 || f.level(q) != nil {
				columns = append(columns, at)
			}
		}
	}
	return columns
}

// firstRows is the number of rows of which another one must have the first row's label.
const firstRows = 1000

// checkFirst takes row number r.rows, or nil at the end of the file. It returns an error if the
// first row is taken for data and its label is a word that no other row has.
func (r *Reader) checkFirst(row *Row) error {
	if row != nil && r.rows > 1 && row.Label == r.first {
		r.first = ""
	}
	if r.first == "" || row != nil && r.rows < firstRows {
		return nil
	}
	return doubtful(fmt.Sprintf("no other row has its label, %q", r.first))
}

// hasNames reports whether the fields of a row can be the names in a header: none is a
// number, and a feature's name is not a mark of a missing value. The columns in words tell nothing.
func hasNames(fields []string, label int, words []int) (named bool) {
	for at, s := range fields {
		if isNumber(s) {
			return false
		}
		named = named || at != label && !isMissing(s) && !slices.Contains(words, at)
	}
	return named
}

// isMissing reports whether a text is one that programs write for a missing value.
func isMissing(text string) bool {
	return slices.Contains([]string{"", "?", "-", "na", "n/a", "nan", "null", "none"}, strings.ToLower(text))
}

// numbersColumns reports whether the fields of a row number the columns, from 0 or 1. In place of
// its number the label's column may then have a name, and be counted or not.
func (r *Reader) numbersColumns(fields []string, label int) bool {
	o, named := &r.o, false
	if label >= 0 && (o.NoLabels || o.Classes != nil || o.Regression && o.Dim > 0) {
		// No class has the text, so it can be nothing but the column's name. Before training, only the
		// other rows can tell, see checkFirst.
		text := fields[label]
		named = !isNumber(text) && (text == "" || !isMissing(text)) && !slices.Contains(o.Classes, canonicalOr(text))
	}
	for from := range 2 {
		if counts(fields, from, -1) || named && (counts(fields, from, label) || counts(slices.Delete(slices.Clone(fields), label, label+1), from, -1)) {
			return true
		}
	}
	return false
}

// counts reports whether the fields, except for one, are from, from + 1, and so on.
func counts(fields []string, from, except int) bool {
	for i, s := range fields {
		if i != except && s != strconv.Itoa(from+i) {
			return false
		}
	}
	return true
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
