package data

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
)

// The variants of multidist that have the paper's 15 modes.
const (
	// Calibrated has component variance 0.04, with which a draw of the means
	// can reach the paper's error.
	Calibrated = "calibrated"
	// AsPrinted has component variance 0.2, the number in the paper, with
	// which no draw of the means can reach the paper's error.
	AsPrinted = "as-printed"
)

// mixtures lists all variants of multidist, the default first, with the component
// variance and the number of modes of each class. Variants with other numbers of modes
// than the paper's three are for experiments on the effect of that number.
var mixtures = []struct {
	variant  string
	variance float64
	modes    int
}{
	{Calibrated, calibratedVariance, multidistModes},
	{AsPrinted, 0.2, multidistModes},
	{"5-modes", calibratedVariance, 1},
	{"10-modes", calibratedVariance, 2},
	{"20-modes", calibratedVariance, 4},
	{"30-modes", calibratedVariance, 6},
	{"15-points", 0, multidistModes}, // samples equal the means, so f* has 15 elements
}

// variantNames returns the variants of multidist, the default first.
func variantNames() (names []string) {
	for _, m := range mixtures {
		names = append(names, m.variant)
	}
	return names
}

// The shape of multidist (paper, section "Data Sets").
const (
	multidistClasses = 5
	multidistModes   = 3
	multidistDim     = 2
	multidistTrain   = 5000
	multidistTest    = 2500

	calibratedVariance = 0.04
)

// multidistCentres are θ_y, equally spaced around the unit circle: the cosine
// and sine of 72°·y.
var multidistCentres = [multidistClasses][multidistDim]float64{
	{1, 0},
	{0.30901699437494742410, 0.95105651629515357212},
	{-0.80901699437494742410, 0.58778525229247312917},
	{-0.80901699437494742410, -0.58778525229247312917},
	{0.30901699437494742410, -0.95105651629515357212},
}

// Streams of a draw's generator.
const (
	streamMeans uint64 = iota
	streamTrain
	streamTest
)

func init() {
	register("multidist", code{
		variants: variantNames(),
		draw:     func() uint64 { return FigureDraw().Seed },
		load: func(_ *manifestSet, ref Ref, _ Finder) (*Set, error) {
			return Multidist(ref.Variant, ref.Draw)
		},
		sum: func(d manifestDraw) string { return must(Multidist(d.Variant, d.Draw)).Sums["multidist"] },
	})
}

// MultidistMixture returns the means of a variant's draw as [MultidistMeans] does,
// with the variant's number of modes, and its component variance σ². The empty
// variant is Calibrated. The error wraps ErrUnknown if the variant is unknown.
func MultidistMixture(variant string, draw uint64) (means [][][2]float64, variance float64, err error) {
	variant = cmp.Or(variant, Calibrated)
	for _, m := range mixtures {
		if m.variant == variant {
			return multidistMeans(draw, m.modes), m.variance, nil
		}
	}
	return nil, 0, fmt.Errorf("multidist has no variant %q (known: %s): %w", variant, join(variantNames()), ErrUnknown)
}

// MultidistMeans returns the means μ_{y,j} ~ N(θ_y, I) of a draw, indexed by
// class (5), mode (3) and coordinate (2). Calibrated and AsPrinted share them.
func MultidistMeans(draw uint64) [][][2]float64 { return multidistMeans(draw, multidistModes) }

func multidistMeans(draw uint64, modes int) [][][2]float64 {
	src := newSource(draw, streamMeans)
	means := make([][][2]float64, multidistClasses)
	for y := range means {
		means[y] = make([][2]float64, modes)
		for j := range means[y] {
			z1, z2 := src.gauss2()
			means[y][j] = [2]float64{multidistCentres[y][0] + z1, multidistCentres[y][1] + z2}
		}
	}
	return means
}

// A sampler draws samples of multidist's mixture.
type sampler struct {
	src   source
	means [][][2]float64
	sigma float64
}

// next writes the features of the next sample to x, and returns its class, 0 … 4.
func (s sampler) next(x []float32) (y float64) {
	class := s.src.intn(multidistClasses)
	mean := s.means[class][s.src.intn(len(s.means[class]))]
	z1, z2 := s.src.gauss2()
	x[0] = float32(mean[0] + float64(s.sigma*z1))
	x[1] = float32(mean[1] + float64(s.sigma*z2))
	return float64(class)
}

// split returns the next n samples.
func (s sampler) split(n int) *Split {
	sp := newSplit(n, multidistDim)
	for i := range sp.Y {
		sp.Y[i] = s.next(sp.Row(i))
	}
	return sp
}

// Multidist generates the multidist data set of a variant and draw (paper,
// section "Data Sets"): p = 2, C = 5, 5000 training and 2500 test examples,
// labels uniform, and x|y an even mixture of three Gaussians N(μ_{y,j}, σ²I), or as
// the variant says. Sums["multidist"] is the [SumSplits] of both splits, and
// Facts["bayes_error"] is the least error rate that any classifier can reach.
// The error wraps ErrUnknown if the variant is unknown.
func Multidist(variant string, draw uint64) (*Set, error) {
	means, variance, err := MultidistMixture(variant, draw)
	if err != nil {
		return nil, err
	}
	sigma := math.Sqrt(variance)
	s := &Set{
		Name:    "multidist",
		Classes: multidistClasses,
		Train:   sampler{newSource(draw, streamTrain), means, sigma}.split(multidistTrain),
		Test:    sampler{newSource(draw, streamTest), means, sigma}.split(multidistTest),
		Facts:   map[string]float64{"bayes_error": 0, "variance": variance},
	}
	if variance > 0 {
		s.Facts["bayes_error"] = bayesError(means, variance, bayesStep)
	}
	s.Sums = map[string]string{"multidist": SumSplits(s.Train, s.Test)}
	return s, nil
}

// SumSplits returns, in hexadecimal, the SHA-256 of the little-endian IEEE 754
// bytes of each split's X (float32) and Y (float64), one after the other.
func SumSplits(splits ...*Split) string {
	h := sha256.New()
	for _, s := range splits {
		const block = 4096 // values converted at a time
		for x := range slices.Chunk(s.X, block) {
			binary.Write(h, binary.LittleEndian, x)
		}
		for y := range slices.Chunk(s.Y, block) {
			binary.Write(h, binary.LittleEndian, y)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
