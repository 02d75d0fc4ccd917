package csvc

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
)

// TestCertificates: on random problems of several classes with coinciding points, at any C, each
// pair's α is feasible, and its objectives, gap and violation, recomputed from their definitions,
// are as small as they must be.
func TestCertificates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 60, rapid.IntRange(2, 4).Draw(t, "classes"))
		c := Config{
			Kernel: drawKernel(t), C: math.Pow(10, rapid.Float64Range(-3, 2).Draw(t, "log C")), Tolerance: 1e-3,
			CacheBytes: rapid.SampledFrom([]int64{1, 1 << 20}).Draw(t, "cache"),
		}
		for _, s := range solveAll(t, c, p) {
			s.checkCertificate(t, c)
		}
	})
}

// TestObjectiveAgainstEnumeration compares the objective with the exact optimum of tiny problems.
func TestObjectiveAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 6, 2)
		c := Config{
			Kernel: kernel.Gaussian{Bandwidth: rapid.Float64Range(0.3, 1.5).Draw(t, "bandwidth")},
			C:      math.Pow(10, rapid.Float64Range(-2, 2).Draw(t, "log C")), Tolerance: 1e-5,
		}
		s := solveAll(t, c, p)[0]
		want := enumerate(s.gram, s.y, c.C)
		v, sum := s.noise()
		if slack := (c.Tolerance + v) * (sum + float64(p.n)*c.C); !(math.Abs(s.stats.Objective-want) <= slack) {
			t.Fatalf("objective %v, the optimum is %v ± %v", s.stats.Objective, want, slack)
		}
	})
}

// enumerate returns the minimum of ½ αᵀQα − eᵀα over the feasible set. At an optimum every α is 0,
// C or free, and the free α solve a linear system together with the multiplier of yᵀα = 0.
// enumerate tries all 3^n combinations. If coinciding points make a system singular, it also has a
// solution with fewer free α.
func enumerate(gram, y []float64, c float64) float64 {
	n := len(y)
	state := make([]int, n)
	best := math.Inf(1)
	for {
		if alpha, ok := stationary(gram, y, c, state); ok {
			best = min(best, dualOf(gram, y, alpha))
		}
		i := 0
		for ; i < n && state[i] == 2; i++ {
			state[i] = 0
		}
		if i == n {
			return best
		}
		state[i]++
	}
}

func dualOf(gram, y, alpha []float64) float64 {
	var d float64
	for i, a := range alpha {
		d -= a
		for j, b := range alpha {
			d += a * b * y[i] * y[j] * gram[i*len(y)+j] / 2
		}
	}
	return d
}

// stationary returns the α with the given states (0: at 0, 1: at C, 2: free),
// if it is unique and feasible.
func stationary(gram, y []float64, c float64, state []int) ([]float64, bool) {
	n := len(y)
	a, b := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, nil)
	free := false
	for i, st := range state {
		a.Set(n, i, y[i])
		if st != 2 {
			a.Set(i, i, 1)
			b.SetVec(i, float64(st)*c)
			continue
		}
		free = true
		b.SetVec(i, 1)
		a.Set(i, n, y[i])
		for j := range n {
			a.Set(i, j, y[i]*y[j]*gram[i*n+j])
		}
	}
	if !free {
		a.Set(n, n, 1) // the multiplier is of no interest; yᵀα = 0 is checked below
		for j := range n {
			a.Set(n, j, 0)
		}
	}
	var alpha mat.VecDense
	if err := alpha.SolveVec(a, b); err != nil {
		return nil, false
	}
	out := make([]float64, n)
	var balance float64
	for i := range n {
		out[i] = alpha.AtVec(i)
		balance += y[i] * out[i]
		if out[i] < -1e-9*c || out[i] > c*(1+1e-9) {
			return nil, false
		}
	}
	return out, math.Abs(balance) <= 1e-9*c
}

// hard returns a problem that needs several times n iterations, so that points are shrunk and
// restored.
func hard() (Config, *problem) {
	return Config{Kernel: kernel.Gaussian{Bandwidth: 0.5}, C: 100, Tolerance: 1e-3}, blobs(5, 300, 2, 2)
}

