package evidence

import (
	"math/rand/v2"
	"slices"
	"testing"

	"polkrepro/evidence/ledger"
)

// TestPlacebo checks that the search with other numbers finds as many cells as Joint finds for a
// paper that prints them.
func TestPlacebo(t *testing.T) {
	t.Parallel()
	in := divided(t)
	j := newJoint(in)
	seen := make(map[int]bool)
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 1))
		numbers := j.perturbed(rng, 0.1)
		if seed%2 == 0 {
			j.exchange(rng, numbers)
		}
		j.rejudge(numbers)
		printed := in
		printed.Ledger = rewritten(in.Ledger, func(claim, place int, test *ledger.Test) {
			v := numbers[claim][place]
			test.Paper, test.Low, test.High, test.Margin = &v, &v, &v, in.Ledger.Margins[test.Of.Quantity].Around(v)
		})
		want, got := must(Joint(printed)), j.most()
		if best := want.Front[len(want.Front)-1].Cells; got != best {
			t.Errorf("seed %d: %d cells, and Joint finds %d", seed, got, best)
		}
		seen[got] = true
	}
	if len(seen) < 3 {
		t.Errorf("cells found: %v: the test shows little", seen)
	}
}

// TestExchanged checks that the numbers of a quantity stay in their data set, that most change
// places, and that settings are neither exchanged nor perturbed.
func TestExchanged(t *testing.T) {
	j := newJoint(few(t))
	rng := rand.New(rand.NewPCG(1, 1))
	numbers := j.perturbed(rng, 0)
	j.exchange(rng, numbers)
	perturbed := j.perturbed(rng, 0.1)
	moved, all := 0, 0
	printed, exchanged := make(map[string][]float64), make(map[string][]float64)
	for i, c := range j.claims {
		for k, test := range c.Tests {
			of := j.x.paper.Cells[c.ID].Data + " " + test.Of.Quantity
			printed[of], exchanged[of] = append(printed[of], *test.Paper), append(exchanged[of], numbers[i][k])
			moved, all = moved+one(numbers[i][k] != *test.Paper), all+1
			if test.Set && numbers[i][k] != *test.Paper || test.Set != (perturbed[i][k] == *test.Paper) {
				t.Errorf("%s: %v exchanged, %v perturbed, printed %v, setting: %t", of, numbers[i][k], perturbed[i][k], *test.Paper, test.Set)
			}
		}
	}
	for of, a := range printed {
		b := exchanged[of]
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Errorf("%s: %v, printed %v", of, b, a)
		}
	}
	if all != 48 || moved < all/2 {
		t.Errorf("%d of %d numbers have moved", moved, all)
	}
}

// TestPlaceboReport checks the counts of draws, and that p counts the printed numbers as a further
// draw.
func TestPlaceboReport(t *testing.T) {
	t.Parallel()
	in := divided(t)
	for _, p := range in.Plan {
		if r := in.Records[p.ID]; r != nil && p.Run.Data.Name == "multidist" {
			r.Final.TestError *= 2
		}
	}
	p, again := Placebo(in, 6, 1), Placebo(in, 6, 1)
	for i, k := range p.Kinds {
		draws, equal := 0, 0
		for cells, n := range k.Most {
			draws += n
			if cells >= p.Most {
				equal += n
			}
		}
		if draws != 6 || equal != k.Equal || k.P != float64(equal+1)/7 || !slices.Equal(k.Most, again.Kinds[i].Most) {
			t.Errorf("%+v, again %v, and %d with the printed numbers", k, again.Kinds[i].Most, p.Most)
		}
	}
}
