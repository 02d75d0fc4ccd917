package strictyaml

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// TestScalars checks the kinds and values of scalars.
func TestScalars(t *testing.T) {
	for _, c := range []struct {
		text  string
		kind  Kind
		value float64
	}{
		{"1", Integer, 1}, {"-12", Integer, -12}, {"+3", Integer, 3}, {"007", Integer, 7},
		{"1e-6", Number, 1e-6}, {"1E+3", Number, 1000}, {".5", Number, 0.5}, {"2.", Number, 2}, {"-1.5e2", Number, -150},
		{".inf", Number, math.Inf(1)}, {"-.INF", Number, math.Inf(-1)}, {"1e999", Number, math.Inf(1)}, {".NaN", Number, math.NaN()},
		{"true", Bool, 0}, {"False", Bool, 0}, {"yes", String, 0}, {"~", Null, 0}, {"null", Null, 0},
		{"0x10", String, 0}, {"1_000", String, 0}, {"1e", String, 0}, {"polk", String, 0}, {"2026-01-01", String, 0},
		{`"1"`, String, 0}, {"'true'", String, 0}, {`""`, String, 0}, {"|\n  text", String, 0},
	} {
		r := new(Reporter)
		n := Parse("x.yaml", []byte("key: "+c.text+"\n"), r)
		if err := r.Err(); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		v := n.Get("key")
		x, ok := v.Float()
		if v.Kind != c.kind || ok != (c.kind == Integer || c.kind == Number) || x != c.value && !(math.IsNaN(x) && math.IsNaN(c.value)) {
			t.Errorf("%s is %v, %v; want %v, %v", c.text, v.Kind, x, c.kind, c.value)
		}
	}
}

// TestPlaces checks lines and columns in a text with characters of several bytes, lines that
// end in CR LF, and a byte order mark at the start.
func TestPlaces(t *testing.T) {
	src := "\ufeff# λ\r\nname: \"é é\" # c\r\nlist:\r\n  - {é: 1, key: 2}\r\n  - a: b\r\n"
	r := new(Reporter)
	n := Parse("x.yaml", []byte(src), r)
	testutil.NoError(t, r.Err())
	for _, c := range []struct {
		at           *Node
		line, column int
	}{
		{n, 2, 1},
		{n.At("name"), 2, 7},
		{n.At("list", 0), 4, 5},
		{n.At("list", 0, "key"), 4, 17},
		{n.At("list", 0).Field("key").At, 4, 12},
		{n.At("list", 1), 5, 5},
		{n.At("list", 1, "a"), 5, 8},
		{n.At("list", 7, "a"), 4, 3}, // the last existing node on the path
	} {
		if c.at.Line != c.line || c.at.Column != c.column {
			t.Errorf("at %d:%d, want %d:%d", c.at.Line, c.at.Column, c.line, c.column)
		}
	}
}

// show returns a node as one line of text.
func show(n *Node) string {
	var parts []string
	switch n.Kind {
	case Mapping:
		for _, f := range n.Fields {
			parts = append(parts, f.Key+":"+show(f.Value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case Sequence:
		for _, item := range n.Items {
			parts = append(parts, show(item))
		}
		return fmt.Sprint(parts)
	}
	return n.Text
}

func TestMerge(t *testing.T) {
	r := new(Reporter)
	parse := func(s string) *Node { return Parse(s, []byte(s), r) }
	base := parse("{a: 1, b: {c: 2, d: [1, 2]}, e: {f: 1}}")
	over := parse("{b: {d: [3], g: 4}, e: 5, h: 6}")
	if got, want := show(Merge(base, over)), "{a:1 b:{c:2 d:[3] g:4} e:5 h:6}"; got != want {
		t.Errorf("merged to %s, want %s", got, want)
	}
	if got, want := show(base), "{a:1 b:{c:2 d:[1 2]} e:{f:1}}"; got != want {
		t.Errorf("the base became %s", got)
	}
	if got := Merge(nil, over); got != over {
		t.Error("merging over nothing changes something")
	}
	if got := Merge(base, nil); got != base {
		t.Error("merging nothing changes something")
	}
}

// TestErrorsText checks the order of errors and the limit on their number.
func TestErrorsText(t *testing.T) {
	r := new(Reporter)
	n := Parse("x.yaml", []byte("a: [1, 2]\n"), r)
	for i := range 30 {
		at := *n.At("a", 1)
		at.Column -= i % 2
		r.Errorf(&at, "error %02d", i)
		r.Errorf(&at, "error %02d", i)
	}
	text := r.Err().Error()
	if !strings.HasSuffix(text, "\n… and 10 more errors") || strings.Count(text, "error ") != 20 {
		t.Errorf("text is\n%s", text)
	}
	first, _, _ := strings.Cut(text, "\nx.yaml")
	if want := "x.yaml:1:7: error 01"; first != want {
		t.Errorf("first error\n%q\nwant\n%q", first, want)
	}
}

// FuzzParse checks that no text makes parsing, merging or decoding panic. Errors are reported
// at a place in the text, without control sequences for a terminal.
func FuzzParse(f *testing.F) {
	f.Add("a: 1\nb: [x, {c: 2.5}]\nc: {d: true}\n", "a: 2\nc: {e: ~}\n")
	f.Add("text: |\n  two\n  lines\n", "- 1\n")
	f.Add("{a: [[{}]], b: 'it''s', c: \"\\u001b\"}", "\ufeffa: 1\r\nb: 2\r\n")
	f.Add("a: &x 1\nb: *x\n<<: {c: 1}\n? [k]\n: v\n", "---\na: 1\n---\nb: 2\n")
	f.Fuzz(func(t *testing.T, base, over string) {
		if len(base)+len(over) > 8<<10 {
			return // the parser's time grows with the square of the length
		}
		r := new(Reporter)
		a, b := Parse("a.yaml", []byte(base), r), Parse("b.yaml", []byte(over), r)
		if (a == nil || b == nil) && r.Err() == nil {
			t.Fatal("a file that was not read, and no error")
		}
		var v struct {
			A *float64         `json:"a"`
			B []map[string]int `json:"b"`
			C string           `json:"c"`
		}
		if n := Merge(a, b); n != nil {
			Decode(n, &v, r)
		}
		if err := r.Err(); err != nil && (err.Error() == "" || strings.ContainsRune(err.Error(), '\x1b')) {
			t.Errorf("bad message %q", err)
		}
	})
}
