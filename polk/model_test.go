package polk

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"polkrepro/kernel"
	"polkrepro/loss"
)

func saved(t testing.TB, l *Learner) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := l.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSaveLoad: a learner saved in mid-stream and the one read from the file
// go on alike, bit for bit, in everything they report.
func TestSaveLoad(t *testing.T) {
	schedule := Inverse{Initial: 2, Horizon: 50}
	for name, cfg := range map[string]Config{
		"hinge":       testConfig(hinge),
		"logistic":    testConfig(logistic),
		"diminishing": func() Config { c := testConfig(logistic); c.LearningRate = schedule; return c }(),
		"singular":    func() Config { c := testConfig(logistic); c.Kernel = kernel.Gaussian{Bandwidth: 3}; return c }(),
		"empty":       func() Config { c := testConfig(logistic); c.Budget = Parsimony(100); return c }(),
		"two threads": func() Config { c := testConfig(hinge); c.Threads = 2; return c }(),
		"polynomial": func() Config {
			c := testConfig(hinge)
			c.Kernel = kernel.Polynomial{Offset: 1, Degree: 2}
			c.LearningRate = Constant(0.05)
			return c
		}(),
		"long vectors": func() Config { c := testConfig(hinge); c.Dim = 50; c.Kernel = kernel.Gaussian{Bandwidth: 6}; return c }(),
	} {
		for _, at := range []int{0, 1, 40} {
			m := newMixture(rand.New(rand.NewPCG(16, uint64(at))), cfg.Dim, 3)
			l := mustNew(t, cfg)
			for range at {
				x, y := m.batch(8)
				mustStep(t, l, 8, x, y)
			}
			other, err := Load(bytes.NewReader(saved(t, l)), cfg)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for range 60 {
				sameState(t, name, l, other)
				if l.KernelEvals() != other.KernelEvals() || l.komp.health != other.komp.health {
					t.Fatalf("%s, step %d: evaluations or health differ: %v, %v", name, l.Steps(), l.Health(), other.Health())
				}
				x, y := m.batch(8)
				mustStep(t, l, 8, x, y)
				mustStep(t, other, 8, x, y)
				if l.Last() != other.Last() {
					t.Fatalf("%s, step %d: %+v and %+v", name, l.Steps(), l.Last(), other.Last())
				}
			}
			if !bytes.Equal(saved(t, l), saved(t, other)) {
				t.Errorf("%s: the saved learners differ", name)
			}
		}
	}
}

