package csvc

import (
	"context"
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
)

// problem is a training set for tests.
type problem struct {
	n, dim, classes int
	x               []float32
	y               []float64
}

func (p *problem) at(i int) []float32 { return p.x[i*p.dim : (i+1)*p.dim] }

// blobs draws n points whose classes overlap: the first coordinate's mean is
// the class. The first points are of class classes−1, classes−2, …, so that
// the order of first occurrence is not that of the labels.
func blobs(seed uint64, n, dim, classes int) *problem {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &problem{n, dim, classes, make([]float32, n*dim), make([]float64, n)}
	for i := range n {
		k := r.IntN(classes)
		if i < classes {
			k = classes - 1 - i
		}
		p.y[i] = float64(k)
		for q := range dim {
			p.x[i*dim+q] = float32(2*r.Float64() - 1)
		}
		p.x[i*dim] += float32(k)
	}
	return p
}

// drawProblem draws points on a grid, so that some coincide, also across classes. All classes
// occur.
func drawProblem(t *rapid.T, most, classes int) *problem {
	dim := rapid.IntRange(1, 4).Draw(t, "dim")
	n := rapid.IntRange(max(2, classes), most).Draw(t, "n")
	p := &problem{n, dim, classes, make([]float32, n*dim), make([]float64, n)}
	for i := range p.x {
		p.x[i] = float32(rapid.IntRange(-6, 6).Draw(t, "x")) / 4
	}
	for i := range p.y {
		p.y[i] = float64(i)
		if i >= classes {
			p.y[i] = float64(rapid.IntRange(0, classes-1).Draw(t, "y"))
		}
	}
	return p
}

func drawKernel(t *rapid.T) kernel.Kernel {
	if rapid.Bool().Draw(t, "polynomial") {
		return kernel.Polynomial{Offset: 1, Degree: rapid.IntRange(1, 3).Draw(t, "degree")}
	}
	return kernel.Gaussian{Bandwidth: rapid.Float64Range(0.2, 3).Draw(t, "bandwidth")}
}

func train(t rapid.TB, c Config, p *problem) (*Model, []PairStats) {
	t.Helper()
	r, err := Train(context.Background(), p.config(c), p.n, p.x, p.y)
	testutil.NoError(t, err)
	return r.Model, r.Pairs
}

// config returns c for the problem.
func (p *problem) config(c Config) Config {
	c.Classes, c.Dim = p.classes, p.dim
	return c
}

func rowsOf(p *problem, k kernel.Kernel, bytes int64, a *arena) *rows {
	sets := groupByClass(p.config(Config{Threads: 1}), p.n, p.x, p.y)
	return newRows(k, sets[0].points, sets[1].points, bytes, 1, a)
}

func solverOf(c Config, p *problem) *solver {
	return newSolver(rowsOf(p, c.Kernel, 1<<20, &arena{}), c.C, c.Tolerance)
}

// solved is one pair's solution with its points. Its methods evaluate the definitions in float64.
type solved struct {
	x     [][]float32
	y     []float64
	alpha []float64
	gram  []float64
	stats PairStats
}

// solveAll trains all pairs and returns them with their α.
func solveAll(t rapid.TB, c Config, p *problem) []solved {
	c = c.withDefaults()
	sets := groupByClass(p.config(Config{Threads: 1}), p.n, p.x, p.y)
	pairs, err := solvePairs(context.Background(), c, sets)
	testutil.NoError(t, err)
	out := make([]solved, len(pairs))
	for q, pair := range pairs {
		s := &out[q]
		s.stats = pair.stats
		for side, set := range pair.sets {
			for _, i := range set.index {
				s.x = append(s.x, p.at(i))
				s.y = append(s.y, []float64{1, -1}[side])
			}
		}
		for i, b := range pair.beta {
			s.alpha = append(s.alpha, b*s.y[i])
		}
		s.gram = gramOf(c.Kernel, s.x)
	}
	return out
}

