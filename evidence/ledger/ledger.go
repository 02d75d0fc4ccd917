// Package ledger reads the ledgers: the paper's claims with the tests that decide them, the assumptions
// that were made, the errata, and the contrasts between methods.
package ledger

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"polkrepro/experiments"
	"polkrepro/internal/lists"
	"polkrepro/internal/strictyaml"
	"polkrepro/paper"
	"polkrepro/spec"
)

// The kinds of tests, by the claim about a statistic.
const (
	KindEquivalence = "equivalence" // a mean equals the printed value, within the margin
	KindUpper       = "upper bound" // a mean is at most the printed value
	KindLower       = "lower bound" // a mean is at least the printed value
	KindLess        = "less"        // one mean is less than another
	KindRatio       = "ratio"       // of two means
	KindDifference  = "difference"  // of two means
	KindEvery       = "every run"   // a number of each run, so that the worst run decides
	KindExponent    = "exponent"    // slope of log quantity over log η, over the runs of a seed at several η
)

// QuantityRoughness measures how far a curve is from a monotone descent: the
// sum of all rises of the risk from one evaluation to the next, over its fall
// from the first to the last. It has no unit.
const QuantityRoughness = "roughness"

// Quantities of the final dictionary of a run on multidist, whose modes are known.
const (
	QuantityNearModes    = "near-modes"    // share of its elements within σ of a mode, in percent
	QuantityModeDistance = "mode-distance" // mean distance of its elements to the nearest mode, over that of the training points
)

// How an assumption was chosen.
const (
	ChosenBlind    = "blind"     // without looking at the paper's results
	ChosenAlgebra  = "algebra"   // the printed text contradicts its own derivation
	ChosenByResult = "by result" // with the paper's numbers in view
)

// A Ledger holds the paper's claims and the points that it leaves open. It is made by Embedded
// and not changed.
type Ledger struct {
	Margins     map[string]Margin `json:"-"` // by quantity: error, risk, order
	Claims      []Claim           `json:"-"` // cells of the tables, then sentences, then theorems that Table 1 sums up
	Draws       []Answer          `json:"-"` // runs on several draws of a data set whose cells rest on one
	Untested    []Untested        `json:"-"`
	Assumptions []Assumption      `json:"assumptions"`
	Errata      []Erratum         `json:"-"` // in the order of the paper
	Contrasts   []Contrast        `json:"-"`
}

// A Margin is the largest deviation of a mean from a printed value at which the two still count
// as equal.
type Margin struct {
	Points  float64 `json:"points"`  // absolute margin
	Percent float64 `json:"percent"` // percentage of the printed value
	Least   float64 `json:"least"`   // lower bound of the margin that Percent gives
	Reason  string  `json:"reason"`
}

// Around returns the margin around a printed value, in its unit.
func (m Margin) Around(printed float64) float64 {
	return max(m.Points, m.Percent/100*math.Abs(printed), m.Least)
}

// A Claim is a cell of a table or a sentence with the tests that decide it.
type Claim struct {
	ID          string   `json:"id"` // ID; for a cell, the ID of the cell
	Cell        bool     `json:"-"`
	Section     string   `json:"section"`
	Quote       string   `json:"quote"` // quoted sentence; for a cell, the printed risk/error/order
	Note        string   `json:"note"`
	Assumptions []string `json:"assumptions"` // IDs of the assumptions that the claim depends on
	Tests       []Test   `json:"tests"`       // tests; for a cell, those that the ledger has for all cells
}

// Theorem reports whether the claim is one of Table 1, about a quantity that is
// measured against the minimizer.
func (c *Claim) Theorem() bool {
	return slices.ContainsFunc(c.Tests, func(t Test) bool { return t.Of.Measured() })
}

// A Test asks whether a statistic of records agrees with the paper. The statistic is a mean over
// runs for the kinds equivalence, upper bound and lower bound; the mean of Of minus the mean of
// To for the kinds less and difference; the mean of Of divided by the mean of To for the kind
// ratio; the number of the worst run for the kind every run; and a mean over seeds for the kind
// exponent.
type Test struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"` // KindEquivalence, …
	Of        Selector  `json:"of"`
	To        *Selector `json:"to"`  // second mean, for the kinds less, ratio and difference
	Low       *float64  `json:"low"` // lower bound as printed; nil if there is none
	High      *float64  `json:"high"`
	Margin    float64   `json:"margin"` // margin added on both sides, in the statistic's unit
	Reason    string    `json:"reason"` // reason for the margin or bound, if the test has its own
	Paper     *float64  `json:"-"`      // the statistic of the paper's numbers, if they are printed
	Explained string    `json:"-"`      // measured reason for a deviation; empty if there is none
	Set       bool      `json:"-"`      // whether the number of a cell is a setting, not a result
	TargetOf  []string  `json:"-"`      // IDs of the assumptions that were chosen with the number of a cell in view
}

