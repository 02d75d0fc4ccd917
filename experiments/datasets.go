package experiments

import (
	"slices"

	"polkrepro/data"
)

// dataSet is what specs need to know of a data set: this file is all that this
// package takes from package data.
type dataSet struct {
	name     string
	train    int // examples to train on
	dim      int
	drawn    bool // regenerated from every draw's seed
	variants []string
}

// drawnData is the data set whose draws are calibrated; others have none, or
// one.
const drawnData = "multidist"

// lookupData returns a data set by name and the names there are.
func lookupData(name string) (set *dataSet, names []string) {
	for _, info := range data.List() {
		names = append(names, info.Name)
		if info.Name == name {
			set = &dataSet{info.Name, info.Train, info.Dim, info.Name == drawnData, info.Variants}
		}
	}
	return set, names
}

// resolve fills in a reference's default variant and checks it.
func (d *dataSet) resolve(variant string) (data.Ref, bool) {
	if variant == "" && len(d.variants) > 0 {
		variant = d.variants[0]
	}
	return data.Ref{Name: d.name, Variant: variant}, variant == "" || slices.Contains(d.variants, variant)
}

// calibratedVariant is the variant that calibratedDraws and figureDraw are
// draws of.
const calibratedVariant = data.Calibrated

// calibratedDraws returns the seeds of the calibrated draws.
func calibratedDraws() []uint64 {
	var seeds []uint64
	for _, d := range data.CalibratedDraws() {
		seeds = append(seeds, d.Seed)
	}
	return seeds
}
