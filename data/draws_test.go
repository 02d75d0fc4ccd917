package data

import (
	"bytes"
	"math"
	"os"
	"testing"

	"polkrepro/internal/golden"
	"polkrepro/internal/race"
	"polkrepro/internal/testutil"
)

// drawsCommitted is the number of draws in the embedded table.
const drawsCommitted = 24

// TestWriteDraws scans the seeds again and compares the table with the embedded table, byte
// for byte. Under the race detector it scans only up to the fourth draw and compares only
// the rows.
func TestWriteDraws(t *testing.T) {
	n := drawsCommitted
	if race.Enabled {
		n = 4
	}
	var b bytes.Buffer
	testutil.NoError(t, WriteDraws(&b, n))
	if *golden.Update && !race.Enabled {
		testutil.NoError(t, os.WriteFile("multidist_draws.csv", b.Bytes(), 0o644))
		return
	}
	got, want := b.Bytes(), []byte(drawsCSV)
	if race.Enabled {
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
	for _, d := range first20 {
		if !(math.Abs(d.BayesError-0.037) >= math.Abs(got.BayesError-0.037)) {
			t.Errorf("%v is nearer 3.7 %% than %v", d, got)
		}
	}
}