// TestShrinking: the optimality conditions hold over all points, and v equals its definition, also
// at points that were shrunk.
func TestShrinking(t *testing.T) {
	c, p := hard()
	s := solverOf(c, p)
	testutil.NoError(t, s.solve(t.Context()))
	if s.restored == 0 || s.iteration < 2*p.n {
		t.Errorf("%d iterations, restored %d times: the test does not test shrinking", s.iteration, s.restored)
	}
	for i := range s.n {
		want := s.label(i)
		row := s.rows.get(i, s.laterSupport)
		for j, b := range s.beta {
			want -= b * float64(row[j])
		}
		if !(math.Abs(s.v[i]-want) <= 1e-9) {
			t.Errorf("v_%d is %v, want %v", i, s.v[i], want)
		}
	}
	for _, s := range solveAll(t, c, p) {
		s.checkCertificate(t, c)
	}
}

// TestLimit: a run that the limit stops, before or after points were shrunk, still reports how far
// it is from the optimum.
func TestLimit(t *testing.T) {
	c, p := hard()
	best := solveAll(t, c, p)[0].stats
	for _, limit := range []int{50, 2*p.n + 10} {
		s := solverOf(c, p)
		s.limit = limit
		testutil.NoError(t, s.solve(t.Context()))
		st := s.stats()
		if st.Iterations != limit || (st.Restored > 0) != (limit > p.n) || st.Violation <= c.Tolerance {
			t.Errorf("stopped after %d iterations: %+v", limit, st)
		}
		if below := st.Objective - best.Objective; !(below >= -best.Gap) || below > st.Gap {
			t.Errorf("objective %v with a gap of %v, but the optimum is %v", st.Objective, st.Gap, best.Objective)
		}
		if want := violationOf(s); st.Violation != want {
			t.Errorf("violation %v, want %v", st.Violation, want)
		}
	}
}

// violationOf returns m − M over all points.
func violationOf(s *solver) float64 {
	m, least := math.Inf(-1), math.Inf(1)
	for i, v := range s.v {
		lo, hi := s.bounds(i)
		if s.beta[i] < hi {
			m = max(m, v)
		}
		if s.beta[i] > lo {
			least = min(least, v)
		}
	}
	return m - least
}

// TestShrink: exactly those points at a bound leave whose v is beyond the other side's extreme.
func TestShrink(t *testing.T) {
	const n = 8
	s := &solver{n: n, plus: 4, c: 1, tolerance: 1e-3, beta: make([]float64, n)}
	s.v = []float64{
		-1, 0.2, 2, 0.9, // β = 0 (I_up), 0, C (I_low), C
		1, 0.5, -0.3, 3, // β = −C (I_up), free, 0 (I_low), 0
	}
	s.beta = []float64{0, 0, 1, 1, -1, -0.5, 0, 0}
	s.side = make([]uint8, n)
	for i := range n {
		s.place(i)
	}
	s.activateAll()
	s.shrink() // m = 1 (point 4), M = −0.3 (point 6)
	if want := []int32{1, 3, 4, 5, 6}; !slices.Equal(s.active, want) || s.top != 4 || s.m != 1 || s.least != -0.3 {
		t.Errorf("active %v, want %v; m = %v at %d, M = %v", s.active, want, s.m, s.top, s.least)
	}
}