// Selectors returns Of, and To if there is one.
func (t *Test) Selectors() []Selector {
	if t.To == nil {
		return []Selector{t.Of}
	}
	return []Selector{t.Of, *t.To}
}

// Target returns the interval claimed for the statistic.
func (t *Test) Target() (low, high float64) { return t.TargetAt(1) }

// TargetAt returns the target with the margin multiplied by margins.
func (t *Test) TargetAt(margins float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if t.Low != nil {
		low = *t.Low - float64(margins*t.Margin)
	}
	if t.High != nil {
		high = *t.High + float64(margins*t.Margin)
	}
	if t.Kind == KindLess {
		high = math.Nextafter(0, -1)
	}
	return low, high
}

// A Selector names a quantity and the runs that it is taken from. By default its value is the
// final one, the average over the last 5 % of the processed samples.
type Selector struct {
	Cell     string `json:"cell"`     // cell that the runs feed
	Quantity string `json:"quantity"` // name of the quantity: paper.QuantityRisk, …; an error is in percent
	Figure   string `json:"figure"`   // figure; if given, the runs of the cell's series that feed it replace the runs that feed the cell

	// At most one of Samples and Below is given.
	Samples int      `json:"samples"` // number of samples; the first evaluation at or after it counts
	Below   *float64 `json:"below"`   // threshold; the number of samples until the quantity is first below it counts

	// Spec, Methods, Label and Series replace all fields but Quantity. They select the runs of a
	// spec, for their model order or for a quantity that is measured against the minimizer.
	Spec    string   `json:"spec"`
	Methods []string `json:"methods"` // labels of entries of the spec's methods; each series of each entry has its own test, for the kind exponent each entry
	Label   string   `json:"-"`       // label of the test, one of Methods
	Series  string   `json:"-"`       // series of the entry; empty for all
}

// Measured reports whether the quantity is measured against the minimizer.
func (s *Selector) Measured() bool { return paper.Measured[s.Quantity] != "" }

// A Contrast is a comparison of two methods' errors that no claim of the paper makes.
type Contrast struct {
	On     string            `json:"on"`    // data, and what they have in common
	Title  string            `json:"title"` // the two methods
	Of     Selector          `json:"of"`    // of a cell, or of one method of a spec
	To     Selector          `json:"to"`
	Assume map[string]string `json:"assume"` // alternatives to assume instead of the chosen values, by assumption
}

// An Untested sentence is one that no test of records can answer.
type Untested struct {
	Section string `json:"section"`
	Quote   string `json:"quote"`
	Reason  string `json:"reason"`
}

// An Assumption is something that the paper leaves open or misprints.
type Assumption struct {
	ID           string        `json:"id"`
	Paper        string        `json:"paper"` // the paper's statement
	Chosen       string        `json:"chosen"`
	How          string        `json:"how"`     // ChosenBlind, …
	Targets      []string      `json:"targets"` // printed numbers in view when the choice was made by result: CELL.QUANTITY, or CELL for all numbers of a cell
	Evidence     string        `json:"evidence"`
	Alternatives []Alternative `json:"alternatives"`
}

// An Alternative is another value of an assumption. It needs separate runs, or is another
// reading of the existing runs, or nobody has run it.
type Alternative struct {
	ID      string            `json:"id"`
	Value   string            `json:"value"`
	Effect  string            `json:"effect"`  // measured effect; empty if it was not measured
	How     string            `json:"how"`     // how it was chosen, if it is taken: ChosenBlind, …; by result if missing
	Answers []Answer          `json:"answers"` // runs with the value
	Passes  map[string]int    `json:"passes"`  // number of passes that runs are cut to, by data set; longer runs begin with these passes
	Risk    map[string]string `json:"risk"`    // risk that is read instead, by data set: RiskTrain or RiskTest
	Without []string          `json:"without"` // tests that have nothing to compare with under the alternative, CLAIM.TEST

	// Penalty has, by task, the factor by which (λ/2)Σ‖f_c‖² in the recorded risk is multiplied.
	Penalty map[string]float64 `json:"penalty"`
}

