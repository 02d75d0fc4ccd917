package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxShown is the number of errors that Errors.Error prints.
const maxShown = 20

// An Error describes one error in a source file.
type Error struct {
	File    string
	Line    int // from 1; 0 for an error of the whole file
	Column  int // in characters, from 1
	Message string
	Source  string // the offending line
}

// Error returns "file:line:column: message" and, below it, the source line with
// a caret under the column.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	line, indent := excerpt(e.Source, e.Column)
	number := fmt.Sprintf("%5d", e.Line)
	return fmt.Sprintf("%s:%d:%d: %s\n%s | %s\n%*s | %s^", e.File, e.Line, e.Column, e.Message, number, line, len(number), "", indent)
}

// excerpt returns a printable form of a source line, cut around the column if
// it is long, and the white space that puts a caret under the column.
func excerpt(source string, column int) (line, indent string) {
	const width = 100
	runes := []rune(source)
	at := min(max(column-1, 0), len(runes))
	if len(runes) > width {
		from := max(0, at-width/2)
		to := min(len(runes), from+width)
		at -= from
		runes = runes[from:to]
	}
	pad := make([]rune, at)
	for i, r := range runes {
		if r != '\t' && !unicode.IsPrint(r) {
			runes[i] = '·'
		}
		if i < at {
			pad[i] = ' '
			if r == '\t' {
				pad[i] = '\t'
			}
		}
	}
	return string(runes), string(pad)
}

// Errors are the errors of one document, ordered by position.
type Errors []*Error

// Error returns the first 20 errors, each on separate lines, and the number of further errors.
func (e Errors) Error() string {
	var b strings.Builder
	for i, err := range e {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == maxShown {
			fmt.Fprintf(&b, "… and %d more errors", len(e)-i)
			break
		}
		b.WriteString(err.Error())
	}
	return b.String()
}

// A Reporter collects errors.
type Reporter struct {
	errs  Errors
	seen  map[Error]bool
	count int
}

// Errorf reports an error at a node.
func (r *Reporter) Errorf(n *Node, format string, args ...any) {
	e := &Error{n.src.name, n.Line, n.Column, fmt.Sprintf(format, args...), n.src.line(n.Line)}
	r.count++
	if r.seen[*e] {
		return
	}
	if r.seen == nil {
		r.seen = make(map[Error]bool)
	}
	r.seen[*e] = true
	r.errs = append(r.errs, e)
}

// Len returns the number of reported errors, including duplicates; Err returns each error once.
func (r *Reporter) Len() int { return r.count }

// Err returns the reported errors as Errors, or nil if there are none.
func (r *Reporter) Err() error {
	if len(r.errs) == 0 {
		return nil
	}
	errs := slices.Clone(r.errs)
	slices.SortStableFunc(errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return errs
}

// Suggest returns `; did you mean "x"?` for the candidate that is nearest to a
// misspelt word, or "" if none is near.
func Suggest(word string, candidates []string) string {
	best, least := "", 3
	if len(word) < 4 {
		least = 2
	}
	if len(word) > 64 {
		return ""
	}
	for _, c := range candidates {
		if d := distance(word, c); d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the least number of insertions, deletions and replacements of a
// byte that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
