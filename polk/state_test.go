package polk

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// stateBytes returns a learner's state. It fails unless StateSize returns its length.
func stateBytes(t testing.TB, l *Learner) []byte {
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

// restored returns a learner restored from the functions and the state of l.
func restored(t testing.TB, l *Learner, cfg Config) *Learner {
	t.Helper()
	f, err := kernel.ReadExpansion(bytes.NewReader(modelBytes(t, l.f)), nil)
	testutil.NoError(t, err)
	other, err := Restore(f, bytes.NewReader(stateBytes(t, l)), cfg)
	testutil.NoError(t, err)
	return other
}

// stateKinds returns makers of configurations, by name. The states of their learners differ in
// contents or form.
func stateKinds(t testing.TB) map[string]func() Config {
	pruner := func(name string, p prune.Params) func() Config {
		return func() Config {
			c := testConfig(logistic)
			c.Pruner = mustPruner(t, name, p)
			return c
		}
	}
	return map[string]func() Config{
		"logistic": func() Config { return testConfig(logistic) },
		"many":     func() Config { c := testConfig(logistic); c.Budget = Parsimony(1e-4); return c },
		"diminishing": func() Config {
			c := testConfig(logistic)
			c.LearningRate = InverseTime{Initial: 2, Horizon: 50}
			return c
		},
		"singular": func() Config { c := testConfig(logistic); c.Kernel = kernel.Gaussian{Bandwidth: 3}; return c },
		"empty":    func() Config { c := testConfig(logistic); c.Budget = Parsimony(100); return c },
		"polynomial": func() Config {
			c := testConfig(hinge)
			c.Kernel, c.LearningRate = kernel.Polynomial{Offset: 1, Degree: 2}, Constant(0.05)
			return c
		},
		"loss":       pruner("komp-loss", prune.Params{"order": 12}),
		"no inverse": pruner("oldest", prune.Params{"order": 12}),
	}
}

// TestRestore: a learner that is saved in mid-stream, one that is restored from it, and one that
// is never saved continue alike, bit for bit, in everything that they report. This holds for any
// dictionary, rank of P and position of the probe.
func TestRestore(t *testing.T) {
	for name, config := range stateKinds(t) {
		m := newMixture(rand.New(rand.NewPCG(51, 0)), config().Dim, 3)
		l, never := mustNew(t, config()), mustNew(t, config())
		others := []*Learner{never}
		ranks := make(map[int]bool)
		for step := range 80 {
			if step%9 == 0 || step == 1 {
				others = append(others[:1], restored(t, l, config()))
				ranks[l.komp.dict.inverse.rank()] = true
			}
			m.step(t, 8, append(others, l)...)
			for i, other := range others {
				sameState(t, name, l, other)
				if l.KernelEvals() != other.KernelEvals() || l.komp.dict.health != other.komp.dict.health || l.Last() != other.Last() {
					t.Fatalf("%s, step %d, learner %d: evaluations, health or report differ: %v, %v", name, step, i, l.Health(), other.Health())
				}
				if a, b := &l.komp.dict, &other.komp.dict; a.freshResidual != b.freshResidual || a.residual != b.residual || a.wait != b.wait {
					t.Fatalf("%s, step %d, learner %d: norms or residuals differ", name, step, i)
				}
				if !bytes.Equal(stateBytes(t, l), stateBytes(t, other)) {
					t.Fatalf("%s, step %d, learner %d: the states differ", name, step, i)
				}
			}
		}
		if (name == "many" || name == "logistic") && len(ranks) < 2 {
			t.Errorf("%s: P was always %v vectors ahead of its base", name, ranks)
		}
	}
}

// TestRestoreErrors: a corrupt, truncated, extended or newer state is an error.
func TestRestoreErrors(t *testing.T) {
	cfg := testConfig(logistic)
	l := trained(t, cfg)
	state := stateBytes(t, l)
	restore := func(b []byte, cfg Config) error {
		_, err := Restore(l.f.Clone(), bytes.NewReader(b), cfg)
		return err
	}
	for n := range state {
		if err := restore(state[:n], cfg); !errors.Is(err, ErrState) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
		bad := bytes.Clone(state)
		bad[n] ^= 0x10
		if err := restore(bad, cfg); err == nil {
			t.Fatalf("byte %d flipped: accepted", n)
		}
	}
	if err := restore(append(bytes.Clone(state), 0), cfg); !errors.Is(err, ErrState) {
		t.Errorf("a byte too many: %v", err)
	}
	header, payload := hostile.Parts(state)
	for _, c := range [][2]string{
		{`"steps":20`, `"steps":-20`}, {`"kernel_evals":`, `"kernel_evals":-1`}, {`"order":`, `"order":1`}, {`"rank":`, `"rank":-1`}, {`"rank":`, `"rank":9`},
		{`"probe":`, `"probe":-`}, {`"wait":`, `"wait":9999999`}, {`"settled":"`, `"settled":"N`}, {`"residual":"`, `"residual":"-1`},
		{`"inverse":`, `"inverted":`},
	} {
		bad := strings.Replace(header, c[0], c[1], 1)
		if bad == header {
			t.Fatalf("no %s in %s", c[0], header)
		}
		if err := restore(hostile.Seal("POLKSTA\x01", bad, payload), cfg); err == nil {
			t.Errorf("%s was restored", c[1])
		}
	}
	broken := errors.New("broken pipe")
	if _, err := Restore(l.f, iotest.ErrReader(broken), cfg); !errors.Is(err, broken) {
		t.Errorf("a reader's error: %v", err)
	}
	if err := l.WriteState(failingWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("a writer's error: %v", err)
	}
}

// TestRestoreOther: a state of another configuration is an error.
func TestRestoreOther(t *testing.T) {
	cfg := testConfig(hinge)
	cfg.Pruner = mustPruner(t, "oldest", prune.Params{"order": 8})
	l := trained(t, cfg)
	state := stateBytes(t, l)
	change := func(f func(*Config)) Config {
		c := cfg
		f(&c)
		return c
	}
	pruner := func(name string, order float64) Config {
		return change(func(c *Config) { c.Pruner = mustPruner(t, name, prune.Params{"order": order}) })
	}
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"bandwidth":     {change(func(c *Config) { c.Kernel = kernel.Gaussian{Bandwidth: 0.7} }), "has kernel {Bandwidth:0.8}, not {Bandwidth:0.7}"},
		"loss":          {change(func(c *Config) { c.Loss = logistic }), "has loss multi-hinge"},
		"classes":       {change(func(c *Config) { c.Classes = 4 }), "3 classes and dimension 2, not multi-hinge, 4 and 2"},
		"dimension":     {change(func(c *Config) { c.Dim = 3 }), "3 classes and dimension 2, not multi-hinge, 3 and 3"},
		"configuration": {change(func(c *Config) { c.Dim = 0 }), "Dim 0"},
		"parameters":    {pruner("oldest", 9), `polk: the saved model has pruner "oldest (order=8)", not "oldest (order=9)"`},
		"pruner":        {pruner("random", 8), `polk: the saved model has pruner "oldest (order=8)", not "random (order=8)"`},
		"no pruner":     {change(func(c *Config) { c.Pruner = nil }), ErrState.Error()}, // this learner keeps K_DD⁻¹, which the state does not have
	} {
		l, err := Restore(l.f.Clone(), bytes.NewReader(state), c.cfg)
		if l != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.want)
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// trained returns a learner after some steps.
func trained(t testing.TB, cfg Config) *Learner {
	t.Helper()
	l := mustNew(t, cfg)
	m := newMixture(rand.New(rand.NewPCG(53, 0)), cfg.Dim, cfg.Classes)
	for range 20 {
		m.step(t, 8, l)
	}
	return l
}

// TestRestoreWithoutInverse: wrong numbers in place of K_DD⁻¹, with a valid checksum, are not used.
func TestRestoreWithoutInverse(t *testing.T) {
	for _, factor := range []float64{0, -1e9, 1e300} {
		l := trained(t, testConfig(logistic))
		for i := range l.f.Order() {
			scale(factor, l.komp.dict.inverse.base.Row(i))
		}
		other := restored(t, l, testConfig(logistic))
		if res := inverseResidual(other); !(res < 1e-6) {
			t.Errorf("P times %v is restored with a residual of %v", factor, res)
		}
	}
}

// TestWriteStateNotFinite: a P that has overflowed is recomputed before it is written, because it
// could not be read again.
func TestWriteStateNotFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		l := trained(t, testConfig(logistic))
		l.komp.dict.inverse.base.Set(1, 0, v)
		l.komp.dict.health.Residual = v
		other := restored(t, l, testConfig(logistic))
		if res := inverseResidual(other); !(res < 1e-6) {
			t.Errorf("%v in P: residual %v", v, res)
		}
		sameState(t, "not finite", l, other)
	}
	l := trained(t, testConfig(logistic))
	l.komp.dict.freshResidual, l.komp.dict.residual = 1e-12, 1e-12
	before := l.komp.dict.health
	if stateBytes(t, l); l.komp.dict.health != before || l.komp.dict.freshResidual != 1e-12 {
		t.Errorf("a finite P is computed afresh: %+v, before %+v", l.komp.dict.health, before)
	}
}

