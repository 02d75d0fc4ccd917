package online

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"polkrepro/data/rows"
	"polkrepro/internal/testutil"
	"polkrepro/loss"
	"polkrepro/polk/prune"
)

// spirals returns n rows of a CSV file with the label last: two arms of three
// half turns.
func spirals(n int, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 5))
	rows := make([]string, n)
	for i := range rows {
		class := rng.IntN(2)
		t := 3 * math.Pi * math.Sqrt(0.02+0.98*rng.Float64())
		a := t + math.Pi*float64(class)
		rows[i] = fmt.Sprintf("%.4f,%.4f,%s", t*math.Cos(a)+0.2*rng.NormFloat64(), t*math.Sin(a)+0.2*rng.NormFloat64(), []string{"in", "out"}[class])
	}
	return rows
}

// prototypes returns n rows of 64 features, each one of ten patterns with noise,
// and the number of the pattern.
func prototypes(n int, seed uint64) []string {
	patterns := rand.New(rand.NewPCG(1, 6))
	var p [10][64]float64
	for c := range p {
		for q := range p[c] {
			p[c][q] = float64(16 * patterns.IntN(2))
		}
	}
	rng := rand.New(rand.NewPCG(seed, 6))
	rows := make([]string, n)
	for i := range rows {
		var b strings.Builder
		class := rng.IntN(10)
		for _, v := range p[class] {
			fmt.Fprintf(&b, "%.2f,", v+6*rng.NormFloat64())
		}
		rows[i] = fmt.Sprint(b.String(), class)
	}
	return rows
}

// file returns a CSV file of rows as a source.
func file(t testing.TB, rows []string) Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	write(t, path, []byte(strings.Join(rows, "\n")))
	return Source{Path: path}
}

// tuning returns options that set only the loss and the label's column.
func tuning(name string, src Source) TrainOptions {
	return TrainOptions{Source: src, Tune: true, Settings: Settings{Loss: name, Format: rows.FormatCSV, LabelColumn: -1}}
}

func evaluation(t testing.TB, m *Model, lines []string) *Evaluation {
	t.Helper()
	e, err := m.Evaluate(context.Background(), stream(lines), rows.FormatCSV)
	testutil.NoError(t, err)
	return e
}

// Without settings, models learn from files and streams, and their order is bounded.
func TestTunedModelsLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: TestTuningIsDeterministic has the goroutines, and the race detector makes it a minute")
	}
	tests := []struct {
		name        string
		train, test []string
	}{
		{"prototypes", prototypes(600, 1), prototypes(500, 2)},
		{"sorted spirals", slices.SortedFunc(slices.Values(spirals(1000, 1)), byLabel), spirals(1000, 2)},
	}
	for _, tt := range tests {
		m := mustTrain(t, tuning("multi-hinge", file(t, tt.train)))
		if e := evaluation(t, m, tt.test); !(e.Error <= 0.05) {
			t.Errorf("%s: error %.2f %%, want at most 5 %%", tt.name, 100*e.Error)
		}
		if set := m.Settings(); set.PrunerParams["order"] == 0 {
			t.Errorf("%s: nothing bounds the model order", tt.name)
		}
	}
	m := mustTrain(t, tuning("multi-hinge", stream(spirals(4000, 1))))
	if e := evaluation(t, m, spirals(1000, 2)); !(e.Error <= 0.1) {
		t.Errorf("a stream of spirals: error %.2f %%", 100*e.Error)
	}
}

func byLabel(a, b string) int {
	return strings.Compare(a[strings.LastIndexByte(a, ','):], b[strings.LastIndexByte(b, ','):])
}

