package data

import "math"

// The shape of drift.
const (
	driftTrain   = 20_000
	driftWindows = 40
	driftTest    = 500 // examples per window
	driftTurns   = 2   // quarter turns, from the first training example to the last
)

// Streams of a draw's generator that Drift uses.
const (
	streamDriftTrain uint64 = 0x6472696674<<8 | iota
	streamDriftTest
)

func init() {
	register("drift", code{
		draw: func() uint64 { return FigureDraw().Seed },
		load: func(_ *manifestSet, ref Ref, _ Finder) (*Set, error) { return Drift(ref.Draw), nil },
		sum:  func(d manifestDraw) string { return Drift(d.Draw).Sums["drift"] },
	})
}

// Drift generates multidist's calibrated mixture with means that rotate about the
// origin, by half a turn over the 20,000 training examples. A region's correct class
// therefore holds for a while and is wrong later. The training examples are visited in
// order. The speed of rotation varies by a factor of two within each quarter turn.
//
// Test has 40 Windows of 500 examples. Window w is drawn from the mixture as it is when a
// fraction (w+1)/40 of the training examples has been seen. Facts["bayes_error"], the least
// error rate that any classifier can reach, is that of multidist's draw at all times. The
// draw seeds the means, as in [Multidist].
func Drift(draw uint64) *Set {
	means := MultidistMeans(draw)
	s := &Set{
		Name:    "drift",
		Classes: multidistClasses,
		Train:   newSplit(driftTrain, multidistDim),
		Test:    newSplit(driftWindows*driftTest, multidistDim),
		Windows: driftWindows,
		Facts:   map[string]float64{"bayes_error": bayesError(means, calibratedVariance, bayesStep), "variance": calibratedVariance},
	}
	sigma := math.Sqrt(calibratedVariance)
	train := sampler{newSource(draw, streamDriftTrain), means, sigma}
	for i := range driftTrain {
		train.nextTurned(s.Train, i, float64(i)/driftTrain)
	}
	test := sampler{newSource(draw, streamDriftTest), means, sigma}
	for i := range s.Test.N {
		test.nextTurned(s.Test, i, float64(i/driftTest+1)/driftWindows)
	}
	s.Sums = map[string]string{s.Name: SumSplits(s.Train, s.Test)}
	return s
}

// nextTurned stores the next sample as example i of a split, rotated by a fraction of
// the means' total rotation. Rotating the sample is equivalent to rotating its mean,
// because the noise is isotropic.
func (s sampler) nextTurned(split *Split, i int, fraction float64) {
	x := split.Row(i)
	split.Y[i] = s.next(x)
	a, b := turned(float64(x[0]), float64(x[1]), float64(driftTurns*fraction))
	x[0], x[1] = float32(a), float32(b)
}

// turned rotates a point about the origin by a number of quarter turns. A fraction t of
// a quarter turn is an angle of 2·arctan t, whose sine and cosine are rational functions
// of t and so have the same bits on every platform.
func turned(x, y, quarters float64) (float64, float64) {
	whole := math.Floor(quarters)
	t := quarters - whole
	t2 := float64(t * t)
	cos, sin := (1-t2)/(1+t2), 2*t/(1+t2)
	x, y = float64(cos*x)-float64(sin*y), float64(sin*x)+float64(cos*y)
	for range int(whole) {
		x, y = -y, x
	}
	return x, y
}
