package rows

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestHeaderRule checks the rule for headers. Doubtful first rows are errors.
func TestHeaderRule(t *testing.T) {
	words := strings.Repeat("elm,1,7\noak,3.5,4\n", 9)
	numbers := strings.Repeat("0,1.5,7\n1,3.5,4\n", 9)
	known := Options{Classes: []string{"elm", "oak"}, Names: namesOf([]string{"species", "2019", "2020"}, 0)}
	classes := Options{Classes: []string{"elm", "oak"}}
	unlabelled := Options{Dim: 2, Names: known.Names}
	targets := Options{Regression: true}
	last := Options{Label: Column{Number: -1}}
	predicted := Options{Classes: classes.Classes, NoLabels: true, Dim: 2, Label: Column{Number: -1}}
	const header, data, numbered = "header", "data", "may be a header (its fields number the columns"
	for _, tt := range []struct {
		text string
		o    Options
		want string // header, data, or the error
	}{
		{"a,b,c\n" + words, Options{}, header},
		{"a,b,c\n", classes, header},
		{"kind,RI,Na\n" + words, Options{}, header},
		{",x,tree\n0,1.5,elm\n", last, header}, // pandas' index
		{",,elm\n0,1.5,elm\n", last, "line 1: column 1: feature \"\" is missing"},
		{",NA,elm\n0,1.5,elm\n", last, "line 1: column 1: feature \"\" is missing"},
		{"a,2019,2020\n" + words, Options{Header: HeaderYes}, header},
		{"species,2019,2020\n" + words, known, header},
		{"SPECIES,2019,2020\n" + words, known, header},
		{"2019,2020\n", unlabelled, header},

		{words, Options{}, data},
		{numbers, Options{}, data},
		{words, classes, data},
		{"elm,1,2\n" + words, known, data},
		{"ash,5,5\n" + words, known, data},
		{"2019,2021\n", unlabelled, data},
		{"?,5,2\n", classes, data},
		{"0,1,2\n" + numbers, Options{Header: HeaderNo}, data},
		{"0,2,1\n" + numbers, Options{}, data},
		{"elm,,\n" + words, Options{}, "line 1: column 2: feature \"\" is missing"},
		{"elm,NA,?\n" + words, Options{}, "line 1: column 2: feature \"NA\" is missing, the first of 2"},
		{"elm,?,3.5\n" + words, classes, "line 1: column 2: feature \"?\" is missing:"},
		{"y,1.5,2\n1,2,3\n", targets, "line 1: column 1: label \"y\" is not a number"},
		{"elm,1.5,2\nelm,2,3\n", targets, "line 1: column 1: label \"elm\" is not a number"},

		{"a,0,1\n" + words, Options{}, "may be a header (no other row has its label, \"a\"): use --header yes or --header no; in a spec, header: yes or no"},
		{"a,2019,2020\n" + numbers, Options{}, "may be a header (no other row has its label"},
		{"a,2019,2020\n" + strings.Repeat(words, 100), Options{}, "may be a header (no other row has its label"},
		{"a,0.5,1\n" + words, classes, "may be a header (no other row has its label"},
		{"a,5,1\n", classes, "may be a header (no other row has its label"},
		{"a,x,1\n" + words, Options{}, "may be a header (not all its features"},
		{"a,x,1\n" + numbers, Options{}, "may be a header (not all its features"},
		{"elm,red,big\n", classes, "may be a header (not all its features"},
		{"1,x,1\n" + numbers, Options{}, "may be a header (not all its features"},
		{"?,x,2\n", classes, "may be a header (not all its features"},
		{"0,1,2\n" + numbers, Options{}, "may be a header (its fields number the columns"},
		{"1,2,3\n" + numbers, targets, "may be a header (its fields number the columns"},
		{"0,1,2\n" + words, known, numbered},
		{"1,2,3\n" + words, classes, numbered},
		{"a,0,1\n" + words, known, numbered},
		{"a,1,2\n" + words, classes, numbered},
		{"0,1,a\n" + words, predicted, numbered},
		{"0,1,\n" + words, predicted, numbered}, // without the label's name, as pandas writes an index
		{"0,1\n", unlabelled, numbered},
		{"1,2\n", unlabelled, numbered},
		{"0\n0.5\n", Options{Dim: 1}, numbered},
		{"y,0,1\n1,2,3\n", Options{Regression: true, Dim: 2}, numbered},
		{"y,0,1\n1,2,3\n", targets, "line 1: column 1: label \"y\" is not a number"},
		{"elm,0,1\n" + words, known, data},
		{"0,1,elm\n", predicted, data},
		{"0,1,?\n", predicted, data},
		{"0,0,1\n", known, data},
		{"2,0,1\n2,5,1\n", targets, data},
		{"0,2\n", unlabelled, data},
		{"0,1\n", Options{Dim: 2, Names: namesOf([]string{"0", "1"}, -1)}, header},
		{"species,other,names\n" + words, known, "the header does not match"},
		{"other,names\n", unlabelled, "the header does not match"},
	} {
		if tt.o.Format = FormatCSV; tt.o.Label.Number == 0 {
			tt.o.Label.Number = 1
		}
		all, l, err := readAll("\n"+tt.text, tt.o)
		switch {
		case tt.want == data || strings.HasPrefix(tt.want, "line 1"):
			want := strings.Replace(tt.want, "line 1", "line 2", 1)
			if l.Names != nil || tt.want == data && (err != nil || all[0].Line != 2) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%.20q: %+v, %v, want data: %s", tt.text, l, err, want)
			}
		case tt.want != header:
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(all) >= firstRows {
				t.Errorf("%.20q: error %v after %d rows, want %q", tt.text, err, len(all), tt.want)
			}
		case err != nil || l.Names == nil || l.Line != 2 || len(all) > 0 && all[0].Line != 3:
			t.Errorf("%.20q: %+v, %v, want a header", tt.text, l, err)
		}
	}
}

