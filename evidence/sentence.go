package evidence

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
)

// Sentence says in one plain sentence what a test measured and what the paper
// has: "BSGD on multidist: 4.6 % error where the paper prints 21.8 %." The
// paper's values name the methods and data sets.
func (r *Finding) Sentence(paper *experiments.PaperValues) string {
	w := wording{r, paper}
	if r.Test.To == nil {
		return w.mean()
	}
	return w.comparison()
}

// A wording writes the sentence of one test.
type wording struct {
	*Finding
	paper *experiments.PaperValues
}

// mean is the sentence of a test of one mean: subject, measured value, and
// the paper's value or the claim's bound.
func (w wording) mean() string {
	s, v := w.Test.Of, w.Ours.Value
	subject, what, expected := "", w.noun(s), w.expectation()
	if s.Spec != "" {
		subject = runsOf(s)
	} else {
		subject = fmt.Sprintf("%s on %s%s", w.method(s.Cell, s.Cell), w.data(s.Cell), prefixed(", ", w.loss(s.Cell)))
	}
	if s.Samples > 0 {
		subject += fmt.Sprintf(", after %s samples", words.Grouped(s.Samples))
	}
	text := fmt.Sprintf("%s%s where", w.amount(s, v), w.inFigure())
	switch {
	case w.Verdict == stats.NotRun:
		text = fmt.Sprintf("%s not measured (%s);", what, w.Note())
	case !words.Finite(v) && s.Below != nil:
		text = fmt.Sprintf("at least one run never has an %s below %s;", s.Quantity, threshold(s))
	case !words.Finite(v) && s.Spec != "":
		text = what + " is not finite;"
	case !words.Finite(v):
		text = what + " not finite, because a run diverged;"
	case s.Spec != "":
		text = what + " is " + words.Four(v) + ";"
	}
	return fmt.Sprintf("%s: %s %s.", subject, text, expected)
}

// comparison is the sentence of a test of two means.
func (w wording) comparison() string {
	a, b := w.names()
	lead, subject := w.lead(), w.subject()
	if w.Verdict == stats.NotRun {
		return fmt.Sprintf("%s%s of %s is not compared with that of %s (%s); %s.", lead, subject, a, b, w.Note(), w.expectation())
	}
	v := w.Ours.Value
	if !words.Finite(v) {
		return fmt.Sprintf("%s%s of %s can't be compared with that of %s: a run diverged or never reached it; %s.", lead, subject, a, b, w.expectation())
	}
	x, y := stats.Mean(w.Of.values()).Value, stats.Mean(w.To.values()).Value
	means := fmt.Sprintf("(%s against %s)", w.amount(w.Test.Of, x), w.amount(*w.Test.To, y))
	text := fmt.Sprintf("%s%s of %s is %s that of %s %s", lead, subject, a, w.relation(v), b, means)
	if s := w.Test.Of; s.Below != nil {
		text = fmt.Sprintf("%s%s takes %s as %s until its %s is below %s %s", lead, a, w.manySamples(v), b, s.Quantity, threshold(s), means)
	}
	if w.Verdict == stats.Reproduced && w.Test.Kind == experiments.KindLess {
		return text + ", as the paper says."
	}
	return fmt.Sprintf("%s; %s.", text, w.expectation())
}

// manySamples words the statistic of two numbers of samples: "1.46 times as
// many samples".
func (w wording) manySamples(v float64) string {
	switch {
	case w.Test.Kind == experiments.KindRatio:
		return words.Significant(v, 3) + " times as many samples"
	case v < 0:
		return words.Grouped(int(math.Round(-v))) + " fewer samples"
	}
	return words.Grouped(int(math.Round(v))) + " more samples"
}

// lead is what the two sides of a comparison share: data set, loss, figure and
// number of samples.
func (w wording) lead() string {
	of, to := w.Test.Of, *w.Test.To
	a, b := w.paper.Cells[of.Cell], w.paper.Cells[to.Cell]
	var out string
	if a.Data == b.Data {
		out = "On " + w.data(of.Cell)
	}
	if loss := cmp.Or(w.loss(of.Cell), w.loss(to.Cell)); a.Task == b.Task && loss != "" {
		if out == "" {
			out = "With the " + loss
		} else {
			out += " with the " + loss
		}
	}
	out += w.inFigure()
	if of.Samples > 0 && of.Samples == to.Samples {
		out += fmt.Sprintf(", after %s samples", words.Grouped(of.Samples))
	}
	if out = strings.TrimPrefix(out, " "); out == "" {
		return ""
	}
	return strings.ToUpper(out[:1]) + out[1:] + ", "
}

// subject names the quantity that is compared.
func (w wording) subject() string {
	if s := w.Test.Of; s.Below != nil {
		return fmt.Sprintf("the number of samples until the %s is below %s", s.Quantity, threshold(s))
	}
	return "the " + w.noun(w.Test.Of)
}

