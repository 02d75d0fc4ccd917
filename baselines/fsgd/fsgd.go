// Package fsgd implements functional stochastic gradient descent (eq. sgd_hilbert), to which POLK
// reduces without pruning:
//
//	f_{t+1} = (1 − η_t λ)·f_t − η_t·ℓ'(f_t(x_t), y_t)·κ(x_t, ·).
//
// Every step adds a sample to the dictionary. If samples are drawn repeatedly from one training
// set, one weight per training point represents the same function: the weights of a point that is
// drawn more than once add up.
package fsgd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/dataset"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// A Config is everything that determines a Learner.
type Config struct {
	Kernel       kernel.Kernel // κ
	Loss         loss.Loss     // ℓ, of C scores
	Classes      int           // C
	Dim          int           // p, features of a sample
	Regularizer  float64       // λ ≥ 0
	LearningRate polk.Schedule // η_t < 1/λ
	Points       []float32     // the training points that samples are drawn from, N×p row-major
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "fsgd"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.Loss(c.Loss, c.Classes)
	p.Descent(c.LearningRate, c.Regularizer)
	p.If(len(c.Points) == 0 || c.Dim > 0 && len(c.Points)%c.Dim != 0,
		"Points", fmt.Sprintf("of length %d", len(c.Points)), fmt.Sprintf("a positive number of rows of %d features", c.Dim))
	return p.Err()
}

// A Learner runs functional stochastic gradient descent and holds its current function f_t. A Learner
// must not be shared by goroutines.
type Learner struct {
	s       stream.Samples
	cfg     Config
	descent stream.Descent
	points  *kernel.Points // N
	index   map[string]int // index of a point, by the bits of its features
	bits    []byte
	shrink  float64   // f = shrink·Σ w_i κ(x_i, ·): saves a pass over w per step
	w       []float64 // C×N

	visited  []int             // points drawn so far, in order of their first draw
	seen     []bool            // whether a point is among visited
	f        *kernel.Expansion // expansion over visited; Expansion sets its weights
	x64, row []float64         // the sample, and its kernel values with all points
	scores   []float64
	grad     []float64
}

// New returns a learner with f_0 = 0. It fails if the configuration is invalid.
func New(cfg Config) (*Learner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	n, c := len(cfg.Points)/cfg.Dim, cfg.Classes
	l := &Learner{
		cfg: cfg, descent: stream.Descent{Loss: cfg.Loss, Rates: cfg.LearningRate, Lambda: cfg.Regularizer},
		points: kernel.NewPoints(cfg.Dim), index: make(map[string]int, n), shrink: 1,
		w: make([]float64, c*n), f: kernel.NewExpansion(cfg.Kernel, cfg.Dim, c), seen: make([]bool, n),
		x64: make([]float64, cfg.Dim), row: make([]float64, n), scores: make([]float64, c), grad: make([]float64, c),
	}
	l.s = stream.NewSamples("fsgd", c, cfg.Dim, l.learn)
	l.points.Reserve(n)
	for i := range n {
		x := cfg.Points[i*cfg.Dim : (i+1)*cfg.Dim]
		l.points.Append(x)
		if _, again := l.index[string(l.key(x))]; !again {
			l.index[string(l.key(x))] = i
		}
	}
	return l, nil
}

// Step learns from n samples, one after another: x is n×Dim in row-major order, y holds n classes
// 0 … C−1. It returns the scores of each sample, n×C, computed before learning from that sample;
// they are valid until the next Step. If a sample is invalid, Step learns from none. If a score, loss
// or learning rate is not finite, or ctx ends, it fails at that sample, has learned from those before
// it, and can go on. It also fails at a sample that is not one of the Points.
func (l *Learner) Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	return l.s.Step(ctx, n, x, y)
}

// SetThreads sets the number of goroutines that a step may use, at least 1, which is the default.
// The results do not depend on it.
func (l *Learner) SetThreads(n int) { l.s.SetThreads(n) }

// KernelEvals returns the number of evaluations of κ in steps so far.
func (l *Learner) KernelEvals() int64 { return l.s.Evals }

// Health returns an empty map: there are no counters.
func (l *Learner) Health() map[string]float64 { return map[string]float64{} }

// key returns the bits of x, in the learner's buffer.
func (l *Learner) key(x []float32) []byte {
	l.bits = l.bits[:0]
	for _, v := range x {
		l.bits = binary.LittleEndian.AppendUint32(l.bits, math.Float32bits(v))
	}
	return l.bits
}

func (l *Learner) learn(x []float32, y float64) error {
	i, ok := l.index[string(l.key(x))]
	if !ok {
		return errors.New("it is not in Config.Points")
	}
	n := len(l.row)
	kernel.Widen(l.x64, x)
	l.points.Block64(l.cfg.Kernel, gemm.RowOf(l.x64), gemm.RowOf(l.row), l.s.Threads)
	for q := range l.scores {
		l.scores[q] = l.shrink * gemm.Dot(l.row, l.w[q*n:(q+1)*n])
	}
	l.s.Saw(l.scores)
	rate, err := l.descent.Gradient(l.s.T, l.grad, l.scores, y)
	if err != nil {
		return err
	}
	l.shrink *= 1 - float64(rate*l.cfg.Regularizer)
	if !(l.shrink > 1e-100) { // before it underflows
		for j := range l.w {
			l.w[j] *= l.shrink
		}
		l.shrink = 1
	}
	for q, g := range l.grad {
		l.w[q*n+i] -= rate * g / l.shrink
	}
	if !l.seen[i] {
		l.seen[i] = true
		l.visited = append(l.visited, i)
	}
	l.s.Evals += int64(n)
	return nil
}

// Order returns the number of distinct points drawn so far.
func (l *Learner) Order() int { return len(l.visited) }

// Expansion returns f_t over the points drawn so far. It belongs to the learner and is valid
// until the next call of Expansion or Model.
func (l *Learner) Expansion() *kernel.Expansion {
	n := len(l.row)
	for j := l.f.Order(); j < len(l.visited); j++ {
		l.f.Append(l.points.At(l.visited[j]), l.grad) // any weights: they are written below
	}
	for j, i := range l.visited {
		for q := range l.cfg.Classes {
			l.f.Weights(j)[q] = l.shrink * l.w[q*n+i]
		}
	}
	return l.f
}

// Model returns the Expansion.
func (l *Learner) Model() kernel.Model { return l.Expansion() }

// valueRows is the number of rows of the kernel matrix that Values keeps at a time.
const valueRows = 256

// Values returns f_t at all points, N×C, and Σ‖f_c‖².
func (l *Learner) Values() (values []float64, normSq float64) {
	n, c, dim := len(l.row), l.cfg.Classes, l.cfg.Dim
	values = make([]float64, n*c)
	x, k := make([]float64, valueRows*dim), make([]float64, valueRows*n)
	for lo := 0; lo < n; lo += valueRows {
		rows := min(valueRows, n-lo)
		kernel.Widen(x, l.cfg.Points[lo*dim:(lo+rows)*dim])
		block := gemm.MatrixOf(rows, n, k)
		l.points.Block64(l.cfg.Kernel, gemm.MatrixOf(rows, dim, x), block, l.s.Threads)
		gemm.MulABT(l.shrink, block, gemm.MatrixOf(c, n, l.w), 0, gemm.MatrixOf(rows, c, values[lo*c:]), l.s.Threads)
	}
	for q := range c {
		for i, w := range l.w[q*n : (q+1)*n] {
			normSq += float64(l.shrink * w * values[i*c+q])
		}
	}
	return values, max(0, normSq)
}
