package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxShown is the number of errors that Errors.Error prints.
const maxShown = 20

// An Error describes one error in a source file.
type Error struct {
	File    string
	Line    int // from 1; 0 for an error of the whole file
	Column  int // in characters, from 1
	Message string
}

// Error returns "file:line:column: message".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Errors are the errors of one document, ordered by position.
type Errors []*Error

// Error returns the first 20 errors, each on a line, and the number of further errors.
func (e Errors) Error() string {
	var lines []string
	for i, err := range e {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("… and %d more errors", len(e)-i))
			break
		}
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// A Reporter collects errors.
type Reporter struct{ errs Errors }

// Errorf reports an error at a node.
func (r *Reporter) Errorf(n *Node, format string, args ...any) {
	r.errs = append(r.errs, &Error{n.file, n.Line, n.Column, fmt.Sprintf(format, args...)})
}

// Len returns the number of reported errors, including duplicates; Err returns each error once.
func (r *Reporter) Len() int { return len(r.errs) }

// Err returns the reported errors as Errors, or nil if there are none.
func (r *Reporter) Err() error {
	var errs Errors
	seen := make(map[Error]bool)
	for _, e := range r.errs {
		if !seen[*e] {
			seen[*e] = true
			errs = append(errs, e)
		}
	}
	if errs == nil {
		return nil
	}
	slices.SortStableFunc(errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return errs
}
