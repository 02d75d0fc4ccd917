package online

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/data/rows"
	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
)

// A model that is read for prediction can do nothing else.
func TestReadForPrediction(t *testing.T) {
	opt := options("multi-hinge", stream(table(75, "multi-hinge", 31)))
	m, err := ReadForPrediction(bytes.NewReader(saved(t, mustTrain(t, opt))))
	testutil.NoError(t, err)
	if err := m.Learn(&rows.Row{Label: "elm", Dim: 2, Values: []float64{1, 2}}); err == nil {
		t.Error("it learns")
	}
	if err := m.Save(new(bytes.Buffer)); err == nil {
		t.Error("it is saved")
	}
	opt.Source, opt.Resume = stream(table(75, "multi-hinge", 31)), m
	if _, err := Train(context.Background(), opt); err == nil || !strings.Contains(err.Error(), "was read for prediction") {
		t.Errorf("it is trained: %v", err)
	}
}

// A model that is saved for prediction has a size that its order determines, and predicts the same.
// A file that says so and has parts for training is refused.
func TestSaveForPrediction(t *testing.T) {
	lines := table(75, "multi-hinge", 31)
	whole := mustTrain(t, options("multi-hinge", stream(lines)))
	var b bytes.Buffer
	testutil.NoError(t, whole.SaveForPrediction(&b))
	header, payload := hostile.Parts(b.Bytes())
	if want := 2*8*2 + whole.Order()*(2*4+3*8) + 8; len(payload) != want {
		t.Errorf("%d bytes, want %d", len(payload), want)
	}
	m, err := ReadForPrediction(bytes.NewReader(b.Bytes()))
	testutil.NoError(t, err)
	if predictions(t, m, lines) != predictions(t, whole, lines) || m.Rows() != 75 {
		t.Error("it predicts something else")
	}
	if _, err := Read(bytes.NewReader(b.Bytes())); err == nil || errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "exported for prediction") {
		t.Errorf("it is read for training: %v", err)
	}
	forged := strings.Replace(header, `"tail":0`, `"tail":1`, 1)
	if _, err := ReadForPrediction(bytes.NewReader(hostile.Seal(string(magic[:]), forged, payload))); !errors.Is(err, ErrFormat) {
		t.Errorf("with a waiting row: %v", err)
	}
}

// A model that is saved before its training ends predicts as after its last whole mini-batch.
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
	testutil.NoError(t, err)
	opt = options("multi-hinge", stream(rows[:33*32]))
	if predictions(t, m, rows) != predictions(t, mustTrain(t, opt), rows) || m.Rows() != 1073 {
		t.Error("it predicts something else")
	}
}

// An element that training resumes from must be in a file only once: repetitions of a long element
// would let a small file need much memory.
func TestElementTwice(t *testing.T) {
	m := mustTrain(t, options("multi-hinge", stream(table(64, "multi-hinge", 35))))
	var state bytes.Buffer
	testutil.NoError(t, m.learner.WriteState(&state))
	file := saved(t, m)
	at := len(file) - 32 - 16*m.settings.Dim - state.Len() - 8 - 8*len(m.f.W) - 4*m.Order()
	for j := range m.Order() {
		if file[at+4*j] != byte(j) {
			t.Fatalf("place %d is %d", j, file[at+4*j])
		}
	}
	for _, place := range []byte{0, byte(m.Order()), 255} {
		bad := slices.Clone(file[:len(file)-32])
		bad[at+4] = place // of the second
		if _, err := Read(bytes.NewReader(withChecksum(bad))); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "an element at place") {
			t.Errorf("place %d: %v", place, err)
		}
		if _, err := ReadForPrediction(bytes.NewReader(withChecksum(bad))); err != nil { // which skips it
			t.Errorf("place %d, for prediction: %v", place, err)
		}
	}
}

// A header with a wrong count of learned rows or a duplicate key is an error: after resuming, the
// count would overflow and the file could not be read again.
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
	if testing.Short() {
		t.Skip("-short: arithmetic alone")
	}
	const dim = 4096
	rng := rand.New(rand.NewPCG(27, 0))
	var lines []string
	for range 100 {
		var row strings.Builder
		row.WriteString(strconv.Itoa(rng.IntN(2)))
		for q := range dim {
			fmt.Fprintf(&row, " %d:%v", q+1, rng.Float32())
		}
		lines = append(lines, row.String())
	}
	opt := options("multi-hinge", stream(lines))
	opt.Settings = Settings{Loss: "multi-hinge", Format: rows.FormatLIBSVM, Dim: dim, Labels: []string{"0", "1"}, Bandwidth: 100, Scale: rows.ScaleNone,
		Pruner: "komp-loss", PrunerParams: prune.Params{"order": 4}}
	whole := mustTrain(t, opt)
	opt.Source = stream(lines[:70])
	half := mustTrain(t, opt)
	if size := len(saved(t, half)); size < 1<<19 {
		t.Fatalf("%d bytes", size)
	}
	opt.Source, opt.Resume = stream(lines[70:]), reread(t, half)
	if m := mustTrain(t, opt); !bytes.Equal(saved(t, m), saved(t, whole)) {
		t.Error("saved in between, it is another model")
	}
}
