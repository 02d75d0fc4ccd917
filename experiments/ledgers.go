package experiments

import (
	"cmp"
	_ "embed"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"polkrepro/experiments/internal/doc"
	"polkrepro/internal/strictyaml"
)

// The ledgers are in a folder of their own: what is beside the specs is a spec.
var (
	//go:embed ledgers/claims.yaml
	claimsSource []byte
	//go:embed ledgers/assumptions.yaml
	assumptionsSource []byte
)

// The kinds of tests, by what is claimed of a statistic.
const (
	KindEquivalence = "equivalence" // a mean is what is printed, within the margin
	KindUpper       = "upper bound" // a mean is at most what is printed
	KindLower       = "lower bound" // a mean is at least what is printed
	KindLess        = "less"        // one mean is less than another
	KindRatio       = "ratio"       // of two means
	KindDifference  = "difference"  // of two means
	KindEvery       = "every run"   // a number of each run, so that the worst decides
	KindExponent    = "exponent"    // slope of log quantity over log η, over the runs of a seed at several η
)

var (
	testKinds     = []string{KindEquivalence, KindUpper, KindLower, KindLess, KindRatio, KindDifference} // of cells
	specKinds     = []string{KindEquivalence, KindUpper, KindLower}                                      // of a spec's runs
	measuredKinds = []string{KindUpper, KindLower, KindEvery, KindExponent}                              // of what is measured against the minimizer
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

var (
	testQuantities = []string{QuantityRisk, QuantityError, QuantityOrder, QuantityRoughness, QuantityNearModes, QuantityModeDistance}
	modeQuantities = []string{QuantityNearModes, QuantityModeDistance}
)

// How an assumption was chosen.
const (
	ChosenBlind    = "blind"     // without looking at the paper's results
	ChosenAlgebra  = "algebra"   // what is printed contradicts its own derivation
	ChosenByResult = "by result" // the paper's numbers were looked at
)

var hows = []string{ChosenBlind, ChosenAlgebra, ChosenByResult}

// A Ledger holds what the paper claims and what it leaves open. It is made by
// Ledgers or ParseLedger and not changed.
type Ledger struct {
	Margins     map[string]Margin // by quantity: error, risk, order
	Claims      []Claim           // the tables' cells, then sentences, then what Table 1 sums up
	Untested    []Untested
	Assumptions []Assumption
	Errata      []Erratum // in the order of the paper; of the ledgers that are part of the program
}

// A Margin is how far from a printed value a mean may be and still be equal to
// it for all purposes.
type Margin struct {
	Points  float64 `json:"points"`  // absolute
	Percent float64 `json:"percent"` // of the printed value
	Least   float64 `json:"least"`   // the least that a percentage can be
	Reason  string  `json:"reason"`
}

// Around returns the margin around a printed value, in its unit.
func (m Margin) Around(printed float64) float64 {
	return max(m.Points, m.Percent/100*math.Abs(printed), m.Least)
}

// A Claim is a cell of a table or a sentence with the tests that decide it.
type Claim struct {
	ID          string   `json:"id"` // of a cell, the cell's
	Cell        bool     `json:"-"`
	Section     string   `json:"section"`
	Quote       string   `json:"quote"` // a sentence's; of a cell what is printed, risk/error/order
	Note        string   `json:"note"`
	Assumptions []string `json:"assumptions"` // IDs of those that it depends on
	Tests       []Test   `json:"tests"`       // of a cell, the ledger's for all cells
}

// Theorem reports whether the claim is one of Table 1's: of what is measured
// against the minimizer.
func (c *Claim) Theorem() bool {
	return slices.ContainsFunc(c.Tests, func(t Test) bool { return t.Of.Measured() })
}

// A Test asks whether a statistic of records is where the paper has it. The
// statistic is a mean over runs for the kinds equivalence, upper bound and
// lower bound; mean of Of less that of To for the kinds less and difference;
// mean of Of over that of To for the kind ratio; the worst run's number for the kind
// every run; and a mean over seeds for the kind exponent.
type Test struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"` // KindEquivalence, …
	Of        Selector  `json:"of"`
	To        *Selector `json:"to"`  // of the kinds less, ratio and difference
	Low       *float64  `json:"low"` // as printed; nil is unbounded
	High      *float64  `json:"high"`
	Margin    float64   `json:"margin"` // added on both sides, in the statistic's unit
	Reason    string    `json:"reason"` // for the margin or bound, if it is the test's own
	Paper     *float64  `json:"-"`      // the statistic of the paper's numbers, if they are printed
	Explained string    `json:"-"`      // the measured reason of a deviation, if there is one
}

