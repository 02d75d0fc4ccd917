package evidence

import (
	"cmp"
	"maps"
	"slices"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
)

// A JointReport judges the cells of Tables 2 and 3 under every combination of alternatives to
// the assumptions. A cell without runs for the values that a combination assumes has the verdict
// "not run" there, and counts as not reproduced.
type JointReport struct {
	Profile      string            `json:"profile"`      // profile of the runs: smoke, quick or full
	Cells        int               `json:"cells"`        // number of cells that the paper prints
	Numbers      int               `json:"numbers"`      // number of printed numbers in these cells
	Combinations int               `json:"combinations"` // number of combinations of the assumptions below
	Assumptions  []JointAssumption `json:"assumptions"`  // with an alternative under which a cell has a verdict, in the ledger's order
	Chosen       JointReading      `json:"chosen"`       // combination of the chosen values
	Front        []JointReading    `json:"front"`        // combinations that reproduce more than any other with as few choices by result; the last one reproduces most
	Counts       []JointReading    `json:"counts"`       // all combinations, grouped by their choices by result and by the cells and numbers that they reproduce
	Best         []ClaimResult     `json:"best"`         // cells under the last combination of the front
}

// A JointAssumption is an assumption in which combinations differ.
type JointAssumption struct {
	ID           string   `json:"id"`           // ID of the assumption, as 'runall verify --assume' takes it
	How          string   `json:"how"`          // how the chosen value was chosen: blind, algebra or by result
	Alternatives []string `json:"alternatives"` // IDs of the alternatives
}

// A JointReading is a combination with the numbers that it reproduces. Of all combinations that
// reproduce the same with as many choices by result, it has the fewest alternatives, and of
// those the most cells that may come from one run.
type JointReading struct {
	Assumed      []Assumed `json:"assumed"`      // alternatives assumed, in the ledger's order
	ByResult     int       `json:"by_result"`    // number of choices made with the paper's results in view, among the assumptions that cells depend on
	Cells        int       `json:"cells"`        // number of cells reproduced
	Numbers      int       `json:"numbers"`      // number of numbers reproduced
	NotRun       int       `json:"not_run"`      // number of cells not run
	OneRun       int       `json:"one_run"`      // number of cells that are not reproduced, but whose numbers may all come from one of our runs
	Combinations int       `json:"combinations"` // number of combinations that reproduce as many cells and numbers with as many choices by result
}

// Assumed is an alternative in a combination.
type Assumed struct {
	Assumption  string `json:"assumption"`  // ID of the assumption
	Alternative string `json:"alternative"` // ID of the alternative
	Value       string `json:"value"`       // assumed value
	Chosen      string `json:"chosen"`      // chosen value that it replaces
	How         string `json:"how"`         // how the alternative was chosen: blind, algebra or by result
}

// assume returns the combination in the form of Input.Assume.
func (r *JointReading) assume() map[string]string {
	out := make(map[string]string)
	for _, a := range r.Assumed {
		out[a.Assumption] = a.Alternative
	}
	return out
}