// Every loss learns the tables, from a stream with fixed defaults and tuned on a file.
func TestLosses(t *testing.T) {
	for name := range labelsOf {
		for _, k := range []struct {
			Settings
			tune        bool
			most, least float64 // error, or R²
		}{
			{Settings{Bandwidth: 0.2, Parsimony: 0.01}, false, 0.1, 0.8},
			{Settings{}, true, 0.12, 0.9},
		} {
			if testing.Short() && k.tune { // arithmetic alone, and the race detector makes it a minute
				continue
			}
			opt := options(name, stream(table(3000, name, 7)))
			if k.tune {
				opt = tuning(name, file(t, table(120, name, 7)))
				opt.Tolerance = -1 // with 120 rows, a limited order has at most seven elements
			}
			given := opt.Settings
			opt.Settings = k.Settings
			opt.Settings.Loss, opt.Settings.Format, opt.Settings.LabelColumn = name, given.Format, given.LabelColumn
			e := evaluation(t, mustTrain(t, opt), table(700, name, 8))
			if labelsOf[name] == nil && !(float64(e.R2) > k.least) || labelsOf[name] != nil && !(float64(e.Error) < k.most) {
				t.Errorf("%s, %+v: %+v, %+v", name, k, e.Classification, e.Regression)
			}
		}
	}
}

// The model depends only on the rows, not on the number of threads, and is the same the second
// time.
func TestTuningIsDeterministic(t *testing.T) {
	src := file(t, spirals(400, 3))
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	want := saved(t, mustTrain(t, tuning("multi-hinge", src)))
	for _, threads := range []int{1, 2} {
		runtime.GOMAXPROCS(threads)
		if !bytes.Equal(saved(t, mustTrain(t, tuning("multi-hinge", src))), want) {
			t.Errorf("another model with %d threads", threads)
		}
	}
}

// A function so smooth that its kernel matrix soon runs out of rank is learned with few elements,
// however many are allowed.
func TestSmoothFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone, and the race detector makes it a minute")
	}
	rng := rand.New(rand.NewPCG(12, 0))
	lines := make([]string, 2500)
	for i := range lines {
		x, y := 4*rng.Float64(), 4*rng.Float64()
		lines[i] = fmt.Sprintf("%.4f,%.4f,%.4f", x, y, y*math.Sin(x))
	}
	opt := tuning("squared-error", file(t, lines[:2100]))
	opt.Epochs, opt.Settings.Bandwidth, opt.Settings.Scale, opt.Tolerance = 3, 1, rows.ScaleStandard, -1
	m := mustTrain(t, opt)
	if e := evaluation(t, m, lines[2100:]); !(e.R2 > 0.98) || m.Order() > 200 || !m.Settings().Exact {
		t.Errorf("order %d: %+v, %+v", m.Order(), *e.Regression, m.Settings())
	}
}

// Tuning does not change given settings.
func TestGivenSettingsStay(t *testing.T) {
	opt := tuning("multi-hinge", file(t, spirals(200, 6)))
	set := &opt.Settings
	set.Scale, set.Bandwidth, set.LearningRate, set.Batch = rows.ScaleNone, 0.7, 3, 16
	set.Pruner, set.PrunerParams, opt.Epochs = "komp-order", prune.Params{"order": 12}, 2
	m := mustTrain(t, opt)
	got := m.Settings()
	if got.Scale != rows.ScaleNone || got.Bandwidth != 0.7 || got.LearningRate != 3 || got.DecaySteps != 0 || got.Batch != 16 ||
		got.Pruner != "komp-order" || m.Order() > 12 || m.Rows() != 400 {
		t.Errorf("%d rows, order %d, %+v", m.Rows(), m.Order(), got)
	}
}