// Target returns the interval in which the statistic is claimed to be.
func (t *Test) Target() (low, high float64) { return t.TargetAt(1) }

// TargetAt returns the target with the margin taken so many times.
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

// A Selector says which number of which runs answers. By default it is the
// final one, the average over the last 5 % of the processed samples.
type Selector struct {
	Cell     string `json:"cell"`     // the runs that feed this cell
	Quantity string `json:"quantity"` // QuantityRisk, …; an error in percent
	Figure   string `json:"figure"`   // if given, the runs of the cell's series that feed this figure instead

	// At most one of these is given.
	Samples int      `json:"samples"` // the first evaluation at or after so many samples
	Below   *float64 `json:"below"`   // the samples until the quantity is first below this

	// Instead of a cell, and of all else but the quantity: the runs of a spec, for
	// their model order or for what is measured of them against the minimizer.
	Spec    string   `json:"spec"`
	Methods []string `json:"methods"` // labels of entries of the spec's methods; a test for each series of each
	Label   string   `json:"-"`       // the test's, of Methods
	Series  string   `json:"-"`       // one of the entry's; empty for all
}

// Measured reports whether the quantity is one that is measured against the minimizer.
func (s *Selector) Measured() bool { return Measured[s.Quantity] != "" }

// An Untested sentence is one that no test of records can answer.
type Untested struct {
	Section string `json:"section"`
	Quote   string `json:"quote"`
	Reason  string `json:"reason"`
}

// An Assumption is something that the paper leaves open or misprints.
type Assumption struct {
	ID           string        `json:"id"`
	Paper        string        `json:"paper"` // what it says
	Chosen       string        `json:"chosen"`
	How          string        `json:"how"` // ChosenBlind, …
	Evidence     string        `json:"evidence"`
	Alternatives []Alternative `json:"alternatives"`
}

// An Alternative is another value of an assumption. It needs runs of its own,
// or is another reading of the runs there are, or nobody has run it.
type Alternative struct {
	ID      string            `json:"id"`
	Value   string            `json:"value"`
	Effect  string            `json:"effect"`  // if it was measured
	How     string            `json:"how"`     // ChosenBlind, … if it is taken: by result if missing
	Answers []Answer          `json:"answers"` // the runs that have it
	Passes  map[string]int    `json:"passes"`  // by data set, the passes that runs are cut to: longer ones begin with it
	Risk    map[string]string `json:"risk"`    // by data set, the risk that is read instead: RiskTrain or RiskTest
	Without []string          `json:"without"` // tests that it leaves nothing to compare with, CLAIM.TEST

	// Penalty is, by task, what (λ/2)Σ‖f_c‖² in the recorded risk is multiplied by.
	Penalty map[string]float64 `json:"penalty"`
}

// Reading reports whether the alternative is another reading of the same runs.
func (a *Alternative) Reading() bool { return len(a.Risk)+len(a.Without)+len(a.Penalty) > 0 }

// Run reports whether records can say anything of the alternative: a spec runs it, runs
// begin with it, or it is another reading.
func (a *Alternative) Run() bool { return len(a.Answers)+len(a.Passes) > 0 || a.Reading() }

// Answer returns the runs that take the place of a cell's, nil if none do.
func (a *Alternative) Answer(cell string) *Answer {
	return find(a.Answers, func(w *Answer) bool { return w.Cell == cell })
}

// An Answer names runs that take the place of those that feed a cell: those of
// an entry of a spec at a point of its grid.
type Answer struct {
	Cell   string `json:"cell"`
	Spec   string `json:"spec"`
	Method string `json:"method"`
	Label  string `json:"label"` // of the entry; the method's name if it has none of its own

	At map[string]string `json:"-"` // hyper-parameters by name, as they are shown; others may be any
}