// Joint judges the cells under all combinations of alternatives. It ignores in.Assume.
//
// The algorithm is variable elimination on a factor graph. The variables are the assumptions, and each
// cell is a factor: a table of the cell's outcomes, over the few variables that the cell depends on
// (its scope). Wanted is the number of combinations of all variables for each sum of outcomes, of which
// the sums of choices by result, cells and numbers are kept ([tallies]). The graph falls apart into one
// part for each data set once the shared variables, which cells of several data sets depend on, have
// values. So [joint.count] fixes the shared variables in turn, eliminates the private variables of each
// part by counting the part's outcomes, and adds the outcomes of the parts as a convolution
// ([tallies.times]).
//
// With s combinations of the shared variables and p of the largest part's private ones, that takes
// s·p sums of the part's cells, and for each of the s one addition for every pair of different
// outcomes of two parts, in place of s·p₁·p₂·… sums of all cells. All parts have the same values of the
// shared variables, and each private variable belongs to one part. So each combination is counted
// once. For the same reason two parts' choices can be shared: where one has a value other than 0, the
// other has the same value or, of a private variable, 0, so the bitwise or of the two is the choice of
// both.
func Joint(in Input) (*JointReport, error) {
	in.Assume = nil
	j := newJoint(in)
	out := &JointReport{Cells: len(j.claims), Assumptions: []JointAssumption{}}
	for _, c := range j.claims {
		out.Numbers += len(c.Tests)
	}
	for _, v := range j.variables {
		a := JointAssumption{ID: v.assumption.ID, How: v.assumption.How}
		for _, alternative := range v.values[1:] {
			a.Alternatives = append(a.Alternatives, alternative.ID)
		}
		out.Assumptions = append(out.Assumptions, a)
	}
	counted := j.count()
	for _, c := range counted.sorted() {
		r := j.reading(c)
		out.Combinations += c.Combinations
		out.Counts = append(out.Counts, r)
		// By ascending number of choices by result, the most reproduced first.
		if n := len(out.Front); n == 0 || cmp.Or(cmp.Compare(r.Cells, out.Front[n-1].Cells), cmp.Compare(r.Numbers, out.Front[n-1].Numbers)) > 0 {
			out.Front = append(out.Front, r)
		}
	}
	chosen := j.combine(make([]uint8, len(j.variables)), nil, j.factors)
	chosen.ByResult = j.byResult
	for i := range j.variables {
		chosen.ByResult += j.variables[i].byResult(0)
	}
	chosen.Combinations = counted[chosen.key()].Combinations
	out.Chosen = j.reading(chosen)
	in.Assume = out.Front[len(out.Front)-1].assume()
	best, err := Assess(in)
	if err != nil {
		return nil, err
	}
	out.Best = best.cells()
	return out, nil
}

// A joint counts combinations. A combination has a value for each variable; 0 is the chosen value.
type joint struct {
	x         *index
	claims    []ledger.Claim // claims of the cells
	factors   []factor       // one for each claim
	variables []variable
	byResult  int    // choices by result that no combination changes
	shared    []int  // indices of the variables that cells of several data sets depend on
	parts     []part // by data set
}

// A part is the cells of a data set. They depend on the shared variables, and on private ones.
type part struct {
	factors []factor
	private []int // indices of variables
}

// newJoint judges the cells under all combinations.
func newJoint(in Input) *joint {
	j := &joint{x: newIndex(in)}
	for _, c := range in.Ledger.Claims {
		if c.Cell {
			j.claims = append(j.claims, c)
		}
	}
	j.findVariables()
	sets := make(map[string]*part)
	for _, c := range j.claims {
		f := j.factor(c)
		set := j.x.paper.Cells[c.ID].Data
		sets[set] = cmp.Or(sets[set], new(part))
		sets[set].factors, j.factors = append(sets[set].factors, f), append(j.factors, f)
	}
	for v := range j.variables {
		var users []*part
		for _, p := range sets {
			if slices.ContainsFunc(p.factors, func(f factor) bool { return slices.Contains(f.scope, v) }) {
				users = append(users, p)
			}
		}
		if len(users) == 1 {
			users[0].private = append(users[0].private, v)
		} else {
			j.shared = append(j.shared, v)
		}
	}
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		j.parts = append(j.parts, *sets[set])
	}
	return j
}

// A variable is an assumption with the values that it has in combinations.
type variable struct {
	assumption *ledger.Assumption
	values     []*ledger.Alternative // the first is nil and stands for the chosen value
}

// byResult returns 1 if a value is chosen by result, otherwise 0.
func (v *variable) byResult(value uint8) int {
	return one(v.assumption.HowOf(v.values[value]) == ledger.ChosenByResult)
}

