package data

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// What HeaderRule.Is may be.
const (
	HeaderAuto = "auto"
	HeaderYes  = "yes"
	HeaderNo   = "no"
)

// HeaderWords returns all that HeaderRule.Is may be.
func HeaderWords() []string { return []string{HeaderAuto, HeaderYes, HeaderNo} }

// A HeaderRule says whether the first row of a CSV file is a header. What is not
// said is found out, from the first row and up to 1,000 after it:
//
//   - A row with the names of a header that is known is a header.
//   - A row is none if it has missing values, or two features with the same name, or
//     if it has no number but the label of a known class.
//   - Any other row without a number is a header.
//   - So is a row whose label is a word that no other row has and no known class,
//     if its features can be names: one is no number, or they are numbered, 0, 1, 2 …
//     or 1, 2, 3 … or as the columns are, or they are whole numbers, one of them above
//     a column of fractions. The word is enough if all other labels are numbers.
//   - So is a row whose fields, the label's too, number the columns, if one of them is
//     above a column of fractions, or if there are eight or more and no other row
//     ascends so.
//   - Every other row is none.
//
// A fraction is a number with a point or an exponent: pandas writes all numbers of a
// column so if one has a fraction.
type HeaderRule struct {
	Is string // HeaderAuto, the default, HeaderYes or HeaderNo

	Now     bool     // decide by the first row alone: more may be long in coming
	Classes []string // the labels of all classes if they are known
	Numbers bool     // labels are numbers: of a regression
	Names   Names    // of a header that is known; a header with other names is an error

	// Decided, unless it is nil, is told what the first row is before any row is
	// handed on.
	Decided func(FirstRow)
}

// Names are the names in a header, the features' as the SHA-256 of them all.
type Names struct {
	Label    string `json:"label,omitempty"`
	Features string `json:"features"`
}

// A FirstRow is what was decided about the first row of a CSV file.
type FirstRow struct {
	Line   int
	Header bool
	Why    string // it is one, or what speaks for it if it is taken as a row; empty if nothing does
	Names  Names  // if it is a header
	// Columns are its fields if it is a header, one for the label at Label, from 0; −1 if
	// there is none.
	Columns []string
	Label   int
}

// The most that is read before a decision.
const (
	maxAhead      = 1000
	maxAheadBytes = 1 << 22
)

// eachCSVLine calls do with every line of a CSV file, and with true if it is its
// header.
func (p *rowParser) eachCSVLine(r io.Reader, do func(line int, text string, header bool) error) error {
	g := &headerGate{rowParser: p, do: do}
	err := eachLine(r, g.line)
	if !g.decided { // the file has ended, or can't be read further
		if held := g.decide(); err == nil && held != nil {
			return held
		}
	}
	return err
}

// A headerGate holds the lines of a CSV file back until it is decided whether the
// first is a header.
type headerGate struct {
	*rowParser
	do      func(line int, text string, header bool) error
	decided bool
	held    []heldLine
	bytes   int
	first   firstRow
}

type heldLine struct {
	number int
	text   string
}

// line takes the next line.
func (g *headerGate) line(number int, text string) error {
	if g.decided {
		return g.do(number, text, false)
	}
	if len(g.held) == 0 {
		g.first = g.newFirstRow(text)
	} else if fields, err := g.split(g.fields[:0], text); err == nil { // an error is for the parser to report
		g.fields = fields
		g.first.compare(fields)
	}
	g.held = append(g.held, heldLine{number, text})
	g.bytes += len(text)
	if !g.first.certain() && !g.Header.Now && len(g.held) <= maxAhead && g.bytes < maxAheadBytes {
		return nil
	}
	return g.decide()
}

// decide hands on what was held back.
func (g *headerGate) decide() error {
	g.decided = true
	if len(g.held) == 0 {
		return nil
	}
	header, why := g.first.decision()
	if header && g.first.contradicts(g.NoLabels) {
		return &ParseError{g.held[0].number, errOtherColumns}
	}
	if g.Header.Decided != nil {
		d := FirstRow{Line: g.held[0].number, Header: header, Why: why, Label: g.first.label}
		if header {
			d.Names, d.Columns = g.first.names(), g.first.fields
		}
		g.Header.Decided(d)
	}
	for i, l := range g.held {
		if err := g.do(l.number, l.text, header && i == 0); err != nil {
			return &ParseError{l.number, err}
		}
	}
	g.held, g.first = nil, firstRow{}
	return nil
}