// Reading reports whether the alternative is another reading of the same runs.
func (a *Alternative) Reading() bool { return len(a.Risk)+len(a.Without)+len(a.Penalty) > 0 }

// Run reports whether records can answer the alternative: a spec runs it, longer runs are
// cut to it, or it is another reading.
func (a *Alternative) Run() bool { return len(a.Answers)+len(a.Passes) > 0 || a.Reading() }

// Answer returns the runs that replace those of a cell, or nil.
func (a *Alternative) Answer(cell string) *Answer {
	return lists.Find(a.Answers, func(w *Answer) bool { return w.Cell == cell })
}

// An Answer names the runs that replace the runs of a cell: those of an entry of a spec at a
// point of its grid.
type Answer struct {
	Cell   string `json:"cell"`
	Spec   string `json:"spec"`
	Method string `json:"method"`
	Label  string `json:"label"` // label of the entry; the method's name if it has none

	At spec.Point `json:"at"` // some of the run's hyper-parameters; all others are arbitrary
}

// DecodeNode implements strictyaml.Decoder.
func (a *Answer) DecodeNode(n *strictyaml.Node, r *strictyaml.Reporter) {
	type plain Answer
	strictyaml.Decode(n, (*plain)(a), r)
	a.Label = cmp.Or(a.Label, a.Method)
}

// Matches reports whether a run is one of the runs that the answer names.
func (a *Answer) Matches(planned *spec.Planned) bool {
	return a.At.Matches(&planned.Run.Params) && a.Spec == planned.Spec && a.Method == planned.Run.Method && a.Label == planned.Label
}

// An Erratum is an error in the printed paper.
type Erratum struct {
	ID         string   `json:"id"`
	Severity   string   `json:"severity,omitempty"` // setting, algorithm, theorem or result; missing if nothing follows
	Rank       int      `json:"rank,omitempty"`     // order among those of a severity, from the most serious on
	Status     string   `json:"status,omitempty"`   // certain, repaired, inferred or measured, of one that has a severity
	Title      string   `json:"title,omitempty"`    // subject, of one that has a severity
	Kind       string   `json:"kind"`               // misprint, contradiction, gap or reference
	Line       int      `json:"line"`               // line of the paper's LaTeX source
	Place      string   `json:"place"`
	Printed    string   `json:"printed"`
	Right      string   `json:"right"`
	How        string   `json:"how"`                  // reason why it is known to be wrong
	Follows    string   `json:"follows,omitempty"`    // consequences, of one that has a severity
	Tests      []string `json:"tests,omitempty"`      // Go tests that settle it, PACKAGE.TEST
	Claims     []string `json:"claims,omitempty"`     // claims whose records settle it
	Assumption string   `json:"assumption,omitempty"` // ID of the assumption that was made because of it
}

// Claim returns the claim of an ID, nil if there is none.
func (l *Ledger) Claim(id string) *Claim {
	return lists.Find(l.Claims, func(c *Claim) bool { return c.ID == id })
}

// OnDraws returns the runs of a cell's method on several draws of its data set, or nil if the
// ledger names none. varied reports whether it names some for any cell of the data set.
func (l *Ledger) OnDraws(cell string) (runs *Answer, varied bool) {
	for i := range l.Draws {
		if varied = varied || paper.Printed().Cells[l.Draws[i].Cell].Data == paper.Printed().Cells[cell].Data; l.Draws[i].Cell == cell {
			return &l.Draws[i], true
		}
	}
	return nil, varied
}

// Assumption returns the assumption of an ID, nil if there is none.
func (l *Ledger) Assumption(id string) *Assumption {
	return lists.Find(l.Assumptions, func(a *Assumption) bool { return a.ID == id })
}

