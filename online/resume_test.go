package online

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/data/rows"
	"polkrepro/polk/prune"
)

// A stream in two parts gives the model of the whole stream, bit for bit, with every loss and
// registered pruner, tuned or not, with weights or without. The first part may be saved during training or
// at its end, wherever the cut lies between two mini-batches.
func TestStreamInTwoParts(t *testing.T) {
	variants := map[string]Settings{
		"standard": {Scale: rows.ScaleStandard},
		"tuned":    {},
		"exact":    {Loss: "squared-error"}, // by recursive least squares
		"weighted": {Bandwidth: 0.3, Weights: rows.Column{Number: 3}},
	}
	for name := range labelsOf {
		variants[name] = Settings{Loss: name, Parsimony: 0.05, Bandwidth: 0.3}
	}
	for _, h := range prune.All() {
		variants[h.Name] = Settings{Bandwidth: 0.3, Pruner: h.Name, PrunerParams: given(h)}
	}
	cuts := map[string]int{"multi-hinge": 2127, "multi-logistic": 1017, "squared-hinge": 2079, "squared-error": 1000, "exact": 1037, "binary-logistic": 2048}
	const n = 2128
	for name, set := range variants {
		if testing.Short() && name != "standard" && name != "komp-age" && name != "random" {
			continue
		}
		set.Loss, set.Format, set.LabelColumn = cmp.Or(set.Loss, "multi-hinge"), rows.FormatCSV, -1
		lines, cut := table(n, set.Loss, 21), cmp.Or(cuts[name], 2090)
		if set.Weights.Number > 0 {
			lines = weighed(lines, func(i int) any { return 1 + i%5 })
		}
		opt := options(set.Loss, stream(lines))
		opt.Settings, opt.Tune = set, name == "tuned" || name == "exact"
		var early *Model
		opt.SaveEvery, opt.Save = cut, func(m *Model) error {
			if early == nil {
				early = reread(t, m)
			}
			return nil
		}
		whole := saved(t, mustTrain(t, opt))
		opt.Save, opt.Source = nil, stream(lines[:cut])
		half := mustTrain(t, opt)
		if _, err := ReadForPrediction(bytes.NewReader(saved(t, half))); err != nil {
			t.Error(err)
		}
		for how, m := range map[string]*Model{"on the way": early, "at the end": reread(t, half)} {
			rest := TrainOptions{Source: stream(lines[cut:]), Resume: m, Settings: m.Settings()}
			if m = mustTrain(t, rest); !bytes.Equal(saved(t, m), whole) || m.Order() == 0 || m.Rows() != n {
				t.Errorf("%s: saved %s after %d rows, the model of %d rows is another one", name, how, cut, m.Rows())
			}
		}
		if recursive := half.Settings().Recursive != nil; recursive != (name == "exact") {
			t.Errorf("%s: recursive least squares: %v", name, recursive)
		}
		if half.Settings().DecaySteps != 0 {
			t.Errorf("%s: the learning rate of a stream falls, which has no end", name)
		}
	}
}

// given returns parameters for a heuristic that has no defaults for them.
func given(h prune.Heuristic) prune.Params {
	p := make(prune.Params)
	for _, param := range h.Params {
		if param.Default == nil {
			p[param.Name] = param.Grid[0]
		}
		if param.Name == "order" {
			p[param.Name] = 8
		}
	}
	return p
}

// Training on a file can be stopped anywhere. It resumes by itself with the same order of rows and
// the same learning rate, and gives the model of uninterrupted training, however often it is
// stopped and whatever format the file's name suggests.
func TestContinue(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 0))
	path := filepath.Join(t.TempDir(), "rows.txt")
	write(t, path, []byte(strings.Join(table(500, "multi-logistic", 22), "\n")))
	plain := options("multi-logistic", Source{Path: path})
	plain.Epochs = 3
	for _, opt := range []TrainOptions{plain, tuning("multi-hinge", file(t, spirals(300, 4)))} {
		if testing.Short() && opt.Tune { // arithmetic alone, and the race detector makes it a minute
			continue
		}
		whole := mustTrain(t, opt)
		want, total := saved(t, whole), int(whole.Rows())
		if whole.Unfinished() || opt.Tune != (whole.Settings().DecaySteps > 0) || !opt.Tune && total != 3*500 {
			t.Fatalf("%d rows, unfinished %v, %+v", total, whole.Unfinished(), whole.Settings())
		}
		for range 3 {
			m, stops := stopAt(t, opt, 1+rng.IntN(total/2)), 1
			for ; m.Unfinished(); stops++ {
				again := opt
				again.Epochs, again.Tune, again.Settings.Format, again.Resume = 0, false, rows.FormatLIBSVM, reread(t, m)
				m = stopAt(t, again, 1+rng.IntN(total))
			}
			if !bytes.Equal(saved(t, m), want) {
				t.Errorf("stopped %d times, the model of %d rows is another one", stops-1, m.Rows())
			}
		}
	}
}

// stopAt trains on n rows, or on all rows if there are fewer.
func stopAt(t *testing.T, opt TrainOptions, n int) *Model {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	opt.SaveEvery = 1
	opt.Save = func(*Model) error {
		if n--; n == 0 {
			cancel()
		}
		return nil
	}
	m, err := Train(ctx, opt)
	if m == nil || err != nil && !errors.Is(err, ErrStopped) || m.Unfinished() != (err != nil) {
		t.Fatalf("stopped with %v", err)
	}
	return m
}