func gramOf(k kernel.Kernel, x [][]float32) []float64 {
	g := make([]float64, 0, len(x)*len(x))
	for _, a := range x {
		for _, b := range x {
			g = append(g, k.Eval(a, b))
		}
	}
	return g
}

// output returns Σ_j y_j α_j κ(x_j, x_i).
func (s *solved) output(i int) float64 {
	var f float64
	for j, a := range s.alpha {
		f += s.y[j] * a * s.gram[i*len(s.x)+j]
	}
	return f
}

// objectives returns ½ αᵀQα − eᵀα and ½ ‖f‖² + C Σ max(0, 1 − y_i (f(x_i) − ρ)).
func (s *solved) objectives(c float64) (dual, primal float64) {
	for i, a := range s.alpha {
		yf := s.y[i] * s.output(i)
		dual += a*yf/2 - a
		primal += a*yf/2 + c*max(0, 1-(yf-s.y[i]*s.stats.Rho))
	}
	return dual, primal
}

// violation returns m − M by their definition.
func (s *solved) violation(c float64) float64 {
	m, least := math.Inf(-1), math.Inf(1)
	for i, a := range s.alpha {
		v := s.y[i] - s.output(i)
		if a < c && s.y[i] > 0 || a > 0 && s.y[i] < 0 {
			m = max(m, v)
		}
		if a < c && s.y[i] < 0 || a > 0 && s.y[i] > 0 {
			least = min(least, v)
		}
	}
	return m - least
}

// noise bounds the error of a v_i that is due to float32 kernel values: 2e-6 of the largest kernel
// value for every unit of α. Multiplied by Σα, which noise returns too, v bounds the error of
// αᵀQα.
func (s *solved) noise() (v, sum float64) {
	var most float64
	for i := range s.x {
		most = max(most, s.gram[i*len(s.x)+i])
	}
	for _, a := range s.alpha {
		sum += a
	}
	return 2e-6*most*sum + 1e-12, sum
}

// checkCertificate verifies that α is feasible and that PairStats describes it. Objectives
// recomputed from their definitions prove how near a feasible α is to the optimum, whatever the
// solver did.
func (s *solved) checkCertificate(t rapid.TB, c Config) {
	n := float64(len(s.x))
	v, sum := s.noise()
	var balance float64
	svs, bounded := 0, 0
	for i, a := range s.alpha {
		if !(a >= 0 && a <= c.C) {
			t.Fatalf("α_%d = %v with C = %v", i, a, c.C)
		}
		balance += s.y[i] * a
		if a > 0 {
			svs++
		}
		if a == c.C {
			bounded++
		}
	}
	st := s.stats
	if !(math.Abs(balance) <= 1e-12*n*c.C) {
		t.Fatalf("yᵀα = %v", balance)
	}
	if st.N != len(s.x) || st.SVs != svs || st.BoundedSVs != bounded {
		t.Fatalf("%+v: have %d points, %d SVs, %d of them bounded", st, len(s.x), svs, bounded)
	}
	dual, primal := s.objectives(c.C)
	loose := v * (sum + n*c.C)
	if d := math.Abs(dual - st.Objective); !(d <= loose) {
		t.Fatalf("the dual objective is %v, not %v", dual, st.Objective)
	}
	if gap := primal + dual; !(gap >= -loose) || !(math.Abs(gap-st.Gap) <= loose) {
		t.Fatalf("the gap is %v, not %v", gap, st.Gap)
	}
	if got := s.violation(c.C); st.Violation >= c.Tolerance || !(got <= c.Tolerance+2*v) {
		t.Fatalf("violation %v (said to be %v) with ε = %v", got, st.Violation, c.Tolerance)
	}
	// Every point adds at most ε·α to the gap through v, and ε·C through its slack.
	if !(st.Gap <= c.Tolerance*(sum+n*c.C)+loose) {
		t.Fatalf("gap %v with ε = %v, C = %v, n = %v", st.Gap, c.Tolerance, c.C, n)
	}
}
