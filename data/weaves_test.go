package data

import (
	"testing"

	"polkrepro/internal/race"
)

// TestGoldenWeaves loads the default variant. Its features have the same bytes on every
// platform.
func TestGoldenWeaves(t *testing.T) {
	if race.Enabled {
		t.Skip("TestTextureSet has what can race; this takes six seconds of products")
	}
	const want = "71a89f9189e24d220a37282967e3c3c8c649007ba86592eee806b102c5cb80fa"
	t.Chdir(t.TempDir())
	s := must(Load(Ref{Name: "weaves"}, Finder{}))
	checkSplit(t, s.Train, 4000, 256)
	checkSplit(t, s.Test, 2000, 256)
	if got := SumSplits(s.Train, s.Test); got != want {
		t.Errorf("SHA-256 %s, committed %s", got, want)
	}
	m := must(lookup("weaves"))
	if s.Classes != 13 || s.Sums["weaves"] != m.Generated[0].SHA256 {
		t.Errorf("%d classes, sums %v", s.Classes, s.Sums)
	}
}
