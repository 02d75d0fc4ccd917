package evidence

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"polkrepro/data"
	"polkrepro/evidence/ledger"
	"polkrepro/record"
)

// TestModes measures dictionaries whose positions relative to the modes are known.
func TestModes(t *testing.T) {
	ref := data.Ref{Name: "multidist", Variant: data.Calibrated, Draw: 36}
	set := must(data.Multidist(ref.Variant, ref.Draw))
	var modes, shifted []float32
	for _, class := range data.MultidistMeans(ref.Draw) {
		for _, m := range class {
			modes = append(modes, float32(m[0]), float32(m[1]))
			shifted = append(shifted, float32(m[0]+1000), float32(m[1]))
		}
	}
	of := func(dictionary []float32) *record.Record { return withDictionary(ref, dictionary) }
	for name, c := range map[string]struct {
		dictionary        []float32
		near, least, most float64 // share within σ in percent; bounds of the relative distance
	}{
		"the modes":           {modes, 100, 0, 1e-6},
		"the training points": {set.Train.X, math.NaN(), 1, 1},
		"far away":            {shifted, 0, 1000, math.Inf(1)},
	} {
		r := of(c.dictionary)
		near, d := amongModes(r, ledger.QuantityNearModes), amongModes(r, ledger.QuantityModeDistance)
		if near != c.near && !(math.IsNaN(c.near) && near > 30 && near < 50) { // 39 % for a single component
			t.Errorf("%s: %v %% within σ of a mode", name, near)
		}
		if !(d >= c.least) || d > c.most {
			t.Errorf("%s: %v times as far as the training points", name, d)
		}
	}
	for name, r := range map[string]*record.Record{"no dictionary": {Header: of(nil).Header}, "other data": func() *record.Record {
		r := of(modes)
		r.Header.Run.Data.Name = "drift"
		return r
	}()} {
		if d := amongModes(r, ledger.QuantityModeDistance); !math.IsNaN(d) {
			t.Errorf("%s: %v", name, d)
		}
	}
}

func withDictionary(ref data.Ref, dictionary []float32) *record.Record {
	r := new(record.Record)
	r.Header.Run.Data = ref
	r.Final.Model = &record.Model{Dim: 2, Dictionary: dictionary}
	return r
}

// TestTrainingPointsNearModes checks the share of the training points within σ of a mode that
// docs/results.md gives beside the dictionary's, over the twenty draws of the full profile.
func TestTrainingPointsNearModes(t *testing.T) {
	var shares []float64
	for _, draw := range data.CalibratedDraws()[:20] {
		ref := data.Ref{Name: "multidist", Variant: data.Calibrated, Draw: draw.Seed}
		points := must(data.Multidist(ref.Variant, draw.Seed)).Train.X
		shares = append(shares, amongModes(withDictionary(ref, points), ledger.QuantityNearModes))
	}
	if mean := stat.Mean(shares, nil); math.Round(mean) != 41 {
		t.Errorf("%.1f %% of the training points", mean)
	}
}
