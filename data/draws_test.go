package data

import (
	"bytes"
	"math"
	"testing"

	"polkrepro/internal/race"
	"polkrepro/internal/testutil"
)

// TestWriteDraws scans the seeds again and compares the table with the embedded table, byte
// for byte. Under the race detector it takes too long.
func TestWriteDraws(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine")
	}
	var b bytes.Buffer
	testutil.NoError(t, WriteDraws(&b))
	if b.String() != drawsCSV {
		t.Errorf("the scan gives\n%s\nbut multidist_draws.csv has\n%s", &b, drawsCSV)
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