// Tuning chooses the smallest order within the tolerance, here the one halfway between the last
// two, and the model file keeps the trade-off. A negative tolerance allows any size, and a given
// order is used.
func TestTradeOff(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: TestTuningIsDeterministic has the goroutines")
	}
	opt := tuning("multi-hinge", file(t, spirals(600, 6)))
	m := mustTrain(t, opt)
	lines := reread(t, m).Settings().TradeOff
	var orders []int
	for _, l := range lines {
		orders = append(orders, l.Order)
	}
	limit := lines[len(lines)-1].Error + DefaultTolerance
	if want := []int{4, 8, 12, 16, 32, 57}; !slices.Equal(orders, want) || m.Order() != 12 || !lines[2].Chosen || lines[2].Numbers != 4*12 ||
		lines[1].Error <= limit || lines[2].Error > limit {
		t.Errorf("order %d, %+v, want orders %d", m.Order(), lines, want)
	}
	if set := m.Settings(); set.Pruner != prunerMerge || set.FixedTo == 0 {
		t.Errorf("%+v", set)
	}
	opt.Tolerance = -1
	if set := mustTrain(t, opt).Settings(); set.Pruner != prunerMerging || set.TradeOff != nil {
		t.Errorf("any size: %+v", set)
	}
	opt.Order = 7
	if m = mustTrain(t, opt); m.Order() != 7 || m.Settings().Pruner != prunerMerge {
		t.Errorf("order 7: %d, %+v", m.Order(), m.Settings())
	}
}

// An order that gives up a rare class is not good enough, however little the error shows of it.
func TestGivesUp(t *testing.T) {
	score := func(common, rare int) *heldOut { // of 1,000 rows of a common class, and 12 of a rare one
		h := new(heldOut)
		for i := range 1012 {
			class, right := int32(0), i < common
			if i >= 1000 {
				class, right = 1, i-1000 < rare
			}
			h.class, h.right = append(h.class, class), append(h.right, right)
		}
		return h
	}
	for _, tt := range []struct {
		common, rare int // predicted rightly, of what the best predicts rightly: 1,000 and 12
		want         bool
	}{
		{1000, 12, false}, {995, 10, false}, {1000, 9, false}, {1000, 8, true}, {1000, 0, true}, {910, 12, false}, {890, 12, true},
	} {
		if got := givesUp(score(tt.common, tt.rare), score(1000, 12)); got != tt.want {
			t.Errorf("%d and %d right: %v", tt.common, tt.rare, got)
		}
	}
	if givesUp(score(1000, 0), score(1000, 1)) || !givesUp(score(1000, 0), score(1000, 2)) {
		t.Error("a class that is never predicted rightly")
	}
}

// More classes than orders are tried of a small file.
func TestTradeOffOfManyClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone, and the race detector makes it two minutes")
	}
	rng := rand.New(rand.NewPCG(26, 1))
	var rows []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf("%.3f,%.3f,%c", rng.NormFloat64()+float64(i%26%5), rng.NormFloat64()+float64(i%26/5), 'a'+rune(i%26)))
	}
	opt := tuning("multi-hinge", file(t, rows))
	opt.Settings.Bandwidth, opt.Settings.LearningRate = 0.2, 2 // to be quick
	if lines := mustTrain(t, opt).Settings().TradeOff; len(lines) < 2 {
		t.Errorf("%+v", lines)
	}
}

// For tuning, rows of many features are rotated to as many features as there are rows, with the
// same inner products.
func TestRotated(t *testing.T) {
	const n, dim = 12, 300
	rng := rand.New(rand.NewPCG(3, 1))
	x := make([]float32, n*dim)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	copy(x[3*dim:4*dim], x[:dim]) // a duplicate row
	y := rotated(x, n, dim)
	dot := func(a, b []float32) (s float64) {
		for i, v := range a {
			s += float64(v) * float64(b[i])
		}
		return s
	}
	for i := range n {
		for j := range n {
			if got, want := dot(y[i*n:(i+1)*n], y[j*n:(j+1)*n]), dot(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim]); !(math.Abs(got-want) <= 1e-3*dim) {
				t.Errorf("rows %d and %d: %v, want %v", i, j, got, want)
			}
		}
	}
}

// noted collects the notes of training.
func noted(opt *TrainOptions) *strings.Builder {
	b := new(strings.Builder)
	opt.Note = func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	return b
}

