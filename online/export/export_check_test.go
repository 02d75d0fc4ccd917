//go:build check && unix

package export

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/data/rows"
	"polkrepro/internal/testutil"
	"polkrepro/loss"
	"polkrepro/online"
)

const checkedRows = 10_000

// A checked model has rows, and knows what it predicts of them.
type checked struct {
	*online.Model
	csv         string
	x           []float64
	file        string // of the rows as float32
	predictions []string
	scores      [][]float64 // or probabilities
}

// checkModels calls check with a model of each loss. The fourth feature is constant in the training
// rows. The learned metric is that of tuning; the regression is recursive then.
func checkModels(t *testing.T, check func(t *testing.T, m *checked)) {
	for _, of := range []struct {
		loss   string
		scale  rows.Scale
		labels []string
	}{
		{"multi-hinge", online.ScaleLearned, []string{"elm", "oak", "pine"}}, {"multi-logistic", rows.ScaleUnit, []string{"-3", "7", "40"}},
		{"binary-logistic", rows.ScaleNone, []string{"no", "yes"}}, {"squared-hinge", rows.ScaleStandard, []string{"-1", "1"}},
		{"squared-error", online.ScaleLearned, nil}, {"squared-error", rows.ScaleUnit, nil},
	} {
		t.Run(of.loss+" "+string(of.scale), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(55, 0))
			var training, others strings.Builder
			m := &checked{}
			for i := range 500 + checkedRows {
				x, y, z := float32(4*rng.Float64()), float32(4*rng.Float64()), float32(rng.NormFloat64())
				label := fmt.Sprint(100 + 20*math.Sin(float64(x))*float64(y))
				if of.labels != nil {
					label = of.labels[int(x+y/2)%len(of.labels)]
				}
				if i < 500 {
					fmt.Fprintf(&training, "%v,%v,%v,12,%s\n", x, y, z, label)
				} else {
					fmt.Fprintf(&others, "%v,%v,%v,12\n", x, y, z)
					m.x = append(m.x, float64(x), float64(y), float64(z), 12)
				}
			}
			var err error
			m.Model, err = online.Train(context.Background(), online.TrainOptions{Source: online.Source{Path: "-", Stdin: strings.NewReader(training.String())},
				Order: 24, Tune: of.scale == online.ScaleLearned,
				Settings: online.Settings{Loss: of.loss, Format: rows.FormatCSV, LabelColumn: -1, Scale: of.scale, Parsimony: 0.001}})
			testutil.NoError(t, err)
			m.csv, m.file = others.String(), filepath.Join(t.TempDir(), "rows")
			var b bytes.Buffer
			for _, v := range m.x {
				binary.Write(&b, binary.LittleEndian, float32(v))
			}
			testutil.NoError(t, os.WriteFile(m.file, b.Bytes(), 0o666))
			m.predict(t)
			check(t, m)
		})
	}
}

// predict sets predictions and scores.
func (m *checked) predict(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	testutil.NoError(t, m.Predict(context.Background(), online.Source{Path: "-", Stdin: strings.NewReader(m.csv)}, rows.FormatCSV, false, &out))
	m.predictions, m.scores = strings.Fields(out.String()), nil
	f, scaling := m.Functions()
	l, err := loss.ByName(m.Settings().Loss)
	testutil.NoError(t, err)
	x := make([]float32, m.Settings().Dim)
	for row := range slices.Chunk(m.x, len(x)) {
		testutil.NoError(t, scaling.Apply(x, row))
		scores := testutil.Score(f, x)
		if of, ok := l.(loss.Probabilistic); ok {
			p := make([]float64, len(m.Settings().Labels))
			of.Probabilities(p, scores)
			scores = p
		}
		m.scores = append(m.scores, scores)
	}
}

// compare compares what a program printed with the predictions and scores of the model. A label
// may differ if float32 can't tell the two best scores apart.
func (m *checked) compare(t *testing.T, text string) {
	t.Helper()
	ties, most, lines := 0, 0.0, strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != checkedRows {
		t.Fatalf("%d lines: %.200s", len(lines), text)
	}
	for i, line := range lines {
		words := strings.Fields(line)
		off, gap := 0.0, math.Inf(1)
		if m.Regression() {
			off = math.Abs(parse(t, words[0])-parse(t, m.predictions[i])) * m.Settings().TargetFactor
		} else {
			var got []float64
			for _, word := range words[1:] {
				got = append(got, parse(t, word))
			}
			want := m.scores[i]
			if len(want) == 1 && len(got) == 2 {
				want = []float64{-want[0], want[0]}
			}
			for k, v := range want {
				off = max(off, math.Abs(got[k]-v))
			}
			if len(want) == 1 {
				gap = 2 * math.Abs(want[0])
			} else {
				sorted := slices.Sorted(slices.Values(want))
				gap = sorted[len(sorted)-1] - sorted[len(sorted)-2]
			}
			if words[0] != m.predictions[i] {
				ties++
			}
		}
		if most = max(most, off); !(off <= 1e-4) || !m.Regression() && words[0] != m.predictions[i] && gap > 1e-4 {
			t.Fatalf("row %d: %s, want %s %v", i, line, m.predictions[i], m.scores[i])
		}
	}
	t.Logf("%d rows: %d labels differ, all of them ties within float32; scores differ by up to %.2g", len(lines), ties, most)
}

