package evidence

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/spec"
)

// An Input holds the ledger and the runs by which claims are judged.
type Input struct {
	Ledger  *ledger.Ledger
	Plan    []spec.Planned            // all runs of a profile
	Records map[string]*record.Record // by run ID
	Failed  map[string]string         // errors of runs that failed, by run ID
	Assume  map[string]string         // alternatives to assume instead of the chosen values, by assumption
}

// An Assessment is the verdict on every claim.
type Assessment struct {
	Claims  []ClaimResult
	Missing []spec.Planned // runs that claims need and that have no record
}

// A ClaimResult is the verdict on a claim: the worst of its tests'.
type ClaimResult struct {
	Claim    ledger.Claim
	Verdict  stats.Verdict
	Tests    []Finding
	ByResult []string // IDs of the claim's assumptions whose values were chosen with the paper's numbers in view
}

// Explained reports whether the claim deviates and the ledger explains each of its tests that is
// not reproduced.
func (c *ClaimResult) Explained() bool {
	return c.Verdict == stats.Deviates && !slices.ContainsFunc(c.Tests, func(t Finding) bool {
		return t.Verdict == stats.NotRun || t.Verdict != stats.Reproduced && t.Test.Explained == ""
	})
}

// Assess judges all claims of a ledger. If a claim depends on an assumption for which an alternative
// is assumed, and no runs of the alternative answer the claim, its verdict is "not run". The same
// holds for a claim that needs runs with two alternatives at once. Assess returns an error if an
// assumption or alternative does not exist, or if no spec runs the alternative.
func Assess(in Input) (*Assessment, error) {
	x := newIndex(in)
	if err := x.assume(in.Assume); err != nil {
		return nil, err
	}
	out := new(Assessment)
	for _, c := range in.Ledger.Claims {
		r := x.judge(c)
		for i := range r.Tests {
			out.Missing = append(out.Missing, r.Tests[i].missing()...)
		}
		out.Claims = append(out.Claims, r)
	}
	out.Missing = spec.Distinct(out.Missing)
	return out, nil
}

// judge judges a claim by the tests that apply under the assumed alternatives. Without such a test,
// the verdict is "not run".
func (x *index) judge(c ledger.Claim) ClaimResult {
	r := ClaimResult{Claim: c, Verdict: stats.NotRun, ByResult: x.byResult(c)}
	for _, t := range c.Tests {
		without := func(a *ledger.Alternative) bool { return slices.Contains(a.Without, c.ID+"."+t.ID) }
		if slices.ContainsFunc(slices.Collect(maps.Values(x.assumed)), without) {
			continue
		}
		r.Tests = append(r.Tests, x.assess(c, t))
	}
	r.Verdict = r.At(1)
	return r
}

// assess judges one test of a claim. The explanations in the ledger hold for the chosen values only,
// so a test with other runs or readings loses its explanation.
func (x *index) assess(c ledger.Claim, t ledger.Test) Finding {
	f := NewFinding(t)
	if t.Reason == "" && t.Margin > 0 {
		f.Reason = x.Ledger.Margins[t.Of.Quantity].Reason
	}
	drawn := !c.Cell && x.drawn(&t)
	of, to := x.side(t.Of, drawn), Side{}
	if t.To != nil {
		to = x.side(*t.To, drawn)
	}
	if why := cmp.Or(of.unanswered, to.unanswered); why != "" {
		f.Gap = &Gap{Kind: Unanswered, Why: why}
		return f
	}
	f.Of, f.To = of, to
	if of.other || to.other {
		f.Test.Explained = ""
	}
	if f.Gap = f.gap(x.Failed); f.Gap != nil && !f.Gap.partial() {
		return f
	}
	why := cmp.Or(of.silent, to.silent)
	if why == "" && t.Kind == ledger.KindExponent && len(f.Of.exponents()) == 0 {
		why = "no seed has a run at every learning rate"
	}
	if why != "" {
		f.Gap = &Gap{Kind: Silent, Why: why}
		return f
	}
	estimate := f.estimate()
	f.Ours, f.Verdict = Number(estimate), stats.Judge(estimate, f.Target.Low, f.Target.High)
	if c.Cell {
		f.NewRun, f.NewTest = f.Of.newRun(), f.Of.newTest(t.Of)
	}
	f.Remark = f.remark()
	return f
}

