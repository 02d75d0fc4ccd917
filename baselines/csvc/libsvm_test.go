package csvc

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
)

// needLIBSVM skips a test if LIBSVM's programs are not installed.
func needLIBSVM(t testing.TB) {
	t.Helper()
	for _, program := range []string{"svm-train", "svm-predict"} {
		if _, err := exec.LookPath(program); err != nil {
			testutil.Need(t, fmt.Errorf("%w (Debian package libsvm-tools)", err))
		}
	}
}

// mnist returns the first trainN training and testN test images of MNIST.
func mnist(t testing.TB, trainN, testN int) (train, test *problem) {
	t.Helper()
	set, err := data.Load(data.Ref{Name: "mnist"}, data.Finder{})
	testutil.Need(t, err)
	return fromSplit(set.Train, trainN, set.Classes), fromSplit(set.Test, testN, set.Classes)
}

func fromSplit(s *data.Split, n, classes int) *problem {
	return &problem{n, s.Dim, classes, s.X[:n*s.Dim], s.Y[:n]}
}

func multidist(t testing.TB, draw uint64) (train, test *problem) {
	t.Helper()
	set, err := data.Multidist(data.Calibrated, draw)
	testutil.NoError(t, err)
	return fromSplit(set.Train, set.Train.N, set.Classes), fromSplit(set.Test, set.Test.N, set.Classes)
}

// write saves p in LIBSVM's format, with class indices as labels.
func (p *problem) write(t testing.TB, path string) {
	t.Helper()
	var b bytes.Buffer
	for i := range p.n {
		fmt.Fprintf(&b, "%d", int(p.y[i]))
		for q, v := range p.at(i) {
			if v != 0 {
				fmt.Fprintf(&b, " %d:%s", q+1, strconv.FormatFloat(float64(v), 'g', -1, 32))
			}
		}
		b.WriteByte('\n')
	}
	testutil.NoError(t, os.WriteFile(path, b.Bytes(), 0o666))
}

// arguments returns svm-train's arguments for a configuration.
func arguments(t testing.TB, c Config) []string {
	g := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	args := []string{"-s", "0", "-c", g(c.C)}
	switch k := c.Kernel.(type) {
	case kernel.Gaussian:
		return append(args, "-t", "2", "-g", g(k.Gamma()))
	case kernel.Polynomial:
		return append(args, "-t", "1", "-g", "1", "-r", g(k.Offset), "-d", strconv.Itoa(k.Degree))
	}
	t.Fatalf("svm-train has no %s kernel", c.Kernel.Name())
	return nil
}

// reference is svm-train's report of a run.
type reference struct {
	pairs   []PairStats // objective, ρ, SVs, bounded SVs, iterations
	total   int
	seconds float64 // wall time, reading and writing files included
	model   string
}

var (
	pairPattern  = regexp.MustCompile(`#iter = (\d+)\nnu = \S+\nobj = (\S+), rho = (\S+)\nnSV = (\d+), nBSV = (\d+)`)
	totalPattern = regexp.MustCompile(`Total nSV = (\d+)`)
)

// svmTrain runs svm-train on p.
func svmTrain(t testing.TB, c Config, p *problem) *reference {
	t.Helper()
	dir := t.TempDir()
	file, model := filepath.Join(dir, "train"), filepath.Join(dir, "model")
	p.write(t, file)
	start := time.Now()
	out, err := exec.Command("svm-train", append(arguments(t, c), file, model)...).CombinedOutput()
	if err != nil {
		t.Fatalf("svm-train: %v\n%s", err, out)
	}
	ref := readReference(t, string(out))
	ref.seconds, ref.model = time.Since(start).Seconds(), model
	return ref
}

// readReference parses svm-train's output.
func readReference(t testing.TB, out string) *reference {
	t.Helper()
	ref := &reference{}
	for _, m := range pairPattern.FindAllStringSubmatch(out, -1) {
		ref.pairs = append(ref.pairs, PairStats{
			Iterations: integer(t, m[1]), Objective: float(t, m[2]), Rho: float(t, m[3]),
			SVs: integer(t, m[4]), BoundedSVs: integer(t, m[5]),
		})
	}
	if m := totalPattern.FindStringSubmatch(out); m != nil {
		ref.total = integer(t, m[1])
	}
	return ref
}

