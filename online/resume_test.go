package online

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	data "polkrepro/data/rows"
	"polkrepro/polk/prune"
)

// The oracle is a training without interruption: with every kernel and every
// pruner of the registry, one that goes on is the same bit for bit.
func TestUninterruptedOracle(t *testing.T) {
	variants := map[string]Settings{
		"polynomial": {Kernel: KernelPolynomial, Offset: 1, Degree: 3},
		"linear":     {Kernel: KernelPolynomial, Degree: 1, Scale: data.ScaleStandard},
	}
	for _, h := range prune.All() {
		variants[h.Name] = Settings{Bandwidth: 0.3, Pruner: h.Name, PrunerParams: given(h)}
	}
	const n, cut = 2128, 2090
	rows := table(n, "multi-hinge", 21)
	for name, set := range variants {
		if raceEnabled && name != "polynomial" && name != "komp-age" && name != "random" {
			continue
		}
		set.Loss, set.Format, set.LabelColumn = "multi-hinge", data.FormatCSV, -1
		opt := options("multi-hinge", stream(rows))
		opt.Settings = set
		var early []byte
		opt.SaveEvery = cut
		opt.Save = func(m *Model) error {
			early = saved(t, m)
			return nil
		}
		whole := mustTrain(t, opt)
		half, err := Read(bytes.NewReader(early))
		if err != nil {
			t.Fatal(err)
		}
		rest := options("multi-hinge", stream(rows[cut:]))
		rest.Settings, rest.Resume = set, half
		m := mustTrain(t, rest)
		if !bytes.Equal(saved(t, m), saved(t, whole)) || m.Order() == 0 || m.Rows() != n {
			t.Errorf("%s: cut after %d rows, the model of %d rows is another one", name, cut, m.Rows())
		}
	}
}

// given are parameters for a heuristic that has no defaults for them.
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

// A file's training that is stopped anywhere goes on by itself, and is in the
// end the one that was not: whatever is saved on the way, and however often it
// is stopped.
func TestContinue(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 0))
	path := filepath.Join(t.TempDir(), "a.csv")
	rows := table(500, "multi-logistic", 22)
	write(t, path, []byte(strings.Join(rows, "\n")))
	opt := options("multi-logistic", Source{Path: path})
	opt.Epochs, opt.Skip = 3, 70
	whole := mustTrain(t, opt)
	want := saved(t, whole)
	for range 8 {
		m, stops := stopAt(t, opt, 1+rng.IntN(700)), 1
		for ; m.Unfinished(); stops++ {
			again := opt
			again.Epochs, again.Skip, again.Resume, again.Continue = 0, 0, reread(t, m), true
			m = stopAt(t, again, 1+rng.IntN(1100))
		}
		if m.Rows() != 3*500-70 || !bytes.Equal(saved(t, m), want) {
			t.Errorf("stopped %d times, the model of %d rows is another one", stops-1, m.Rows())
		}
	}
	if whole.Unfinished() {
		t.Error("a finished training is said not to be")
	}
}

// stopAt trains n rows, or all that there are if they are fewer.
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

// What is saved on the way is the model at that row, and goes on.
func TestSaves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	write(t, path, []byte(strings.Join(table(1500, "multi-hinge", 23), "\n")))
	opt := options("multi-hinge", Source{Path: path})
	var files [][]byte
	opt.SaveEvery = 400
	opt.Save = func(m *Model) error {
		files = append(files, saved(t, m))
		return nil
	}
	want := saved(t, mustTrain(t, opt))
	opt.Save = nil
	for i, b := range files {
		m, err := Read(bytes.NewReader(b))
		if err != nil || m.Rows() != int64(400*(i+1)) || !m.Unfinished() {
			t.Fatalf("file %d: %d rows, %v", i, m.Rows(), err)
		}
		again := opt
		again.Resume, again.Continue = m, true
		if !bytes.Equal(saved(t, mustTrain(t, again)), want) {
			t.Errorf("from row %d on it becomes another model", m.Rows())
		}
	}
	if len(files) != 3 {
		t.Errorf("saved %d times", len(files))
	}
	full := errors.New("no space left on device")
	opt.Save = func(*Model) error { return full }
	if m, err := Train(context.Background(), opt); m != nil || !errors.Is(err, full) {
		t.Errorf("a disk that is full: %v", err)
	}
}

