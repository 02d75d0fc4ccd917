package online

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	data "polkrepro/data/rows"
	"polkrepro/internal/hostile"
	"polkrepro/polk/prune"
)

// grown trains a model of as many elements as there are rows, a multiple of 32.
func grown(t testing.TB, rows int) *Model {
	t.Helper()
	set := Settings{Loss: "multi-logistic", Format: data.FormatCSV, Dim: 10, Labels: []string{"a", "b"}, Bandwidth: 0.1, Scale: data.ScaleNone,
		Pruner: prunerOrder, PrunerParams: prune.Params{"order": float64(rows)}}
	set, err := set.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	set.setRates(1)
	set.TargetFactor = 1
	m, err := newModel(set, data.Scaling{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(61, 0))
	for i := range rows {
		row := data.Row{Label: []string{"a", "b"}[i%2], Dim: set.Dim}
		for range set.Dim {
			row.Values = append(row.Values, float64(rng.Float32()))
		}
		if err := m.Learn(&row); err != nil {
			t.Fatal(err)
		}
	}
	if m.Order() != rows {
		t.Fatalf("model order %d", m.Order())
	}
	return m
}

// Reading a model learns nothing: the file holds the dictionary, the inverse, and none
// of the rows that were learned.
// For prediction, memory is that of the dictionary, not of the
// inverse. TestCheckLoading of cmd/runall measures times.
func TestReadingLearnsNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too; make test runs it without")
	}
	const order = 992
	m := grown(t, order)
	file := saved(t, m)
	state, err := m.learner.StateSize()
	if err != nil {
		t.Fatal(err)
	}
	if rest := len(file) - int(state); state < 4*order*order || rest > order*(4*10+2*8*2+4)+1000 {
		t.Errorf("a state of %d bytes, and %d of other things", state, rest)
	}
	hostile.AtMost(t, 2<<20, func() { // the dictionary
		if _, err := ReadForPrediction(bytes.NewReader(file)); err != nil {
			t.Error(err)
		}
	})
	hostile.AtMost(t, 9*len(file), func() {
		again, err := Read(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if again.learner.KernelEvals() != m.learner.KernelEvals() || again.learner.Health()["repairs"] != m.learner.Health()["repairs"] {
			t.Error("it has learned or factorized")
		}
	})
}