// TestViolators compares violators with a sort of all candidates by how far each lies on the wrong
// side of the middle.
func TestViolators(t *testing.T) {
	p := blobs(6, 100, 2, 2)
	s := solverOf(gaussian, p)
	r := rand.New(rand.NewPCG(2, 2))
	for i := range p.n {
		lo, hi := s.bounds(i)
		s.beta[i] = []float64{lo, hi, (lo + hi) / 2}[r.IntN(3)]
		s.place(i)
		s.v[i] = r.Float64()
	}
	s.findExtremes()
	middle := (s.m + s.least) / 2
	s.active = s.active[:80]
	score := func(i int) float64 {
		switch s.side[i] {
		case up:
			return s.v[i] - middle
		case low:
			return middle - s.v[i]
		}
		return math.Abs(s.v[i] - middle)
	}
	for _, i := range []int{3, 60, 17} {
		var want []int
		for t := range 80 {
			if t != i && !s.rows.has(t) {
				want = append(want, t)
			}
		}
		slices.SortFunc(want, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
		if got := s.violators(i); !slices.Equal(got, want[:rowBatch-1]) {
			t.Errorf("along with %d come %v, want %v", i, got, want[:rowBatch-1])
		}
		s.rows.get(i, s.violators)
	}
}

// TestRhoWithoutFreePoints: if every α is 0 or C, ρ is the middle of the interval that the
// optimality conditions allow.
func TestRhoWithoutFreePoints(t *testing.T) {
	p := &problem{3, 1, 2, []float32{0, 1, 1.5}, []float64{1, 0, 0}}
	k, c := kernel.Gaussian{Bandwidth: 1}, 1e-3
	s := solveAll(t, Config{Kernel: k, C: c}, p)[0]
	// α = C on points 0 and 2, the farthest apart.
	if s.alpha[0] != c || s.alpha[1]+s.alpha[2] != c || s.alpha[1]*s.alpha[2] != 0 {
		t.Fatalf("α = %v", s.alpha)
	}
	m, least := math.Inf(-1), math.Inf(1)
	for i, a := range s.alpha {
		v := s.y[i] - s.output(i)
		if (a == 0) == (s.y[i] > 0) {
			m = max(m, v)
		} else {
			least = min(least, v)
		}
	}
	if want := -(m + least) / 2; !(math.Abs(s.stats.Rho-want) <= 1e-6) || !(math.Abs(want) >= 1e-4) {
		t.Errorf("ρ = %v, want %v", s.stats.Rho, want)
	}
}

// TestMoveMeetsBounds: whichever bound is nearest is met exactly.
func TestMoveMeetsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.Float64Range(1e-3, 1e3).Draw(t, "C")
		s := &solver{n: 4, plus: 2, c: c, beta: make([]float64, 4), side: make([]uint8, 4)}
		for i := range s.beta {
			lo, hi := s.bounds(i)
			s.beta[i] = rapid.Float64Range(lo, hi).Draw(t, "β")
		}
		i, j := rapid.IntRange(0, 3).Draw(t, "i"), rapid.IntRange(0, 2).Draw(t, "j")
		if j >= i {
			j++
		}
		was := s.beta[i] + s.beta[j]
		asked := rapid.Float64Range(0, 2*c).Draw(t, "δ")
		delta := s.move(i, j, asked)
		_, hi := s.bounds(i)
		if lo, _ := s.bounds(j); !(delta >= asked) && s.beta[i] != hi && s.beta[j] != lo {
			t.Fatalf("δ = %v of %v, but β_i = %v and β_j = %v", delta, asked, s.beta[i], s.beta[j])
		}
		for _, k := range []int{i, j} {
			if lo, hi := s.bounds(k); !(s.beta[k] >= lo) || s.beta[k] > hi {
				t.Fatalf("β = %v is not in [%v, %v]", s.beta[k], lo, hi)
			}
		}
		if !(delta >= 0) || !(math.Abs(s.beta[i]+s.beta[j]-was) <= 1e-12*c) {
			t.Fatalf("δ = %v, the sum changed from %v to %v", delta, was, s.beta[i]+s.beta[j])
		}
	})
}

// TestMoveRounds: both β reach their bounds although β + (C − β) rounds to 1 here, not to C.
func TestMoveRounds(t *testing.T) {
	const c, beta = 1 + 0x1p-52, 0x1p-53
	s := &solver{n: 2, plus: 1, c: c, beta: []float64{beta, -beta}, side: make([]uint8, 2)}
	s.move(0, 1, 2)
	if s.beta[0] != c || s.beta[1] != -c {
		t.Errorf("β = %v and %v with C = %v", s.beta[0], s.beta[1], c)
	}
}
