// Package fsgd is functional stochastic gradient descent (eq. sgd_hilbert), which
// POLK becomes when it prunes nothing:
//
//	f_{t+1} = (1 − η_t λ)·f_t − η_t·ℓ'(f_t(x_t), y_t)·κ(x_t, ·).
//
// Every step adds a sample to the dictionary. Where samples are drawn from a
// training set again and again, a weight for each of its points holds all that the
// ever longer dictionary would: the weights of a point that is drawn twice add up.
package fsgd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// ErrDiverged is returned by Step when a loss is no longer a finite number.
var ErrDiverged = errors.New("fsgd: the loss is no longer finite: the iterates have diverged")

// A Config is everything that determines a Learner.
type Config struct {
	Kernel      kernel.Kernel       // κ
	Loss        loss.Loss           // ℓ, of several functions
	Classes     int                 // C
	Dim         int                 // p, features of a sample
	Regularizer float64             // λ
	Rate        func(t int) float64 // η_t < 1/λ of step t = 0, 1, 2, …
	Points      []float32           // the points that samples are drawn from, one after another
	Threads     int                 // goroutines a step may use; 0 means 1
}

// A Learner is f_t. It must not be shared by goroutines.
type Learner struct {
	cfg    Config
	points *kernel.Points // N
	index  map[string]int // of a point by its bits
	bits   []byte
	t      int
	shrink float64   // f = shrink·Σ w_i κ(x_i, ·): saves a pass over w a step
	w      []float64 // C×N

	visited  []int             // points that were samples, in the order of their first
	seen     []bool            // whether a point is among visited
	f        *kernel.Expansion // over visited; its weights are written by Expansion
	x64, row []float64         // the sample, and its kernel values with all points
	scores   []float64
	scored   []float64 // of the samples of a step
	grad     []float64
}

// New returns the learner of f_0 = 0. It fails if the configuration is not valid.
func New(cfg Config) (*Learner, error) {
	if err := cfg.Kernel.Validate(); err != nil {
		return nil, fmt.Errorf("fsgd: %w", err)
	}
	if cfg.Classes < 2 || cfg.Dim < 1 || len(cfg.Points) == 0 || len(cfg.Points)%cfg.Dim != 0 {
		return nil, fmt.Errorf("fsgd: %d classes, %d features, points of %d numbers: want at least 2 classes, 1 feature and 1 point",
			cfg.Classes, cfg.Dim, len(cfg.Points))
	}
	n, c := len(cfg.Points)/cfg.Dim, cfg.Classes
	l := &Learner{
		cfg: cfg, points: kernel.NewPoints(cfg.Dim), index: make(map[string]int, n), shrink: 1,
		w: make([]float64, c*n), f: kernel.NewExpansion(cfg.Kernel, cfg.Dim, c), seen: make([]bool, n),
		x64: make([]float64, cfg.Dim), row: make([]float64, n), scores: make([]float64, c), grad: make([]float64, c),
	}
	l.points.Reserve(n)
	for i := range n {
		x := cfg.Points[i*cfg.Dim : (i+1)*cfg.Dim]
		l.points.Append(x)
		if _, again := l.index[string(l.key(x))]; !again {
			l.index[string(l.key(x))] = i
		}
	}
	l.SetThreads(cfg.Threads)
	return l, nil
}

// key returns the bits of x, in the learner's buffer.
func (l *Learner) key(x []float32) []byte {
	l.bits = l.bits[:0]
	for _, v := range x {
		l.bits = binary.LittleEndian.AppendUint32(l.bits, math.Float32bits(v))
	}
	return l.bits
}

// SetThreads sets the number of goroutines a step may use, at least 1. The result
// does not depend on it.
func (l *Learner) SetThreads(n int) { l.cfg.Threads = max(n, 1) }

// Step learns from n samples, one after another: x is n×Dim in row-major order, y
// holds n classes. Each must be one of the points; it fails at the first that is
// none, or whose loss is not finite, with the samples before it learned.
func (l *Learner) Step(n int, x []float32, y []float64) error {
	dim := l.cfg.Dim
	if n < 0 || len(x) < n*dim || len(y) < n {
		return fmt.Errorf("fsgd: want %d features and %d labels, got %d and %d", n*dim, n, len(x), len(y))
	}
	l.scored = l.scored[:0]
	for k := range n {
		i, ok := l.index[string(l.key(x[k*dim:(k+1)*dim]))]
		if !ok {
			return fmt.Errorf("fsgd: sample %d of %d is not one of the points", k+1, n)
		}
		if err := l.learn(i, y[k]); err != nil {
			return err
		}
	}
	return nil
}

// learn takes a step on point i.
func (l *Learner) learn(i int, y float64) error {
	n := len(l.row)
	kernel.Widen(l.x64, l.points.At(i))
	l.points.Block64(l.cfg.Kernel, 1, l.x64, l.row, n, l.cfg.Threads)
	for q := range l.scores {
		l.scores[q] = l.shrink * gemm.Dot(l.row, l.w[q*n:(q+1)*n])
	}
	l.scored = append(l.scored, l.scores...)
	if value := l.cfg.Loss.Gradient(l.grad, l.scores, y); value-value != 0 {
		return ErrDiverged
	}
	rate := l.cfg.Rate(l.t)
	l.shrink *= 1 - float64(rate*l.cfg.Regularizer)
	l.normalize()
	for q, g := range l.grad {
		l.w[q*n+i] -= rate * g / l.shrink
	}
	if !l.seen[i] {
		l.seen[i] = true
		l.visited = append(l.visited, i)
	}
	l.t++
	return nil
}

// normalize keeps shrink from underflow.
func (l *Learner) normalize() {
	if l.shrink > 1e-100 {
		return
	}
	for i := range l.w {
		l.w[i] *= l.shrink
	}
	l.shrink = 1
}

// Order returns the number of distinct points that were samples.
func (l *Learner) Order() int { return len(l.visited) }

// Expansion returns f_t over the points that were samples, the learner's own until
// the next call.
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
		l.points.Block64(l.cfg.Kernel, rows, x, k, n, l.cfg.Threads)
		gemm.MulABT(rows, c, n, l.shrink, k, n, l.w, n, 0, values[lo*c:], c, l.cfg.Threads)
	}
	for q := range c {
		for i, w := range l.w[q*n : (q+1)*n] {
			normSq += float64(l.shrink * w * values[i*c+q])
		}
	}
	return values, max(0, normSq)
}

// Scored returns nil, for all samples of the last step, and their scores, row by row, each
// of the model before it learned from the sample. They are the learner's own until the next step.
func (l *Learner) Scored() (samples []int, scores []float64) { return nil, l.scored }

// KernelEvals returns the number of kernel values that steps took.
func (l *Learner) KernelEvals() int64 { return int64(l.t) * int64(len(l.row)) }

// Health returns no counters: there is nothing to supervise.
func (l *Learner) Health() map[string]float64 { return map[string]float64{} }
