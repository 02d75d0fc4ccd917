package harness

import (
	"math/bits"
	"math/rand/v2"

	"polkrepro/data"
	"polkrepro/experiments"
)

// An Order is the order in which a stream visits n training examples: one
// fresh permutation after another, an epoch each.
type Order struct {
	seed  uint64
	epoch uint64
	perm  []int32
	next  int
	fixed bool // every epoch is in the examples' own order
}

// orderOf returns the order in which a run with a seed visits a training set: its
// sampling's, or the examples' own where their distribution drifts.
func orderOf(set *data.Set, sampling string, seed uint64) interface{ Next() int } {
	switch {
	case sampling == experiments.SamplingReplacement:
		return newSampler(set.Train.N, seed)
	case set.Windows == 0:
		return NewOrder(set.Train.N, seed)
	}
	o := &Order{fixed: true, perm: make([]int32, set.Train.N)}
	for i := range o.perm {
		o.perm[i] = int32(i)
	}
	return o
}

// NewOrder returns the order that belongs to a seed. It panics if n < 1.
func NewOrder(n int, seed uint64) *Order {
	if n < 1 {
		panic("harness: an order needs at least one example")
	}
	o := &Order{seed: seed, perm: make([]int32, n)}
	shuffle(o.perm, seed, 0)
	return o
}

// Next returns the index of the next training example.
func (o *Order) Next() int {
	if o.next == len(o.perm) {
		o.epoch++
		o.next = 0
		if !o.fixed {
			shuffle(o.perm, o.seed, o.epoch)
		}
	}
	i := o.perm[o.next]
	o.next++
	return int(i)
}

// shuffle sets p to the permutation of the epoch: Fisher–Yates on the raw
// output of a PCG generator, whose stream Go promises to keep, which it does
// not of rand.Perm or rand.IntN.
func shuffle(p []int32, seed, epoch uint64) {
	src := rand.NewPCG(seed, epoch)
	for i := range p {
		p[i] = int32(i)
	}
	for i := len(p) - 1; i > 0; i-- {
		j := bounded(src, uint64(i)+1)
		p[i], p[j] = p[j], p[i]
	}
}

// bounded returns an unbiased number in [0, n): Lemire's multiply-and-reject
// (ACM TOMACS 29(1), 2019).
func bounded(src *rand.PCG, n uint64) uint64 {
	hi, lo := bits.Mul64(src.Uint64(), n)
	if lo < n {
		for reject := -n % n; lo < reject; {
			hi, lo = bits.Mul64(src.Uint64(), n)
		}
	}
	return hi
}

// A sampler draws training examples uniformly and with replacement.
type sampler struct {
	src *rand.PCG
	n   uint64
}

// samplerStream keeps the generator's stream from those of other uses of a seed.
const samplerStream = 0x7461626c6531

func newSampler(n int, seed uint64) *sampler {
	return &sampler{rand.NewPCG(seed, samplerStream), uint64(n)}
}

// Next returns the index of the next training example. It is not rand.IntN, whose
// stream may change between versions of Go.
func (s *sampler) Next() int {
	return int(bounded(s.src, s.n))
}
