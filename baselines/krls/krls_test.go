package krls

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/baselines/learnertest"
	"polkrepro/internal/gemm"
	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/polk"
)

// TestNearDuplicates: on points so dense that K of a few hundred is singular to rounding, L stays
// a factor of K, no variance is lost, and the error is that of the noise.
func TestNearDuplicates(t *testing.T) {
	for _, budget := range []int{0, 25} {
		c := Config{Kernel: kernel.Gaussian{Bandwidth: 1}, Dim: 2, Noise: 1e-4, Budget: budget, Forgetting: 1}
		l := mustNew(t, c)
		r := rand.New(rand.NewPCG(4, 0))
		var squares float64
		const n = 6000
		for i := range n {
			a, b := r.Float64(), r.Float64()
			x := []float32{float32(a), float32(b)}
			if i%3 == 0 && l.m.F.Order() > 0 { // a point that is there already, or nearly
				x = slices.Clone(l.m.F.Dict.At(i % l.m.F.Order()))
				x[0] += float32(i%2) * 1e-6
				a, b = float64(x[0]), float64(x[1])
			}
			y := math.Sin(3*a) + b*b + 0.01*r.NormFloat64()
			if e := step(t, l, x, y) - y; i >= n/2 {
				squares += e * e
			}
		}
		if h := l.Health(); h["negative"] > 0 || !(h["drift"] <= 1e-13) {
			t.Errorf("budget %d: %v", budget, h)
		}
		if rmse := math.Sqrt(squares / (n / 2)); !(rmse <= 0.0105) {
			t.Errorf("budget %d, order %d: error %v, the noise has 0.01", budget, l.m.F.Order(), rmse)
		}
		for i := range l.l.n {
			for j := range i + 1 {
				var sum float64
				for q := range j + 1 {
					sum += l.l.row(i)[q] * l.l.row(j)[q]
				}
				if k := c.Kernel.Eval(l.m.F.Dict.At(l.place[i]), l.m.F.Dict.At(l.place[j])); !close(sum, k, 1e-13) {
					t.Fatalf("LLᵀ is %v, κ is %v", sum, k)
				}
				if l.p.row(i)[j] != l.p.row(j)[i] {
					t.Fatal("P is not symmetric")
				}
			}
		}
	}
}

// TestKeepsToItsBudget: whatever the configuration and the stream, the order is at most the
// budget, scores are finite and are those of the model, and any number of threads has the same
// bits.
func TestKeepsToItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config()
		c.Kernel = kernel.Gaussian{Bandwidth: math.Exp(rapid.Float64Range(-4, 3).Draw(t, "log bandwidth"))}
		c.Threshold = math.Exp(rapid.Float64Range(-25, 0).Draw(t, "log threshold"))
		c.Noise = math.Exp(rapid.Float64Range(-25, 3).Draw(t, "log noise"))
		c.Budget = rapid.IntRange(1, 20).Draw(t, "budget")
		c.Forgetting = rapid.SampledFrom([]float64{1, 0.999, 0.5}).Draw(t, "forgetting")
		n := rapid.IntRange(1, 80).Draw(t, "n")
		x, y := draw(rapid.Uint64().Draw(t, "seed"), n)
		l, other := mustNew(t, c), mustNew(t, c)
		other.SetThreads(3)
		for i := range y {
			point := x[2*i : 2*i+2]
			want, out := l.Score(point), make([]float64, 1)
			l.Model().Scores(1, point, out, 1)
			var sum float64
			for _, w := range l.Expansion().W {
				sum += math.Abs(w)
			}
			learnertest.Step(t, l, point, y[i:i+1])
			learnertest.Step(t, other, point, y[i:i+1])
			if l.Expansion().Order() > c.Budget || !(math.Abs(out[0]-want) <= 1e-9*(1+sum)) {
				t.Fatalf("order %d, score %v, of the model %v", l.m.F.Order(), want, out)
			}
		}
		if !slices.Equal(l.Expansion().W, other.Expansion().W) || l.KernelEvals() < other.KernelEvals() {
			t.Fatal("threads change the result")
		}
		if norm, want := l.Model().NormSq(1), l.Expansion().NormSq(1); !(math.Abs(norm-want) <= 1e-3*(1+norm)+1e-6*norm) && c.Threshold > 1e-6 {
			t.Fatalf("‖f‖² = %v, want %v", norm, want)
		}
	})
}

