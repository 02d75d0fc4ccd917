package online

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"polkrepro/data/rows"
)

// weight returns the weight of a row: the factor on its gradient, and on its squared error where weights
// are exact. It is the row's own weight times that of its class, relative to the mean.
func (s *Settings) weight(row *rows.Row) float64 {
	w := cmp.Or(row.Weight, 1)
	if of, ok := s.ClassWeights[row.Label]; ok {
		w *= of
	}
	return w * cmp.Or(s.WeightFactor, 1)
}

// weigh completes the weights of the settings from the rows of the survey.
func (t *trainer) weigh(s *survey, set *Settings) error {
	labels := []string{""}
	if !set.regression() {
		if err := set.canonicalLabels(); err != nil {
			return err
		}
		if labels = set.Labels; labels == nil {
			labels = s.labels.Sorted()
		}
	}
	for _, label := range slices.Sorted(maps.Keys(set.ClassWeights)) {
		if !slices.Contains(labels, label) {
			return fmt.Errorf("%s: a class weight (--class-weight) for %.40q: the classes are %.200q", t.opt.Source.name(), label, labels)
		}
	}
	if t.opt.Balanced {
		set.ClassWeights = make(map[string]float64)
	}
	total, count := 0.0, 0
	for _, label := range labels {
		n := s.labels.Count(label)
		if count += n; t.opt.Balanced && n > 0 {
			set.ClassWeights[label] = float64(s.rows) / float64(len(labels)*n)
		} else if t.opt.Balanced {
			return fmt.Errorf("%s: balanced class weights: none of the first %d rows has the label %.40q: give the weights of the classes (--class-weight LABEL=WEIGHT,…)", t.opt.Source.name(), s.rows, label)
		}
		of, ok := set.ClassWeights[label]
		if !ok {
			of = 1
		}
		total += float64(of * s.weights[label])
	}
	if set.regression() {
		count = s.rows
	}
	if mean := total / float64(count); mean != 1 && count > 0 { // else labels are wrong, which learning says
		set.WeightFactor = 1 / mean
	}
	if f := set.WeightFactor; f < 0 || math.IsInf(f, 1) || f-f != 0 {
		return fmt.Errorf("%s: the weights of the rows sum to %v: want larger or smaller ones", t.opt.Source.name(), total)
	}
	return nil
}
