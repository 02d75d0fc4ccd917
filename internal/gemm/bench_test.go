package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// Names of benchmarks are key=value pairs, so that a table can be made of the results.
// shape=m×k×n is A (m×k) times the transpose of B (n×k). Implementations of the same product
// are measured one right after the other.

// flops reports GFLOP/s for work floating-point operations per iteration.
func flops(b *testing.B, work int) {
	b.ReportMetric(float64(work)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// bandwidth reports GB/s for bytes moved per iteration.
func bandwidth(b *testing.B, bytes int) {
	b.ReportMetric(float64(bytes)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}

func typeName[T Float]() string { return fmt.Sprintf("f%d", 8*sizeOf[T]()) }

// product holds the matrices of one shape, in the forms that the implementations take.
type product[T Float] struct {
	x, y, c matrix[T]
	panels  *Panels[T]
	threads int
}

func newProduct[T Float](m, n, k, pad, threads int) *product[T] {
	rnd := rand.New(rand.NewPCG(1, 1))
	p := &product[T]{threads: threads, c: newMatrix[T](m, n, 0)}
	p.x, p.y = randMatrix[T](rnd, m, k, 0), randMatrix[T](rnd, n, k, pad)
	p.panels = fill(p.y)
	return p
}

func (p *product[T]) mulABT() {
	MulABT(1, p.x.view(), p.y.view(), 0, p.c.view(), p.threads)
}

func (p *product[T]) gonum() { gonumABT(1, p.x, p.y, 0, p.c) }

func (p *product[T]) packed() {
	p.panels.MulABT(p.x.view(), p.c.view(), p.threads)
}

func (p *product[T]) gaussian() {
	p.panels.Gaussian(p.x.view(), 0.01, p.c.view(), p.threads)
}

// benchProduct times one implementation of p. gonum takes its number of threads from
// GOMAXPROCS, OpenBLAS from a separate setting.
func benchProduct[T Float](b *testing.B, p *product[T], name string, f func()) {
	if name == "openblas" && !openBLAS {
		return
	}
	b.Run("impl="+name, func(b *testing.B) {
		if name == "gonum" {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(p.threads))
		}
		if name == "openblas" {
			setOpenBLASThreads(p.threads)
			defer setOpenBLASThreads(1)
		}
		f()
		for b.Loop() {
			f()
		}
		flops(b, 2*p.x.rows*p.y.rows*p.x.cols)
		if min(p.x.rows, p.y.rows) <= laneRows {
			bandwidth(b, sizeOf[T]()*(p.y.rows*p.y.cols+p.x.rows*(p.x.cols+p.y.rows)))
		}
	})
}

func benchProducts[T Float](b *testing.B) {
	for _, s := range []shape{{1000, 1000, 784}, {1024, 1024, 1024}, {32, 1000, 784}} {
		for _, threads := range []int{1, 2} {
			p := newProduct[T](s.m, s.n, s.k, 0, threads)
			b.Run(fmt.Sprintf("type=%s/shape=%dx%dx%d/threads=%d", typeName[T](), s.m, s.k, s.n, threads), func(b *testing.B) {
				benchProduct(b, p, "mulabt", p.mulABT)
				benchProduct(b, p, "openblas", p.openBLAS)
				benchProduct(b, p, "panels", p.packed)
				benchProduct(b, p, "gaussian", p.gaussian)
				benchProduct(b, p, "gonum", p.gonum)
			})
		}
	}
}

// BenchmarkProduct compares the forms of A·Bᵀ with OpenBLAS and gonum.
func BenchmarkProduct(b *testing.B) {
	benchProducts[float32](b)
	benchProducts[float64](b)
}

// BenchmarkSkinny multiplies a few rows by a matrix of order M with a larger row stride. The
// matrix is too large for the second-level cache and is read once.
func BenchmarkSkinny(b *testing.B) {
	for _, order := range []int{1000, 2400} {
		for _, rows := range []int{1, 4, 6, 12, 32} {
			for _, threads := range []int{1, 2} {
				p := newProduct[float64](rows, order, order, 248, threads)
				b.Run(fmt.Sprintf("M=%d/m=%d/threads=%d", order, rows, threads), func(b *testing.B) {
					benchProduct(b, p, "mulabt", p.mulABT)
					benchProduct(b, p, "openblas", p.openBLAS)
				})
			}
		}
	}
}

// BenchmarkSmall computes the Gaussian block of small dictionaries.
func BenchmarkSmall(b *testing.B) {
	for _, s := range []shape{{1, 1000, 784}, {32, 130, 2}, {32, 400, 40}} {
		p, q := newProduct[float32](s.m, s.n, s.k, 0, 1), newProduct[float64](s.m, s.n, s.k, 0, 1)
		name := fmt.Sprintf("shape=%dx%dx%d", s.m, s.k, s.n)
		b.Run("type=f32/"+name, func(b *testing.B) { benchProduct(b, p, "gaussian", p.gaussian) })
		b.Run("type=f64/"+name, func(b *testing.B) { benchProduct(b, q, "gaussian", q.gaussian) })
	}
}

// BenchmarkRankK computes C ← C − A·Bᵀ of rank k, which moves 16 bytes per element of C.
func BenchmarkRankK(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1000, 2400} {
		c := randMatrix[float64](rnd, n, n, 0)
		for _, k := range []int{1, 8} {
			x, y := randMatrix[float64](rnd, n, k, 0), randMatrix[float64](rnd, n, k, 0)
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("n=%d/k=%d/threads=%d", n, k, threads), func(b *testing.B) {
					for b.Loop() {
						MulABT(-1, x.view(), y.view(), 1, c.view(), threads)
					}
					flops(b, 2*n*n*k)
					bandwidth(b, 16*n*n)
				})
			}
		}
	}
}