// TestDiagonal: a diagonal of K⁻¹ that is damaged on purpose is right again after M removals.
func TestDiagonal(t *testing.T) {
	c := config()
	c.Threshold, c.Budget = 1e-6, 12
	x, y := draw(11, 400)
	l := mustNew(t, c)
	learnertest.Step(t, l, x[:400], y[:200])
	before := l.left
	for i := range l.diag {
		l.diag[i] *= 1.5
	}
	for i := 200; l.left < before+c.Budget; i++ {
		step(t, l, x[2*i:2*i+2], y[i])
	}
	for i, d := range l.diag {
		c := l.unit(i)
		if want := gemm.Dot(c, c); !(math.Abs(d/want-1) <= 1e-9) {
			t.Errorf("diagonal of K⁻¹ %v, want %v", d, want)
		}
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	c := config()
	c.Threshold, c.Budget = 1e-6, 15
	x, y := draw(5, 300)
	l := mustNew(t, c)
	learnertest.DoesNotAllocate(t, l, x, y)
	if h := l.Health(); !(h["left"]-h["spare"] >= 100) {
		t.Errorf("%v: the test shows little", h)
	}
}

// TestConfigs: one error names all problems.
func TestConfigs(t *testing.T) {
	_, err := New(Config{Threshold: math.NaN(), Budget: -1, Noise: math.Inf(1), Forgetting: 1.5})
	const want = `krls: Dim 0: must be at least 1
krls: Kernel <nil>: must be set
krls: Threshold NaN: must be at least 0
krls: Noise +Inf: must be a variance of at least 1e-100
krls: Budget -1: must be at least 1, or 0 for no limit
krls: Forgetting 1.5: must be above 0 and at most 1, which forgets nothing`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	c := config()
	c.Budget = 2
	x, y := draw(6, 30)
	for want, fit := range map[string]func() (*Learner, error){
		"dictionary of 3 elements, and the budget is 2": func() (*Learner, error) { return NewFitted(c, x[:6], 30, x, y) },
		"want 60 features and 30 labels, got 59 and 30": func() (*Learner, error) { return NewFitted(c, x[:4], 30, x[:59], y) },
		"krls: dictionary: 1 samples of dimension 2":    func() (*Learner, error) { return NewFitted(c, x[:3], 30, x, y) },
	} {
		if _, err := fit(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestDiverged: a step on a kernel value or target beyond float64 fails and changes nothing.
func TestDiverged(t *testing.T) {
	c := config()
	c.Kernel = kernel.Polynomial{Offset: 1, Degree: 20}
	l := mustNew(t, c)
	step(t, l, []float32{0.5, 0.5}, 1)
	before := state(t, l)
	if _, err := l.Step(t.Context(), 1, []float32{1e30, 1}, []float64{1}); !errors.Is(err, polk.ErrDiverged) {
		t.Error(err)
	}
	if _, err := l.Step(t.Context(), 1, []float32{1, 1}, []float64{math.Inf(1)}); err == nil || !strings.Contains(err.Error(), "target +Inf is not a finite number") {
		t.Error(err)
	}
	l.m.Evals--
	if !bytes.Equal(before, state(t, l)) {
		t.Error("the learner has changed")
	}
}

// state returns the bytes of WriteState, and fails unless StateSize is their number.
func state(t testing.TB, l *Learner) []byte {
	t.Helper()
	size, err := l.StateSize()
	testutil.NoError(t, err)
	var b bytes.Buffer
	testutil.NoError(t, l.WriteState(&b))
	if int64(b.Len()) != size {
		t.Fatalf("a state of %d bytes, announced %d", b.Len(), size)
	}
	return b.Bytes()
}

// TestRestore: a learner that is restored in mid-stream continues bit for bit.
func TestRestore(t *testing.T) {
	for _, change := range []func(*Config){
		func(*Config) {},
		func(c *Config) { c.Budget, c.Threshold = 9, 1e-6 },
		func(c *Config) { c.Budget, c.Forgetting = 12, 0.98 },
	} {
		c := config()
		change(&c)
		x, y := draw(8, 240)
		l := mustNew(t, c)
		other := mustNew(t, c)
		for i := range y {
			if i%7 == 0 {
				var err error
				other, err = Restore(c, bytes.NewReader(state(t, l)))
				testutil.NoError(t, err)
			}
			point := x[2*i : 2*i+2]
			if a, b := step(t, l, point, y[i]), step(t, other, point, y[i]); a != b {
				t.Fatalf("%+v, sample %d: scores %v and %v", c, i, a, b)
			}
			if !bytes.Equal(state(t, l), state(t, other)) || !slices.Equal(l.Expansion().W, other.Expansion().W) {
				t.Fatalf("%+v, sample %d: the states differ", c, i)
			}
		}
	}
}

// TestRestoreErrors: a state that is corrupt or of another configuration is an error.
func TestRestoreErrors(t *testing.T) {
	c := config()
	c.Budget = 6
	x, y := draw(9, 60)
	l := mustNew(t, c)
	learnertest.Step(t, l, x, y)
	good := state(t, l)
	for n := range good {
		if _, err := Restore(c, bytes.NewReader(good[:n])); !errors.Is(err, ErrState) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
		bad := bytes.Clone(good)
		bad[n] ^= 0x10
		if _, err := Restore(c, bytes.NewReader(bad)); err == nil {
			t.Fatalf("byte %d flipped: accepted", n)
		}
	}
	header, payload := hostile.Parts(good)
	for _, edit := range [][2]string{{`"order":6`, `"order":-6`}, {`"order":6`, `"order":5`}, {`"next":`, `"next":9`}, {`"kernel_evals":`, `"kernel_evals":-`}, {`"left":`, `"left":-`}} {
		bad := strings.Replace(header, edit[0], edit[1], 1)
		if bad == header {
			t.Fatalf("no %s in %s", edit[0], header)
		}
		if _, err := Restore(c, bytes.NewReader(hostile.Seal("KRLSSTA\x01", bad, payload))); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", edit[1], err)
		}
	}
	forged := bytes.Clone(payload)
	copy(forged[6*2*4:], forged[6*2*4+4:6*2*4+8]) // the first place is the second
	if _, err := Restore(c, bytes.NewReader(hostile.Seal("KRLSSTA\x01", header, forged))); !errors.Is(err, ErrState) {
		t.Errorf("a place twice: %v", err)
	}
	huge := strings.Replace(header, `"order":6`, `"order":1000000000`, 1)
	big := c
	big.Budget = 2_000_000_000
	hostile.AtMost(t, 1<<20, func() {
		if _, err := Restore(big, bytes.NewReader(hostile.Seal("KRLSSTA\x01", huge, payload))); !errors.Is(err, ErrState) {
			t.Errorf("a false order: %v", err)
		}
	})
	for want, change := range map[string]func(*Config){
		"has noise 0.01":                        func(c *Config) { c.Noise = 0.02 },
		"has 6 elements, and the budget is 5":   func(c *Config) { c.Budget = 5 },
		"a budget: true, not 0.01, 2 and false": func(c *Config) { c.Budget = 0 },
		"dimension 2 and a budget":              func(c *Config) { c.Dim = 3 },
		"krls: Kernel <nil>":                    func(c *Config) { c.Kernel = nil },
	} {
		other := c
		change(&other)
		if _, err := Restore(other, bytes.NewReader(good)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A sample with a weight of 3 counts as three equal samples, whether it enters the dictionary or not.
func TestStepWeighted(t *testing.T) {
	x, y := draw(54, 60)
	once, thrice := mustNew(t, config()), mustNew(t, config())
	for i, target := range y {
		_, err := once.StepWeighted(t.Context(), 1, x[2*i:2*i+2], []float64{target}, []float64{3})
		testutil.NoError(t, err)
		for range 3 {
			step(t, thrice, x[2*i:2*i+2], target)
		}
	}
	for i := range y {
		if a, b := once.Score(x[2*i:2*i+2]), thrice.Score(x[2*i:2*i+2]); !close(a, b, 1e-9) {
			t.Errorf("row %d: %v, want %v", i, a, b)
		}
	}
	if n := once.Expansion().Order(); n < 5 || n != thrice.Expansion().Order() {
		t.Errorf("%d elements and %d", n, thrice.Expansion().Order())
	}
}
