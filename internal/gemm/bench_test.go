package gemm

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// flops reports GFLOP/s for work floating-point operations an iteration.
func flops(b *testing.B, work int) {
	b.ReportMetric(float64(work)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func typeName[T Float]() string { return fmt.Sprintf("f%d", 8*sizeOf[T]()) }

var benchShapes = []shape{
	{1000, 1000, 784}, {1024, 1024, 1024}, // square
	{1, 1000, 1000}, {4, 1000, 1000}, {8, 1000, 1000}, {32, 1000, 1000}, {32, 2000, 2000}, {2000, 16, 2000}, // skinny
}

func benchMulABT[T Float](b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, s := range benchShapes {
		x, y := randMatrix[T](rnd, s.m, s.k, 0), randMatrix[T](rnd, s.n, s.k, 0)
		c := newMatrix[T](s.m, s.n, 0)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d/threads%d", typeName[T](), s.m, s.n, s.k, threads), func(b *testing.B) {
				for b.Loop() {
					MulABT(s.m, s.n, s.k, 1, x.data, x.ld, y.data, y.ld, 0, c.data, c.ld, threads)
				}
				flops(b, 2*s.m*s.n*s.k)
			})
		}
		b.Run(fmt.Sprintf("%s/%dx%dx%d/gonum", typeName[T](), s.m, s.n, s.k), func(b *testing.B) {
			for b.Loop() {
				gonumABT(1, x, y, 0, c)
			}
			flops(b, 2*s.m*s.n*s.k)
		})
	}
}

func BenchmarkMulABT(b *testing.B) {
	benchMulABT[float64](b)
	benchMulABT[float32](b)
}

func benchPanels[T Float](b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, s := range []shape{{1000, 1000, 784}, {32, 1000, 784}, {1, 1000, 784}, {32, 130, 2}, {32, 400, 40}} {
		x := randMatrix[T](rnd, s.m, s.k, 0)
		p := fill(randMatrix[T](rnd, s.n, s.k, 0))
		c := newMatrix[T](s.m, s.n, 0)
		for _, threads := range []int{1, 2} {
			name := fmt.Sprintf("%s/%dx%dx%d/threads%d", typeName[T](), s.m, s.n, s.k, threads)
			b.Run("product/"+name, func(b *testing.B) {
				for b.Loop() {
					p.MulABT(s.m, x.data, x.ld, c.data, c.ld, threads)
				}
				flops(b, 2*s.m*s.n*s.k)
			})
			b.Run("gaussian/"+name, func(b *testing.B) {
				for b.Loop() {
					p.Gaussian(s.m, x.data, x.ld, 0.01, c.data, c.ld, threads)
				}
				flops(b, 2*s.m*s.n*s.k)
			})
		}
	}
}

func BenchmarkPanels(b *testing.B) {
	benchPanels[float64](b)
	benchPanels[float32](b)
}

// BenchmarkRankK is C ← C − A·Bᵀ of rank k, which moves 16 bytes of C an
// element.
func BenchmarkRankK(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{100, 500, 1000, 2500} {
		c := randMatrix[float64](rnd, n, n, 0)
		for _, k := range []int{1, 2, 8} {
			x, y := randMatrix[float64](rnd, n, k, 0), randMatrix[float64](rnd, n, k, 0)
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("n%d/k%d/threads%d", n, k, threads), func(b *testing.B) {
					for b.Loop() {
						MulABT(n, n, k, -1, x.data, k, y.data, k, 1, c.data, n, threads)
					}
					flops(b, 2*n*n*k)
					b.ReportMetric(16*float64(n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
				})
			}
			if k == 1 {
				b.Run(fmt.Sprintf("n%d/k1/gonum", n), func(b *testing.B) {
					for b.Loop() {
						gonumABT(-1, x, y, 1, c)
					}
					flops(b, 2*n*n)
				})
			}
		}
	}
}

func benchExp[T Float](b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	src, dst := randMatrix[T](rnd, 1, 4096, 0).data, make([]T, 4096)
	b.Run(typeName[T](), func(b *testing.B) {
		for b.Loop() {
			Exp(dst, src)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/element")
	})
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
	rnd := rand.New(rand.NewPCG(1, 1))
	s := shape{256, 1000, 784}
	x, y := randMatrix[T](rnd, s.m, s.k, 0), randMatrix[T](rnd, s.n, s.k, 0)
	c := newMatrix[T](s.m, s.n, 0)
	defer use(backends()[0])
	for _, be := range backends() {
		use(be)
		p := fill(y)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%s/threads%d", be.k64.name, typeName[T](), threads), func(b *testing.B) {
				for b.Loop() {
					p.Gaussian(s.m, x.data, x.ld, 0.01, c.data, c.ld, threads)
				}
				flops(b, 2*s.m*s.n*s.k)
			})
		}
	}
}

// BenchmarkBackends is a Gaussian block with each backend of this machine.
func BenchmarkBackends(b *testing.B) {
	benchBackends[float64](b)
	benchBackends[float32](b)
}