// expLoop applies math.Exp to every element.
func expLoop[T Float](dst, src []T) {
	for i, v := range src {
		dst[i] = T(math.Exp(float64(v)))
	}
}

func benchExp[T Float](b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	src, dst := randMatrix[T](rnd, 1, 4096, 0).data, make([]T, 4096)
	for i := range src {
		src[i] = 10 * (src[i] - 1) // [−20, 0], the arguments of a Gaussian
	}
	run := func(name string, f func(dst, src []T)) {
		b.Run("type="+typeName[T]()+"/impl="+name, func(b *testing.B) {
			for b.Loop() {
				f(dst, src)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/element")
		})
	}
	run("exp", Exp)
	run("math.Exp", expLoop)
}

func BenchmarkExp(b *testing.B) {
	benchExp[float32](b)
	benchExp[float64](b)
}

func BenchmarkDot(b *testing.B) {
	x, y := make([]float64, 1000), make([]float64, 1000)
	for b.Loop() {
		Dot(x, y)
	}
	flops(b, 2000)
}

func BenchmarkAxpy(b *testing.B) {
	x, y := make([]float64, 1000), make([]float64, 1000)
	for b.Loop() {
		Axpy(0.5, x, y)
	}
	flops(b, 2000)
}

// BenchmarkUpdate replaces one row of a set.
func BenchmarkUpdate(b *testing.B) {
	p := fill(randMatrix[float32](rand.New(rand.NewPCG(1, 1)), 1000, 784, 0))
	row := make([]float32, 784)
	for b.Loop() {
		p.Append(row)
		p.Remove(17)
	}
}

func benchBackends[T Float](b *testing.B) {
	defer use(backends()[0])
	for _, be := range backends() {
		use(be)
		for _, threads := range []int{1, 2} {
			p := newProduct[T](256, 1000, 784, 0, threads)
			b.Run(fmt.Sprintf("type=%s/threads=%d/backend=%s", typeName[T](), threads, be.k64.name), func(b *testing.B) {
				benchProduct(b, p, "gaussian", p.gaussian)
			})
		}
	}
}

// BenchmarkBackends computes a Gaussian block with each backend of this machine.
func BenchmarkBackends(b *testing.B) {
	benchBackends[float64](b)
	benchBackends[float32](b)
}
