//go:build check

package csvc

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
)

// TestCheckAgainstLIBSVM trains small problems with every kernel, some with few and some with many
// bounded support vectors.
func TestCheckAgainstLIBSVM(t *testing.T) {
	needLIBSVM(t)
	for _, c := range []Config{
		{Kernel: kernel.Gaussian{Bandwidth: 0.5}, C: 1},
		{Kernel: kernel.Gaussian{Bandwidth: 2}, C: 50},
		{Kernel: kernel.Polynomial{Offset: 1, Degree: 2}, C: 0.1},
		{Kernel: kernel.Polynomial{Offset: 0, Degree: 1}, C: 1},
	} {
		for _, classes := range []int{2, 4} {
			p := blobs(30, 400, 3, classes)
			m, st := train(t, c, p)
			ref := svmTrain(t, c, p)
			compare(t, m, st, ref)
			comparePredictions(t, m, ref, blobs(31, 2000, 3, classes))
		}
	}
}

// TestCheckMultidist compares C-SVC with LIBSVM on three draws, with the paper's bandwidth.
func TestCheckMultidist(t *testing.T) {
	needLIBSVM(t)
	c := Config{Kernel: kernel.Gaussian{Bandwidth: 0.6}, C: 1, Threads: 2}
	for _, draw := range append(data.CalibratedDraws()[:2], data.FigureDraw()) {
		p, test := multidist(t, draw.Seed)
		m, st := train(t, c, p)
		ref := svmTrain(t, c, p)
		compare(t, m, st, ref)
		comparePredictions(t, m, ref, test)
	}
}

// TestCheckMNISTRecorded compares the model of all of MNIST with the recorded output of LIBSVM
// 3.24, which took 499 s, on pixels written as %.8g of x/255:
//
//	svm-train -s 0 -t 2 -g 0.03125 -c 1 train model > svm-train-mnist.txt
//	svm-predict test model svm-predict-mnist.txt
func TestCheckMNISTRecorded(t *testing.T) {
	p, test := mnist(t, 60000, 10000)
	out, err := os.ReadFile(filepath.Join("testdata", "svm-train-mnist.txt"))
	testutil.NoError(t, err)
	c := Config{Kernel: kernel.Gaussian{Bandwidth: 4}, C: 1, Threads: 2}
	m, st := train(t, c, p)
	compare(t, m, st, readReference(t, string(out)))
	agree(t, m, readClasses(t, filepath.Join("testdata", "svm-predict-mnist.txt")), test)
}

// rings draws three concentric noisy rings. The outer rings are rarer: class sizes are 25 : 5 : 1.
func rings(seed uint64, n int) *problem {
	r := rand.New(rand.NewPCG(seed, 3))
	p := &problem{n, 2, 3, make([]float32, 2*n), make([]float64, n)}
	for i := range n {
		if k := r.IntN(31); k >= 30 {
			p.y[i] = 2
		} else if k >= 25 {
			p.y[i] = 1
		}
		radius := 0.5 + 0.5*p.y[i] + 0.3*(r.Float64()+r.Float64()-1)
		sin, cos := math.Sincos(2 * math.Pi * r.Float64())
		p.x[2*i], p.x[2*i+1] = float32(radius*cos), float32(radius*sin)
	}
	return p
}

// TestCheckRings: unbalanced classes and a polynomial kernel, with points shrunk and a cache too
// small for the rows in use.
func TestCheckRings(t *testing.T) {
	needLIBSVM(t)
	c := Config{Kernel: kernel.Polynomial{Offset: 1, Degree: 4}, C: 10, CacheBytes: 1 << 20, Threads: 2}
	p := rings(1, 4000)
	m, st := train(t, c, p)
	ref := svmTrain(t, c, p)
	compare(t, m, st, ref)
	comparePredictions(t, m, ref, rings(2, 5000))
	if st[0].Restored == 0 || st[0].CacheBytes > c.CacheBytes {
		t.Errorf("restored %d times, cache %d bytes: the test does not test what it says", st[0].Restored, st[0].CacheBytes)
	}
}
