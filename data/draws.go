package data

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
)

//go:embed multidist_draws.csv
var drawsCSV string

// Selection of the calibrated variant's draws: the first of the seeds 1, 2, 3, …
// whose Bayes error lies in [DrawsLow, DrawsHigh]. The paper's best methods have
// error rates of 3.92 to 4.08 %. No algorithm is run to select a draw.
const (
	DrawsLow  = 0.034
	DrawsHigh = 0.040

	figureAmong = 20    // the experiments use this many draws, from the first on
	figureError = 0.037 // the figure draw's Bayes error is nearest to this

	// selectDraws first integrates on a grid of coarseStep standard deviations, and
	// on the fine grid only if the coarse result is within coarseMargin of the
	// interval. The margin is more than seven times the coarse grid's worst error there.
	coarseStep   = 1.0 / 4
	coarseMargin = 0.01
)

// A Draw is a seed of multidist and the Bayes error of its means.
type Draw struct {
	Seed       uint64  `json:"draw"`
	BayesError float64 `json:"bayes_error"`
}

// selectDraws scans the seeds 1, 2, 3, … of multidist's calibrated variant and
// returns the first n whose Bayes error lies in [DrawsLow, DrawsHigh], in order of
// the seeds. It runs no algorithm.
func selectDraws(n int) (draws []Draw) {
	within := func(e, margin float64) bool { return DrawsLow-margin <= e && e <= DrawsHigh+margin }
	for seed := uint64(1); len(draws) < n; seed++ {
		means := MultidistMeans(seed)
		if !within(bayesError(means, calibratedVariance, coarseStep), coarseMargin) {
			continue
		}
		if e := bayesError(means, calibratedVariance, bayesStep); within(e, 0) {
			draws = append(draws, Draw{seed, e})
		}
	}
	return draws
}

// WriteDraws selects as many draws as the embedded table has and writes them as a CSV table:
// byte for byte, the embedded one.
func WriteDraws(w io.Writer) error {
	n := len(committed())
	draws := selectDraws(n)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# multidist, variant %s: the first %d of the seeds 1, 2, 3, … whose Bayes error\n", Calibrated, n)
	fmt.Fprintf(&b, "# lies in [%.3f, %.3f]; %d seeds scanned. Written by 'runall data draws'.\n", DrawsLow, DrawsHigh, draws[n-1].Seed)
	fmt.Fprintln(&b, "draw,bayes_error")
	for _, d := range draws {
		fmt.Fprintf(&b, "%d,%.6f\n", d.Seed, d.BayesError)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// committed parses the embedded table.
var committed = sync.OnceValue(func() []Draw {
	var draws []Draw
	for line := range strings.Lines(drawsCSV) {
		var d Draw
		if _, err := fmt.Sscanf(line, "%d,%f", &d.Seed, &d.BayesError); err == nil { // comments and the header don't parse
			draws = append(draws, d)
		}
	}
	return draws
})

// CalibratedDraws returns the committed table of draws for multidist's
// calibrated variant: the first 24 seeds whose Bayes error, given to six
// decimals, lies in [DrawsLow, DrawsHigh].
func CalibratedDraws() []Draw { return slices.Clone(committed()) }

// FigureDraw returns the draw that figures show: of the first 20 committed draws,
// the one whose Bayes error is nearest 3.7 %.
func FigureDraw() Draw {
	draws := committed()
	draws = draws[:min(figureAmong, len(draws))]
	return slices.MinFunc(draws, func(a, b Draw) int {
		return cmp.Compare(math.Abs(a.BayesError-figureError), math.Abs(b.BayesError-figureError))
	})
}
