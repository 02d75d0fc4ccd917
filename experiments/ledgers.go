package experiments

import (
	"cmp"
	_ "embed"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	measuredKinds = []string{KindUpper, KindLower, KindEvery, KindExponent}                              // of what is measured against the minimizer
)

// QuantityRoughness measures how far a curve is from a monotone descent: the
// sum of all rises of the risk from one evaluation to the next, over its fall
// from the first to the last. It has no unit.
const QuantityRoughness = "roughness"

var testQuantities = []string{QuantityRisk, QuantityError, QuantityOrder, QuantityRoughness}

// How an assumption was chosen.
const (
	ChosenBlind    = "blind"     // without looking at the paper's results
	ChosenAlgebra  = "algebra"   // what is printed contradicts its own derivation
	ChosenByResult = "by result" // the paper's numbers were looked at
)

// A Ledger holds what the paper claims and what it leaves open. It is made by
// Ledgers or ParseLedger and not changed.
type Ledger struct {
	Margins     map[string]Margin // by quantity: error, risk, order
	Claims      []Claim           // the tables' cells, then sentences, then what Table 1 sums up
	Untested    []Untested
	Assumptions []Assumption
}

// A Margin is how far from a printed value a mean may be and still be equal to
// it for all purposes.
type Margin struct {
	Points  float64 // absolute
	Percent float64 // of the printed value
	Least   float64 // the least that a percentage can be
	Reason  string
}

// Around returns the margin around a printed value, in its unit.
func (m Margin) Around(printed float64) float64 {
	return max(m.Points, m.Percent/100*math.Abs(printed), m.Least)
}

// A Claim is a cell of a table or a sentence with the tests that decide it.
type Claim struct {
	ID          string // of a cell, the cell's
	Cell        bool
	Section     string
	Quote       string // a sentence's; of a cell what is printed, risk/error/order
	Note        string
	Assumptions []string // IDs of those that it depends on
	Tests       []Test
}

// Theorem reports whether the claim is one of Table 1's: of what is measured
// against the minimizer.
func (c *Claim) Theorem() bool {
	return slices.ContainsFunc(c.Tests, func(t Test) bool { return t.Of.Spec != "" })
}

// A Test asks whether a statistic of records is where the paper has it. The
// statistic is a mean over runs for the kinds equivalence, upper bound and
// lower bound; mean of Of less that of To for the kinds less and difference;
// mean of Of over that of To for the kind ratio; the worst run's number for the kind
// every run; and a mean over seeds for the kind exponent.
type Test struct {
	ID        string
	Kind      string // KindEquivalence, …
	Of        Selector
	To        *Selector // of the kinds less, ratio and difference
	Low, High *float64  // as printed; nil is unbounded
	Margin    float64   // added on both sides, in the statistic's unit
	Reason    string    // for the margin or bound, if it is the test's own
	Paper     *float64  // the statistic of the paper's numbers, if they are printed
	Explained string    // the measured reason of a deviation, if there is one
}

// Target returns the interval in which the statistic is claimed to be.
func (t *Test) Target() (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if t.Low != nil {
		low = *t.Low - t.Margin
	}
	if t.High != nil {
		high = *t.High + t.Margin
	}
	if t.Kind == KindLess {
		high = math.Nextafter(0, -1)
	}
	return low, high
}

// A Selector says which number of which runs answers. By default it is the
// final one, the average over the last 5 % of the processed samples.
type Selector struct {
	Cell     string // the runs that feed this cell
	Quantity string // QuantityRisk, …; an error in percent; of a spec's runs, a key of Measured
	Figure   string // if given, the runs of the cell's series that feed this figure instead

	// At most one of these is given.
	Samples int      // the first evaluation at or after so many samples
	Below   *float64 // the samples until the quantity is first below this

	// In the place of a cell and all else but the quantity: runs that are measured
	// against the minimizer.
	Spec   string
	Label  string // of an entry of its methods
	Series string // one of the entry's; empty for all
}

// An Untested sentence is one that no test of records can answer.
type Untested struct{ Section, Quote, Reason string }

// An Assumption is something that the paper leaves open or misprints.
type Assumption struct {
	ID           string
	Paper        string // what it says
	Chosen       string
	How          string // ChosenBlind, …
	Evidence     string
	Alternatives []Alternative
}

