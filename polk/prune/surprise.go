package prune

import (
	"context"

	"polkrepro/internal/portable"
)

func init() {
	Register(Heuristic{
		Name:   "surprise",
		About:  "admits a sample that a Gaussian process would find neither expected nor absurd",
		Source: "Liu, Park and Príncipe 2009 (surprise criterion)",
		Params: []Param{{
			Name: "abnormal", About: "T₁, the surprise above which a sample is discarded",
			Grid: []float64{1.2, 1.5, 2, 3, 5, 8},
		}, {
			Name: "redundant", About: "T₂, the surprise that admits", Default: Bound(0),
		}, {
			Name: "ridge", About: "λ, the variance of the observations' noise", Above: Bound(0), Default: Bound(0.1),
		}},
		Ridge:      func(p Params) float64 { return p.Float("ridge") },
		NewInverse: func(p Params) InversePruner { return surprise{p.Float("abnormal"), p.Float("redundant")} },
	})
}

// surprise computes the negative log likelihood of a sample, S = ½·ln r + e²/(2r), with the
// prediction variance r = λ + κ(x, x) − k(x)ᵀ(K + λI)⁻¹k(x) and the prediction error e (Liu et
// al., eq. 15, inputs equally likely). It takes the norm of the loss's gradient for e; for the
// squared loss the two are equal. Under the hinge loss this norm is √2 however well the input is
// known, so T₁ decides there. Redundant samples, S < T₂, are projected on the dictionary;
// abnormal samples, S > T₁, are discarded.
type surprise struct{ abnormal, redundant float64 }

func (p surprise) Prune(_ context.Context, s InverseState) error {
	step := s.Step()
	e2 := make([]float64, s.Total()) // before a projection changes the weights
	for j := range e2 {
		e2[j] = s.Norm2(j) * portable.Pow(float64(step.N)/step.Rate, 2)
	}
	for j := s.Old(); j < s.Total(); j++ {
		r := s.DistanceBefore(j)
		switch v := portable.Log(r)/2 + e2[j]/(2*r); {
		case v > p.abnormal:
			s.Drop(j)
		case !(v >= p.redundant):
			s.Remove(j)
		}
	}
	return nil
}