// estimate computes the test's statistic.
func (f *Finding) estimate() stats.Estimate {
	of, to := f.Of.values(), f.To.values()
	switch {
	case f.Test.Kind == ledger.KindEvery && math.IsInf(f.Target.Low, -1):
		return stats.Single(slices.Max(of))
	case f.Test.Kind == ledger.KindEvery:
		return stats.Single(slices.Min(of))
	case f.Test.Kind == ledger.KindExponent:
		return stats.Mean(f.Of.exponents())
	case f.Test.To == nil:
		return stats.Mean(of)
	}
	if f.Test.Kind == ledger.KindRatio {
		if a, b, paired := pairs(&f.Of, &f.To); paired {
			return stats.PairedRatio(a, b)
		}
		return stats.Ratio(of, to)
	}
	return difference(&f.Of, &f.To).Sampled(f.Of.testVariance(f.Test.Of) + f.To.testVariance(*f.Test.To))
}

// testVariance returns the binomial variance of an error that all runs measured on one test set, in
// squared points. It is 0 for any other quantity. It is also 0 if the runs have different draws of
// the data: their test rows then differ, so the scatter of the runs already includes this variance.
func (s *Side) testVariance(of ledger.Selector) float64 {
	ref := s.Runs[0].Run.Data
	rows := dataSets()[ref.Name].Test
	mean := stat.Mean(s.values(), nil)
	if of.Quantity != paper.QuantityError || of.Below != nil || rows == 0 || !words.Finite(mean) ||
		slices.ContainsFunc(s.Runs, func(o Observation) bool { return o.Run.Data != ref }) {
		return 0
	}
	return stats.Binomial(mean, rows)
}

// newRun estimates the value of one new run. It has no Basis if there are fewer than three runs, or
// if one diverged.
func (s *Side) newRun() Number {
	if e := stats.Prediction(s.values()); e.Basis == stats.OneRun {
		return Number(e)
	}
	return Number{}
}

// newTest estimates the error of a new run on new test rows. The rows that the runs share and the
// new ones are two samples of the same size, so their variance counts twice. It has no Basis if the
// runs do not share their test rows, or if newRun has none. For a method without a seed, the mean
// of the runs replaces a missing newRun.
func (s *Side) newTest(of ledger.Selector) Number {
	run, variance := stats.Estimate(s.newRun()), s.testVariance(of)
	if run.Basis == "" && s.Runs[0].seedless() {
		run = stats.Mean(s.values())
	}
	if variance == 0 || run.Basis == "" {
		return Number{}
	}
	run = run.Sampled(2 * variance)
	run.Basis = stats.OneRun
	return Number(run)
}

// At returns the verdict with all margins multiplied by margins: the worst verdict of the tests, or
// the verdict itself for a claim without tests.
func (c *ClaimResult) At(margins float64) stats.Verdict {
	if len(c.Tests) == 0 {
		return c.Verdict
	}
	worst := stats.Reproduced
	for i := range c.Tests {
		worst = max(worst, c.Tests[i].At(margins))
	}
	return worst
}

// Margins returns the verdicts with all margins halved and doubled, or nil if no test has a margin.
func (c *ClaimResult) Margins() []stats.Verdict {
	if !slices.ContainsFunc(c.Tests, func(t Finding) bool { return t.Test.Margin > 0 }) {
		return nil
	}
	return []stats.Verdict{c.At(0.5), c.At(2)}
}

// Outcome returns the verdict in words: "deviates, explained" if the ledger explains the deviation.
func (c *ClaimResult) Outcome() string { return verdictText(c.Verdict, c.Explained()) }

// Within reports whether every number that a cell prints may come from one run, and whether that is
// known for all of them.
func (c *ClaimResult) Within() (within, known bool) {
	within, known = true, len(c.Tests) > 0
	for _, f := range c.Tests {
		w, k := f.Within(f.NewRun)
		within, known = within && w, known && k
	}
	return within && known, known
}

// Incomplete reports whether planned runs of the claim have no record, or a test
// of it has no runs at all.
func (c *ClaimResult) Incomplete() bool {
	return c.lacksRuns() || slices.ContainsFunc(c.Tests, func(t Finding) bool { return t.Verdict == stats.NotRun })
}

// lacksRuns reports whether planned runs of the claim have no record.
func (c *ClaimResult) lacksRuns() bool {
	return slices.ContainsFunc(c.Tests, func(t Finding) bool { return len(t.missing()) > 0 })
}