// Training warns of rows sorted by class if it learns them in their order, but not of a random
// order or a file that is shuffled.
func TestSortedRowsAreWarnedOf(t *testing.T) {
	mixed := spirals(400, 9)
	sorted := slices.SortedFunc(slices.Values(mixed), byLabel)
	for _, tt := range []struct {
		name string
		rows []string
		tune bool
		want bool
	}{
		{"sorted, as it stands", sorted, false, true},
		{"mixed, as it stands", mixed, false, false},
		{"sorted and shuffled", sorted, true, false},
	} {
		opt := options("multi-hinge", file(t, tt.rows))
		opt.Tune = tt.tune
		notes := noted(&opt)
		mustTrain(t, opt)
		if got := strings.Contains(notes.String(), "sorted by class"); got != tt.want {
			t.Errorf("%s: warned %v\n%s", tt.name, got, notes)
		}
	}
}

// A shuffler returns every row once, in an order that depends on the pass and the block.
func TestShuffler(t *testing.T) {
	input := spirals(250, 10)
	src := file(t, input)
	lines := func(pass, size int, kept []rows.Row) (all []int, s *shuffler) {
		f := src.open(rows.Options{Format: rows.FormatCSV, Label: rows.Column{Number: -1}})
		defer f.close()
		s = &shuffler{pass: pass, kept: kept, read: newFingerprint()}
		for {
			row, err := s.next(context.Background(), f, size)
			if err == io.EOF {
				return all, s
			}
			testutil.NoError(t, err)
			all = append(all, row.Line)
		}
	}
	first, s := lines(0, 1000, nil)
	again, _ := lines(0, 1000, nil)
	held, _ := lines(0, 1000, s.kept)
	second, _ := lines(1, 1000, s.kept)
	blocks, b := lines(0, 100, nil)
	if !slices.Equal(first, again) || !slices.Equal(first, held) || slices.Equal(first, second) || slices.IsSorted(first) {
		t.Error("not the order of the pass")
	}
	if len(s.kept) != len(input) || b.kept != nil || slices.Max(blocks[:100]) != 100 || slices.IsSorted(blocks[:100]) {
		t.Errorf("%d rows kept, %d of blocks", len(s.kept), len(b.kept))
	}
	for _, order := range [][]int{first, second, blocks} {
		sorted := slices.Sorted(slices.Values(order))
		if len(sorted) != len(input) || sorted[0] != 1 || sorted[len(input)-1] != len(input) || len(slices.Compact(sorted)) != len(input) {
			t.Error("not every row once")
		}
	}
}

// All rows are equally likely to be in a sample.
func TestSample(t *testing.T) {
	const size = sampleRows + judgedRows + orderRows
	s := survey{draw: newDraw(), dim: 3}
	for s.rows = 1; s.rows <= 5*size; s.rows++ {
		s.sample(&rows.Row{Line: s.rows})
	}
	var mean float64
	for _, r := range s.head {
		mean += float64(r.Line) / float64(len(s.head))
	}
	if want := 2.5 * size; len(s.head) != size || !(math.Abs(mean-want) <= 0.05*want) {
		t.Errorf("%d rows, their mean position %v, want %v", len(s.head), mean, want)
	}
}

// The rate falls in a straight line, and stays positive beyond the last step.
func TestCooldown(t *testing.T) {
	c := cooldown{8, 4}
	for i, want := range []float64{8, 6, 4, 2, 0.5, 0.5} {
		if got := c.Rate(i); got != want {
			t.Errorf("step %d: %v, want %v", i, got, want)
		}
	}
}

// A candidate is better only by more than chance.
func TestBetter(t *testing.T) {
	errs, risks := &tuner{loss: loss.MultiHinge{}}, &tuner{loss: loss.MultiLogistic{}}
	wrong := func(n int) *heldOut {
		return &heldOut{each: append(slices.Repeat([]float64{1}, n), make([]float64, 200-n)...), weight: slices.Repeat([]float64{1}, 200)}
	}
	if errs.better(wrong(95), wrong(100)) || !errs.better(wrong(94), wrong(100)) {
		t.Error("errors")
	}
	if risks.better(&heldOut{loss: 99}, &heldOut{loss: 100}) || !risks.better(&heldOut{loss: 97}, &heldOut{loss: 100}) {
		t.Error("risks")
	}
}
