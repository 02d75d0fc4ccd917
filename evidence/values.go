package evidence

import (
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"

	"polkrepro/data"
	"polkrepro/evidence/ledger"
	"polkrepro/evidence/theory"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/record"
)

// value returns the number that a selector reads from a record: in percent for an error, in samples
// for a first passage below a threshold, +Inf if that never happens. read says which risk the paper
// prints.
func value(r *record.Record, s ledger.Selector, read reading) float64 {
	at := func(p record.Point) float64 { return read.quantity(s.Quantity, r, p) }
	switch {
	case s.Measured():
		return theory.Value(r, s.Quantity)
	case modeWords[s.Quantity] != "":
		return amongModes(r, s.Quantity)
	case s.Quantity == ledger.QuantityRoughness:
		return read.roughness(r)
	case s.Below != nil:
		if i := slices.IndexFunc(r.Points, func(p record.Point) bool { return at(p) < *s.Below }); i >= 0 {
			return float64(r.Points[i].Samples)
		}
		return math.Inf(1)
	case s.Samples > 0:
		if i := slices.IndexFunc(r.Points, func(p record.Point) bool { return p.Samples >= s.Samples }); i >= 0 {
			return at(r.Points[i])
		}
		return math.NaN()
	}
	f := r.Final
	if s.Quantity == paper.QuantityOrder {
		return f.ModelOrder
	}
	return at(record.Point{TrainRisk: f.TrainRisk, TestRisk: f.TestRisk, TestError: f.TestError, Diagnostics: f.Diagnostics})
}

// exponents returns the slope of log value over log η of each seed that has a run at
// every η, in order of the seeds.
func (s *Side) exponents() (slopes []float64) {
	rates := make(map[float64]bool)
	for _, p := range s.Missing {
		rates[p.Run.Params.LearningRate] = true
	}
	x, y := make(map[uint64][]float64), make(map[uint64][]float64)
	for _, r := range s.Runs {
		rate, seed := r.Run.Params.LearningRate, r.Run.Seed
		rates[rate] = true
		x[seed], y[seed] = append(x[seed], rate), append(y[seed], r.Value)
	}
	for _, seed := range slices.Sorted(maps.Keys(x)) {
		if len(x[seed]) == len(rates) && len(rates) > 1 {
			slopes = append(slopes, theory.Exponent(x[seed], y[seed]))
		}
	}
	return slopes
}

// silent returns why a run has no answer for a selector, or "".
func (o *Observation) silent(s ledger.Selector, read reading) string {
	f := &o.Record.Final
	switch {
	case modeWords[s.Quantity] != "" && math.IsNaN(o.Value):
		return "a record has no dictionary"
	case ofRisk(s) && read.penalty != 1 && f.NormSq == nil && words.Finite(f.TrainRisk):
		return "the records have no Σ‖f_c‖²; repeat the runs with 'runall reproduce --rerun'"
	}
	return theory.TooShort(o.Run, s.Quantity)
}

// A reading says which number of a record stands for the risk that the paper prints.
type reading struct {
	risk    string  // RiskTrain or RiskTest
	penalty float64 // factor of (λ/2)Σ‖f_c‖²
}

// quantity returns the risk at a point of a record with the assumed penalty, the error in percent, or
// the model order. A risk or error that is not a number is infinite: the run diverged.
func (read reading) quantity(name string, r *record.Record, p record.Point) float64 {
	v := float64(p.ModelOrder)
	switch name {
	case paper.QuantityError:
		v = 100 * p.TestError
	case paper.QuantityRisk:
		v = p.TestRisk
		if read.risk == paper.RiskTrain {
			v = p.TrainRisk
		}
		more := (read.penalty - 1) * r.Header.Run.Params.Regularizer / 2 // factor of the Σ‖f_c‖² to add
		if more != 0 && p.NormSq == nil {
			return math.Inf(1)
		}
		if more != 0 {
			v += more * *p.NormSq
		}
	}
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

// roughness returns the sum of the rises of the risk from point to point, divided by its fall from
// the first to the last. It is infinite if the risk does not fall.
func (read reading) roughness(r *record.Record) float64 {
	var risks []float64
	for _, p := range r.Points {
		risks = append(risks, read.quantity(paper.QuantityRisk, r, p))
	}
	if len(risks) < 2 {
		return math.NaN()
	}
	rises := 0.0
	for i, risk := range risks[1:] {
		rises += max(0, risk-risks[i])
	}
	fall := risks[0] - risks[len(risks)-1]
	if !(fall > 0) || math.IsInf(fall, 0) {
		return math.Inf(1)
	}
	return rises / fall
}

// modeWords describes the quantities that relate a dictionary to the modes of multidist, which are
// the means of its components.
var modeWords = map[string]string{
	ledger.QuantityNearModes:    "share of the dictionary within σ of a mode",
	ledger.QuantityModeDistance: "mean distance from the dictionary to the nearest mode, as a multiple of the training points',",
}

// amongModes relates the final dictionary to the modes. QuantityNearModes is the percentage of elements
// within σ of a mode. QuantityModeDistance is the mean distance to the nearest mode, divided by that of
// the training points; a random choice of training points has 1 on average. Both are NaN if the record
// has no dictionary, or its data no modes.
func amongModes(r *record.Record, quantity string) float64 {
	ref := r.Header.Run.Data
	if r.Final.Model == nil || ref.Name != "multidist" {
		return math.NaN()
	}
	means, variance, err := data.MultidistMixture(ref.Variant, ref.Draw)
	if err != nil {
		return math.NaN()
	}
	distances := nearest(r.Final.Model.Dictionary, means)
	if quantity == ledger.QuantityModeDistance {
		return stat.Mean(distances, nil) / trainingDistance(ref, means)
	}
	near := 0.0
	for _, d := range distances {
		if d <= math.Sqrt(variance) {
			near++
		}
	}
	return 100 * near / float64(len(distances))
}

// nearest returns the distance of each point of the plane to the nearest mean.
func nearest(points []float32, means [][][2]float64) (distances []float64) {
	for i := 0; i < len(points); i += 2 {
		least := math.Inf(1)
		for _, class := range means {
			for _, m := range class {
				dx, dy := float64(points[i])-m[0], float64(points[i+1])-m[1]
				least = min(least, math.Sqrt(dx*dx+dy*dy))
			}
		}
		distances = append(distances, least)
	}
	return distances
}

// trainingDistances caches the results of trainingDistance by data.Ref, because the same draws are
// judged under many assumptions.
var trainingDistances sync.Map

// trainingDistance returns the mean distance from a training point of multidist to the nearest of the
// means.
func trainingDistance(ref data.Ref, means [][][2]float64) float64 {
	if known, ok := trainingDistances.Load(ref); ok {
		return known.(float64)
	}
	set, _ := data.Multidist(ref.Variant, ref.Draw) // fails for an unknown variant only, which has no means
	mean := stat.Mean(nearest(set.Train.X, means), nil)
	trainingDistances.Store(ref, mean)
	return mean
}