func integer(t testing.TB, s string) int {
	v, err := strconv.Atoi(s)
	testutil.NoError(t, err)
	return v
}

func float(t testing.TB, s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	testutil.NoError(t, err)
	return v
}

// svmPredict returns the classes that svm-predict predicts for p.
func svmPredict(t testing.TB, model string, p *problem) []float64 {
	t.Helper()
	dir := t.TempDir()
	file, result := filepath.Join(dir, "test"), filepath.Join(dir, "result")
	p.write(t, file)
	if out, err := exec.Command("svm-predict", file, model, result).CombinedOutput(); err != nil {
		t.Fatalf("svm-predict: %v\n%s", err, out)
	}
	return readClasses(t, result)
}

// readClasses reads the file that svm-predict writes.
func readClasses(t testing.TB, path string) []float64 {
	t.Helper()
	text, err := os.ReadFile(path)
	testutil.NoError(t, err)
	var classes []float64
	for s := bufio.NewScanner(strings.NewReader(string(text))); s.Scan(); {
		classes = append(classes, float(t, s.Text()))
	}
	return classes
}

// Tolerances of the comparison with svm-train's model. Both solvers stop at the same ε, where
// neither objective is off by more than the duality gap.
const (
	objectiveTolerance = 1e-3  // of a pair's objective
	svTolerance        = 0.005 // of the number of support vectors, plus one
	agreement          = 0.999 // least fraction of equal predictions
)

// compare fails unless the model agrees with svm-train's to the tolerances. It logs the
// differences.
func compare(t testing.TB, m *Model, st []PairStats, ref *reference) {
	t.Helper()
	if len(st) != len(ref.pairs) {
		t.Fatalf("%d pairs, svm-train has %d", len(st), len(ref.pairs))
	}
	var objective, svs float64
	for q, want := range ref.pairs {
		got := st[q]
		objective = max(objective, math.Abs(got.Objective/want.Objective-1))
		svs = max(svs, math.Abs(float64(got.SVs-want.SVs))/(1+svTolerance*float64(want.SVs)))
		if got.Violation >= defaultTolerance {
			t.Errorf("pair %d: violation %v", q, got.Violation)
		}
	}
	total := math.Abs(float64(m.NumSV()-ref.total)) / (1 + svTolerance*float64(ref.total))
	t.Logf("%d pairs: objectives within %.1e; %d support vectors, svm-train has %d", len(st), objective, m.NumSV(), ref.total)
	if !(objective <= objectiveTolerance) || !(svs <= 1) || !(total <= 1) {
		t.Errorf("objectives differ by up to %.1e, support vectors by %.2f (a pair) and %.2f (all) times the tolerance", objective, svs, total)
	}
}

// comparePredictions fails unless the model's predictions agree with svm-predict's.
func comparePredictions(t testing.TB, m *Model, ref *reference, test *problem) {
	t.Helper()
	agree(t, m, svmPredict(t, ref.model, test), test)
}

// agree fails unless the model's predictions agree with the given classes.
func agree(t testing.TB, m *Model, want []float64, test *problem) {
	t.Helper()
	got := make([]float64, test.n)
	m.Predict(test.n, test.x, got, 2)
	if len(want) != test.n {
		t.Fatalf("%d predictions of %d points", len(want), test.n)
	}
	same, wrong := 0, 0
	for i, y := range got {
		if y == want[i] {
			same++
		}
		if y != test.y[i] {
			wrong++
		}
	}
	t.Logf("%d of %d predictions equal, error %.2f %%", same, test.n, 100*float64(wrong)/float64(test.n))
	if !(float64(same) >= agreement*float64(test.n)) {
		t.Errorf("%d of %d predictions are svm-predict's", same, test.n)
	}
}