func parse(t *testing.T, word string) float64 {
	v, err := strconv.ParseFloat(word, 64)
	testutil.NoError(t, err)
	return v
}

// command runs a program, with a file as its standard input unless that is "", and returns its
// output. It skips the test if the program is not installed.
func command(t *testing.T, stdin, name string, args ...string) string {
	t.Helper()
	_, err := exec.LookPath(name)
	testutil.Need(t, err)
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if stdin != "" {
		in, err := os.Open(stdin)
		testutil.NoError(t, err)
		defer in.Close()
		cmd.Stdin = in
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, stderr.Bytes())
	}
	return string(out)
}

// save writes what a function writes to a new file.
func save(t *testing.T, name string, write func(io.Writer) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	testutil.NoError(t, os.WriteFile(path, []byte(written(t, write)), 0o666))
	return path
}

var (
	strict = []string{"-std=c99", "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-O2"}
	avr    = append(strict, "-mmcu=atmega2560", "-c")
	m4     = []string{"testdata/m4.c", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "--specs=rdimon.specs", "-Wl,--section-start=.vectors=0", "-lm"}
	qemu   = []string{"-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none", "-semihosting-config", "enable=on,target=native", "-kernel"}
)

// Three compilers take a C file without a warning, and two programs predict as the model does.
func TestCheckC(t *testing.T) {
	checkModels(t, func(t *testing.T, m *checked) {
		original := m.Model
		checkC(t, m, original, false)
		var err error
		m.Model, err = Round(original)
		testutil.NoError(t, err)
		m.predict(t)
		checkC(t, m, original, true)
	})
}

// checkC compares the C file of a model with m.
func checkC(t *testing.T, m *checked, of *online.Model, small bool) {
	file := save(t, "model.c", func(w io.Writer) error { return C(w, of, small) })
	program, values := filepath.Join(t.TempDir(), "program"), "polk_scores"
	command(t, "", "avr-gcc", append(avr, file, "-o", program)...)
	if strings.HasSuffix(m.Settings().Loss, "logistic") {
		values = "polk_probabilities"
	}
	args := append(strict, "-DP="+strconv.Itoa(m.Settings().Dim), "-DK="+strconv.Itoa(len(m.scores[0])), "-DPOLK_VALUES="+values,
		"-DMODEL=\""+file+"\"", "testdata/main.c", "-o", program)
	if !m.Regression() {
		args = append(args, "-DL")
	}
	command(t, "", "gcc", append(args, "-lm")...)
	m.compare(t, command(t, m.file, program))
	command(t, "", "arm-none-eabi-gcc", append(args, m4...)...)
	m.compare(t, command(t, m.file, "qemu-system-arm", append(qemu, program)...))
}

// The compilers take the golden files: labels that look like code are text.
func TestCheckGoldenC(t *testing.T) {
	for _, name := range []string{"hinge", "int8", "logistic", "square"} {
		file := "testdata/" + name + ".c"
		command(t, "", "gcc", append(strict, "-c", file, "-o", os.DevNull)...)
		command(t, "", "avr-gcc", append(avr, file, "-o", os.DevNull)...)
	}
}

// Debian's python3-onnx accepts the golden files.
func TestCheckGoldenONNX(t *testing.T) {
	const python = "/usr/bin/python3"
	testutil.Need(t, exec.Command(python, "-c", "import onnx").Run())
	for _, name := range []string{"hinge", "logistic", "square"} {
		command(t, "", python, "-c", "import onnx, sys; onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True)", "testdata/"+name+".onnx")
	}
}

// onnxVersion is that of onnxruntime-web, which the test gets from npm's registry.
const onnxVersion = "1.17.3"

// onnxruntime-web predicts as the model does.
func TestCheckONNX(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"npm", "node"} {
		_, err := exec.LookPath(name)
		testutil.Need(t, err)
	}
	if out, err := exec.Command("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "onnxruntime-web@"+onnxVersion).CombinedOutput(); err != nil {
		testutil.Need(t, fmt.Errorf("needs npm's registry: %w: %s", err, out))
	}
	t.Setenv("NODE_PATH", filepath.Join(dir, "node_modules"))
	checkModels(t, func(t *testing.T, m *checked) {
		file := save(t, "model.onnx", func(w io.Writer) error { return ONNX(w, m.Model) })
		m.compare(t, command(t, "", "node", "testdata/run.js", file, m.file, strconv.Itoa(m.Settings().Dim)))
	})
}