// DecodeNode implements strictyaml.Decoder.
func (a *Answer) DecodeNode(n *strictyaml.Node, r *strictyaml.Reporter) {
	type plain Answer
	var d struct {
		plain
		At doc.Settings `json:"at"`
	}
	strictyaml.Decode(n, &d, r)
	before := r.Len()
	if settingsOf(d.At.Rest, false, r); r.Len() > before {
		return
	}
	*a = Answer(d.plain)
	a.Label, a.At = cmp.Or(a.Label, a.Method), make(map[string]string)
	for _, f := range d.At.Fields {
		v, _ := known(f.Key).read(f.Value)
		a.At[f.Key] = v.String()
	}
}

// Matches reports whether a run is one of those named.
func (a *Answer) Matches(planned *Planned) bool {
	for name, value := range a.At {
		if known(name).load(&planned.Run.Params).String() != value {
			return false
		}
	}
	return a.Spec == planned.Spec && a.Method == planned.Run.Method && a.Label == planned.Label
}

// Claim returns the claim of an ID, nil if there is none.
func (l *Ledger) Claim(id string) *Claim {
	return find(l.Claims, func(c *Claim) bool { return c.ID == id })
}

// Assumption returns the assumption of an ID, nil if there is none.
func (l *Ledger) Assumption(id string) *Assumption {
	return find(l.Assumptions, func(a *Assumption) bool { return a.ID == id })
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

// Depends reports whether the runs of a cell depend on an assumption: the
// cell's claim names it, or, for a row that the paper does not print (such as
// polk-large), that of the row which it varies.
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
	return find(a.Alternatives, func(b *Alternative) bool { return b.ID == id })
}

// HowOf returns how an alternative was chosen, or what was chosen if there is none. An
// alternative is chosen by result unless the ledger says otherwise.
func (a *Assumption) HowOf(b *Alternative) string {
	if b == nil {
		return a.How
	}
	return cmp.Or(b.How, ChosenByResult)
}

// Ledgers returns the ledgers that are part of the program. All callers share
// them: they must not be changed.
func Ledgers() (*Ledger, error) { return ledgersOnce() }

var ledgersOnce = sync.OnceValues(func() (*Ledger, error) {
	l, err := ParseLedger("experiments/ledgers/claims.yaml", claimsSource, "experiments/ledgers/assumptions.yaml", assumptionsSource)
	if err != nil {
		return nil, err
	}
	return l, l.readErrata("experiments/ledgers/errata.yaml", errataSource)
})