// names name the two sides of a comparison, by what they don't share.
func (w wording) names() (a, b string) {
	of, to := w.Test.Of.Cell, w.Test.To.Cell
	x, y := w.paper.Cells[of], w.paper.Cells[to]
	a, b = w.method(of, to), w.method(to, of)
	if x.Task != y.Task {
		a, b = a+" with the "+experiments.LossOf(x.Task), b+" with the "+experiments.LossOf(y.Task)
	}
	if x.Data != y.Data {
		a, b = a+" on "+w.data(of), b+" on "+w.data(to)
	}
	return a, b
}

// relation words a difference or ratio: "0.38 points higher than".
func (w wording) relation(v float64) string {
	if w.Test.Kind == experiments.KindRatio {
		return words.Significant(v, 3) + " times"
	}
	d := w.difference(math.Abs(v)) + w.points(math.Abs(v))
	switch {
	case v > 0:
		return d + " higher than"
	case v < 0:
		return d + " lower than"
	}
	return "equal to"
}

// difference writes the number alone.
func (w wording) difference(v float64) string {
	switch q := w.Test.Of.Quantity; {
	case q == experiments.QuantityError && math.Abs(v) < 0.005:
		return words.Significant(v, 1)
	case q == experiments.QuantityError:
		return words.Decimals(v, 2)
	case q == experiments.QuantityOrder:
		return modelOrder(v)
	case q == experiments.QuantityRoughness:
		return words.Significant(v, 3)
	}
	return words.Significant(v, 2)
}

// points is the unit of a difference.
func (w wording) points(v float64) string {
	switch {
	case w.Test.Of.Quantity != experiments.QuantityError:
		return ""
	case v == 1:
		return " point"
	}
	return " points"
}

// declared writes a margin or a bound on a difference.
func (w wording) declared(v float64) string {
	if w.Test.Of.Quantity == experiments.QuantityOrder && v >= 10 {
		return words.Decimals(v, 0)
	}
	return words.Short(v, 2) + w.points(v)
}

// expectation says what the paper prints, or what the claim needs.
func (w wording) expectation() string {
	t := w.Test
	low, high := w.Target.Low, w.Target.High
	switch {
	case t.Of.Spec != "":
		return needs(low, high, words.Plain, "")
	case t.Kind == experiments.KindLess:
		return "the paper says lower"
	case t.Kind == experiments.KindRatio:
		return needs(low, high, func(v float64) string { return words.Short(v, 3) }, " times")
	case t.Kind == experiments.KindDifference && math.IsInf(low, -1):
		return fmt.Sprintf("the claim allows at most %s more", w.declared(high))
	case t.Kind == experiments.KindDifference && math.IsInf(high, 1):
		return fmt.Sprintf("the claim allows at most %s less", w.declared(-low))
	case t.Kind == experiments.KindDifference:
		return fmt.Sprintf("the claim allows %s either way", w.declared((high-low)/2))
	case t.Kind == experiments.KindUpper && t.Of.Below != nil:
		return fmt.Sprintf("the paper says after %s", words.Grouped(int(*t.High)))
	case t.Kind == experiments.KindUpper:
		return needs(math.Inf(-1), *t.High, words.Plain, unit(t.Of))
	case t.Kind == experiments.KindLower:
		return needs(*t.Low, math.Inf(1), words.Plain, unit(t.Of))
	case *t.Low != *t.High:
		return fmt.Sprintf("the paper says %s to %s%s", words.Plain(*t.Low), words.Plain(*t.High), unit(t.Of))
	case w.isCell():
		return "the paper prints " + w.printed() + unit(t.Of)
	}
	return "the paper says " + words.Plain(*t.Low) + unit(t.Of)
}

// needs words a target by its ends, in a unit.
func needs(low, high float64, write func(float64) string, unit string) string {
	switch {
	case math.IsInf(high, 1):
		return "the claim needs at least " + write(low) + unit
	case math.IsInf(low, -1):
		return "the claim needs at most " + write(high) + unit
	}
	return "the claim needs " + write(low) + " to " + write(high) + unit
}

// amount writes a mean with its quantity or unit: "4.6 % error", "training
// risk 0.143".
func (w wording) amount(s experiments.Selector, v float64) string {
	text := w.digits(s, v)
	if w.Test.To != nil {
		return text + unit(s)
	}
	switch {
	case s.Below != nil:
		return fmt.Sprintf("below %s %s after %s samples", threshold(s), s.Quantity, text)
	case s.Quantity == experiments.QuantityError:
		return text + unit(s) + " error"
	case s.Quantity == experiments.QuantityOrder && w.paper.Cells[s.Cell].Row == "libsvm":
		return text + " support vectors"
	}
	return w.noun(s) + " " + text + unit(s)
}

// threshold is the value below which a selector's quantity has to be, with its
// unit.
func threshold(s experiments.Selector) string {
	return words.Plain(*s.Below) + unit(experiments.Selector{Quantity: s.Quantity})
}

