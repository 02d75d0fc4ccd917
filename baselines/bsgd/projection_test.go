package bsgd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/baselines/learnertest"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/polk"
)

// randomGram is a well-conditioned symmetric positive definite matrix.
func randomGram(rng *rand.Rand, n int) *mat.SymDense {
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var s mat.Dense
	s.Mul(a, a.T())
	g := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			g.SetSym(i, j, s.At(i, j)/float64(n))
		}
		g.SetSym(i, i, g.At(i, i)+0.5)
	}
	return g
}

// After each of 300 insertions and deletions, the factor is that of the current matrix, and its
// columns of the inverse equal gonum's, wherever the tail begins and whether or not rows were
// prepared.
func TestFactor(t *testing.T) {
	const pool = 40
	for _, most := range []int{0, 1, 5, tailMost} {
		rng := rand.New(rand.NewPCG(1, uint64(most)))
		gram := randomGram(rng, pool)
		f := newFactor(pool)
		f.most = most
		var rows []int // of gram, in the factor's order
		var waiting []int
		for step := range 300 {
			if rng.IntN(8) == 0 {
				f.settle()
				waiting = rng.Perm(pool)[:rng.IntN(6)]
				f.await(len(waiting))
				for i, w := range waiting {
					for r := range f.waitingRow(i) {
						f.waitingRow(i)[r] = gram.At(rows[r], w)
					}
				}
				f.solve()
			}
			if len(rows) > 0 && (len(rows) == 20 || rng.IntN(3) == 0) {
				p := rng.IntN(len(rows))
				f.inverseColumn(p, make([]float64, len(rows)))
				f.delete(p)
				rows = append(rows[:p], rows[p+1:]...)
			} else {
				next := fresh(rng, rows, pool)
				k := make([]float64, len(rows))
				for i, r := range rows {
					k[i] = gram.At(r, next)
				}
				var pivot float64
				if w := slices.Index(waiting, next); w >= 0 {
					for i := range f.head {
						k[i] = math.NaN() // not read
					}
					pivot = f.eliminateWaiting(w, k, gram.At(next, next))
				} else {
					pivot = f.eliminate(k, gram.At(next, next))
				}
				f.append(k, pivot)
				rows = append(rows, next)
			}
			if len(rows) > 0 {
				checkFactor(t, step, &f, gram, rows)
			}
		}
	}
}

func fresh(rng *rand.Rand, rows []int, pool int) int {
	for {
		if next := rng.IntN(pool); !slices.Contains(rows, next) {
			return next
		}
	}
}

func checkFactor(t *testing.T, step int, f *factor, gram *mat.SymDense, rows []int) {
	t.Helper()
	n := len(rows)
	k, row := mat.NewDense(n, n, nil), make([]float64, n)
	for i, r := range rows {
		f.multiply(i, row)
		for j, s := range rows {
			k.Set(i, j, gram.At(r, s))
			if !(math.Abs(row[j]-gram.At(r, s)) <= 1e-13) {
				t.Fatalf("step %d: (LDLᵀ)[%d,%d] = %v, want %v", step, i, j, row[j], gram.At(r, s))
			}
		}
	}
	for i, c := range f.coef {
		for j := range f.head { // K₁₁ c is the tail's row of K
			got := 0.0
			for q := range f.head {
				got += c[q] * gram.At(rows[j], rows[q])
			}
			if want := gram.At(rows[j], rows[f.head+i]); !(math.Abs(got-want) <= 1e-12) {
				t.Fatalf("step %d: coefficients of tail row %d give K_%d = %v, want %v", step, i, j, got, want)
			}
		}
	}
	var inverse mat.Dense
	testutil.NoError(t, inverse.Inverse(k))
	p := step % n
	f.inverseColumn(p, row)
	for i, v := range row {
		if !(math.Abs(v-inverse.At(i, p)) <= 1e-11) {
			t.Fatalf("step %d: K⁻¹[%d,%d] = %v, want %v", step, i, p, v, inverse.At(i, p))
		}
	}
}

// An updated inverse fails in this case (docs/numerics.md): thousands of points in the plane,
// B = 129, bandwidth 0.6 and a learning rate of 1. The Gram matrix is nearly singular throughout.
func TestNearDuplicates(t *testing.T) {
	for _, budget := range []int{16, 129} {
		for _, most := range []int{tailMost, 0, 8} {
			c := Config{
				Kernel: kernel.Gaussian{Bandwidth: 0.6}, Classes: 5, Dim: 2, Regularizer: 1e-6,
				LearningRate: polk.Constant(1), Budget: budget, Maintenance: Projection,
			}
			x, y := stream(1, 5000, 2, 5, 1.5)
			for i := range x {
				x[i] *= 0.6
			}
			l := splitAt(learner(t, c), most)
			for range 3 {
				learnertest.Step(t, l, x, y)
			}
			h := l.Health()
			t.Logf("B = %d, tail %d: order %d, %v", budget, most, l.Expansion().Order(), h)
			if err := sound(l); err != nil {
				t.Error(err)
			}
			if h["drift"] > 1e-14 || h["repairs"] > 0 || budget == 129 && h["dependent"] == 0 {
				t.Errorf("B = %d: %v", budget, h)
			}
			checkPivots(t, l)
			checkDegradation(t, l, x, y)
		}
	}
}