// A training goes on only in a file that begins with the rows it has learned.
func TestContinueOtherFile(t *testing.T) {
	dir := t.TempDir()
	rows := table(1200, "multi-hinge", 24)
	path := filepath.Join(dir, "a.csv")
	write(t, path, []byte(strings.Join(rows, "\n")))
	half := saved(t, stopAt(t, options("multi-hinge", Source{Path: path}), 1150))
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
		file := filepath.Join(dir, "b.csv")
		write(t, file, []byte(strings.Join(tt.rows, "\n")))
		m, err := Read(bytes.NewReader(half))
		if err != nil {
			t.Fatal(err)
		}
		opt := options("multi-hinge", Source{Path: file})
		opt.Resume, opt.Continue = m, true
		m, err = Train(context.Background(), opt)
		if tt.want == "" && (err != nil || m.Rows() != int64(len(tt.rows)) || m.Unfinished()) {
			t.Errorf("%s: %v", name, err)
		}
		if tt.want != "" && (m != nil || err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}

// A row that can't be read stops a training that goes on once it is mended.
func TestMendedRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	rows := table(1300, "multi-hinge", 25)
	write(t, path, []byte(strings.Join(rows, "\n")))
	opt := options("multi-hinge", Source{Path: path})
	opt.Settings.Dim, opt.Settings.Labels, opt.Settings.Scale = 2, labelsOf["multi-hinge"], data.ScaleNone // the file is not read before
	want := saved(t, mustTrain(t, opt))
	for _, broken := range []string{"1,2", "1,2,fir"} {
		bad := slices.Clone(rows)
		bad[1234] = broken
		write(t, path, []byte(strings.Join(bad, "\n")))
		m, err := Train(context.Background(), opt)
		if err == nil || m.Rows() != 1234 || !strings.Contains(err.Error(), "line 1235") {
			t.Fatalf("%d rows, %v", m.Rows(), err)
		}
		write(t, path, []byte(strings.Join(rows, "\n")))
		again := opt
		again.Resume, again.Continue = reread(t, m), true
		if m := mustTrain(t, again); !bytes.Equal(saved(t, m), want) {
			t.Errorf("mended, it is another model, of %d rows", m.Rows())
		}
	}
}

// A last mini-batch that the learner can't take leaves a model of the rows before
// it, which can be read.
func TestLastBatchFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	rows := table(33, "multi-hinge", 26)
	rows[32] = "1e38,1e38" + rows[32][strings.LastIndex(rows[32], ","):]
	write(t, path, []byte(strings.Join(rows, "\n")))
	opt := options("multi-hinge", Source{Path: path})
	set := &opt.Settings
	set.Kernel, set.Offset, set.Degree, set.Scale, set.Dim, set.Labels = KernelPolynomial, 1, 3, data.ScaleNone, 2, labelsOf["multi-hinge"]
	set.Batch = 32
	m, err := Train(context.Background(), opt)
	if err == nil || m == nil {
		t.Fatalf("it was learned: %v", err)
	}
	if again := reread(t, m); again.Rows() != 32 || again.Unfinished() {
		t.Errorf("a model of %d rows, unfinished: %v", again.Rows(), again.Unfinished())
	}
}

// A training goes on in the format that the file was read in, whatever its name
// suggests.
func TestContinueFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.txt")
	write(t, path, []byte(strings.Join(table(1200, "multi-hinge", 28), "\n")))
	opt := options("multi-hinge", Source{Path: path})
	want := saved(t, mustTrain(t, opt))
	again := opt
	again.Resume, again.Continue = reread(t, stopAt(t, opt, 1100)), true
	again.Settings.Format = data.FormatLIBSVM
	if !bytes.Equal(saved(t, mustTrain(t, again)), want) {
		t.Error("it is another model")
	}
}

