package evidence

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/record"
)

// modeWords word the quantities of a dictionary among the modes of multidist, which are
// the means of its components.
var modeWords = map[string]string{
	experiments.QuantityNearModes:    "share of the dictionary within σ of a mode",
	experiments.QuantityModeDistance: "mean distance from the dictionary to the nearest mode, as a multiple of the training points',",
}

// nearModes returns the share of the final dictionary that is within σ of a mode, in
// percent. It is NaN if the record has no dictionary.
func nearModes(r *record.Record) float64 {
	distances, sigma := modeDistances(r)
	var near float64
	for _, d := range distances {
		if d <= sigma {
			near++
		}
	}
	return 100 * near / float64(len(distances))
}

// modeDistance returns the mean distance from the elements of the final dictionary to
// the nearest mode, over that of the training points, which is also what a random
// choice of as many training points has on average. It is NaN if the record has no
// dictionary.
func modeDistance(r *record.Record) float64 {
	distances, _ := modeDistances(r)
	return stat.Mean(distances, nil) / trainingDistance(r.Header.Run.Data)
}

// modeDistances returns the distance from each element of the final dictionary to the
// nearest mode, and σ; none if the record has no dictionary or its data no modes.
func modeDistances(r *record.Record) (distances []float64, sigma float64) {
	if r.Final.Model == nil || r.Header.Run.Data.Name != "multidist" {
		return nil, 0
	}
	means, variance, err := data.MultidistMixture(r.Header.Run.Data.Variant, r.Header.Run.Data.Draw)
	if err != nil {
		return nil, 0
	}
	return nearest(r.Final.Model.Dictionary, means), math.Sqrt(variance)
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

// trainingDistances has what trainingDistance returned, by data.Ref: under each of many
// assumptions the same draws are judged.
var trainingDistances sync.Map

// trainingDistance returns the mean distance from a training point of multidist to the
// nearest mode.
func trainingDistance(ref data.Ref) float64 {
	if known, ok := trainingDistances.Load(ref); ok {
		return known.(float64)
	}
	set, err := data.Multidist(ref.Variant, ref.Draw)
	if err != nil {
		return math.NaN()
	}
	means, _, _ := data.MultidistMixture(ref.Variant, ref.Draw) // an error has been Multidist's
	mean := stat.Mean(nearest(set.Train.X, means), nil)
	trainingDistances.Store(ref, mean)
	return mean
}
