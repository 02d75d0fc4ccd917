//go:build check

package online

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
)

// TestCheckSeries trains on the series of the Kernel Adaptive Filtering Toolbox as streams, of which
// each row has the latest values, zeros before the first, and the next. After the first 1,000 values
// the error is at most 1 dB above that of the toolbox's KRLS, with no more elements (TestCheckSeries
// of package krls has its numbers).
func TestCheckSeries(t *testing.T) {
	for _, tt := range []struct {
		file   string
		latest int
		want   float64 // mean squared error in dB
		most   int     // elements
	}{
		{"lorenz.dat", 6, -40.17, 32},
		{"mg30.dat", 11, -45.61, 306},
	} {
		text, err := os.ReadFile(filepath.Join(os.Getenv(data.EnvDir), "kaf", tt.file))
		testutil.Need(t, err)
		values := strings.Fields(string(text))
		row, lines := make([]string, tt.latest), make([]string, 0, len(values))
		for i := range row {
			row[i] = "0"
		}
		for i, next := range values[1:] {
			row = append([]string{values[i]}, row[:tt.latest-1]...)
			lines = append(lines, strings.Join(row, ",")+","+next)
		}
		opt := tuning("squared-error", stream(lines))
		opt.Order = tt.most
		var squares float64
		var n int
		opt.Progress = func(m *Model, p Progress) {
			if m.Rows() > 1000 {
				squares, n = squares+p.Squares, n+p.Rows
			}
		}
		m := mustTrain(t, opt)
		db := 10 * math.Log10(squares/float64(n))
		words := fmt.Sprintf("%s: %.2f dB over %d values with %d elements", tt.file, db, n, m.Order())
		t.Log(words)
		if !(db <= tt.want+1) || m.Order() > tt.most || n != len(values)-1001 {
			t.Errorf("%s, want %.2f with %d", words, tt.want, tt.most)
		}
	}
}