// TestRestoreManyElements: a state of many elements without their numbers is an error before K_DD
// and its inverse are allocated.
func TestRestoreManyElements(t *testing.T) {
	cfg := testConfig(hinge)
	f := kernel.NewExpansion(cfg.Kernel, cfg.Dim, cfg.Classes)
	for range 1 << 13 {
		f.Append(make([]float32, cfg.Dim), make([]float64, cfg.Classes))
	}
	header, payload := hostile.Parts(stateBytes(t, mustNew(t, cfg)))
	header = strings.Replace(header, `"order":0`, `"order":8192`, 1)
	hostile.AtMost(t, 16<<20, func() {
		if _, err := Restore(f, bytes.NewReader(hostile.Seal("POLKSTA\x01", header, payload)), cfg); err == nil || !strings.Contains(err.Error(), "truncated") {
			t.Errorf("restored: error %v", err)
		}
	})
}

// FuzzRestore: whatever the state holds, Restore returns an error or a learner that can take steps
// and be saved and restored again. It allocates at most 20 times the size of the state plus 8 MB.
func FuzzRestore(f *testing.F) {
	kinds := []string{"logistic", "no inverse", "loss"} // functions alone, ages of the elements, and a pruner's state
	for i, name := range kinds {
		l := trained(f, stateKinds(f)[name]())
		header, payload := hostile.Parts(stateBytes(f, l))
		f.Add(uint8(i), header, payload)
		for at := 0; at < len(payload); at += 1 + len(payload)/5 {
			bad := bytes.Clone(payload)
			bad[at] ^= 0x7f
			f.Add(uint8(i), header, bad)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, header string, payload []byte) {
		config := stateKinds(t)[kinds[int(kind)%len(kinds)]]
		cfg, functions := config(), trained(t, config()).f
		state := hostile.Seal("POLKSTA\x01", header, payload)
		var l *Learner
		var err error
		hostile.AtMost(t, 20*len(state)+8<<20, func() { l, err = Restore(functions, bytes.NewReader(state), cfg) })
		if err != nil {
			return
		}
		m := newMixture(rand.New(rand.NewPCG(42, 0)), cfg.Dim, cfg.Classes)
		for range 3 {
			x, y := m.batch(3)
			if _, err := l.Step(context.Background(), 3, x, y); err != nil && !strings.HasPrefix(err.Error(), "polk: ") {
				t.Fatalf("step: %v", err)
			}
		}
		if again := restored(t, l, config()); again.Steps() != l.Steps() {
			t.Fatalf("%d steps, then %d", l.Steps(), again.Steps())
		}
	})
}
