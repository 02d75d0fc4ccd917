package harness

import (
	"reflect"
	"testing"

	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// TestEvaluate: on data that drift, a model is evaluated on the test window of its time; on other
// data, always on the whole test set. A model that is not an expansion gets the same figures as an
// expansion with the same scores.
func TestEvaluate(t *testing.T) {
	set := data.Drift(1)
	e := kernel.NewExpansion(kernel.Gaussian{Bandwidth: 0.6}, 2, set.Classes)
	for j := range 10 {
		w := make([]float64, set.Classes)
		w[int(set.Train.Y[j])] = 1
		e.Append(set.Train.Row(j), w)
	}
	o := NewObjective(loss.MultiLogistic{}, 0.01, set, 100)
	n := set.Test.N / set.Windows
	for _, c := range []struct{ samples, window int }{
		{1, 0}, {500, 0}, {512, 0}, {992, 1}, {10_000, 19}, {20_000, 39}, {20_512, 0},
	} {
		got := o.Evaluate(c.samples, e, 1)
		_, want := risk(e, loss.MultiLogistic{}, set.Test.Slice(c.window*n, (c.window+1)*n))
		near(t, "test error", got.TestError, want, 1e-9)
		if other := o.Evaluate(c.samples, struct{ kernel.Model }{e}, 1); !reflect.DeepEqual(other, got) {
			t.Errorf("after %d samples: no expansion has %+v, want %+v", c.samples, other, got)
		}
	}
	o.windows = 0
	_, want := risk(e, loss.MultiLogistic{}, set.Test)
	near(t, "test error without drift", o.Evaluate(500, e, 1).TestError, want, 1e-9)
}

// TestOrderOfDrift: samples of data that drift keep their order in every epoch, whatever the seed.
func TestOrderOfDrift(t *testing.T) {
	set := &data.Set{Train: &data.Split{N: 3}, Windows: 1}
	o := orderOf(set, "", 7)
	for i := range 7 {
		if got := o(); got != i%3 {
			t.Errorf("example %d: %d", i, got)
		}
	}
}