// TestHeaderOfTables checks tables as programs write them, with any contents of the columns
// and any position of the label. The header is recognized or refused, and the same table
// without its header is read as having none.
func TestHeaderOfTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(1, 12).Draw(t, "features")
		label := rapid.IntRange(0, p).Draw(t, "label")
		regression := rapid.Bool().Draw(t, "regression")
		whole := rapid.SliceOfN(rapid.Bool(), p+1, p+1).Draw(t, "whole")
		n := rapid.IntRange(4, 40).Draw(t, "rows")
		var body strings.Builder
		for i := range n {
			for q := range p + 1 {
				v := rapid.Float64Range(-1e3, 1e3).Draw(t, "v")
				text := fmt.Sprintf("%.3f", v)
				if whole[q] {
					text = fmt.Sprint(2 + int(v*v)%7) // at least 2, because column numbers start at 0 or 1
				}
				if q == label && !regression {
					text = []string{"elm", "oak"}[i%2]
				}
				body.WriteString(text + ",\n"[min(1, q/p):][:1])
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
			default:
				names[q] = fmt.Sprint(q)
			}
		}
		o := Options{Format: FormatCSV, Label: Column{Number: label + 1}, Regression: regression}
		got, l, err := readAll(strings.Join(names, ",")+"\n"+body.String(), o)
		doubt := kind != "words"
		if doubt != (err != nil) || !doubt && (l.Names == nil || len(got) != n) {
			t.Fatalf("%v: %+v, %d rows of %d, %v", names, l, len(got), n, err)
		}
		if got, l, err = readAll(body.String(), o); err != nil || l.Names != nil || len(got) != n {
			t.Fatalf("without: %+v, %d rows of %d, %v", l, len(got), n, err)
		}
	})
}

// FuzzHeader checks that setting Options.Header to the decision about the first row gives
// the same rows, that only the first line can be a header, and that no row is lost.
func FuzzHeader(f *testing.F) {
	f.Add("label,0,1\n1,0.5,0.25\n2,0.5,0.75\n", 1, false, "")
	f.Add("0,1\n0.5,2.5\n", 1, false, "1\n2")
	f.Add("species,x,\"1\"\nelm,1,2\nelm,2,3\n", 1, false, "elm\noak")
	f.Add("\n\na,1\n\nb,x\n", 2, true, "")
	f.Fuzz(func(t *testing.T, text string, column int, number bool, classes string) {
		o := Options{Format: FormatCSV, Label: Column{Number: column}, MaxDim: 100, Regression: number}
		if classes != "" {
			o.Classes = strings.Split(classes, "\n")
		}
		if column == 0 {
			o.Label.Number = 1
		}
		all, l, err := readAll(text, o)
		if l.Columns == 0 { // nothing was decided
			if len(all) > 0 || err == nil && strings.TrimSpace(strings.TrimPrefix(text, bom)) != "" {
				t.Fatalf("%d rows, and nothing was decided: %v", len(all), err)
			}
			return
		}
		header := l.Names != nil
		if len(all) > 0 && (all[0].Line == l.Line) == header {
			t.Fatalf("%+v, and line %d is a row", *l, all[0].Line)
		}
		o.Header = l.Header()
		again, _, errAgain := readAll(text, o)
		if doubt := err != nil && strings.Contains(err.Error(), "may be a header"); !doubt && (fmt.Sprint(err) != fmt.Sprint(errAgain) || len(again) != len(all)) {
			t.Fatalf("%+v: %d rows (%v), if it is said %d rows (%v)", *l, len(all), err, len(again), errAgain)
		}
	})
}
