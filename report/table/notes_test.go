package table

import (
	"strings"
	"testing"
)

// TestNotes checks that a table without notes or legend gets no line for them.
func TestNotes(t *testing.T) {
	for _, notes := range [][]string{nil, {"a note"}} {
		table := Table{Title: "T", Header: []string{"a"}, Rows: [][]string{{"1"}}, Notes: notes}
		if md := table.Markdown(); strings.Count(md, "\n- ") != len(notes) || strings.HasSuffix(md, "\n\n") {
			t.Errorf("%d notes: %q", len(notes), md)
		}
	}
}