// ParseLedger reads claims and assumptions and checks them against each other
// and against Paper. The names are for messages. What is wrong is returned as
// Errors.
func ParseLedger(claimsName string, claims []byte, assumptionsName string, assumptions []byte) (*Ledger, error) {
	paper, err := Paper()
	if err != nil {
		return nil, err
	}
	r := new(strictyaml.Reporter)
	claimsRoot := strictyaml.Parse(claimsName, claims, r)
	assumptionsRoot := strictyaml.Parse(assumptionsName, assumptions, r)
	if claimsRoot == nil || assumptionsRoot == nil {
		return nil, r.Err()
	}
	var c struct {
		Margins map[string]Margin `json:"margins"`
		Cells   []Test            `json:"cells"`
		Claims  []struct {
			Claim
			Explained map[string]string `json:"explained"`
		} `json:"claims"`
		Untested []Untested `json:"untested"`
	}
	var a struct {
		Assumptions []Assumption `json:"assumptions"`
	}
	strictyaml.Decode(claimsRoot, &c, r)
	strictyaml.Decode(assumptionsRoot, &a, r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	k := ledgerChecker{checks: checks{Reporter: r}, paper: paper, out: &Ledger{Margins: c.Margins, Untested: c.Untested}}
	k.ids(assumptionsRoot.At("assumptions"), nameText)
	for i := range a.Assumptions {
		k.assumption(&a.Assumptions[i], assumptionsRoot.At("assumptions", i))
	}
	k.margins(claimsRoot)
	k.cells(c.Cells, claimsRoot)
	k.ids(claimsRoot.At("claims"), namesText)
	for i := range c.Claims {
		k.claim(&c.Claims[i].Claim, c.Cells, c.Claims[i].Explained, claimsRoot.At("claims", i))
	}
	for i := range k.out.Assumptions {
		k.readings(&k.out.Assumptions[i], assumptionsRoot.At("assumptions", i))
	}
	k.complete(claimsRoot)
	for i := range c.Untested {
		k.texts(claimsRoot.At("untested", i), "section", "quote", "reason")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return k.out, nil
}

type ledgerChecker struct {
	checks
	paper *PaperValues
	out   *Ledger
	spec  *Spec // the last that a test named
}

func (k *ledgerChecker) assumption(a *Assumption, n *strictyaml.Node) {
	k.texts(n, "paper", "chosen", "evidence")
	k.ids(n.At("alternatives"), nameText)
	k.oneOf(n, "how", a.How, hows)
	if len(a.Alternatives) == 0 {
		k.Errorf(n, "an assumption needs at least one alternative")
	}
	for i, v := range a.Alternatives {
		at := n.At("alternatives", i)
		k.texts(at, "value")
		if v.How != "" {
			k.oneOf(at, "how", v.How, hows)
		}
		k.answers(v.Answers, at)
		k.passes(a, v.Passes, at)
	}
	k.out.Assumptions = append(k.out.Assumptions, *a)
}

func (k *ledgerChecker) answers(answers []Answer, n *strictyaml.Node) {
	for i, a := range answers {
		at := n.At("answers", i)
		if _, ok := k.paper.Cells[a.Cell]; !ok {
			k.Errorf(at.At("cell"), "unknown table cell %q", a.Cell)
		}
		if slices.ContainsFunc(answers[:i], func(o Answer) bool { return o.Cell == a.Cell }) {
			k.Errorf(at.At("cell"), "cell %q is answered twice", a.Cell)
		}
		k.texts(at, "spec")
		if Method(a.Method) == nil {
			k.Errorf(at.At("method"), "unknown method %q", a.Method)
		}
	}
}

// passes checks the passes that an alternative of an assumption cuts runs to. One
// assumption says how many passes a data set has.
func (k *ledgerChecker) passes(a *Assumption, passes map[string]int, n *strictyaml.Node) {
	for _, set := range slices.Sorted(maps.Keys(passes)) {
		if _, ok := k.paper.Data[set]; !ok || passes[set] < 1 {
			k.Errorf(n.At("passes", set), "%d passes of %s: must be at least 1, of a data set of the paper", passes[set], set)
		}
		for _, other := range k.out.Assumptions {
			if slices.ContainsFunc(other.Alternatives, func(v Alternative) bool { return v.Passes[set] > 0 }) {
				k.Errorf(n.At("passes", set), "the passes of %s are %s's", set, other.ID)
			}
		}
	}
}

// readings checks the alternatives that need no runs of their own, which name
// data sets, claims and tests.
func (k *ledgerChecker) readings(a *Assumption, n *strictyaml.Node) {
	for i := range a.Alternatives {
		v, at := &a.Alternatives[i], n.At("alternatives", i)
		if v.Reading() && len(v.Answers) > 0 {
			k.Errorf(at, "an alternative has answers or is another reading of the same runs, not both")
		}
		for _, set := range slices.Sorted(maps.Keys(v.Risk)) {
			d, ok := k.paper.Data[set]
			risk := v.Risk[set]
			if !ok || risk != RiskTrain && risk != RiskTest || risk == d.Risk {
				k.Errorf(at.At("risk", set), "%s of %s is not an alternative risk for this data set", risk, set)
			}
		}
		for _, task := range slices.Sorted(maps.Keys(v.Penalty)) {
			if f := v.Penalty[task]; !slices.Contains(Tasks(), task) || !(f >= 0) || math.IsInf(f, 0) || f == 1 {
				k.Errorf(at.At("penalty", task), "%v times the penalty of %s: want a task of the paper and a number ≥ 0 other than 1", f, task)
			}
		}
		for j, id := range v.Without {
			if !k.out.hasTest(id, a.ID) {
				k.Errorf(at.At("without", j), "%q is not a test of a claim that depends on %s", id, a.ID)
			}
		}
	}
}

// hasTest reports whether a claim that depends on an assumption has the test
// CLAIM.TEST and others beside it.
func (l *Ledger) hasTest(id, assumption string) bool {
	i := max(strings.LastIndexByte(id, '.'), 0)
	c := l.Claim(id[:i])
	return c != nil && len(c.Tests) > 1 && slices.Contains(c.Assumptions, assumption) &&
		slices.ContainsFunc(c.Tests, func(t Test) bool { return c.ID+"."+t.ID == id })
}

// printedQuantities are those that the paper's tables print.
var printedQuantities = []string{QuantityRisk, QuantityError, QuantityOrder}

func (k *ledgerChecker) margins(root *strictyaml.Node) {
	n := root.At("margins")
	for _, q := range slices.Sorted(maps.Keys(k.out.Margins)) {
		m := k.out.Margins[q]
		if !slices.Contains(printedQuantities, q) {
			k.Errorf(n.At(q), "unexpected margin for %q, want one for each of %s", q, list(printedQuantities))
		}
		sum := m.Points + m.Percent + m.Least
		if !(min(m.Points, m.Percent, m.Least) >= 0) || !(max(m.Points, m.Percent) > 0) || math.IsInf(sum, 1) {
			k.Errorf(n.At(q), "a margin needs points or percent greater than 0, and nothing less than 0")
		}
		k.texts(n.At(q), "reason")
	}
	for _, q := range printedQuantities {
		if _, ok := k.out.Margins[q]; !ok {
			k.Errorf(n, "missing margin for %s", q)
		}
	}
}

// cells checks the tests that every cell has.
func (k *ledgerChecker) cells(tests []Test, root *strictyaml.Node) {
	if len(tests) == 0 {
		k.Errorf(root, "missing key %q, the tests of every table cell", "cells")
	}
	k.ids(root.At("cells"), nameText)
	for i, t := range tests {
		n := root.At("cells", i)
		k.oneOf(n, "kind", t.Kind, []string{KindEquivalence, KindUpper, KindLower})
		k.oneOf(n.At("of"), "quantity", t.Of.Quantity, printedQuantities)
		if !reflect.DeepEqual(t, Test{ID: t.ID, Kind: t.Kind, Of: Selector{Quantity: t.Of.Quantity}}) {
			k.Errorf(n, "a test of every cell has id, kind and the quantity: cell, bounds and margin follow from what is printed")
		}
	}
}

func (k *ledgerChecker) claim(c *Claim, cells []Test, explained map[string]string, n *strictyaml.Node) {
	k.texts(n, "section")
	for i, a := range c.Assumptions {
		if k.out.Assumption(a) == nil || slices.Contains(c.Assumptions[:i], a) {
			k.Errorf(n.At("assumptions", i), "assumption %q is unknown or duplicated", a)
		}
	}
	c.Quote = strings.TrimSpace(c.Quote)
	if cell, ok := k.paper.Cells[c.ID]; ok && !cell.Extra {
		if c.Quote != "" || len(c.Tests) > 0 {
			k.Errorf(n, "a cell's claim is its printed value: it has no quote and no tests")
		}
		c.Cell, c.Quote, c.Tests = true, cell.Printed, k.cellTests(cell, cells)
		if len(c.Tests) == 0 {
			k.Errorf(n.At("id"), "cell %q has no number to claim", c.ID)
		}
	} else {
		k.sentence(c, n)
	}
	k.explain(explained, n, c)
	k.out.Claims = append(k.out.Claims, *c)
}

// cellTests are those of the tests of every cell whose quantity a cell prints.
func (k *ledgerChecker) cellTests(c PaperCell, tests []Test) (out []Test) {
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
		out = append(out, t)
	}
	return out
}

// printedValue is what a cell prints of a quantity, nil if it does not.
func printedValue(c PaperCell, quantity string) *float64 {
	switch quantity {
	case QuantityRisk:
		return c.Risk
	case QuantityError:
		return c.Error
	case QuantityOrder:
		return c.Order
	}
	return nil
}

func (k *ledgerChecker) sentence(c *Claim, n *strictyaml.Node) {
	k.texts(n, "quote")
	k.ids(n.At("tests"), nameText)
	if len(c.Tests) == 0 {
		k.Errorf(n, "claim %q has no tests", c.ID)
	}
	var tests []Test
	for i := range c.Tests {
		t, at := &c.Tests[i], n.At("tests", i)
		k.test(t, at)
		tests = append(tests, k.each(*t, at.At("of"))...)
	}
	c.Tests = tests
}

// each returns a test of a spec's runs once for every series of every method, or, of
// an exponent, once for every method; any other test as it is.
func (k *ledgerChecker) each(t Test, n *strictyaml.Node) (out []Test) {
	if t.Of.Spec == "" {
		return []Test{t}
	}
	if k.spec == nil || k.spec.Name != t.Of.Spec {
		var err error
		if k.spec, err = loadEmbedded(t.Of.Spec); err != nil {
			return nil // reported already
		}
	}
	add := func(label, series string) {
		one := t
		one.ID += "[" + cmp.Or(series, label) + "]"
		one.Of.Label, one.Of.Series = label, series
		out = append(out, one)
	}
	for i, label := range t.Of.Methods {
		of := slices.DeleteFunc(slices.Clone(k.spec.variants), func(v variant) bool { return v.label != label })
		switch {
		case len(of) == 0 || slices.Contains(t.Of.Methods[:i], label):
			k.Errorf(n.At("methods", i), "method %q is unknown or duplicated", label)
		case t.Kind == KindExponent:
			add(label, "")
		default:
			for _, v := range of {
				add(label, v.series)
			}
		}
	}
	return out
}

func (k *ledgerChecker) explain(explained map[string]string, n *strictyaml.Node, c *Claim) {
	for _, id := range slices.Sorted(maps.Keys(explained)) {
		i := slices.IndexFunc(c.Tests, func(t Test) bool { return t.ID == id })
		if i < 0 {
			k.Errorf(n.At("explained", id), "claim %q has no test %q", c.ID, id)
			continue
		}
		k.texts(n.At("explained"), id)
		c.Tests[i].Explained = strings.TrimSpace(explained[id])
	}
}

func (k *ledgerChecker) test(t *Test, n *strictyaml.Node) {
	before := k.Len()
	k.selector(&t.Of, n.At("of"))
	if t.To != nil {
		k.selector(t.To, n.At("to"))
	}
	kinds := testKinds
	switch {
	case t.Of.Measured():
		kinds = measuredKinds
	case t.Of.Spec != "":
		kinds = specKinds
	}
	if k.oneOf(n, "kind", t.Kind, kinds) {
		k.bounds(t, n)
	}
	if k.Len() == before {
		k.margin(t, n)
		t.Paper = k.paperStatistic(t)
	}
}

// bounds reports bounds and selectors that don't fit the kind of a test.
func (k *ledgerChecker) bounds(t *Test, n *strictyaml.Node) {
	low, high := t.Low != nil, t.High != nil
	fits, ok := map[string]bool{
		KindEquivalence: low && high, KindUpper: high && !low, KindLower: low && !high, KindLess: !low && !high,
	}[t.Kind]
	if !ok {
		fits = low || high
	}
	if !fits {
		k.Errorf(n, "low and high don't fit kind %q", t.Kind)
	}
	if two := slices.Contains([]string{KindLess, KindRatio, KindDifference}, t.Kind); two != (t.To != nil) {
		k.Errorf(n, "kind %q: to is missing, or must be left out", t.Kind)
	}
	for key, v := range map[string]*float64{"low": t.Low, "high": t.High, "margin": &t.Margin} {
		if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0) || key == "margin" && *v < 0) {
			k.Errorf(n.At(key), "%s must be finite, and a margin not less than 0", key)
		}
	}
	if low && high && *t.Low > *t.High {
		k.Errorf(n.At("high"), "high is less than low")
	}
	if (n.Get("margin") != nil || t.Of.Spec != "" || t.Kind == KindRatio || t.Kind == KindLower) && strings.TrimSpace(t.Reason) == "" {
		k.Errorf(n, "a test with its own margin or bound needs a reason")
	}
}