// A model that is read for prediction predicts what the one that was saved does,
// all its rows learned, and can do nothing else.
func TestReadForPrediction(t *testing.T) {
	pruners := map[string]Settings{
		"none":      {Pruner: "none"},
		"oldest":    {Pruner: "oldest", PrunerParams: prune.Params{"order": 7}},
		"komp-loss": {Pruner: "komp-loss", PrunerParams: prune.Params{"order": 7}},
	}
	for name := range labelsOf {
		for _, rows := range []int{64, 75} {
			pruners[name+strconv.Itoa(rows)] = Settings{}
		}
	}
	for name, set := range pruners {
		lossName, rows := "multi-hinge", 75
		if n := len(name) - 2; labelsOf[name[:n]] != nil || name[:n] == "squared-error" {
			lossName = name[:n]
			rows, _ = strconv.Atoi(name[n:])
		}
		opt := options(lossName, stream(table(rows, lossName, 31)))
		opt.Settings.Pruner, opt.Settings.PrunerParams = set.Pruner, set.PrunerParams
		m := mustTrain(t, opt)
		file := saved(t, m)
		again, err := ReadForPrediction(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		points := table(50, lossName, 32)
		if predictions(t, again, points) != predictions(t, m, points) || again.Order() != m.Order() || again.Rows() != m.Rows() {
			t.Errorf("%s: it predicts something else", name)
		}
		if err := again.Learn(&data.Row{Label: "elm", Dim: 2, Values: []float64{1, 2}}); err == nil {
			t.Errorf("%s: it learns", name)
		}
		if err := again.Save(new(bytes.Buffer)); err == nil {
			t.Errorf("%s: it is saved", name)
		}
		opt.Source, opt.Resume = stream(table(rows, lossName, 31)), again
		if _, err := Train(context.Background(), opt); err == nil || !strings.HasPrefix(err.Error(), "online: ") {
			t.Errorf("%s: it is trained: %v", name, err)
		}
	}
}

// A model that is saved before its training has ended predicts as of its last
// whole mini-batch.
func TestPredictionBeforeTheEnd(t *testing.T) {
	rows := table(1090, "multi-hinge", 33)
	opt := options("multi-hinge", stream(rows))
	var early []byte
	opt.SaveEvery = 1073 // 33 mini-batches and 17 rows
	opt.Save = func(m *Model) error {
		early = saved(t, m)
		return nil
	}
	mustTrain(t, opt)
	m, err := ReadForPrediction(bytes.NewReader(early))
	if err != nil {
		t.Fatal(err)
	}
	opt = options("multi-hinge", stream(rows[:33*32]))
	if predictions(t, m, rows) != predictions(t, mustTrain(t, opt), rows) || m.Rows() != 1073 {
		t.Error("it predicts something else")
	}
}

// What training goes on from is in the file even if the last rows, which did not
// fill their mini-batch, took elements out of the dictionary.
func TestElementsThatWereRemoved(t *testing.T) {
	rows := table(32*20+9, "multi-hinge", 34)
	opt := options("multi-hinge", stream(rows[:]))
	opt.Settings.Pruner, opt.Settings.PrunerParams = "oldest", prune.Params{"order": 12}
	m := mustTrain(t, opt)
	if len(m.before.missing) == 0 || len(m.before.missing) == 12*2 {
		t.Fatalf("%d of 24 features of the elements before are elsewhere", len(m.before.missing))
	}
	again := reread(t, m)
	if err := again.Finish(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(saved(t, again), saved(t, m)) {
		t.Error("read and finished, it is another one")
	}
}

// An element that training goes on from is in a file once: many times the same
// long one would make much of a small file.
func TestElementTwice(t *testing.T) {
	m := mustTrain(t, options("multi-hinge", stream(table(64, "multi-hinge", 35))))
	p, err := m.present()
	if err != nil {
		t.Fatal(err)
	}
	file := saved(t, m)
	at := len(file) - 32 - int(p.size) - 8 - 8*len(p.w) - 4*len(p.places)
	for j := range p.places {
		if file[at+4*j] != byte(j) {
			t.Fatalf("place %d is %d", j, file[at+4*j])
		}
	}
	for _, place := range []byte{0, byte(len(p.places)), 255} {
		bad := slices.Clone(file[:len(file)-32])
		bad[at+4] = place // of the second
		if _, err := Read(bytes.NewReader(withChecksum(bad))); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "an element at place") {
			t.Errorf("place %d: %v", place, err)
		}
	}
}

// A header that counts other rows than the learner has taken, or has a key twice, is an
// error: going on, the count would overflow and the file could not be read again.
func TestForgedHeader(t *testing.T) {
	m := mustTrain(t, options("multi-hinge", stream(table(75, "multi-hinge", 36))))
	header, payload := hostile.Parts(saved(t, m))
	for _, rows := range []string{"74", "107", "0", "-1", "9223372036854775807", "9223372036854775808", "1e300", "9007199254740993", "75,\"rows\":75", "75,\"Rows\":76"} {
		forged := strings.Replace(header, `"rows":75`, `"rows":`+rows, 1)
		if _, err := Read(bytes.NewReader(hostile.Seal(string(magic[:]), forged, payload))); !errors.Is(err, ErrFormat) {
			t.Errorf("rows %s: %v", rows, err)
		}
	}
	if _, err := Read(bytes.NewReader(hostile.Seal(string(magic[:]), header, payload))); err != nil {
		t.Error(err)
	}
}

// A pruner may keep more than the file's header has room for.
func TestPrunerThatKeepsMuch(t *testing.T) {
	if raceEnabled {
		t.Skip("arithmetic alone; make test runs it without the race detector")
	}
	const dim = 4096
	rng := rand.New(rand.NewPCG(27, 0))
	var rows []string
	for range 100 {
		var row strings.Builder
		row.WriteString(strconv.Itoa(rng.IntN(2)))
		for q := range dim {
			row.WriteString(" " + strconv.Itoa(q+1) + ":" + text(rng.Float32()))
		}
		rows = append(rows, row.String())
	}
	opt := options("multi-hinge", stream(rows))
	opt.Settings = Settings{Loss: "multi-hinge", Format: data.FormatLIBSVM, Dim: dim, Labels: []string{"0", "1"}, Bandwidth: 100, Scale: data.ScaleNone,
		Pruner: "komp-loss", PrunerParams: prune.Params{"order": 4}}
	whole := mustTrain(t, opt)
	opt.Source = stream(rows[:70])
	half := mustTrain(t, opt)
	if size := len(saved(t, half)); size < 1<<19 {
		t.Fatalf("%d bytes", size)
	}
	opt.Source, opt.Resume = stream(rows[70:]), reread(t, half)
	if m := mustTrain(t, opt); !bytes.Equal(saved(t, m), saved(t, whole)) {
		t.Error("saved in between, it is another model")
	}
}

// parts takes a file apart before the learner's state, whose header and numbers it
// returns too.
func parts(t testing.TB, file []byte, m *Model) (before []byte, header string, payload []byte) {
	t.Helper()
	size, err := m.learner.StateSize()
	if err != nil {
		t.Fatal(err)
	}
	at := len(file) - 32 - int(size)
	header, payload = hostile.Parts(file[at : len(file)-32])
	return file[:at-8], header, payload
}

// FuzzReadState: whatever the state of a learner in a file holds, under checksums
// that fit, Read returns an error or a model that learns, predicts and is saved;
// for prediction the file is read as if it were good.
func FuzzReadState(f *testing.F) {
	sets := []Settings{{}, {Pruner: "komp-loss", PrunerParams: prune.Params{"order": 5}}, {Pruner: "oldest", PrunerParams: prune.Params{"order": 5}}}
	rows := table(64, "multi-logistic", 3)
	var before [][]byte
	for i, set := range sets {
		opt := options("multi-logistic", stream(rows))
		opt.Settings.Pruner, opt.Settings.PrunerParams = set.Pruner, set.PrunerParams
		m := mustTrain(f, opt)
		start, header, payload := parts(f, saved(f, m), m)
		before = append(before, start)
		f.Add(uint8(i), header, payload)
		for at := 0; at < len(payload); at += 1 + len(payload)/4 {
			bad := slices.Clone(payload)
			bad[at] ^= 0x3f
			f.Add(uint8(i), header, bad)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, header string, payload []byte) {
		state := hostile.Seal("POLKSTA\x01", header, payload)
		b := slices.Clone(before[int(kind)%len(before)])
		for i := range 8 {
			b = append(b, byte(len(state)>>(8*i)))
		}
		b = withChecksum(append(b, state...))
		if m, err := ReadForPrediction(bytes.NewReader(b)); err != nil || m.Rows() != 64 {
			t.Errorf("for prediction: %v", err)
		}
		var m *Model
		var err error
		hostile.AtMost(t, 20*len(b)+8<<20, func() { m, err = Read(bytes.NewReader(b)) })
		if err != nil {
			return
		}
		opt := options("multi-logistic", stream(rows))
		opt.Resume = m
		if m, _ = Train(context.Background(), opt); m == nil {
			return
		}
		again := reread(t, m)
		if again.Rows() != m.Rows() || again.Order() < 0 {
			t.Errorf("%d rows, then %d", m.Rows(), again.Rows())
		}
		m.Predict(context.Background(), stream(rows), data.FormatCSV, false, new(bytes.Buffer))
	})
}
