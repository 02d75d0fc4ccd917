package polk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"polkrepro/internal/hostile"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// savedKinds are configurations of learners whose files differ in what they
// hold: functions alone, ages of the elements, and a pruner's state.
func savedKinds(t testing.TB) []Config {
	plain, ages, state := testConfig(hinge), testConfig(logistic), testConfig(hinge)
	ages.Pruner = mustPruner(t, "oldest", prune.Params{"order": 4})
	state.Pruner = mustPruner(t, "komp-loss", prune.Params{"order": 4, "tried": 2})
	return []Config{plain, ages, state}
}

// savedFile returns the file of a learner that took a few steps.
func savedFile(t testing.TB, cfg Config) []byte {
	l := mustNew(t, cfg)
	m := newMixture(rand.New(rand.NewPCG(41, 0)), cfg.Dim, cfg.Classes)
	for range 4 {
		x, y := m.batch(3)
		mustStep(t, l, 3, x, y)
	}
	return saved(t, l)
}

// FuzzLoad: whatever the file holds, Load returns an error or a learner that
// takes steps and is saved and loaded again. Memory is that of the file and of
// K_DD and its inverse.
func FuzzLoad(f *testing.F) {
	for i, cfg := range savedKinds(f) {
		header, payload := hostile.Parts(savedFile(f, cfg))
		f.Add(uint8(i), header, payload)
	}
	f.Fuzz(func(t *testing.T, kind uint8, header string, payload []byte) {
		if len(payload) > 4096 {
			return // a dictionary that takes long to invert
		}
		kinds := savedKinds(t)
		cfg := kinds[int(kind)%len(kinds)]
		file := hostile.Model(header, payload)
		var l *Learner
		var err error
		hostile.AtMost(t, 200*len(file)+8<<20, func() { l, err = Load(bytes.NewReader(file), cfg) })
		if err != nil {
			return
		}
		again, err := Load(bytes.NewReader(saved(t, l)), cfg)
		if err != nil || again.Steps() != l.Steps() {
			t.Fatalf("saved and loaded: %v", err)
		}
		x, y := newMixture(rand.New(rand.NewPCG(42, 0)), cfg.Dim, cfg.Classes).batch(3)
		for range 2 {
			if err := l.Step(3, x, y); err != nil && !strings.HasPrefix(err.Error(), "polk: ") {
				t.Fatalf("step: %v", err)
			}
		}
	})
}

// TestLoadRefusesManyElements: K_DD of a file of 400 KB would take 8 GB.
func TestLoadRefusesManyElements(t *testing.T) {
	cfg := testConfig(hinge)
	header, _ := hostile.Parts(savedFile(t, cfg))
	at := strings.Index(header, `"order":`)
	end := at + strings.IndexByte(header[at:], ',')
	many := MaxOrder + 1
	header = header[:at] + fmt.Sprintf(`"order":%d`, many) + header[end:]
	file := hostile.Model(header, make([]byte, many*(4*cfg.Dim+8*cfg.Classes)))
	hostile.AtMost(t, 16<<20, func() {
		if _, err := Load(bytes.NewReader(file), cfg); err == nil || !strings.Contains(err.Error(), "16385 elements") {
			t.Errorf("error %v", err)
		}
	})
	if err := cfg.checkOrder(MaxOrder); err != nil {
		t.Error(err)
	}
	f := kernel.NewExpansion(cfg.Kernel, cfg.Dim, cfg.Classes)
	for range many {
		f.Append(make([]float32, cfg.Dim), make([]float64, cfg.Classes))
	}
	if err := newLearner(cfg, f).Save(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "16385 elements") {
		t.Errorf("saved: error %v", err)
	}
}

// TestLoadRefusesStates that no learner has saved: a step would take them for
// granted.
func TestLoadRefusesStates(t *testing.T) {
	cfg := savedKinds(t)[2]
	header, payload := hostile.Parts(savedFile(t, cfg))
	for _, c := range [][2]string{{`"steps":4`, `"steps":-4`}, {`"kernel_evals":`, `"kernel_evals":-1`}} {
		bad := strings.Replace(header, c[0], c[1], 1)
		if bad == header {
			t.Fatalf("no %s in %s", c[0], header)
		}
		if _, err := Load(bytes.NewReader(hostile.Model(bad, payload)), cfg); err == nil {
			t.Errorf("%s was loaded", c[1])
		}
	}
}
