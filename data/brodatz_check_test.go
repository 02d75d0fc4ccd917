//go:build check

package data

import (
	"path/filepath"
	"testing"
)

// TestCheckBrodatz compares the features of the default variant, computed and cached, with
// a committed SHA-256. They have the same bytes on every platform.
func TestCheckBrodatz(t *testing.T) {
	const want = "d1eed9fb5cc73b2dfd64a83c6b1d8e32efc87ef75c9c09624e3e905f8f5c5f76"
	dir := must(filepath.Abs(needReal(t, "brodatz").Paths()[0]))
	t.Chdir(t.TempDir())
	for _, from := range []string{"computed", "cached"} {
		s := must(Load(Ref{Name: "brodatz"}, Finder{Dir: dir}))
		checkSplit(t, s.Train, 10000, 256)
		checkSplit(t, s.Test, 5000, 256)
		if got := SumSplits(s.Train, s.Test); got != want {
			t.Errorf("%s: SHA-256 %s, committed %s", from, got, want)
		}
		// With the paper's random patches, nearly every test patch overlaps a training
		// patch.
		if s.Facts["test_overlap"] != 0.9986 || len(s.Sums) != 13 || s.Classes != 13 {
			t.Errorf("%s: facts %v, %d sums, %d classes", from, s.Facts, len(s.Sums), s.Classes)
		}
	}
}