// Dependents returns the IDs of the claims that depend on an assumption.
func (l *Ledger) Dependents(assumption string) []string {
	var ids []string
	for _, c := range l.Claims {
		if slices.Contains(c.Assumptions, assumption) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Depends reports whether the runs of a cell depend on an assumption: whether the
// cell's claim names it. A row that the paper does not print (such as polk-large)
// has no claim; for it the claim of the row that it varies decides.
func (l *Ledger) Depends(cell, assumption string) bool {
	c := l.Claim(cell)
	if c == nil {
		i := strings.LastIndexByte(cell, '.')
		row, _, _ := strings.Cut(cell[i+1:], "-")
		c = l.Claim(cell[:i+1] + row)
	}
	return c != nil && slices.Contains(c.Assumptions, assumption)
}

// Alternative returns an assumption's alternative of an ID, nil if there is
// none.
func (a *Assumption) Alternative(id string) *Alternative {
	return lists.Find(a.Alternatives, func(b *Alternative) bool { return b.ID == id })
}

// HowOf returns how the alternative b was chosen, or how the assumption was chosen if b is
// nil. An alternative is chosen by result unless the ledger says otherwise.
func (a *Assumption) HowOf(b *Alternative) string {
	if b == nil {
		return a.How
	}
	return cmp.Or(b.How, ChosenByResult)
}

// Embedded returns the ledgers that are part of the program. All callers share
// them: they must not be changed.
var Embedded = sync.OnceValue(func() *Ledger {
	l, err := parse(source("claims"), source("assumptions"))
	if err != nil {
		panic(err) // a test reads them
	}
	return l
})

// parse reads claims and assumptions; the errata and contrasts are the embedded ones. Unknown keys,
// wrong types and the like are reported as Errors. A test checks that the entries are
// consistent with each other and with the paper.
func parse(claims, assumptions []byte) (*Ledger, error) {
	var c struct {
		Margins map[string]Margin `json:"margins"`
		Cells   []Test            `json:"cells"` // the tests of every cell
		Claims  []struct {
			Claim
			Explained map[string]string `json:"explained"` // explanations by test
		} `json:"claims"`
		Set      []string   `json:"set"`   // numbers that are settings, CELL.QUANTITY
		Draws    []Answer   `json:"draws"` // runs that answer sentences on several draws
		Untested []Untested `json:"untested"`
	}
	var e struct {
		Errata []Erratum `json:"errata"`
	}
	var d struct {
		Contrasts []Contrast `json:"contrasts"`
	}
	var l Ledger
	r := new(strictyaml.Reporter)
	root := decode("claims", claims, &c, r)
	decode("assumptions", assumptions, &l, r)
	decode("errata", source("errata"), &e, r)
	decode("contrasts", source("contrasts"), &d, r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	l.Margins, l.Draws, l.Untested, l.Errata = c.Margins, c.Draws, c.Untested, e.Errata
	for _, x := range d.Contrasts {
		for _, s := range []*Selector{&x.Of, &x.To} {
			if s.Quantity = paper.QuantityError; len(s.Methods) > 0 {
				s.Label = s.Methods[0]
			}
		}
		l.Contrasts = append(l.Contrasts, x)
	}
	k := ledgerReader{Reporter: r, out: &l}
	for i := range c.Claims {
		claim, n := &c.Claims[i].Claim, root.At("claims", i)
		claim.Quote = strings.TrimSpace(claim.Quote)
		if cell, ok := paper.Printed().Cells[claim.ID]; !ok || cell.Extra {
			claim.Tests = k.tests(claim.Tests, n)
		} else if len(claim.Quote)+len(claim.Tests) > 0 {
			r.Errorf(n, "a cell's claim is its printed value: it has no quote and no tests")
		} else {
			claim.Cell, claim.Quote, claim.Tests = true, cell.Printed, k.cellTests(cell, c.Cells, c.Set)
		}
		for id, why := range c.Claims[i].Explained {
			if j := slices.IndexFunc(claim.Tests, func(t Test) bool { return t.ID == id }); j >= 0 {
				claim.Tests[j].Explained = strings.TrimSpace(why)
			} else {
				r.Errorf(n.At("explained", id), "claim %q has no test %q", claim.ID, id)
			}
		}
		l.Claims = append(l.Claims, *claim)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return &l, nil
}

// source returns the text of a ledger that is part of the program.
func source(name string) []byte {
	src, _ := experiments.Files.ReadFile("ledgers/" + name + ".yaml") // a test reads it
	return src
}

func decode(name string, src []byte, v any, r *strictyaml.Reporter) *strictyaml.Node {
	return strictyaml.DecodeFile(experiments.Folder+"ledgers/"+name+".yaml", src, v, r)
}

// A ledgerReader completes the tests of claims.
type ledgerReader struct {
	*strictyaml.Reporter
	out *Ledger
}

// Final reports whether the quantity is one that the tables print, at the end of the runs of a cell.
func (s *Selector) Final() bool {
	return s.Cell != "" && s.Samples == 0 && s.Below == nil && slices.Contains(paper.Quantities, s.Quantity)
}

// cellTests returns the tests of a cell: those of the given tests whose quantity the cell
// prints. set lists the numbers that are settings, not results.
func (k *ledgerReader) cellTests(c paper.Cell, tests []Test, set []string) (out []Test) {
	for _, t := range tests {
		v := printedValue(c, t.Of.Quantity)
		if v == nil {
			continue
		}
		t.Of.Cell, t.Paper = c.ID, v
		if t.Kind != KindUpper {
			t.Low = v
		}
		if t.Kind != KindLower {
			t.High = v
		}
		if t.Kind == KindEquivalence {
			t.Margin = k.out.Margins[t.Of.Quantity].Around(*v)
		}
		number := c.ID + "." + t.ID
		t.Set = slices.Contains(set, number)
		for _, a := range k.out.Assumptions {
			if slices.Contains(a.Targets, number) || slices.Contains(a.Targets, c.ID) {
				t.TargetOf = append(t.TargetOf, a.ID)
			}
		}
		out = append(out, t)
	}
	return out
}

// printedValue returns the number that a cell prints for a quantity, or nil.
func printedValue(c paper.Cell, quantity string) *float64 {
	return map[string]*float64{paper.QuantityRisk: c.Risk, paper.QuantityError: c.Error, paper.QuantityOrder: c.Order}[quantity]
}

// tests completes the tests of a sentence. A test on the runs of a spec becomes one test for
// each series of each method, or, if it is about an exponent, one for each method.
func (k *ledgerReader) tests(tests []Test, n *strictyaml.Node) (out []Test) {
	for i, t := range tests {
		at := n.At("tests", i)
		if at.Get("margin") == nil {
			k.margin(&t, at)
		}
		t.Paper = k.paperStatistic(&t)
		if t.Of.Spec == "" {
			out = append(out, t)
			continue
		}
		runs, err := spec.Find(t.Of.Spec)
		if err != nil {
			k.Errorf(at.At("of", "spec"), "%v", err)
			continue
		}
		for j, label := range t.Of.Methods {
			found := false
			for _, v := range runs[0].Settings() {
				if v.Label != label || found && t.Kind == KindExponent {
					continue
				}
				one := t
				if one.Of.Label = label; t.Kind != KindExponent {
					one.Of.Series = v.Series
				}
				one.ID += "[" + cmp.Or(one.Of.Series, label) + "]"
				out, found = append(out, one), true
			}
			if !found {
				k.Errorf(at.At("of", "methods", j), "spec %s has no method %q", t.Of.Spec, label)
			}
		}
	}
	return out
}

// margin fills in the margin of a test: that of the quantity if a mean or a difference of
// means is claimed to be a printed value. Bounds and ratios have no margin.
func (k *ledgerReader) margin(t *Test, n *strictyaml.Node) {
	switch {
	case t.Low == nil || t.High == nil || t.Kind == KindRatio:
	case t.Of.Below != nil || !slices.Contains(paper.Quantities, t.Of.Quantity) || t.Kind == KindDifference && t.Of.Quantity != paper.QuantityError:
		k.Errorf(n, "no default margin for this test: give one")
	default:
		t.Margin = k.out.Margins[t.Of.Quantity].Around(*t.High)
	}
}

// paperStatistic returns the test's statistic for the numbers that the paper prints,
// or nil if one of them is not printed.
func (k *ledgerReader) paperStatistic(t *Test) *float64 {
	printed := func(s *Selector) *float64 {
		if s.Samples > 0 || s.Below != nil {
			return nil
		}
		return printedValue(paper.Printed().Cells[s.Cell], s.Quantity)
	}
	of := printed(&t.Of)
	if t.To == nil {
		if t.Of.Spec == "" && t.Low != nil && t.High != nil && *t.Low == *t.High {
			return t.Low
		}
		return of
	}
	to := printed(t.To)
	if of == nil || to == nil {
		return nil
	}
	v := *of - *to
	if t.Kind == KindRatio {
		v = *of / *to
	}
	return &v
}
