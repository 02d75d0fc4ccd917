package strictyaml

import (
	"strings"
	"testing"
)

// FuzzParse: no text makes parsing, merging or decoding panic; what they can't
// take they report, at a place in the text and without what a terminal obeys.
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
