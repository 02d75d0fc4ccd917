package data

import (
	"bytes"
	"flag"
	"math"
	"os"
	"slices"
	"testing"
)

// drawsCommitted is the number of draws in the embedded table.
const drawsCommitted = 24

var update = flag.Bool("update", false, "rewrite multidist_draws.csv and testdata/source.golden")

// TestWriteDraws rescans all seeds and holds the embedded table to the
// byte; under the race detector, those up to the fourth draw, and its rows.
func TestWriteDraws(t *testing.T) {
	n := drawsCommitted
	if raceEnabled {
		n = 4
	}
	var b bytes.Buffer
	if err := WriteDraws(&b, n); err != nil {
		t.Fatal(err)
	}
	if *update && !raceEnabled {
		if err := os.WriteFile("multidist_draws.csv", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, want := b.Bytes(), drawsCSV
	if raceEnabled {
		_, got, _ = bytes.Cut(got, []byte("bayes_error\n"))
		_, want, _ = bytes.Cut(want, []byte("bayes_error\n"))
		want = want[:min(len(got), len(want))]
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the scan gives\n%s\nbut multidist_draws.csv has\n%s", got, want)
	}
}

func TestFigureDraw(t *testing.T) {
	got := FigureDraw()
	first20 := CalibratedDraws()[:20]
	if !slices.Contains(first20, got) {
		t.Errorf("%v is not among the first 20", got)
	}
	for _, d := range first20 {
		if math.Abs(d.BayesError-0.037) < math.Abs(got.BayesError-0.037) {
			t.Errorf("%v is nearer 3.7 %% than %v", d, got)
		}
	}
}

func TestSelectDraws(t *testing.T) {
	wide, scanned, err := SelectDraws(5, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if scanned != 5 {
		t.Errorf("%d seeds scanned for the first five", scanned)
	}
	for i, d := range wide {
		if d.Seed != uint64(i+1) || d.BayesError != BayesError(MultidistMeans(d.Seed), 0.04) {
			t.Errorf("draw %d is %v", i, d)
		}
	}
	if draws, scanned, err := SelectDraws(0, 0, 1); len(draws) != 0 || scanned != 0 || err != nil {
		t.Errorf("no draws asked for: %v, %d, %v", draws, scanned, err)
	}
	for _, tt := range []struct {
		n      int
		lo, hi float64
	}{{-1, 0, 1}, {1, 1, 0}, {1, math.NaN(), 1}} {
		if _, _, err := SelectDraws(tt.n, tt.lo, tt.hi); err == nil {
			t.Errorf("SelectDraws(%d, %v, %v): no error", tt.n, tt.lo, tt.hi)
		}
	}
}