// missing returns the planned runs of the test without a record.
func (f *Finding) missing() []spec.Planned { return slices.Concat(f.Of.Missing, f.To.Missing) }

// gap returns the gap of the missing runs of the test, or nil if none is missing. If a side has no
// runs at all, it is the gap of all missing runs, and NotPlanned if there are none; otherwise that of
// the first side that lacks some. The gap is Failed if one of its runs failed.
func (f *Finding) gap(failed map[string]string) *Gap {
	g := &Gap{Kind: Pending}
	switch {
	case len(f.Of.Runs) == 0 || f.Test.To != nil && len(f.To.Runs) == 0:
		if g.Runs = f.missing(); len(g.Runs) == 0 {
			g.Kind = NotPlanned
		}
	case len(f.Of.Missing) > 0:
		g.Runs, g.N = f.Of.Missing, len(f.Of.Missing)+len(f.Of.Runs)
	case len(f.To.Missing) > 0:
		g.Runs, g.N = f.To.Missing, len(f.To.Missing)+len(f.To.Runs)
	default:
		return nil
	}
	for _, p := range g.Runs {
		if why := failed[p.ID]; why != "" && g.Kind == Pending {
			g.Kind, g.Why = Failed, why
		}
	}
	return g
}

// remark returns a note on the evidence behind the verdict, such as few runs.
func (f *Finding) remark() string {
	if !words.Finite(f.Ours.Value) {
		return "never reached, or diverged"
	}
	if why := theory.Vacuous(f.Of.Runs[0].Record, f.Test.Of.Quantity); why != "" {
		return why
	}
	if f.Test.Kind == ledger.KindEvery {
		return "the worst of all runs"
	}
	a, b := len(f.Of.Runs), len(f.To.Runs)
	if f.Test.To == nil {
		b = a
	}
	text := f.Of.short()
	if f.Of.drawn || f.To.drawn {
		text = "other draws than the tables'"
	}
	switch few := min(a, b); {
	case few == 1 && max(a, b) == 1:
		text = "one run"
	case few == 1:
		text = "one run on one side"
	case few < stats.Fewest:
		text = "two runs"
	}
	if strings.HasSuffix(string(f.Ours.Basis), string(stats.TestRows)) {
		return strings.TrimPrefix(text+"; interval with the test set's size", "; ")
	}
	return text
}

// A Change is a claim with its verdicts in two assessments.
type Change struct {
	Claim string        `json:"claim"` // ID of the claim
	From  stats.Verdict `json:"from"`  // verdict before
	To    stats.Verdict `json:"to"`    // verdict after
}

// Changes returns the claims whose verdicts differ between two assessments of
// the same ledger.
func Changes(from, to *Assessment) []Change {
	var out []Change
	for i, c := range from.Claims {
		if v := to.Claims[i].Verdict; v != c.Verdict {
			out = append(out, Change{c.Claim.ID, c.Verdict, v})
		}
	}
	return out
}

// A Comparison says where the verdicts of an assessment differ from those of a
// reference.
type Comparison struct {
	Same        int          `json:"same"`                   // number of claims with the same verdict
	NotRun      int          `json:"not_run"`                // number of claims that the plan does not run
	Changed     []Difference `json:"changed,omitempty"`      // claims with different verdicts; missing if there are none
	NotCompared []Difference `json:"not_compared,omitempty"` // claims that lack runs on one side, so that the verdicts rest on different runs; missing if there are none
}

// A Difference is a claim with its verdicts on both sides, worded as by [ClaimResult.Outcome].
type Difference struct {
	Claim     string `json:"claim"`     // ID of the claim
	Here      string `json:"here"`      // verdict of the assessment
	Reference string `json:"reference"` // verdict of the reference
}

// CompareTo compares the verdicts with those of a reference. Both must be of the
// same ledger, plan and assumptions. A deviation with an explanation and one
// without are different verdicts. A claim is compared only if both sides have all
// of its planned runs.
func (a *Assessment) CompareTo(reference *Assessment) *Comparison {
	out := new(Comparison)
	for i := range a.Claims {
		here, there := &a.Claims[i], &reference.Claims[i]
		d := Difference{here.Claim.ID, here.Outcome(), there.Outcome()}
		switch {
		case here.lacksRuns() || there.lacksRuns():
			out.NotCompared = append(out.NotCompared, d)
		case d.Here != d.Reference:
			out.Changed = append(out.Changed, d)
		case here.Verdict == stats.NotRun:
			out.NotRun++
		default:
			out.Same++
		}
	}
	return out
}