// findVariables finds the assumptions that cells depend on, each with the alternatives that alone
// give a cell a verdict. An assumption without such an alternative only counts in j.byResult.
func (j *joint) findVariables() {
	for i := range j.x.Ledger.Assumptions {
		v := variable{assumption: &j.x.Ledger.Assumptions[i], values: []*ledger.Alternative{nil}}
		names := func(c ledger.Claim) bool { return slices.Contains(c.Assumptions, v.assumption.ID) }
		if !slices.ContainsFunc(j.claims, names) {
			continue
		}
		for k := range v.assumption.Alternatives {
			a := &v.assumption.Alternatives[k]
			j.x.assumed = alternatives{v.assumption.ID: a}
			judged := func(c ledger.Claim) bool {
				return names(c) && slices.ContainsFunc(j.x.judge(c).Tests, func(t Finding) bool { return t.Verdict != stats.NotRun })
			}
			if a.Run() && slices.ContainsFunc(j.claims, judged) {
				v.values = append(v.values, a)
			}
		}
		if len(v.values) > 1 {
			j.variables = append(j.variables, v)
		} else {
			j.byResult += v.byResult(0)
		}
	}
}

// combinations is the number of combinations that reproduce the same with as many choices by result,
// and an example with the fewest alternatives.
type combinations struct {
	JointReading // without the alternatives, which are in choice
	flips        int
	choice       []uint8 // values of the example, by variable
}

// key returns the numbers of choices by result and of reproduced cells and numbers.
func (c *combinations) key() [3]int { return [3]int{c.ByResult, c.Cells, c.Numbers} }

// plus adds the results of d, which has other cells.
func (c combinations) plus(d combinations) combinations {
	c.ByResult += d.ByResult
	c.Cells += d.Cells
	c.Numbers += d.Numbers
	c.NotRun += d.NotRun
	c.OneRun += d.OneRun
	c.flips += d.flips
	c.Combinations *= d.Combinations
	return c
}

// tallies counts combinations by their choices by result, cells and numbers.
type tallies map[[3]int]combinations

// add adds combinations. It does not keep c.choice, so the caller may change that afterwards.
func (t tallies) add(c combinations) {
	key := c.key()
	have, ok := t[key]
	n := have.Combinations + c.Combinations
	if ok && (c.flips > have.flips || c.flips == have.flips && c.OneRun <= have.OneRun) {
		c = have
	} else {
		c.choice = slices.Clone(c.choice)
	}
	c.Combinations = n
	t[key] = c
}

// sorted returns the combinations by ascending choices by result, and then by descending numbers of
// reproduced cells and numbers.
func (t tallies) sorted() []combinations {
	return slices.SortedFunc(maps.Values(t), func(a, b combinations) int {
		return cmp.Or(cmp.Compare(a.ByResult, b.ByResult), cmp.Compare(b.Cells, a.Cells), cmp.Compare(b.Numbers, a.Numbers))
	})
}

// A factor holds the outcomes of a cell for all combinations of the variables that the cell depends
// on.
type factor struct {
	scope    []int          // indices of these variables, ascending
	judged   []ClaimResult  // results of the cell, one for each set of runs and readings
	of       []int          // index in judged, by combination
	outcomes []combinations // outcomes of judged, each as one combination without a choice
}

// at returns the outcome of a combination.
func (f *factor) at(choice []uint8, variables []variable) combinations {
	i := 0
	for _, v := range f.scope {
		i = i*len(variables[v].values) + int(choice[v])
	}
	return f.outcomes[f.of[i]]
}