// margin fills in the margin unless it is given: that of the quantity where a
// mean or a difference of means is claimed to be a printed value. Bounds and
// ratios have none.
func (k *ledgerChecker) margin(t *Test, n *strictyaml.Node) {
	switch {
	case n.Get("margin") != nil:
	case t.Low == nil || t.High == nil || t.Kind == KindRatio:
	case t.Of.Below != nil || !slices.Contains(printedQuantities, t.Of.Quantity) || t.Kind == KindDifference && t.Of.Quantity != QuantityError:
		k.Errorf(n, "no default margin for this test: give one")
	default:
		t.Margin = k.out.Margins[t.Of.Quantity].Around(*t.High)
	}
}

// selector checks which runs are meant.
func (k *ledgerChecker) selector(s *Selector, n *strictyaml.Node) {
	if s.Spec != "" {
		k.runsOfSpec(s, n)
		return
	}
	if len(s.Methods) > 0 {
		k.Errorf(n.At("methods"), "methods go with spec only")
	}
	cell, ok := k.paper.Cells[s.Cell]
	if !ok {
		k.unknownCell(n.At("cell"), s.Cell, k.paper)
	}
	k.oneOf(n, "quantity", s.Quantity, testQuantities)
	if ok && cell.Data != "multidist" && slices.Contains(modeQuantities, s.Quantity) {
		k.Errorf(n.At("quantity"), "the modes of %s are not known, only those of multidist", cell.Data)
	}
	if ok && cell.Reason == "no-risk" && (s.Quantity == QuantityRisk || s.Quantity == QuantityRoughness) {
		k.Errorf(n.At("quantity"), "%s has no risk", s.Cell)
	}
	figure := func(f PaperFigure) bool { return f.ID == s.Figure && f.shows(cell.Data, cell.Task) }
	if ok && s.Figure != "" && !slices.ContainsFunc(k.paper.Figures, figure) {
		k.Errorf(n.At("figure"), "figure %q does not show %s", s.Figure, s.Cell)
	}
	if s.Samples < 0 || s.Samples > 0 && s.Below != nil || s.Samples > 0 && s.Quantity == QuantityRoughness {
		k.Errorf(n.At("samples"), "samples must be at least 0, without below, and not of roughness")
	}
	if s.Below != nil && (!(*s.Below > 0) || s.Quantity != QuantityError && s.Quantity != QuantityRisk) {
		k.Errorf(n.At("below"), "below must be greater than 0, and of an error or a risk")
	}
}