// Counts are the numbers of claims, or of tests, by verdict.
type Counts struct {
	Reproduced   int `json:"reproduced"`   // claims or tests reproduced
	Inconclusive int `json:"inconclusive"` // inconclusive claims or tests
	NotRun       int `json:"not_run"`      // claims or tests not run
	Deviates     int `json:"deviates"`     // claims or tests that deviate
	Explained    int `json:"explained"`    // deviating claims or tests with an explanation
}

// Total returns the number of claims.
func (n Counts) Total() int { return n.Reproduced + n.Inconclusive + n.NotRun + n.Deviates }

// add counts a verdict.
func (n *Counts) add(v stats.Verdict, explained bool) {
	*[]*int{stats.Reproduced: &n.Reproduced, stats.Inconclusive: &n.Inconclusive, stats.NotRun: &n.NotRun, stats.Deviates: &n.Deviates}[v]++
	n.Explained += one(explained)
}

// one returns 1 if something counts, otherwise 0.
func one(counts bool) int {
	if counts {
		return 1
	}
	return 0
}

// Counts returns the counts of the verdicts on the claims of the cells, of the sentences, and of
// the theorems that Table 1 sums up.
func (a *Assessment) Counts() (cells, sentences, theorems Counts) {
	for _, c := range a.Claims {
		n := &sentences
		switch {
		case c.Claim.Cell:
			n = &cells
		case c.Claim.Theorem():
			n = &theorems
		}
		n.add(c.Verdict, c.Explained())
	}
	return cells, sentences, theorems
}

// Numbers returns the verdicts on the numbers that the paper prints in its
// tables: one for each risk, error and model order of each cell.
func (a *Assessment) Numbers() Counts { return a.Scorecard().all }

// cells returns the results of the tables' cells. Each of their tests is about one printed number.
func (a *Assessment) cells() []ClaimResult {
	return slices.DeleteFunc(slices.Clone(a.Claims), func(c ClaimResult) bool { return !c.Claim.Cell })
}

// A Scorecard counts the verdicts on the numbers in the tables of the paper, by whether the
// choices of this reproduction were made with the numbers in view.
type Scorecard struct {
	Set     Counts `json:"set"`     // numbers that are settings, not results
	Targets Counts `json:"targets"` // numbers that a choice by result had in view
	Others  Counts `json:"others"`  // numbers that no choice had in view: the evidence
	all     Counts
}

// Scorecard returns the counts for the choices as they were made, regardless of assumed
// alternatives.
func (a *Assessment) Scorecard() (s Scorecard) {
	for _, c := range a.cells() {
		for _, f := range c.Tests {
			n := &s.Others
			switch {
			case f.Test.Set:
				n = &s.Set
			case len(f.Test.TargetOf) > 0:
				n = &s.Targets
			}
			n.add(f.Verdict, f.Explained())
			s.all.add(f.Verdict, f.Explained())
		}
	}
	return s
}

// CellsAt counts the verdicts on the cells with all margins multiplied by margins. It counts no
// deviation as explained.
func (a *Assessment) CellsAt(margins float64) (n Counts) {
	for _, c := range a.cells() {
		n.add(c.At(margins), false)
	}
	return n
}

// WithinOneRun counts the cells, and the numbers in them, that may come from one run, and the cells
// and numbers for which that is known.
func (a *Assessment) WithinOneRun() (cells, ofCells, numbers, ofNumbers int) {
	for _, c := range a.cells() {
		within, known := c.Within()
		cells, ofCells = cells+one(within), ofCells+one(known)
		for _, f := range c.Tests {
			within, known := f.Within(f.NewRun)
			numbers, ofNumbers = numbers+one(within), ofNumbers+one(known)
		}
	}
	return cells, ofCells, numbers, ofNumbers
}

// Incomplete reports whether a claim is incomplete: records are missing, or a test has no runs at
// all.
func (a *Assessment) Incomplete() bool {
	return slices.ContainsFunc(a.Claims, func(c ClaimResult) bool { return c.Incomplete() })
}

// Undecided returns the IDs of the claims that are inconclusive, or deviate
// unexplained.
func (a *Assessment) Undecided() (ids []string) {
	for _, c := range a.Claims {
		if c.Verdict == stats.Inconclusive || c.Verdict == stats.Deviates && !c.Explained() {
			ids = append(ids, c.Claim.ID)
		}
	}
	return ids
}