// splitAt sets the number of rows above which the tail of a projection's factor is shortened.
func splitAt(l *Learner, most int) *Learner {
	if p, ok := l.maintain.(*projection); ok {
		p.factor.most = most
	}
	return l
}

// checkDegradation follows 60 more samples: the degradation that a projection reports is the
// squared distance between the function without maintenance and the model. This distance is a sum
// of 10⁵ terms of up to 10⁹ and itself accurate only to 2e-6.
func checkDegradation(t *testing.T, l *Learner, x []float32, y []float64) {
	t.Helper()
	unlimited := l.config
	unlimited.Budget = math.MaxInt
	for i := range 60 {
		xi := x[i*l.config.Dim : (i+1)*l.config.Dim]
		o := oracle{c: unlimited, t: int(l.samples), elem: elements(l)}
		o.step(xi, int(y[i]))
		before := l.degradation
		learnertest.Step(t, l, xi, y[i:i+1])
		got, want := l.degradation-before, distance(l.config.Kernel, o.elem, elements(l))
		if !(math.Abs(got-want) <= 1e-5) {
			t.Fatalf("sample %d: degradation %v, ‖f − f'‖² = %v", i, got, want)
		}
	}
}

// checkPivots fails if a pivot is less than half of the smallest pivot with which an element
// enters.
func checkPivots(t *testing.T, l *Learner) {
	t.Helper()
	for j, pivot := range l.maintain.(*projection).factor.d {
		if !(pivot >= dependence/2) {
			t.Fatalf("pivot %d is %v", j, pivot)
		}
	}
}

// A duplicate changes the weights of the dictionary, not its size. The function is the same as if
// the duplicate had entered.
func TestDuplicatesAreAbsorbed(t *testing.T) {
	c := config(Projection, 50)
	x, y := stream(2, 30, c.Dim, c.Classes, 1)
	plain := c
	plain.Maintenance, plain.Budget = Removal, 500
	l, all := learner(t, c), learner(t, plain)
	for range 5 {
		for _, each := range []*Learner{l, all} {
			learnertest.Step(t, each, x, y)
		}
	}
	if l.Expansion().Order() > 30 || l.Health()["dependent"] == 0 {
		t.Errorf("order %d, %v", l.Expansion().Order(), l.Health())
	}
	d := distance(c.Kernel, elements(l), elements(all))
	if norm := all.Expansion().NormSq(1); !(math.Abs(d) <= 1e-10*norm) {
		t.Errorf("‖f − g‖² = %v of %v", d, norm)
	}
}

// The next probes detect a damaged factor. It is recomputed and then correct.
func TestRepair(t *testing.T) {
	c := config(Projection, 20)
	c.LearningRate = polk.Constant(0.05)
	x, y := stream(3, 6000, c.Dim, c.Classes, 0.5)
	l := learner(t, c)
	learnertest.Step(t, l, x[:3000*c.Dim], y[:3000])
	p := l.maintain.(*projection)
	if p.repairs != 0 {
		t.Fatalf("%v repairs before any damage", p.repairs)
	}
	for _, damage := range []float64{1.001, 0.5} {
		before := p.repairs
		p.factor.d[len(p.factor.d)-1] *= damage
		p.repair(l.model)
		p.factor.d[2] *= damage
		for i := range p.factor.len() {
			if drift := p.drift(l.model, i); i == 2 && drift <= repairAbove {
				t.Errorf("a pivot times %v goes unseen: drift %v", damage, drift)
			}
		}
		learnertest.Step(t, l, x[3000*c.Dim:], y[3000:])
		if p.repairs < before+2 {
			t.Errorf("damage %v: %v repairs", damage, p.repairs-before)
		}
		checkPivots(t, l)
	}

	splitAt(l, 5)
	for {
		learnertest.Step(t, l, x[:c.Dim], y[:1])
		if p.factor.head > 0 && len(p.factor.coef) > 0 {
			break
		}
	}
	damaged := p.factor.coef[len(p.factor.coef)-1]
	damaged[0] += 1e-9
	unseen := true
	for i := range p.factor.len() {
		unseen = unseen && p.drift(l.model, i) <= repairAbove
	}
	if unseen {
		t.Error("a damaged coefficient of the tail goes unseen")
	}
}

// TestSeparateClusters: if κ underflows to 0 between the newest element and the element of the
// probed row, there is nothing to compare, and nothing is repaired.
func TestSeparateClusters(t *testing.T) {
	c := config(Projection, 20)
	c.LearningRate = polk.Constant(0.05)
	x, y := stream(5, 6000, c.Dim, c.Classes, 0.5)
	for i := range y {
		x[i*c.Dim] += float32(i%2) * 1e4
	}
	l := learner(t, c)
	learnertest.Step(t, l, x, y)
	if h := l.Health(); !(h["drift"] <= repairAbove) || h["repairs"] > 0 || l.maintain.(*projection).probes < 10 {
		t.Errorf("%v after %v probes", h, l.maintain.(*projection).probes)
	}
}