// TestSaveForgetsNorms: what bounds the rounding of the screening, and with it
// the count of kernel evaluations, is the same in the learner that was saved
// and in the one that is loaded.
func TestSaveForgetsNorms(t *testing.T) {
	cfg := testConfig(hinge)
	cfg.Budget = Parsimony(1e3) // the dictionary stays empty
	l := mustNew(t, cfg)
	mustStep(t, l, 1, []float32{30, 40}, []float64{0})
	if l.norm2 != 2500 {
		t.Fatalf("the largest squared norm is %v", l.norm2)
	}
	other, err := Load(bytes.NewReader(saved(t, l)), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if l.norm2 != other.norm2 || l.norm2 != 0 {
		t.Errorf("the largest squared norm is %v in the learner, %v in the one loaded", l.norm2, other.norm2)
	}
}

// TestSaveKeepsTheFunction: saving computes P afresh, and nothing else changes.
func TestSaveKeepsTheFunction(t *testing.T) {
	l := mustNew(t, testConfig(logistic))
	m := newMixture(rand.New(rand.NewPCG(17, 17)), 2, 3)
	for range 40 {
		x, y := m.batch(8)
		mustStep(t, l, 8, x, y)
	}
	before, last := modelBytes(t, l.f), l.Last()
	saved(t, l)
	if !bytes.Equal(modelBytes(t, l.f), before) || l.Last() != last || l.Steps() != 40 {
		t.Error("Save changed the learner")
	}
}

func TestLoadErrors(t *testing.T) {
	cfg := testConfig(hinge)
	l := mustNew(t, cfg)
	m := newMixture(rand.New(rand.NewPCG(18, 18)), 2, 3)
	for range 5 {
		x, y := m.batch(4)
		mustStep(t, l, 4, x, y)
	}
	file := saved(t, l)
	change := func(f func(*Config)) Config {
		c := cfg
		f(&c)
		return c
	}
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"bandwidth":     {change(func(c *Config) { c.Kernel = kernel.Gaussian{Bandwidth: 0.7} }), "has kernel {Bandwidth:0.8}, not {Bandwidth:0.7}"},
		"kernel":        {change(func(c *Config) { c.Kernel = kernel.Polynomial{Offset: 1, Degree: 2} }), "has kernel {Bandwidth:0.8}, not {Offset:1 Degree:2}"},
		"loss":          {change(func(c *Config) { c.Loss = logistic }), "has loss multi-hinge"},
		"outputs":       {change(func(c *Config) { c.Loss = loss.BinaryLogistic{} }), "has loss multi-hinge"},
		"classes":       {change(func(c *Config) { c.Classes = 4 }), "3 classes and dimension 2, not multi-hinge, 4 and 2"},
		"dimension":     {change(func(c *Config) { c.Dim = 3 }), "3 classes and dimension 2, not multi-hinge, 3 and 3"},
		"configuration": {change(func(c *Config) { c.Dim = 0 }), "dimension 0"},
	} {
		l, err := Load(bytes.NewReader(file), c.cfg)
		if l != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.want)
		}
	}
	for n := 0; n < len(file); n += 7 {
		if _, err := Load(bytes.NewReader(file[:n]), cfg); !errors.Is(err, kernel.ErrFormat) {
			t.Errorf("first %d bytes: %v", n, err)
		}
		file[n] ^= 0x10
		if _, err := Load(bytes.NewReader(file), cfg); err == nil {
			t.Errorf("byte %d flipped: accepted", n)
		}
		file[n] ^= 0x10
	}
	var other bytes.Buffer
	if err := l.Expansion().Write(&other, map[string]string{"learner": "bsgd"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(&other, cfg); err == nil || !strings.Contains(err.Error(), `learner "bsgd"`) {
		t.Errorf("another learner's model: %v", err)
	}
	broken := errors.New("broken pipe")
	if _, err := Load(iotest.ErrReader(broken), cfg); !errors.Is(err, broken) {
		t.Errorf("a reader's error: %v", err)
	}
	if err := l.Save(failingWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("a writer's error: %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestSaveNearlySingular: Save computes K_DD⁻¹ afresh and for that gives up
// elements that make K_DD singular to rounding. That must not change the
// functions by more than rounding does, and does not depend on the scale of the
// kernel or of the weights.
func TestSaveNearlySingular(t *testing.T) {
	const points = 120
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 31))
		f := kernel.NewExpansion(kernel.Gaussian{Bandwidth: 0.6}, 2, 2)
		for range points {
			f.Append([]float32{0.7 * r.Float32(), 0.7 * r.Float32()}, []float64{2*r.Float64() - 1, 2*r.Float64() - 1})
		}
		k := komp{f: f.Clone(), threads: 1}
		k.load()
		dist, norm := distance(f, k.f)
		counted := math.Sqrt(k.spent)
		t.Logf("%d of %d given up: ‖f − f'‖ = %.1e, counted %.1e, of ‖f‖ = %.1f", k.health.Dropped, points, dist, counted, norm)
		if k.health.Dropped == 0 {
			t.Errorf("seed %d: none was given up", seed)
		}
		if !(dist < 1e-5 && dist < counted+1e-6) { // 1e-6: what the distance itself is off by
			t.Errorf("seed %d: ‖f − f'‖ = %v, counted %v", seed, dist, counted)
		}
		if seed > 0 {
			continue
		}
		of := func(scale float64) *komp { // powers of two round alike
			g := kernel.Gaussian{Bandwidth: 0.6}
			scaled := kernel.NewExpansion(function(func(x, y []float32) float64 { return scale * g.Eval(x, y) }), 2, 2)
			for j := range f.Order() {
				w := f.Weights(j)
				scaled.Append(f.Dict.At(j), []float64{16 * w[0], 16 * w[1]})
			}
			k := komp{f: scaled, threads: 1}
			k.load()
			return &k
		}
		one := of(1)
		if ratio := math.Sqrt(one.spent) / counted; !(ratio > 12 && ratio < 20) {
			t.Errorf("weights 16 times as large cost %v times as much", ratio)
		}
		for _, scale := range []float64{0x1p-20, 0x1p20} {
			other := of(scale)
			if !slices.Equal(other.f.W, one.f.W) || other.spent != scale*one.spent {
				t.Errorf("kernel times %v: %d elements that lose %v, want %d and %v", scale, other.f.Order(), other.spent, one.f.Order(), scale*one.spent)
			}
		}
	}
}