// errOtherColumns is the error of a header that is not that of the training data.
var errOtherColumns = errors.New("the header names other columns, or in another order, than the training data; delete the header to use them all the same")

// A firstRow is the first row of a CSV file, and what the rows after it say of it.
type firstRow struct {
	rule     *HeaderRule
	fields   []string // nil if it can't be looked at
	label    int      // its column, from 0; −1 if there is none
	name     string   // the label
	features []string // the other fields

	words    bool // a feature is no number
	gaps     bool // features can't be names, as values are missing
	whole    bool // all features are whole numbers without a sign
	numbered bool // they number the features or the columns
	all      bool // all fields number the columns

	after    int             // rows that were compared
	again    bool            // one of them has the same label
	labels   map[string]bool // the other labels
	repeated bool            // one of these is a duplicate
	numbers  bool            // all of these are numbers
	above    []bool          // by feature: a whole number above fractions alone
	ascends  bool            // a row ascends by 1 from field to field
}

// newFirstRow looks at a first row.
func (g *headerGate) newFirstRow(text string) firstRow {
	f := firstRow{rule: &g.Header, numbers: true, labels: make(map[string]bool)}
	fields, err := g.split(nil, text)
	if err != nil {
		return f
	}
	if f.label, err = g.labelOf(len(fields)); err != nil {
		return f
	}
	f.fields, f.features = fields, fields
	if f.label >= 0 {
		f.name = canonicalOr(fields[f.label])
		f.features = slices.Delete(slices.Clone(fields), f.label, f.label+1)
	}
	f.words = slices.ContainsFunc(f.features, func(s string) bool { return !isNumber(s) })
	f.gaps = hasGaps(f.features, len(f.features) > 1 && f.label != 0)
	f.whole = !slices.ContainsFunc(f.features, func(s string) bool { return !isDigits(s) })
	for from := range 2 {
		f.all = f.all || counts(fields, from, -1)
		f.numbered = f.numbered || counts(f.features, from, -1) || counts(fields, from, f.label)
	}
	f.above = slices.Repeat([]bool{f.whole}, len(f.features))
	return f
}

// hasGaps reports whether features can't be names in a header: values are missing, or
// two words are the same. pandas leaves the first name empty above its index.
func hasGaps(features []string, index bool) bool {
	var words []string
	named := false
	for i, s := range features {
		switch {
		case isNumber(s) || index && i == 0 && s == "":
			continue
		case s == "" || s == "?" || s == "-" || slices.Contains(words, s):
			return true
		}
		words = append(words, s)
		named = named || !isMissing(s)
	}
	return len(words) > 0 && !named // beside other names, Na is sodium
}

// isMissing reports whether a text stands for a missing value in files that programs
// write.
func isMissing(text string) bool {
	return slices.Contains([]string{"", "?", "-", "na", "n/a", "nan", "null", "none"}, strings.ToLower(text))
}

// counts reports whether fields are from, from + 1, and so on, but for one.
func counts(fields []string, from, but int) bool {
	for i, s := range fields {
		if i != but && s != strconv.Itoa(from+i) {
			return false
		}
	}
	return true
}

// canonicalOr returns the label that a text stands for, or the text.
func canonicalOr(text string) string {
	if label, err := CanonicalLabel(text); err == nil {
		return label
	}
	return text
}

// isNumber reports whether a text stands for a number of any kind, one that no
// feature can be included.
func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// compare takes a row after the first.
func (f *firstRow) compare(fields []string) {
	if len(fields) != len(f.fields) {
		return // an error to come
	}
	f.after++
	from, _ := strconv.Atoi(fields[0])
	f.ascends = f.ascends || f.all && counts(fields, from, -1)
	q := 0
	for i, s := range fields {
		if i == f.label {
			continue
		}
		f.above[q] = f.above[q] && isNumber(s) && strings.ContainsAny(s, ".eE")
		q++
	}
	if f.label < 0 {
		return
	}
	label := canonicalOr(fields[f.label])
	f.again = f.again || label == f.name
	f.repeated = f.repeated || f.labels[label]
	f.labels[label] = true
	f.numbers = f.numbers && isNumber(label)
}

