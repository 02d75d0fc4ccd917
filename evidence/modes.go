package evidence

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/record"
)

// modeWords describes the quantities that relate a dictionary to the modes of multidist, which are
// the means of its components.
var modeWords = map[string]string{
	experiments.QuantityNearModes:    "share of the dictionary within σ of a mode",
	experiments.QuantityModeDistance: "mean distance from the dictionary to the nearest mode, as a multiple of the training points',",
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
	if quantity == experiments.QuantityModeDistance {
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
	set, err := data.Multidist(ref.Variant, ref.Draw)
	if err != nil {
		return math.NaN()
	}
	mean := stat.Mean(nearest(set.Train.X, means), nil)
	trainingDistances.Store(ref, mean)
	return mean
}
