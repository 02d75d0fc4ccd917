package evidence

import (
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"

	"polkrepro/evidence/stats"
)

// A PlaceboReport shows how much Joint's search reproduces by chance: the most cells that a
// combination reproduces if other numbers replace the printed ones. The runs, the rules of the
// margins and the alternatives stay the same.
type PlaceboReport struct {
	Profile string        `json:"profile"` // profile of the runs: smoke, quick or full
	Cells   int           `json:"cells"`   // number of cells that the paper prints
	Most    int           `json:"most"`    // largest number of cells that a combination reproduces with the printed numbers
	Kinds   []PlaceboKind `json:"kinds"`   // results by kind of replacement numbers
}

// A PlaceboKind is one way to replace the printed numbers, and its results.
type PlaceboKind struct {
	Name  string  `json:"name"`  // description of the kind
	Draws int     `json:"draws"` // number of draws
	Most  []int   `json:"most"`  // numbers of draws by the number of cells that the best combination reproduces: 0, 1, …
	Equal int     `json:"equal"` // number of draws whose best combination reproduces at least as many cells as with the printed numbers
	P     float64 `json:"p"`     // p-value: (equal + 1)/(draws + 1)
}

// placeboSpreads holds the standard deviations of the logarithms of the factors that perturb printed
// numbers, by kind. With 0, the numbers are exchanged instead.
var placeboSpreads = []float64{0, 0.1, 0.2, 0.35}

// Placebo repeats Joint's search with other numbers in place of the printed ones, in the given
// number of draws of each kind. One kind exchanges the numbers of each quantity among the cells of
// a data set; the others multiply each printed number by a log-normal factor of median 1. Numbers
// that are settings stay: no choice could follow them. The same seed gives the same draws.
func Placebo(in Input, draws int, seed uint64) *PlaceboReport {
	in.Assume = nil
	j := newJoint(in)
	out := &PlaceboReport{Cells: len(j.claims), Most: j.most()}
	for i, spread := range placeboSpreads {
		k := PlaceboKind{Name: fmt.Sprintf("perturbed by %g %%", 100*spread), Draws: draws, Most: make([]int, len(j.claims)+1)}
		if spread == 0 {
			k.Name = "exchanged within a data set"
		}
		for n := range draws {
			rng := rand.New(rand.NewPCG(seed, uint64(i)<<32|uint64(n)))
			numbers := j.perturbed(rng, spread)
			if spread == 0 {
				j.exchange(rng, numbers)
			}
			j.rejudge(numbers)
			most := j.most()
			k.Most[most]++
			k.Equal += one(most >= out.Most)
		}
		k.P = float64(k.Equal+1) / float64(draws+1)
		out.Kinds = append(out.Kinds, k)
	}
	return out
}

// most returns the number of cells that the best combination reproduces. Given the shared
// variables, the best choice for one data set does not depend on the private variables of another,
// so the data sets are searched separately.
func (j *joint) most() (most int) {
	j.each(j.shared, make([]uint8, len(j.variables)), func(choice []uint8) {
		sum := 0
		for _, p := range j.parts {
			best := 0
			j.each(p.private, slices.Clone(choice), func(choice []uint8) {
				best = max(best, j.combine(choice, nil, p.factors).Cells)
			})
			sum += best
		}
		most = max(most, sum)
	})
	return most
}

// perturbed returns the printed numbers, by claim and test; those that are not settings times
// log-normal factors.
func (j *joint) perturbed(rng *rand.Rand, spread float64) (numbers [][]float64) {
	for _, c := range j.claims {
		var own []float64
		for _, t := range c.Tests {
			factor := math.Exp(spread * rng.NormFloat64())
			if t.Set {
				factor = 1
			}
			own = append(own, *t.Paper*factor)
		}
		numbers = append(numbers, own)
	}
	return numbers
}

// exchange exchanges the numbers of each quantity that are not settings, by claim and test, at random
// among the cells of a data set.
func (j *joint) exchange(rng *rand.Rand, numbers [][]float64) {
	places := make(map[[2]string][]*float64) // by data set and quantity
	for i, c := range j.claims {
		for t, test := range c.Tests {
			if !test.Set {
				g := [2]string{j.x.paper.Cells[c.ID].Data, test.Of.Quantity}
				places[g] = append(places[g], &numbers[i][t])
			}
		}
	}
	for _, g := range slices.SortedFunc(maps.Keys(places), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		p := places[g]
		rng.Shuffle(len(p), func(a, b int) { *p[a], *p[b] = *p[b], *p[a] })
	}
}

// rejudge judges all cells as if these numbers, by claim and test, were printed.
func (j *joint) rejudge(numbers [][]float64) {
	for i, c := range j.claims {
		target := make(map[string][2]float64) // by the test's ID
		for t, test := range c.Tests {
			v := numbers[i][t]
			margin := j.x.Ledger.Margins[test.Of.Quantity].Around(v)
			target[test.ID] = [2]float64{v - margin, v + margin}
		}
		f := &j.factors[i]
		for k, r := range f.judged {
			reproduced := len(r.Tests) > 0
			for _, t := range r.Tests { // tests left out under the assumed alternatives are not among them
				at := target[t.Test.ID]
				reproduced = reproduced && t.Verdict != stats.NotRun && stats.Judge(stats.Estimate(t.Ours), at[0], at[1]) == stats.Reproduced
			}
			f.outcomes[k].Cells = one(reproduced)
		}
	}
}

// WriteText writes the distribution of each kind.
func (p *PlaceboReport) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "The most cells of %d that one combination of alternatives reproduces: %d with the numbers that the paper prints.\nWith others in their place, in how many draws:\n\n", p.Cells, p.Most)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "printed numbers\tdraws\tmedian\tlargest\tas many or more\tp")
	for _, k := range p.Kinds {
		median, largest := k.Summary()
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%.3g\n", k.Name, k.Draws, median, largest, k.Equal, k.P)
	}
	return t.Flush()
}

// Summary returns the median and the largest number of reproduced cells over the draws.
func (k *PlaceboKind) Summary() (median, largest int) {
	seen := 0
	for cells, n := range k.Most {
		if n > 0 && 2*seen < k.Draws {
			median = cells
		}
		if seen += n; n > 0 {
			largest = cells
		}
	}
	return median, largest
}
