package polk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"polkrepro/internal/race"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/internal/literal"
)

// oracleSize bounds M+n of the steps that are compared with the literal Algorithm 1, whose cost
// grows with the fifth power of M+n.
const oracleSize = 20

// TestAlgorithm2 follows a learner through streams. It compares every step with Algorithm 2 as
// printed, applied to the learner's own f_t, so that rounding does not add up. The removals and
// their order must be the same, the weights equal to 1e-8 of the largest, and the reported error
// that of the function.
//
// It skips steps whose outcome rounding decides: a removal or the stop within 1e-9 of a tie,
// elements within 1e-10 (squared) of dependence, a hinge at its kink. It also skips steps that are
// too large for the oracle. For twenty compared steps there may be at most one of the former, and
// for five at most one of the latter.
func TestAlgorithm2(t *testing.T) {
	steps := 25
	if race.Enabled {
		steps = 4
	}
	var total tally
	for _, l := range []loss.Loss{hinge, logistic} {
		for _, dim := range []int{2, 3, 4} {
			for _, batch := range []int{1, 4, 10} {
				cfg := testConfig(l)
				cfg.Dim, cfg.Budget = dim, varying
				total.add(followed(t, cfg, batch, steps))
			}
		}
	}
	cfg := testConfig(hinge)
	cfg.LearningRate, cfg.Budget = InverseTime{Initial: 1.5, Horizon: 10}, SquaredRate{}
	total.add(followed(t, cfg, 2, steps))
	cfg = testConfig(hinge)
	cfg.Budget = Parsimony(0.1)
	total.add(followed(t, cfg, 32, steps))
	cfg = testConfig(logistic)
	cfg.Budget = Parsimony(0.15)
	total.add(followed(t, cfg, 4, steps))
	cfg.Kernel, cfg.Dim, cfg.LearningRate, cfg.Budget = kernel.Polynomial{Offset: 1, Degree: 3}, 4, Constant(0.02), varying
	total.add(followed(t, cfg, 3, steps))
	for _, l := range []loss.Loss{loss.BinaryLogistic{}, loss.SquaredHinge{}} {
		cfg = testConfig(l)
		cfg.Regularizer, cfg.LearningRate, cfg.Budget, cfg.Threads = 0.05, Constant(0.2), varying, 2
		total.add(followed(t, cfg, 5, steps))
	}
	if race.Enabled {
		return // too few steps for a rate
	}
	if total.skipped*20 > total.compared || total.large*5 > total.compared {
		t.Errorf("%d steps hung on rounding and %d were too large, only %d compared", total.skipped, total.large, total.compared)
	}
}

// varying stands for a budget that varies with the model order.
const varying = Parsimony(0)

// A tally counts steps.
type tally struct{ compared, skipped, large int }

func (a *tally) add(b tally) {
	a.compared, a.skipped, a.large = a.compared+b.compared, a.skipped+b.skipped, a.large+b.large
}

// followed runs one stream until it has compared enough steps, or taken twice as many.
func followed(t *testing.T, cfg Config, batch, steps int) (n tally) {
	t.Helper()
	name := fmt.Sprintf("%s, %s, dimension %d, batches of %d", cfg.Kernel.Name(), cfg.Loss.Name(), cfg.Dim, batch)
	r := rand.New(rand.NewPCG(uint64(cfg.Dim), uint64(batch)))
	m := newMixture(r, cfg.Dim, cfg.Classes)
	if batch > oracleSize { // so that hardly any margin is violated once it has learned
		m.spread = 0.25
		for c := range m.means {
			m.means[c][c%cfg.Dim] += 3 * float64(1-2*(c/cfg.Dim))
		}
	}
	l := mustNew(t, cfg)
	if cfg.Budget == varying { // ε = 2^(M−7)/20 keeps the model order M near 8, and so takes every size
		l.cfg.Budget = budget(func() float64 { return 0.05 * math.Exp2(float64(l.Expansion().Order()-7)) })
	}
	for n.compared < steps && n.compared+n.skipped+n.large < 2*steps {
		x, y := m.batch(batch)
		if l.f.Outputs == 1 {
			signs(y)
		}
		u := newTilde(l, batch, x, y)
		mustStep(t, l, batch, x, y)
		if u.f.Order() > oracleSize {
			n.large++
			continue
		}
		if u.kink || separation(u.f) < 1e-10 {
			n.skipped++
			continue
		}
		stays, weights, want, seen := literal.NewPursuit(u.f, true).Algorithm1(u.eps)
		if tie(seen, u.eps) < 1e-9 {
			n.skipped++
			continue
		}
		if u.idle >= 0 { // it costs nothing, so Algorithm 1 removes it first; the learner never adds it
			if len(want) == 0 || want[0] != u.idle {
				t.Fatalf("%s, step %d: the printed algorithm removes %v, sample %d has no gradient", name, l.Steps(), want, u.idle)
			}
			want = want[1:]
		}
		var removed []int
		for _, i := range want {
			removed = append(removed, u.index[i])
		}
		compare(t, fmt.Sprintf("%s, step %d", name, l.Steps()), u.f, l.Expansion(), l.komp.removed, removed, stays, weights)
		s := l.Last()
		if dist, _ := distance(u.f, l.f); !(math.Abs(dist-s.Error) <= 1e-6*dist+1e-8*size(u.f)) || s.Budget != u.eps || u.old+s.Active-s.Removed != l.f.Order() {
			t.Errorf("%s, step %d: from %d to %d elements at ‖f − f̃‖ = %v, reported %+v", name, l.Steps(), u.old, l.f.Order(), dist, s)
		}
		if t.Failed() {
			t.FailNow()
		}
		n.compared++
	}
	return n
}