// runsOfSpec checks which runs of a spec are meant; each checks their methods.
func (k *ledgerChecker) runsOfSpec(s *Selector, n *strictyaml.Node) {
	k.oneOf(n, "quantity", s.Quantity, append(slices.Sorted(maps.Keys(Measured)), QuantityOrder))
	names, err := embeddedNames()
	if err != nil || !slices.Contains(names, s.Spec) {
		k.Errorf(n.At("spec"), "unknown spec %q%s", s.Spec, strictyaml.Suggest(s.Spec, names))
	}
	if len(s.Methods) == 0 {
		k.Errorf(n, "missing key %q", "methods")
	}
	if s.Cell+s.Figure != "" || s.Samples != 0 || s.Below != nil {
		k.Errorf(n, "a spec's runs are selected by methods and quantity alone")
	}
}

// paperStatistic is what the paper's printed numbers give, nil if one is not
// printed.
func (k *ledgerChecker) paperStatistic(t *Test) *float64 {
	printed := func(s *Selector) *float64 {
		if s.Samples > 0 || s.Below != nil {
			return nil
		}
		return printedValue(k.paper.Cells[s.Cell], s.Quantity)
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

// complete reports cells with a number that have no claim.
func (k *ledgerChecker) complete(root *strictyaml.Node) {
	for _, id := range slices.Sorted(maps.Keys(k.paper.Cells)) {
		c := k.paper.Cells[id]
		if !c.Extra && (c.Risk != nil || c.Error != nil || c.Order != nil) && k.out.Claim(id) == nil {
			k.Errorf(root.At("claims"), "cell %s has no claim", strconv.Quote(id))
		}
	}
}
