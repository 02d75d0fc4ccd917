package data

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// firstOf returns the rows of a CSV text and what was decided about the first.
func firstOf(text string, opts RowOptions) (rows []Row, first *FirstRow, err error) {
	opts.Format = FormatCSV
	opts.Header.Decided = func(f FirstRow) { first = &f }
	rows, err = collect(text, opts)
	return rows, first, err
}

func TestHeaderRule(t *testing.T) {
	many := func(n int, of func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(of(i) + "\n")
		}
		return b.String()
	}
	ints := many(20, func(i int) string { return fmt.Sprintf("%s,%d,%d", []string{"elm", "oak"}[i%2], i*i, i%7) })
	fractions := many(20, func(i int) string { return fmt.Sprintf("%d,%.2f,%d", i%3, float64(i)/7, i%7) })
	columns := func(n int, of func(q int) int) string {
		return many(1, func(int) string {
			var f []string
			for q := range n {
				f = append(f, fmt.Sprint(of(q)))
			}
			return strings.Join(f, ",")
		})
	}
	pixels := many(20, func(i int) string { return strings.TrimSpace(columns(9, func(q int) int { return i * q % 5 })) })
	ramps := many(20, func(i int) string { return strings.TrimSpace(columns(9, func(q int) int { return i + 1 + q })) })
	classes := HeaderRule{Classes: []string{"elm", "oak"}}
	now := HeaderRule{Now: true, Classes: []string{"elm", "oak"}}
	seen := HeaderRule{Now: true, Classes: []string{"elm", "oak"}, Names: Names{"species", (&firstRow{features: []string{"2019", "2020"}}).names().Features}}
	numbers := HeaderRule{Numbers: true}
	tests := []struct {
		text   string
		rule   HeaderRule
		header bool
		why    string
	}{
		{"a,b,c\n" + ints, HeaderRule{}, true, "none of its fields"},
		{"a,0,1\n" + ints, HeaderRule{}, true, "numbered"},
		{"a,1,2\n" + ints, HeaderRule{}, true, "numbered"},
		{"a,0,1\n" + ints, classes, true, "numbered"},
		{"a,0,1\n", now, true, "numbered"},
		{"a,2019,2020\n" + ints, HeaderRule{}, false, "no other row has its label"},
		{"a,2019,2020\n" + ints, classes, false, "is no class"},
		{"a,2019,2020\n" + ints, HeaderRule{Is: HeaderYes}, true, "said"},
		{"species,2019,2020\n" + ints, seen, true, "the names that"},
		{"elm,2019,2020\n" + ints, seen, false, ""},
		{"a,2019,2020\n" + fractions, HeaderRule{}, true, "only one that is not a number"},
		{"a,x,1\n" + ints, HeaderRule{}, true, "not all its features"},
		{"elm,x,1\n" + ints, HeaderRule{}, false, "not all its features"},
		{"1,x,1\n" + fractions, HeaderRule{}, false, "not all its features"},
		{"0,1,2\n" + fractions, HeaderRule{}, true, "fractions are below"},
		{"1,2,3\n" + fractions, HeaderRule{}, true, "fractions are below"},
		{"0,1,2\n" + fractions, HeaderRule{Is: HeaderNo}, false, ""},
		{"0,1,2\n" + fractions, HeaderRule{Now: true}, false, "number the columns"},
		{"0,1,2\n" + fractions, numbers, true, "fractions are below"},
		{"0,2,1\n" + fractions, HeaderRule{}, false, ""},
		{"0,1,2\n" + many(9, func(i int) string { return fmt.Sprintf("%d,%d,1", i%3, i) }), HeaderRule{}, false, "number the columns"},
		{columns(9, func(q int) int { return q }) + pixels, HeaderRule{}, true, "number the columns"},
		{columns(9, func(q int) int { return q }) + ramps, HeaderRule{}, false, "number the columns"},
		{"?,1,2\n", now, false, ""},
		{"?,x,2\n", now, false, "not all its features"},
		{"y,1.5,2\n1,2,3\n", numbers, true, "is not a number"},
		{"elm,1.5,2\noak,2,3\n", numbers, false, ""},
		{"elm,1,2\noak,3,4\n", HeaderRule{}, false, "no other row has its label"},
		{"elm,NA,NA\n" + ints, HeaderRule{}, false, ""},
		{"elm,,\n" + ints, classes, false, ""},
		{"elm,?,3.5\n" + ints, now, false, ""},
		{"ash,NA,3.5\n" + ints, now, false, ""},
		{"elm,red,big\n", now, false, "not all its features"},
		{"NA,1.5,2\n1,2,3\n", numbers, false, ""},
		{"a,x,x\n" + ints, HeaderRule{}, false, ""},
		{"type,RI,Na\n" + ints, HeaderRule{}, true, "none of its fields"},
		{ints, HeaderRule{}, false, ""},
		{fractions, HeaderRule{}, false, ""},
	}
	for i, tt := range tests {
		_, first, _ := firstOf(tt.text, RowOptions{Header: tt.rule})
		if first == nil || first.Header != tt.header || !strings.Contains(first.Why, tt.why) || tt.why == "" && first.Why != "" || first.Line != 1 {
			t.Errorf("%d, %.20q: %+v, want %v: %s", i, tt.text, first, tt.header, tt.why)
		}
	}
	if rows, _, err := firstOf("\n\nlabel,0,1\n\nelm,1,2\nelm,3,4\n", RowOptions{}); err != nil || len(rows) != 2 || rows[0].Line != 5 {
		t.Errorf("rows %+v, %v", rows, err)
	}
	if _, _, err := firstOf("label,0,1\nelm,1,2\nelm,x,4\n", RowOptions{}); err == nil || !strings.HasPrefix(err.Error(), "line 3: column 2") {
		t.Errorf("error %v", err)
	}
	if err := EachRow(strings.NewReader("a,1\n"), RowOptions{Format: FormatCSV, Header: HeaderRule{Is: "maybe"}}, nil); err == nil || !strings.Contains(err.Error(), "must be one of auto, yes, no") {
		t.Errorf("error %v", err)
	}
	if err := EachRow(strings.NewReader("1 1:1\n"), RowOptions{Format: FormatLIBSVM, Header: HeaderRule{Is: HeaderYes}}, nil); err == nil || !strings.Contains(err.Error(), "no header") {
		t.Errorf("error %v", err)
	}
}