// Options that contradict each other are errors, not panics.
func TestOptionsThatContradict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	rows := table(1200, "multi-hinge", 29)
	write(t, path, []byte(strings.Join(rows, "\n")))
	file := options("multi-hinge", Source{Path: path})
	unfinished := stopAt(t, file, 1100)
	for name, change := range map[string]func(*TrainOptions){
		"no model":    func(o *TrainOptions) { o.Continue = true },
		"finished":    func(o *TrainOptions) { o.Continue, o.Resume = true, mustTrain(t, file) },
		"a stream":    func(o *TrainOptions) { o.Continue, o.Resume, o.Source = true, unfinished, stream(rows) },
		"every 0":     func(o *TrainOptions) { o.Save = func(*Model) error { return nil } },
		"every minus": func(o *TrainOptions) { o.Save, o.SaveEvery = func(*Model) error { return nil }, -1 },
	} {
		opt := file
		change(&opt)
		if m, err := Train(context.Background(), opt); m != nil || err == nil || !strings.HasPrefix(err.Error(), "online: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A stream is learned as its mini-batches fill, however slowly they do: after
// the head, or from the first row on if no setting depends on it.
func TestSlowStream(t *testing.T) {
	rows := table(1032, "multi-hinge", 26)
	for _, first := range []int{32, 1000} {
		opt := options("multi-hinge", Source{})
		if first == 32 {
			opt.Settings.Scale, opt.Settings.Labels, opt.Settings.Dim = data.ScaleNone, labelsOf["multi-hinge"], 2
		}
		r, w := io.Pipe()
		opt.Source = Source{Path: "-", Stdin: r}
		learned := make(chan int64, len(rows))
		opt.SaveEvery = 8
		opt.Save = func(m *Model) error {
			learned <- m.Rows()
			return nil
		}
		go func() {
			next := int64(8)
			for at := 0; at < len(rows); {
				to := max(first, at+8)
				io.WriteString(w, strings.Join(rows[at:to], "\n")+"\n")
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
}

// A stream that is stopped before there is a model is an error that says so.
func TestStoppedInTheHead(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.WriteString(w, strings.Join(table(500, "multi-hinge", 27), "\n"))
		cancel()
	}()
	m, err := Train(ctx, options("multi-hinge", Source{Path: "-", Stdin: r}))
	if m != nil || !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "after 1000 rows") {
		t.Errorf("error %v", err)
	}
	w.Close()
}

// text returns a number as a file has it.
func text(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }

// The default rates of a polynomial kernel are such that the functions do not
// depend on the unit of the features.
func TestRatesOfPolynomials(t *testing.T) {
	var models [2]*Model
	rows := table(1500, "multi-logistic", 28)
	for i, unit := range []float64{1, 4} {
		scaled := make([]string, len(rows))
		for j, row := range rows {
			f := strings.Split(row, ",")
			x, _ := number(f[0])
			y, _ := number(f[1])
			scaled[j] = strings.Join([]string{text(float32(x) * float32(unit)), text(float32(y) * float32(unit)), f[2]}, ",")
		}
		opt := options("multi-logistic", stream(scaled))
		opt.Settings.Kernel, opt.Settings.Degree, opt.Settings.Offset = KernelPolynomial, 2, unit*unit
		opt.Settings.Scale, opt.Settings.Parsimony = data.ScaleNone, 0
		models[i] = mustTrain(t, opt)
	}
	a, b := models[0].learner.Expansion(), models[1].learner.Expansion()
	if a.Order() != b.Order() || a.Order() == 0 {
		t.Fatalf("model orders %d and %d", a.Order(), b.Order())
	}
	for i, w := range a.W { // κ is 4⁴ times as large, which is exact
		if w != b.W[i]*256 {
			t.Fatalf("weight %d is %v and %v", i, w, b.W[i])
		}
	}
}

// The first row of a file with numeric names is taken as in the training, whatever
// is looked at to find out: its names are the model's.
func TestHeaderIsRemembered(t *testing.T) {
	rows := make([]string, 300)
	for i := range rows {
		rows[i] = strings.Join([]string{[]string{"7", "8"}[i%2], []string{"3", "41", "59"}[i%3], []string{"26", "53"}[i%2]}, ",")
	}
	text := "species,2019,2020\n" + strings.Join(rows, "\n")
	var first []data.Layout
	src := func(text string) Source {
		return Source{Path: "-", Stdin: strings.NewReader(text), Decided: func(l *data.Layout) { first = append(first, *l) }}
	}
	opt := options("multi-hinge", src(text))
	opt.Settings.LabelColumn = 1
	m := reread(t, mustTrain(t, opt))
	for text, want := range map[string]int{text: 300, rows[0]: 1, "2019,2020\n" + rows[0][2:]: 1, "2019,2021\n" + rows[0][2:]: 2, "9,2019,2020\n" + rows[0]: 2} {
		var b bytes.Buffer
		if err := m.Predict(t.Context(), src(text), data.FormatCSV, false, &b); err != nil || bytes.Count(b.Bytes(), []byte("\n")) != want {
			t.Errorf("%.20q: %d predictions, want %d (%v)", text, bytes.Count(b.Bytes(), []byte("\n")), want, err)
		}
	}
	if len(first) != 6 || first[0].Names == nil || !strings.Contains(first[0].Why, "only one that is not a number") {
		t.Errorf("said of the first rows: %+v", first)
	}
	if again, err := ReadForPrediction(bytes.NewReader(saved(t, m))); err != nil || again.names == nil || *again.names != *m.names {
		t.Errorf("for prediction: other names, or %v", err)
	}
	// Without a header, what it would be is not asked of the rows that go on.
	opt.Source, opt.Resume = src(strings.Join(rows, "\n")), m
	if names := m.names; names == nil || mustTrain(t, opt).names != names {
		t.Errorf("names %v", names)
	}
}