// An Alternative is another value of an assumption. It needs runs of its own,
// or is another reading of the runs there are, or nobody has run it.
type Alternative struct {
	ID      string
	Value   string
	Effect  string            // if it was measured
	Answers []Answer          // the runs that have it
	Risk    map[string]string // by data set, the risk that is read instead: RiskTrain or RiskTest
	Without []string          // tests that it leaves nothing to compare with, CLAIM.TEST
}

// Reading reports whether the alternative is another reading of the same runs.
func (a *Alternative) Reading() bool { return len(a.Risk)+len(a.Without) > 0 }

// Answer returns the runs that take the place of a cell's, nil if none do.
func (a *Alternative) Answer(cell string) *Answer {
	i := slices.IndexFunc(a.Answers, func(w Answer) bool { return w.Cell == cell })
	if i < 0 {
		return nil
	}
	return &a.Answers[i]
}

// An Answer names runs that take the place of those that feed a cell: those of
// an entry of a spec at a point of its grid. A nil hyper-parameter may be any.
type Answer struct {
	Cell, Spec, Method string
	Label              string // of the entry; the method's name if it has none of its own
	Budget             *int
	Parsimony          *float64
	Maintenance        *string
}

// Matches reports whether a run is one of those named.
func (a *Answer) Matches(planned *Planned) bool {
	p := planned.Run.Params
	return a.Spec == planned.Spec && a.Method == planned.Run.Method && a.Label == planned.Label &&
		(a.Budget == nil || *a.Budget == p.Budget) &&
		(a.Parsimony == nil || *a.Parsimony == p.Parsimony) &&
		(a.Maintenance == nil || *a.Maintenance == p.Maintenance)
}

// Claim returns the claim of an ID, nil if there is none.
func (l *Ledger) Claim(id string) *Claim {
	for i := range l.Claims {
		if l.Claims[i].ID == id {
			return &l.Claims[i]
		}
	}
	return nil
}

// Assumption returns the assumption of an ID, nil if there is none.
func (l *Ledger) Assumption(id string) *Assumption {
	for i := range l.Assumptions {
		if l.Assumptions[i].ID == id {
			return &l.Assumptions[i]
		}
	}
	return nil
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
	for i := range a.Alternatives {
		if a.Alternatives[i].ID == id {
			return &a.Alternatives[i]
		}
	}
	return nil
}

// Ledgers returns the ledgers that are part of the program. All callers share
// them: they must not be changed.
func Ledgers() (*Ledger, error) { return ledgersOnce() }