// pandas leaves the name of its index empty.
func TestHeaderWithIndex(t *testing.T) {
	for text, want := range map[string]bool{",x,tree\n0,1.5,elm\n": true, ",,elm\n0,1.5,elm\n": false, ",NA,elm\n0,1.5,elm\n": false} {
		if _, first, _ := firstOf(text, RowOptions{LabelColumn: -1}); first == nil || first.Header != want {
			t.Errorf("%.10q: %+v, want header %v", text, first, want)
		}
	}
}

// A table as programs write it has its header recognized, whatever the columns
// hold and wherever the label is, and without the header has none.
func TestHeaderOfTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(1, 12).Draw(t, "features")
		label := rapid.IntRange(0, p).Draw(t, "label")
		regression := rapid.Bool().Draw(t, "regression")
		whole := rapid.SliceOfN(rapid.Bool(), p+1, p+1).Draw(t, "whole")
		n := rapid.IntRange(4, 40).Draw(t, "rows")
		rows := make([][]string, n)
		for i := range rows {
			for q := range p + 1 {
				v := rapid.Float64Range(-1e3, 1e3).Draw(t, "v")
				text := fmt.Sprintf("%.3f", v)
				if whole[q] {
					text = fmt.Sprint(2 + int(v*v)%7) // not what could number the columns
				}
				if q == label && !regression {
					text = []string{"elm", "oak"}[i%2]
				}
				rows[i] = append(rows[i], text)
			}
		}
		kind := rapid.SampledFrom([]string{"words", "numbered", "positions"}).Draw(t, "names")
		names := make([]string, p+1)
		for q := range names {
			switch {
			case q == label && kind != "positions":
				names[q] = "target"
			case kind == "words":
				names[q] = fmt.Sprintf("x%d", q)
			case kind == "numbered" && q > label:
				names[q] = fmt.Sprint(q - 1)
			default:
				names[q] = fmt.Sprint(q)
			}
		}
		fractions := false
		for q := range whole {
			fractions = fractions || q != label && !whole[q]
		}
		opts := RowOptions{LabelColumn: label + 1, Header: HeaderRule{Numbers: regression}}
		body := tableText(rows)
		got, first, err := firstOf(tableText([][]string{names})+body, opts)
		if err != nil {
			t.Fatal(err)
		}
		if want := kind != "positions" || fractions || p+1 >= manyColumns; first.Header != want || want && len(got) != n {
			t.Fatalf("%v: %+v, %d rows of %d", names, *first, len(got), n)
		}
		if got, first, err = firstOf(body, opts); err != nil || first.Header || len(got) != n {
			t.Fatalf("without: %+v, %d rows of %d, %v", *first, len(got), n, err)
		}
	})
}