// noun names a quantity.
func (w wording) noun(s experiments.Selector) string {
	cell := w.paper.Cells[s.Cell]
	switch {
	case w.Test.Kind == experiments.KindExponent:
		return "exponent of η in the " + ofRuns(s.Quantity)
	case s.Spec != "":
		return ofRuns(s.Quantity)
	case s.Below != nil:
		return "number of samples"
	case s.Quantity == experiments.QuantityOrder && cell.Row == "libsvm" && w.Test.To == nil:
		return "number of support vectors"
	case s.Quantity == experiments.QuantityOrder:
		return "model order"
	case s.Quantity == experiments.QuantityRoughness:
		return "roughness of the descent"
	case s.Quantity == experiments.QuantityRisk && w.paper.Data[cell.Data].Risk == experiments.RiskTrain:
		return "training risk"
	case s.Quantity == experiments.QuantityRisk:
		return "test risk"
	}
	return cmp.Or(modeWords[s.Quantity], s.Quantity)
}

// digits writes a value of a quantity: an error or risk that stands beside a
// printed number with its decimals, but at most three digits.
func (w wording) digits(s experiments.Selector, v float64) string {
	switch {
	case s.Below != nil:
		return words.Grouped(int(math.Round(v)))
	case s.Quantity == experiments.QuantityOrder:
		return modelOrder(v)
	case w.isCell():
		_, after, _ := strings.Cut(w.printed(), ".")
		if math.Abs(v) >= 0.1 && s.Quantity == experiments.QuantityRisk {
			return words.Significant(v, 3)
		}
		return words.Decimals(v, len(after))
	case s.Quantity == experiments.QuantityError:
		return words.Decimals(v, 2)
	}
	return words.Significant(v, 3)
}

// isCell reports whether the test is of a number as it is printed in a table.
func (w wording) isCell() bool {
	t := w.Test
	if t.Kind != experiments.KindEquivalence || t.Of.Figure != "" || t.Of.Samples > 0 {
		return false
	}
	v, err := strconv.ParseFloat(w.printed(), 64)
	return err == nil && v == *t.Low && v == *t.High
}

// printed is the tested quantity as the table prints it, with all its digits;
// empty if the table has a dash.
func (w wording) printed() string {
	parts := strings.Split(w.paper.Cells[w.Test.Of.Cell].Printed, "/")
	for i, q := range []string{experiments.QuantityRisk, experiments.QuantityError, experiments.QuantityOrder} {
		if q == w.Test.Of.Quantity && i < len(parts) && parts[i] != "-" {
			return parts[i]
		}
	}
	return ""
}

// inFigure says whose runs are measured where those are a figure's.
func (w wording) inFigure() string {
	a, b := w.Test.Of.Figure, ""
	if w.Test.To != nil {
		b = w.Test.To.Figure
	}
	switch {
	case a == "" && b == "":
		return ""
	case b == "" || a == b:
		return fmt.Sprintf(" (runs of Figure %s)", a)
	}
	return fmt.Sprintf(" (runs of Figures %s and %s)", min(a, b), max(a, b))
}

// method names a cell's method, beside the other side of a comparison: of two
// series of one method each says which it is.
func (w wording) method(cell, other string) string {
	name, variant, _ := strings.Cut(RowTitle(w.paper, cell), ", ") // "POLK", "smaller K"
	otherName, otherVariant, _ := strings.Cut(RowTitle(w.paper, other), ", ")
	if variant == "" && otherVariant != "" && name == otherName {
		variant = opposite.Replace(otherVariant)
	}
	return name + prefixed(" with the ", variant)
}

// opposite turns the name of one of two series into the other's.
var opposite = strings.NewReplacer("smaller", "larger", "larger", "smaller")

// RowTitle is the title of a cell's row in its table.
func RowTitle(paper *experiments.PaperValues, cell string) string {
	c := paper.Cells[cell]
	for _, t := range paper.Tables {
		for _, r := range slices.Concat(t.Rows, t.Extra) {
			if t.ID == c.Table && r.ID == c.Row {
				return r.Title
			}
		}
	}
	return c.Row
}

// data names a cell's data set as prose does.
func (w wording) data(cell string) string {
	switch name := w.paper.Cells[cell].Data; name {
	case "mnist":
		return "MNIST"
	case "brodatz":
		return "Brodatz"
	default:
		return name
	}
}

// loss names the loss of a cell's task; empty if the paper prints numbers of
// the method on the data set for one task alone.
func (w wording) loss(cell string) string {
	c := w.paper.Cells[cell]
	row, _, _ := strings.Cut(c.Row, "-")
	for _, o := range w.paper.Cells {
		if o.Data == c.Data && o.Task != c.Task && o.Row == row && (o.Risk != nil || o.Error != nil || o.Order != nil) {
			return experiments.LossOf(c.Task)
		}
	}
	return ""
}

// unit is the unit of a selected quantity, with a space before it.
func unit(s experiments.Selector) string {
	if s.Quantity == experiments.QuantityError && s.Below == nil || s.Quantity == experiments.QuantityNearModes {
		return " %"
	}
	return ""
}

// prefixed is s after a prefix, or nothing.
func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// modelOrder writes a model order: whole from 100 on, else with one decimal if it
// has any.
func modelOrder(v float64) string {
	if math.Abs(v) >= 100 {
		return words.Decimals(v, 0)
	}
	return strings.TrimSuffix(words.Decimals(v, 1), ".0")
}