// Train saves a model every SaveEvery rows, marked as unfinished, and reports the error before
// learning for all rows.
func TestSaves(t *testing.T) {
	opt := options("multi-hinge", file(t, table(1500, "multi-hinge", 23)))
	saves, told := 0, 0
	opt.Progress = func(_ *Model, p Progress) { told += p.Rows }
	opt.SaveEvery = 400
	opt.Save = func(m *Model) error {
		saves++
		if m = reread(t, m); m.Rows() != int64(400*saves) || !m.Unfinished() {
			t.Errorf("save %d has %d rows", saves, m.Rows())
		}
		return nil
	}
	if mustTrain(t, opt); saves != 3 || told != 1500 {
		t.Errorf("saved %d times, the error of %d rows told", saves, told)
	}
	full := errors.New("no space left on device")
	opt.Save = func(*Model) error { return full }
	if m, err := Train(context.Background(), opt); m != nil || !errors.Is(err, full) {
		t.Errorf("a disk that is full: %v", err)
	}
	opt.SaveEvery = 0
	if m, err := Train(context.Background(), opt); m != nil || err == nil || !strings.Contains(err.Error(), "SaveEvery 0") {
		t.Errorf("saved after every 0 rows: %v", err)
	}
}

// The training of a file resumes only on a file that begins with the rows that it has learned. A
// stream trains the model further.
func TestContinueOtherFile(t *testing.T) {
	rows := table(1200, "multi-hinge", 24)
	half := stopAt(t, options("multi-hinge", file(t, rows)), 1150)
	other := append([]string{rows[1]}, rows[1:]...)
	tests := map[string]struct {
		rows []string
		want string
	}{
		"the same":         {rows, ""},
		"one row is other": {other, "other rows"},
		"too few":          {rows[:1149], "other rows"},
		"just enough":      {rows[:1150], ""},
		"none":             {nil, "other rows"},
		"a word":           {append([]string{"1,x,elm"}, rows...), "line 1"},
	}
	for name, tt := range tests {
		opt := options("multi-hinge", file(t, tt.rows))
		opt.Resume = reread(t, half)
		m, err := Train(context.Background(), opt)
		if tt.want == "" && (err != nil || m.Rows() != int64(len(tt.rows)) || m.Unfinished()) {
			t.Errorf("%s: %v", name, err)
		}
		if tt.want != "" && (m != nil || err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
	opt := options("multi-hinge", stream(other))
	opt.Resume = reread(t, half)
	if m := mustTrain(t, opt); m.Rows() != 1150+1200 || m.Unfinished() {
		t.Errorf("%d rows after a stream, unfinished: %v", m.Rows(), m.Unfinished())
	}
}

// A change of the file is found at the end of the pass, also by a process that resumes. No model of
// that pass is returned.
func TestChangedFile(t *testing.T) {
	rows := table(300, "multi-hinge", 24)
	opt := options("multi-hinge", file(t, rows))
	opt.Epochs = 3
	half := stopAt(t, opt, 320)
	changed := opt
	changed.SaveEvery = 250
	changed.Save = func(m *Model) error {
		other := slices.Clone(rows)
		other[200], other[201] = rows[201], rows[200]
		write(t, opt.Source.Path, []byte(strings.Join(other, "\n")))
		return nil
	}
	if m, err := Train(context.Background(), changed); m != nil || !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	again := opt
	again.Resume = reread(t, half)
	if m, err := Train(context.Background(), again); m != nil || !errors.Is(err, ErrChanged) {
		t.Errorf("going on: %v", err)
	}
}

// If a mini-batch can't be learned, its rows are discarded, and the model before it can be saved and
// read.
func TestBatchFails(t *testing.T) {
	m := stopAt(t, options("multi-hinge", file(t, table(80, "multi-hinge", 26))), 69)
	broken := errors.New("broken")
	if err := m.learnBatch(func() error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if again := reread(t, m); again.Rows() != 64 || len(again.y) != 0 {
		t.Errorf("a model of %d rows, %d of them waiting", again.Rows(), len(again.y))
	}
}

// After the head of a stream, Train learns a mini-batch as soon as it is full, however slow the
// stream is.
func TestSlowStream(t *testing.T) {
	lines := table(1032, "multi-hinge", 26)
	r, w := io.Pipe()
	opt := options("multi-hinge", Source{Path: "-", Stdin: r})
	learned := make(chan int64, len(lines))
	opt.SaveEvery = 8
	opt.Save = func(m *Model) error {
		learned <- m.Rows()
		return nil
	}
	go func() {
		next := int64(8)
		for at := 0; at < len(lines); {
			to := max(headRows, at+8)
			io.WriteString(w, strings.Join(lines[at:to], "\n")+"\n")
			for ; next <= int64(to); next += 8 {
				if got := <-learned; got != next {
					t.Errorf("%d rows learned, want %d", got, next)
				}
			}
			at = to
		}
		w.Close()
	}()
	if m := mustTrain(t, opt); m.Rows() != 1032 {
		t.Errorf("%d rows", m.Rows())
	}
}

// Stopping a stream before there is a model gives an error that says so.
func TestStoppedInTheHead(t *testing.T) {
	for _, rows := range []int{0, 500} {
		r, w := io.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			io.WriteString(w, strings.Join(table(rows, "multi-hinge", 27), "\n"))
			cancel()
		}()
		m, err := Train(ctx, options("multi-hinge", Source{Path: "-", Stdin: r}))
		if m != nil || !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "after 1000 rows") {
			t.Errorf("error %v", err)
		}
		w.Close()
	}
}
