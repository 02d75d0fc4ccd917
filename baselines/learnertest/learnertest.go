// Package learnertest is a suite of tests that every learner of the project must pass, whatever
// its objective and algorithm. The tests check that the seed determines a run and the number of
// threads does not; that class names and the order of features do not matter; that training sets
// of one class, of one sample or with duplicates work; and that a saved model equals the
// original.
package learnertest

import (
	"bytes"
	"io"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// A Task is a training set with the seed and the number of threads of a run.
type Task struct {
	Seed    uint64 // seed of the learner's random numbers
	Threads int
	Classes int
	N, Dim  int
	X       []float32 // N×Dim, row-major
	Y       []float64 // class indices 0 … Classes−1
}

// A Model is the result of Fit. Scores returns the numbers from which predictions are made, the
// same number of them for every point.
type Model struct {
	Order   int
	Scores  func(n int, x []float32, threads int) []float64
	Predict func(n int, x []float32) []float64
	Save    func(io.Writer) error // nil if it has no saved form
}

// A Learner is a learner under test.
type Learner struct {
	Fit  func(Task) (*Model, error)
	Load func(io.Reader) (*Model, error) // reads what Model.Save wrote

	Seeded     bool // it draws random numbers: another seed gives another model
	TwoClasses bool // it fails unless two classes occur in training
}

// Run tests a learner.
func Run(t *testing.T, l Learner) {
	for name, test := range map[string]func(*testing.T, Learner){
		"seed":              testSeed,
		"threads":           testThreads,
		"caller's thread":   testCallersThread,
		"order of features": testOrderOfFeatures,
		"names of classes":  testNamesOfClasses,
		"one class":         testOneClass,
		"one sample":        testOneSample,
		"duplicates":        testDuplicates,
		"save and load":     testSaveAndLoad,
	} {
		t.Run(name, func(t *testing.T) { test(t, l) })
	}
}

func fit(t *testing.T, l Learner, task Task) *Model {
	t.Helper()
	m, err := l.Fit(task)
	testutil.NoError(t, err)
	return m
}

// tellsApart fails unless a learner trained on train predicts the class of every sample of test.
// The classes must be well apart.
func tellsApart(t *testing.T, l Learner, train, test Task) {
	t.Helper()
	if !slices.Equal(fit(t, l, train).Predict(test.N, test.X), test.Y) {
		t.Fatal("wrong predictions on well-separated classes")
	}
}

// sameBits fails unless two models have the same scores at the points of s.
func sameBits(t *testing.T, a, b *Model, s Task) {
	t.Helper()
	if a.Order != b.Order {
		t.Errorf("model orders %d and %d", a.Order, b.Order)
	}
	if !slices.Equal(a.Scores(s.N, s.X, 1), b.Scores(s.N, s.X, 1)) {
		t.Error("scores differ")
	}
}

// testSeed: the same seed gives the same model. Another seed gives another model if the learner
// draws random numbers, and otherwise the same model.
func testSeed(t *testing.T, l Learner) {
	s := overlapping(1, 300)
	first := fit(t, l, s)
	sameBits(t, first, fit(t, l, s), s)
	s.Seed++
	other := fit(t, l, s)
	if same := slices.Equal(first.Scores(s.N, s.X, 1), other.Scores(s.N, s.X, 1)); same == l.Seeded {
		t.Errorf("different seeds give the same model: %v", same)
	}
}

// testThreads: neither the model nor its scores depend on the number of
// threads.
func testThreads(t *testing.T, l Learner) {
	s := overlapping(2, 1100) // more samples than one thread works on at a time
	one := fit(t, l, s)
	s.Threads = 2
	sameBits(t, one, fit(t, l, s), s)
	if !slices.Equal(one.Scores(s.N, s.X, 1), one.Scores(s.N, s.X, 2)) {
		t.Error("scores depend on the threads that compute them")
	}
}

// testCallersThread: with one thread, training starts no goroutine, so that a clock of the
// caller's thread measures all of it. The runtime starts goroutines of its own now and then,
// hence the minimum of a few runs.
func testCallersThread(t *testing.T, l Learner) {
	created := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	s := separated(3)
	least := uint64(1)
	for i := 0; i < 5 && least > 0; i++ {
		runtime.GC()
		metrics.Read(created)
		before := created[0].Value.Uint64()
		fit(t, l, s)
		metrics.Read(created)
		least = min(least, created[0].Value.Uint64()-before)
	}
	if least > 0 {
		t.Error("training with one thread starts goroutines")
	}
}

// testOrderOfFeatures: on classes that are well apart, permuted features lead
// to the same predictions.
func testOrderOfFeatures(t *testing.T, l Learner) {
	train, test := separated(4), separated(5)
	tellsApart(t, l, train, test)
	tellsApart(t, l, train.rotated(), test.rotated())
}

// testNamesOfClasses: on classes that are well apart, renaming the classes renames the
// predictions.
func testNamesOfClasses(t *testing.T, l Learner) {
	train, test := separated(6), separated(7)
	tellsApart(t, l, train, test)
	rename := []float64{2, 0, 1}
	for _, labels := range [][]float64{train.Y, test.Y} {
		for i, y := range labels {
			labels[i] = rename[int(y)]
		}
	}
	tellsApart(t, l, train, test)
}

// testOneClass: if only one class occurs, it is always predicted, or training fails with an error
// about classes.
func testOneClass(t *testing.T, l Learner) {
	s := separated(8)
	for i := range s.Y {
		s.Y[i] = 1
	}
	predictsOnly(t, l, s)
}

// testOneSample: a training set may consist of a single sample.
func testOneSample(t *testing.T, l Learner) {
	s := separated(9)
	s.N, s.X, s.Y = 1, s.X[:s.Dim], []float64{1}
	predictsOnly(t, l, s)
}

// predictsOnly fails unless class 1, the only one in s, is predicted for the
// points of s.
func predictsOnly(t *testing.T, l Learner, s Task) {
	t.Helper()
	m, err := l.Fit(s)
	if l.TwoClasses {
		if err == nil || !strings.Contains(err.Error(), "class") {
			t.Errorf("a training set of one class: %v", err)
		}
		return
	}
	testutil.NoError(t, err)
	for i, y := range m.Predict(s.N, s.X) {
		if y != 1 {
			t.Fatalf("point %d: predicted %v", i, y)
		}
	}
}

// testDuplicates: samples that occur several times, some under two labels,
// leave the scores finite and the predictions right.
func testDuplicates(t *testing.T, l Learner) {
	s, test := separated(10), separated(11)
	const distinct, wrong = 20, 2
	for i := distinct; i < s.N; i++ {
		copy(s.X[i*s.Dim:(i+1)*s.Dim], s.X[i%distinct*s.Dim:])
		s.Y[i] = s.Y[i%distinct]
	}
	for i := range wrong {
		s.Y[i] = float64(int(s.Y[i]+1) % s.Classes)
	}
	m := fit(t, l, s)
	if m.Order < 1 {
		t.Errorf("model order %d", m.Order)
	}
	if scores := m.Scores(test.N, test.X, 1); slices.ContainsFunc(scores, func(v float64) bool { return v-v != 0 }) {
		t.Fatalf("scores %v", scores) // NaN or ±Inf among them
	}
	if !slices.Equal(m.Predict(test.N, test.X), test.Y) {
		t.Error("wrong predictions on well-separated classes")
	}
}

// testSaveAndLoad: a model that was saved and loaded has bit-identical scores and the same
// predictions, and half a file fails to load.
func testSaveAndLoad(t *testing.T, l Learner) {
	s := overlapping(12, 300)
	m := fit(t, l, s)
	if m.Save == nil {
		return
	}
	var b bytes.Buffer
	testutil.NoError(t, m.Save(&b))
	file := b.Bytes()
	read, err := l.Load(bytes.NewReader(file))
	testutil.NoError(t, err)
	sameBits(t, m, read, s)
	if !slices.Equal(m.Predict(s.N, s.X), read.Predict(s.N, s.X)) {
		t.Error("predictions differ")
	}
	if _, err := l.Load(bytes.NewReader(file[:len(file)/2])); err == nil {
		t.Error("half a file was loaded")
	}
}