// named reports whether the label can be a name in a header: it is a word, and no
// class as far as is known.
func (f *firstRow) named() bool {
	return f.label >= 0 && !f.again && !isNumber(f.name) && !isMissing(f.name) && strings.ContainsFunc(f.name, unicode.IsLetter) &&
		!slices.Contains(f.rule.Classes, f.name)
}

// aboveFractions reports whether a feature is a whole number above a column that
// has only fractions.
func (f *firstRow) aboveFractions() bool { return f.after > 0 && slices.Contains(f.above, true) }

// manyColumns are so many that they are not numbered by chance.
const manyColumns = 8

// certain reports whether no row to come changes the decision.
func (f *firstRow) certain() bool {
	named := f.named()
	switch {
	case f.fields == nil || f.rule.Is == HeaderYes || f.rule.Is == HeaderNo || f.noNumber() || f.gaps || f.known():
		return true
	case named && f.rule.Numbers && f.after > 0 || !named && !f.all:
		return true
	case named:
		return f.rule.Classes != nil && !f.words && !f.whole
	}
	return len(f.fields) < manyColumns && !slices.Contains(f.above, true)
}

// noNumber reports whether none of the fields is a number, and the label no known class.
func (f *firstRow) noNumber() bool {
	return !slices.ContainsFunc(f.fields, isNumber) && (f.label < 0 || !slices.Contains(f.rule.Classes, f.name))
}

// known reports whether the row has the names of the header that is known.
func (f *firstRow) known() bool {
	n := f.rule.Names
	return n.Features != "" && n.Features == f.names().Features && (f.label < 0 || strings.EqualFold(f.name, n.Label))
}

// contradicts reports whether the row, a header, has other names than the one that is
// known. The label's does not matter if labels are not read.
func (f *firstRow) contradicts(noLabels bool) bool {
	n := f.rule.Names
	return n.Features != "" && !f.known() && !(noLabels && n.Features == f.names().Features)
}

// names returns the names that the row has if it is a header.
func (f *firstRow) names() Names {
	sum := sha256.New()
	for _, s := range f.features {
		fmt.Fprintf(sum, "%q\n", s)
	}
	return Names{Label: f.name, Features: hex.EncodeToString(sum.Sum(nil))}
}

// decision returns whether the row is a header, and why; no reason for a row that
// looks like one.
func (f *firstRow) decision() (header bool, why string) {
	named := f.named()
	other := f.rule.Classes != nil || f.repeated // the label would be a class if it were one
	switch {
	case f.fields == nil || f.rule.Is == HeaderNo:
		return false, ""
	case f.rule.Is == HeaderYes:
		return true, "it was said to be one"
	case f.known():
		return true, "it has the names that the header of the training data has"
	case f.gaps:
		return false, ""
	case f.noNumber():
		return true, "none of its fields is a number"
	case named && f.rule.Numbers && f.numbers:
		return true, fmt.Sprintf("its label, %q, is not a number", f.name)
	case named && f.rule.Numbers:
		return false, ""
	case named && f.words:
		return true, fmt.Sprintf("its label, %q, is no class, and not all its features are numbers", f.name)
	case f.words:
		return false, "not all its features are numbers"
	case named && f.rule.Classes == nil && f.after > 0 && f.numbers:
		return true, fmt.Sprintf("its label, %q, is the only one that is not a number", f.name)
	case named && f.numbered && (other || f.aboveFractions()):
		return true, fmt.Sprintf("its label, %q, is no class, and its features are numbered", f.name)
	case named && other && f.aboveFractions():
		return true, fmt.Sprintf("its label, %q, is no class, and its features are whole numbers above fractions", f.name)
	case f.all && f.aboveFractions():
		return true, "its fields number the columns, and fractions are below"
	case f.all && len(f.fields) >= manyColumns && f.after > 0 && !f.ascends:
		return true, "its fields number the columns"
	case named && f.rule.Classes != nil:
		return false, fmt.Sprintf("its label, %q, is no class", f.name)
	case named:
		return false, fmt.Sprintf("no other row has its label, %q", f.name)
	case f.all:
		return false, "its fields number the columns"
	}
	return false, ""
}
