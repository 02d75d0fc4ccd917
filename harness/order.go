package harness

import (
	"math/bits"
	"math/rand/v2"

	"polkrepro/data"
	"polkrepro/spec"
)

// orderOf returns the order in which a run with a seed visits a training set, as a function
// that returns the index of the next example. The sampling decides the order. Where the
// distribution drifts, every epoch without replacement visits the examples as stored.
func orderOf(set *data.Set, sampling string, seed uint64) func() int {
	n := set.Train.N
	switch {
	case sampling == spec.SamplingReplacement:
		return draws(n, seed)
	case set.Windows == 0:
		return permutations(n, seed)
	}
	next := -1
	return func() int {
		next = (next + 1) % n
		return next
	}
}

// permutations visits n examples in a new permutation each epoch.
func permutations(n int, seed uint64) func() int {
	perm, next, epoch := make([]int32, n), n, uint64(0)
	return func() int {
		if next == n {
			shuffle(perm, seed, epoch)
			next, epoch = 0, epoch+1
		}
		next++
		return int(perm[next-1])
	}
}

// shuffle sets p to the permutation of the epoch by Fisher–Yates on the raw output
// of a PCG generator. Go guarantees the stream of PCG across versions, but not the
// streams of rand.Perm and rand.IntN.
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

// samplerStream separates the sampler's stream from other streams of the same seed.
const samplerStream = 0x7461626c6531

// draws visits n examples uniformly with replacement. It does not call rand.IntN, whose
// stream may change between versions of Go.
func draws(n int, seed uint64) func() int {
	src := rand.NewPCG(seed, samplerStream)
	return func() int { return int(bounded(src, uint64(n))) }
}