// factor judges a cell under all combinations of the variables that it depends on, each
// set of runs and readings once.
func (j *joint) factor(c ledger.Claim) factor {
	var f factor
	for i, v := range j.variables {
		if slices.Contains(c.Assumptions, v.assumption.ID) {
			f.scope = append(f.scope, i)
		}
	}
	type key struct {
		from    source
		without string // IDs of the alternatives that leave tests out
	}
	known := make(map[key]int)
	j.each(f.scope, make([]uint8, len(j.variables)), func(choice []uint8) {
		j.x.assumed = make(alternatives)
		var k key
		for _, v := range f.scope {
			if a := j.variables[v].values[choice[v]]; a != nil {
				j.x.assumed[j.variables[v].assumption.ID] = a
				if len(a.Without) > 0 {
					k.without += " " + j.variables[v].assumption.ID + "=" + a.ID
				}
			}
		}
		if k.from = j.x.source(c.ID); k.from.why != "" {
			k = key{} // all combinations that no runs answer
		}
		i, ok := known[k]
		if !ok {
			i = len(f.judged)
			known[k] = i
			f.judged = append(f.judged, j.x.judge(c))
			f.outcomes = append(f.outcomes, outcomeOf(f.judged[i]))
		}
		f.of = append(f.of, i)
	})
	return f
}

// outcomeOf returns what the result of a cell adds to the counts.
func outcomeOf(r ClaimResult) (out combinations) {
	within, _ := r.Within()
	out.Combinations = 1
	out.Cells, out.NotRun = one(r.Verdict == stats.Reproduced), one(r.Verdict == stats.NotRun)
	out.OneRun = one(within && r.Verdict != stats.Reproduced)
	for _, t := range r.Tests {
		out.Numbers += one(t.Verdict == stats.Reproduced)
	}
	return out
}

// each calls f for all combinations of some variables, the last one changing fastest.
func (j *joint) each(scope []int, choice []uint8, f func([]uint8)) {
	if len(scope) == 0 {
		f(choice)
		return
	}
	for value := range j.variables[scope[0]].values {
		choice[scope[0]] = uint8(value)
		j.each(scope[1:], choice, f)
	}
	choice[scope[0]] = 0
}

// count counts all combinations.
func (j *joint) count() tallies {
	all := make(tallies)
	j.each(j.shared, make([]uint8, len(j.variables)), func(choice []uint8) {
		begin := j.combine(choice, j.shared, nil)
		begin.ByResult += j.byResult
		sum := make(tallies)
		sum.add(begin)
		for _, p := range j.parts {
			own := make(tallies)
			j.each(p.private, slices.Clone(choice), func(choice []uint8) {
				own.add(j.combine(choice, p.private, p.factors))
			})
			sum = sum.times(own)
		}
		for _, c := range sum.sorted() {
			all.add(c)
		}
	})
	return all
}

// combine counts one combination: the choices by result and the alternatives of the given
// variables, and the results of the given factors.
func (j *joint) combine(choice []uint8, variables []int, factors []factor) combinations {
	c := combinations{JointReading: JointReading{Combinations: 1}, choice: choice}
	for _, v := range variables {
		c.ByResult += j.variables[v].byResult(choice[v])
		c.flips += one(choice[v] > 0)
	}
	for i := range factors {
		c = c.plus(factors[i].at(choice, j.variables))
	}
	return c
}

// times counts all pairs of combinations from t and u. t and u may share only variables on whose
// values they agree.
func (t tallies) times(u tallies) tallies {
	out := make(tallies, len(t)*len(u))
	right := u.sorted()
	var choice []uint8
	for _, a := range t.sorted() {
		for _, b := range right {
			choice = append(choice[:0], a.choice...)
			for i := range choice {
				choice[i] |= b.choice[i]
			}
			c := a.plus(b)
			c.choice = choice
			out.add(c)
		}
	}
	return out
}

// reading returns a combination for the report.
func (j *joint) reading(c combinations) JointReading {
	r := c.JointReading
	r.Assumed = []Assumed{}
	for i, v := range j.variables {
		if a := v.values[c.choice[i]]; a != nil {
			r.Assumed = append(r.Assumed, Assumed{v.assumption.ID, a.ID, a.Value, v.assumption.Chosen, v.assumption.HowOf(a)})
		}
	}
	return r
}