// tableText writes rows as CSV.
func tableText(rows [][]string) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.Join(r, ",") + "\n")
	}
	return b.String()
}

// FuzzHeader: what is decided about the first row is what is done, and the same as
// if it had been said; a header is never a line but the first, and no row is lost.
func FuzzHeader(f *testing.F) {
	f.Add("label,0,1\n1,0.5,0.25\n2,0.5,0.75\n", 1, false, "")
	f.Add("0,1,2\n0,0.5,2.5\n1,1.5,3.5\n", 1, true, "")
	f.Add("0,1\n0.5,2.5\n", 1, false, "1\n2")
	f.Add("species,x,\"1\"\nelm,1,2\nelm,2,3\n", 1, false, "elm\noak")
	f.Add("1,2,3,4,5,6,7,8\n2,3,4,5,6,7,8,9\n", -1, true, "")
	f.Add("\n\na,1\n\nb,x\n", 2, false, "")
	f.Fuzz(func(t *testing.T, text string, column int, numbers bool, classes string) {
		opts := RowOptions{LabelColumn: column, MaxDim: 100, Header: HeaderRule{Numbers: numbers}}
		if classes != "" {
			opts.Header.Classes = strings.Split(classes, "\n")
		}
		rows, first, err := firstOf(text, opts)
		if first == nil {
			if len(rows) > 0 {
				t.Fatalf("%d rows, and nothing was decided", len(rows))
			}
			return
		}
		if len(rows) > 0 && (rows[0].Line == first.Line) == first.Header {
			t.Fatalf("%+v, and line %d is a row", *first, rows[0].Line)
		}
		said := opts
		said.Header.Is = HeaderNo
		if first.Header {
			said.Header.Is = HeaderYes
		}
		again, _, errAgain := firstOf(text, said)
		if fmt.Sprint(err) != fmt.Sprint(errAgain) || !slices.EqualFunc(rows, again, func(a, b Row) bool {
			return a.Line == b.Line && a.Label == b.Label && slices.Equal(a.Values, b.Values)
		}) {
			t.Fatalf("%+v: %d rows (%v), if it is said %d rows (%v)", *first, len(rows), err, len(again), errAgain)
		}
		if first.Header && first.Names.Features == "" {
			t.Fatal("a header without names")
		}
		now := opts
		now.Header.Now = true
		if _, at, _ := firstOf(text, now); at.Line != first.Line {
			t.Fatalf("line %d, at once line %d", first.Line, at.Line)
		}
	})
}