var ledgersOnce = sync.OnceValues(func() (*Ledger, error) {
	return ParseLedger("experiments/ledgers/claims.yaml", claimsSource, "experiments/ledgers/assumptions.yaml", assumptionsSource)
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
	var c claimsDoc
	var a assumptionsDoc
	strictyaml.Decode(claimsRoot, &c, r)
	strictyaml.Decode(assumptionsRoot, &a, r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	k := ledgerChecker{Reporter: r, paper: paper, out: new(Ledger)}
	for i := range a.Assumptions {
		k.assumption(&a.Assumptions[i], assumptionsRoot.At("assumptions", i))
	}
	k.margins(c.Margins, claimsRoot)
	for i := range c.Claims {
		k.claim(&c.Claims[i], claimsRoot.At("claims", i))
	}
	for i := range a.Assumptions {
		k.readings(&k.out.Assumptions[i], assumptionsRoot.At("assumptions", i))
	}
	k.complete(claimsRoot)
	for i, u := range c.Untested {
		if u.Section == "" || u.Quote == "" || u.Reason == "" {
			k.Errorf(claimsRoot.At("untested", i), "an untested sentence needs section, quote and reason")
		}
		k.out.Untested = append(k.out.Untested, Untested(u))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return k.out, nil
}

// The layout of the two files.
type (
	claimsDoc struct {
		Margins  map[string]marginDoc `json:"margins"`
		Claims   []claimDoc           `json:"claims"`
		Untested []untestedDoc        `json:"untested"`
	}
	marginDoc struct {
		Points  float64 `json:"points"`
		Percent float64 `json:"percent"`
		Least   float64 `json:"least"`
		Reason  string  `json:"reason"`
	}
	claimDoc struct {
		ID          string            `json:"id"`
		Printed     string            `json:"printed"`
		Section     string            `json:"section"`
		Quote       string            `json:"quote"`
		Note        string            `json:"note"`
		Assumptions []string          `json:"assumptions"`
		Tests       []testDoc         `json:"tests"`
		Explained   map[string]string `json:"explained"`
	}
	testDoc struct {
		ID     string       `json:"id"`
		Kind   string       `json:"kind"`
		Of     selectorDoc  `json:"of"`
		To     *selectorDoc `json:"to"`
		Low    *float64     `json:"low"`
		High   *float64     `json:"high"`
		Margin *float64     `json:"margin"`
		Reason string       `json:"reason"`
	}
	selectorDoc struct {
		Spec     string   `json:"spec"`
		Methods  []string `json:"methods"`
		Cell     string   `json:"cell"`
		Quantity string   `json:"quantity"`
		Figure   string   `json:"figure"`
		Samples  int      `json:"samples"`
		Below    *float64 `json:"below"`
	}
	untestedDoc struct {
		Section string `json:"section"`
		Quote   string `json:"quote"`
		Reason  string `json:"reason"`
	}
	assumptionsDoc struct {
		Assumptions []assumptionDoc `json:"assumptions"`
	}
	assumptionDoc struct {
		ID           string           `json:"id"`
		Paper        string           `json:"paper"`
		Chosen       string           `json:"chosen"`
		How          string           `json:"how"`
		Evidence     string           `json:"evidence"`
		Alternatives []alternativeDoc `json:"alternatives"`
	}
	alternativeDoc struct {
		ID      string            `json:"id"`
		Value   string            `json:"value"`
		Effect  string            `json:"effect"`
		Answers []answerDoc       `json:"answers"`
		Risk    map[string]string `json:"risk"`
		Without []string          `json:"without"`
	}
	answerDoc struct {
		Cell   string   `json:"cell"`
		Spec   string   `json:"spec"`
		Method string   `json:"method"`
		Label  string   `json:"label"`
		At     pointDoc `json:"at"`
	}
	pointDoc struct {
		Budget      *int     `json:"budget"`
		Parsimony   *float64 `json:"parsimony"`
		Maintenance *string  `json:"maintenance"`
	}
)

type ledgerChecker struct {
	*strictyaml.Reporter
	paper *PaperValues
	out   *Ledger
	spec  *Spec // the last that a test named
}

// text reports a text that is missing.
func (k *ledgerChecker) text(n *strictyaml.Node, key, text string) {
	if strings.TrimSpace(text) == "" {
		k.Errorf(n.At(key), "%s is missing or empty", key)
	}
}

// oneOf reports a word that is none of some others.
func (k *ledgerChecker) oneOf(n *strictyaml.Node, key, word string, words []string) bool {
	if slices.Contains(words, word) {
		return true
	}
	k.Errorf(n.At(key), "%s is %q, want one of %s%s", key, word, list(words), strictyaml.Suggest(word, words))
	return false
}

func (k *ledgerChecker) assumption(d *assumptionDoc, n *strictyaml.Node) {
	if !nameText.MatchString(d.ID) || k.out.Assumption(d.ID) != nil {
		k.Errorf(n.At("id"), "id %q is empty, malformed or there twice", d.ID)
	}
	k.text(n, "paper", d.Paper)
	k.text(n, "chosen", d.Chosen)
	k.text(n, "evidence", d.Evidence)
	k.oneOf(n, "how", d.How, []string{ChosenBlind, ChosenAlgebra, ChosenByResult})
	if len(d.Alternatives) == 0 {
		k.Errorf(n, "an assumption needs an alternative, or there was nothing to assume")
	}
	a := Assumption{ID: d.ID, Paper: d.Paper, Chosen: d.Chosen, How: d.How, Evidence: d.Evidence}
	for i, v := range d.Alternatives {
		at := n.At("alternatives", i)
		if !nameText.MatchString(v.ID) || a.Alternative(v.ID) != nil {
			k.Errorf(at.At("id"), "id %q is empty, malformed or there twice", v.ID)
		}
		k.text(at, "value", v.Value)
		a.Alternatives = append(a.Alternatives, Alternative{v.ID, v.Value, v.Effect, k.answers(v.Answers, at), v.Risk, v.Without})
	}
	k.out.Assumptions = append(k.out.Assumptions, a)
}

func (k *ledgerChecker) answers(docs []answerDoc, n *strictyaml.Node) (out []Answer) {
	for i, d := range docs {
		at := n.At("answers", i)
		if _, ok := k.paper.Cells[d.Cell]; !ok {
			k.Errorf(at.At("cell"), "unknown table cell %q", d.Cell)
		}
		if slices.ContainsFunc(out, func(o Answer) bool { return o.Cell == d.Cell }) {
			k.Errorf(at.At("cell"), "cell %q is answered twice", d.Cell)
		}
		k.text(at, "spec", d.Spec)
		if lookupMethod(d.Method) == nil {
			k.Errorf(at.At("method"), "unknown method %q", d.Method)
		}
		label := cmp.Or(d.Label, d.Method)
		out = append(out, Answer{d.Cell, d.Spec, d.Method, label, d.At.Budget, d.At.Parsimony, d.At.Maintenance})
	}
	return out
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
				k.Errorf(at.At("risk", set), "%s of %s is no other risk of a data set of the paper", risk, set)
			}
		}
		for j, id := range v.Without {
			if !k.out.hasTest(id, a.ID) {
				k.Errorf(at.At("without", j), "%q is no test of a claim that depends on %s", id, a.ID)
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

func (k *ledgerChecker) margins(docs map[string]marginDoc, root *strictyaml.Node) {
	k.out.Margins = make(map[string]Margin)
	n := root.At("margins")
	printed := []string{QuantityRisk, QuantityError, QuantityOrder}
	for _, q := range slices.Sorted(maps.Keys(docs)) {
		d := docs[q]
		if !slices.Contains(printed, q) {
			k.Errorf(n.At(q), "there is a margin for %q, want one each for %s", q, list(printed))
		}
		sum := d.Points + d.Percent + d.Least
		if !(min(d.Points, d.Percent, d.Least) >= 0) || !(max(d.Points, d.Percent) > 0) || math.IsInf(sum, 1) {
			k.Errorf(n.At(q), "a margin needs points or percent greater than 0, and nothing less than 0")
		}
		k.text(n.At(q), "reason", d.Reason)
		k.out.Margins[q] = Margin(d)
	}
	for _, q := range printed {
		if _, ok := docs[q]; !ok {
			k.Errorf(n, "there is no margin for %s", q)
		}
	}
}

func (k *ledgerChecker) claim(d *claimDoc, n *strictyaml.Node) {
	for part := range strings.SplitSeq(d.ID, ".") {
		if !nameText.MatchString(part) {
			k.Errorf(n.At("id"), "id %q is not lower-case words with dots between them", d.ID)
			break
		}
	}
	if k.out.Claim(d.ID) != nil {
		k.Errorf(n.At("id"), "id %q is there twice", d.ID)
	}
	k.text(n, "section", d.Section)
	for i, a := range d.Assumptions {
		if k.out.Assumption(a) == nil || slices.Contains(d.Assumptions[:i], a) {
			k.Errorf(n.At("assumptions", i), "assumption %q is unknown or there twice", a)
		}
	}
	c := Claim{ID: d.ID, Section: d.Section, Quote: strings.TrimSpace(d.Quote), Note: d.Note, Assumptions: d.Assumptions}
	if cell, ok := k.paper.Cells[d.ID]; ok && !cell.Extra {
		c.Cell, c.Quote = true, cell.Printed
		if d.Printed != cell.Printed {
			k.Errorf(n.At("printed"), "printed is %q, but the paper prints %q", d.Printed, cell.Printed)
		}
		if d.Quote != "" || len(d.Tests) > 0 {
			k.Errorf(n, "a cell's claim is what is printed: it takes neither quote nor tests")
		}
		if c.Tests = k.cellTests(cell); len(c.Tests) == 0 {
			k.Errorf(n.At("id"), "cell %q has no number, so nothing to claim", d.ID)
		}
	} else {
		k.sentence(d, n, &c)
	}
	k.explain(d, n, &c)
	k.out.Claims = append(k.out.Claims, c)
}

// cellTests are equivalences, one for each number printed in a cell.
func (k *ledgerChecker) cellTests(c PaperCell) (tests []Test) {
	for _, q := range []string{QuantityRisk, QuantityError, QuantityOrder} {
		if v := printedValue(c, q); v != nil {
			tests = append(tests, Test{
				ID: q, Kind: KindEquivalence, Of: Selector{Cell: c.ID, Quantity: q},
				Low: v, High: v, Paper: v, Margin: k.out.Margins[q].Around(*v),
			})
		}
	}
	return tests
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

func (k *ledgerChecker) sentence(d *claimDoc, n *strictyaml.Node, c *Claim) {
	k.text(n, "quote", d.Quote)
	if d.Printed != "" {
		k.Errorf(n.At("printed"), "%q is no cell of a table that has a number, and takes no printed", d.ID)
	}
	if len(d.Tests) == 0 {
		k.Errorf(n, "claim %q has no tests", d.ID)
	}
	ids := make(map[string]bool)
	for i := range d.Tests {
		at := n.At("tests", i)
		t := k.test(&d.Tests[i], at)
		if !nameText.MatchString(t.ID) || ids[t.ID] {
			k.Errorf(at.At("id"), "id %q is empty, malformed or there twice", t.ID)
		}
		ids[t.ID] = true
		c.Tests = append(c.Tests, k.each(t, d.Tests[i].Of.Methods, at.At("of"))...)
	}
}

// each returns a test of a spec's runs once for every series of every method, or, of
// an exponent, once for every method; any other test as it is.
func (k *ledgerChecker) each(t Test, labels []string, n *strictyaml.Node) (out []Test) {
	if t.Of.Spec == "" {
		return []Test{t}
	}
	if k.spec == nil || k.spec.Name != t.Of.Spec {
		var err error
		if k.spec, err = loadEmbedded(t.Of.Spec + ".yaml"); err != nil {
			return nil // reported already
		}
	}
	add := func(label, series string) {
		one := t
		one.ID += "[" + cmp.Or(series, label) + "]"
		one.Of.Label, one.Of.Series = label, series
		out = append(out, one)
	}
	for i, label := range labels {
		of := slices.DeleteFunc(slices.Clone(k.spec.variants), func(v variant) bool { return v.label != label })
		switch {
		case len(of) == 0 || slices.Contains(labels[:i], label):
			k.Errorf(n.At("methods", i), "method %q is unknown or there twice", label)
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

func (k *ledgerChecker) explain(d *claimDoc, n *strictyaml.Node, c *Claim) {
	for _, id := range slices.Sorted(maps.Keys(d.Explained)) {
		i := slices.IndexFunc(c.Tests, func(t Test) bool { return t.ID == id })
		if i < 0 {
			k.Errorf(n.At("explained", id), "claim %q has no test %q", d.ID, id)
			continue
		}
		k.text(n.At("explained"), id, d.Explained[id])
		c.Tests[i].Explained = strings.TrimSpace(d.Explained[id])
	}
}

func (k *ledgerChecker) test(d *testDoc, n *strictyaml.Node) Test {
	t := Test{ID: d.ID, Kind: d.Kind, Low: d.Low, High: d.High, Reason: d.Reason}
	before := k.Len()
	t.Of = k.selector(d.Of, n.At("of"))
	if d.To != nil {
		to := k.selector(*d.To, n.At("to"))
		t.To = &to
	}
	kinds := testKinds
	if d.Of.Spec != "" {
		kinds = measuredKinds
	}
	if k.oneOf(n, "kind", d.Kind, kinds) {
		k.bounds(d, n)
	}
	if k.Len() > before {
		return t
	}
	k.margin(d, &t, n)
	t.Paper = k.paperStatistic(&t)
	return t
}

// bounds reports bounds and selectors that don't fit the kind of a test.
func (k *ledgerChecker) bounds(d *testDoc, n *strictyaml.Node) {
	low, high := d.Low != nil, d.High != nil
	var fits bool
	switch d.Kind {
	case KindEquivalence:
		fits = low && high
	case KindUpper:
		fits = high && !low
	case KindLower:
		fits = low && !high
	case KindLess:
		fits = !low && !high
	default:
		fits = low || high
	}
	if !fits {
		k.Errorf(n, "low and high don't fit kind %q", d.Kind)
	}
	if two := slices.Contains([]string{KindLess, KindRatio, KindDifference}, d.Kind); two != (d.To != nil) {
		k.Errorf(n, "kind %q: to is missing, or there is nothing to compare", d.Kind)
	}
	for key, v := range map[string]*float64{"low": d.Low, "high": d.High, "margin": d.Margin} {
		if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0) || key == "margin" && *v < 0) {
			k.Errorf(n.At(key), "%s must be finite, and a margin not less than 0", key)
		}
	}
	if low && high && *d.Low > *d.High {
		k.Errorf(n.At("high"), "high is less than low")
	}
	if (d.Margin != nil || d.Of.Spec != "" || d.Kind == KindRatio || d.Kind == KindLower) && strings.TrimSpace(d.Reason) == "" {
		k.Errorf(n, "a test with a margin or bound of its own needs a reason")
	}
}

// margin fills in the margin: the test's own, or that of the quantity where a
// mean or a difference of means is claimed to be a printed value. Bounds and
// ratios have none.
func (k *ledgerChecker) margin(d *testDoc, t *Test, n *strictyaml.Node) {
	switch {
	case d.Margin != nil:
		t.Margin = *d.Margin
	case t.Low == nil || t.High == nil || t.Kind == KindRatio:
	case t.Of.Below != nil || t.Of.Quantity == QuantityRoughness || t.Kind == KindDifference && t.Of.Quantity != QuantityError:
		k.Errorf(n, "there is no margin for this by principle; give one")
	default:
		t.Margin = k.out.Margins[t.Of.Quantity].Around(*t.High)
	}
}

// selector checks which runs are meant.
func (k *ledgerChecker) selector(d selectorDoc, n *strictyaml.Node) Selector {
	if d.Spec != "" {
		return k.measured(d, n)
	}
	s := Selector{Cell: d.Cell, Quantity: d.Quantity, Figure: d.Figure, Samples: d.Samples, Below: d.Below}
	if len(d.Methods) > 0 {
		k.Errorf(n.At("methods"), "methods go with spec only")
	}
	cell, ok := k.paper.Cells[d.Cell]
	if !ok {
		k.Errorf(n.At("cell"), "unknown table cell %q%s", d.Cell, strictyaml.Suggest(d.Cell, slices.Sorted(maps.Keys(k.paper.Cells))))
	}
	k.oneOf(n, "quantity", d.Quantity, testQuantities)
	if ok && cell.Reason == "no-risk" && (d.Quantity == QuantityRisk || d.Quantity == QuantityRoughness) {
		k.Errorf(n.At("quantity"), "%s has no risk", d.Cell)
	}
	figure := func(f PaperFigure) bool { return f.ID == d.Figure && f.shows(cell.Data, cell.Task) }
	if ok && d.Figure != "" && !slices.ContainsFunc(k.paper.Figures, figure) {
		k.Errorf(n.At("figure"), "figure %q does not show %s", d.Figure, d.Cell)
	}
	if d.Samples < 0 || d.Samples > 0 && d.Below != nil || d.Samples > 0 && d.Quantity == QuantityRoughness {
		k.Errorf(n.At("samples"), "samples must be at least 0, without below, and not of roughness")
	}
	if d.Below != nil && (!(*d.Below > 0) || d.Quantity != QuantityError && d.Quantity != QuantityRisk) {
		k.Errorf(n.At("below"), "below must be greater than 0, and of an error or a risk")
	}
	return s
}

// measured checks which runs of a spec are meant; each checks their methods.
func (k *ledgerChecker) measured(d selectorDoc, n *strictyaml.Node) Selector {
	k.oneOf(n, "quantity", d.Quantity, slices.Sorted(maps.Keys(Measured)))
	names, err := embeddedNames()
	if err != nil || !slices.Contains(names, d.Spec) {
		k.Errorf(n.At("spec"), "unknown spec %q%s", d.Spec, strictyaml.Suggest(d.Spec, names))
	}
	if len(d.Methods) == 0 {
		k.Errorf(n, "missing key %q", "methods")
	}
	if d.Cell+d.Figure != "" || d.Samples != 0 || d.Below != nil {
		k.Errorf(n, "a spec's runs are selected by methods and quantity alone")
	}
	return Selector{Spec: d.Spec, Quantity: d.Quantity}
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
		if t.Low != nil && t.High != nil && *t.Low == *t.High {
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
