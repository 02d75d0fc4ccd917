package evidence

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// TestFiguresInText checks the sentences of documents that state verdicts or estimates
// of claims against the records. The tests of docs and TestCheckSummaryOfReference compare their blocks.
func TestFiguresInText(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: arithmetic alone")
	}
	in := supplemented(t)
	f := &figures{t: t, in: in, Assessment: must(Assess(in))}
	cells, claims, theorems := f.Counts()
	score := f.Scorecard()
	accepted := data.CalibratedDraws()
	last := accepted[len(accepted)-1].Seed
	below := f.test("multidist.below-4.samples")
	early := 0
	for _, run := range below.Of.Runs {
		early += one(run.Value <= below.Target.High)
	}
	orders, errors, fitted := f.polk()
	reproduced, run := f.anyDraws()
	anyDraws := fmt.Sprintf("%s of the %s cells that were run is reproduced", f.word(reproduced), f.word(run))
	margins := f.in.Ledger.Margins
	if margins["error"].Points != 1 || margins["order"].Least != 4 {
		t.Error("the margins are not one point and four elements")
	}
	margin := fmt.Sprintf("%.0f %% of the risk, or %.0f %% of the model order but at least four elements", margins["risk"].Percent, margins["order"].Percent)
	together := f.assuming("epochs-brodatz=five", "bsgd-maintenance=keep-newest", "lbfgs-stopping=weights").CellsAt(0.5).Reproduced
	if together != f.CellsAt(0.5).Reproduced {
		t.Error("with margins half as wide, the best combination does not reproduce as many cells as our choices")
	}
	projection := f.assuming("bsgd-maintenance=projection")
	projectionCells, _, _ := projection.Counts()
	newest := f.assuming("bsgd-maintenance=keep-newest").test("table2.multidist.ksvm.bsgd.error")
	less := f.assuming("epochs-brodatz=five").test("table3.brodatz.ksvm.polk.order").Ours
	batch := f.test("brodatz.like-batch.error").Ours
	c2, c10 := f.assuming("bandwidth=variance"), f.assuming("libsvm-cost=ten")
	libsvm := []string{"table2.multidist.ksvm.libsvm", "table3.mnist.ksvm.libsvm", "table3.brodatz.ksvm.libsvm"}
	mnistOrders := up(100*max(f.farthest(true, "order", "table3.mnist.ksvm.polk", "table3.mnist.klr.polk"), f.farthest(true, "order-324", "mnist.orders")), 1)
	elements := func(order float64) string {
		n := int(math.Round(order))
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	for name, stated := range map[string][]string{"README.md": {
		fmt.Sprintf("Our errors are within %.1f points of the six that the paper prints for POLK. The paper prints ten model orders for it, six in its tables and four in its figures. Nine of the ten are within %.0f %%, but we had fitted settings to %s of these nine", up(errors[5], 0.1), up(100*orders[8], 1), f.word(fitted)),
		fmt.Sprintf("all %s statements", f.word(theorems.Reproduced)),
		fmt.Sprintf("Behind the batch solver L-BFGS it is %.1f points with the hinge loss, and %.1f points with the logistic loss, where the paper claims at most 0.5", math.Abs(f.value("brodatz.ranks.lbfgs")), batch.Value),
		"one point of the printed error, " + margin,
		"cells " + cells.String(),
		"With unselected draws, " + anyDraws,
		fmt.Sprintf("This fitted %s of POLK's ten model orders", f.word(fitted)),
		f.values("The mean orders are %.1f, %.1f, %.1f, %.1f and %.1f for 5, 10, 15, 20 and 30 modes", "multidist.learned-order.modes-5[POLK on 5 modes]", "multidist.learned-order.modes-10[POLK on 10 modes]",
			"multidist.optimal-order.order", "multidist.learned-order.modes-20[POLK on 20 modes]", "multidist.learned-order.modes-30[POLK on 30 modes]"),
		f.assuming(asPrinted).values("With the printed 0.2 POLK errs on %.1f %%", "table2.multidist.ksvm.polk.error"),
		fmt.Sprintf("With this reading C-SVC has %s support vectors on MNIST, and the paper prints 16,118", words.Grouped(int(f.value("table3.mnist.ksvm.libsvm.order")))),
		f.values("The paper's BSGD errs on 21.8 %% of multidist. Ours, which merges as the authors of BSGD recommend, errs on %.1f %%", "table2.multidist.ksvm.bsgd.error"),
	}, "docs/results.md": {
		fmt.Sprintf("Of the paper's %d sentences, captions and ranks, %d are reproduced", claims.Total(), claims.Reproduced),
		fmt.Sprintf("The error falls below 4 %% in time on %s of the %s draws of multidist", f.word(early), f.word(len(below.Of.Runs))),
		fmt.Sprintf("| %.0f %% |", margins["risk"].Percent), fmt.Sprintf("| %.0f %%, and at least %.0f elements |", margins["order"].Percent, margins["order"].Least),
		fmt.Sprintf("Of the elements %.0f %% lie within σ of a mode, and so do 41 %% of the training points", f.value("multidist.concentrate.majority")), // TestTrainingPointsNearModes checks the 41 %
		fmt.Sprintf("Of [the other %d](#the-sentences-that-are-not-reproduced), %d deviate and three are inconclusive", claims.Total()-claims.Reproduced, claims.Deviates),
		f.values("is %.2f times that of a training point", "multidist.concentrate.nearer"),
		fmt.Sprintf("Tables 2 and 3 have %d cells, and %d of them are reproduced", cells.Total(), cells.Reproduced),
		fmt.Sprintf("The text, the captions and the ranks make %d statements that records can answer, and %d of them are reproduced", claims.Total(), claims.Reproduced),
		"With unselected draws, " + anyDraws,
		f.maintenance("multidist", "21.8", "%.1f", "table2.multidist.ksvm.bsgd", "error"),
		f.maintenance("MNIST", "2.67", "%.2f", "table3.mnist.ksvm.bsgd", "error"),
		f.maintenance("Brodatz", "4.72", "%.2f", "table3.brodatz.ksvm.bsgd", "error"),
		f.maintenance("`multidist.order-of-magnitude`", "error of BSGD / error of POLK", "%.2f", "multidist.order-of-magnitude", "error"),
		f.maintenance("`multidist.bsgd-fails`", "error of BSGD, %", "%.1f", "multidist.bsgd-fails", "error"),
		f.maintenance("`mnist.beats-bsgd`", "difference at model order 1,086", "%+.2f", "mnist.beats-bsgd", "error-1086"),
		f.maintenance("`mnist.ranks`", "the same", "%+.2f", "mnist.ranks", "bsgd"),
		f.maintenance("`brodatz.beats-bsgd`", "difference at model order 1,171", "%+.2f", "brodatz.beats-bsgd", "error-1171"),
		f.maintenance("`brodatz.ranks`", "the same", "%+.2f", "brodatz.ranks", "bsgd"),
		f.maintenance("`brodatz.near-96`", "difference at model order 305", "%+.2f", "brodatz.near-96", "similar-305"),
	}, "docs/checklists.md": {
		fmt.Sprintf("%d of the %d cells of the paper's tables are reproduced. Of %d sentences, captions and rankings that we could test, %d are reproduced", cells.Reproduced, cells.Total(), claims.Total(), claims.Reproduced),
		fmt.Sprintf("this repository: %d of %d cells and %d of %d sentences", cells.Reproduced, cells.Total(), claims.Reproduced, claims.Total()),
		fmt.Sprintf("the %d cells and %d sentences that do not agree", cells.Total()-cells.Reproduced, claims.Total()-claims.Reproduced),
		"With unselected draws, " + anyDraws,
	}, "docs/errata.md": {
		fmt.Sprintf("With the numbers as c, C-SVC has %.2f %% error and %s support vectors on MNIST", f.value("table3.mnist.ksvm.libsvm.error"), elements(f.value("table3.mnist.ksvm.libsvm.order"))),
		fmt.Sprintf("With the numbers as c², it has %.1f %% and %s", c2.value("table3.mnist.ksvm.libsvm.error"), elements(c2.value("table3.mnist.ksvm.libsvm.order"))),
		fmt.Sprintf("C-SVC errs on %.2f %% with c, and on %.2f %% with c²", f.value("table3.brodatz.ksvm.libsvm.error"), c2.value("table3.brodatz.ksvm.libsvm.error")),
		fmt.Sprintf("C-SVC keeps %.0f support vectors with c and %.0f with c²", f.value("table2.multidist.ksvm.libsvm.order"), c2.value("table2.multidist.ksvm.libsvm.order")),
		f.values("is %.2f times that of a training point", "multidist.concentrate.nearer"),
		f.values("Our risk of POLK with the hinge loss on MNIST is %.3f", "table3.mnist.ksvm.polk.risk"),
		"With unselected draws " + anyDraws,
		f.values("POLK's error is %.2f points higher at model order 1,171 and %.2f points higher at 305", "brodatz.beats-bsgd.error-1171", "brodatz.beats-bsgd.error-305"),
		fmt.Sprintf("There the error of POLK with the hinge loss is %.2f points lower", -f.value("mnist.logistic-behind.error")),
		f.values("In our runs the minima are %.4f with the hinge loss and %.4f with the logistic loss", "table2.multidist.ksvm.lbfgs.risk", "table2.multidist.klr.lbfgs.risk"),
		fmt.Sprintf("On MNIST it gives %.2f %% error and %s support vectors", c10.value("table3.mnist.ksvm.libsvm.error"), elements(c10.value("table3.mnist.ksvm.libsvm.order"))),
		fmt.Sprintf("gives all three printed model orders to within %.0f %%", mnistOrders),
	}, "REPRODUCE.md": {
		fmt.Sprintf("have %d cells, and %d of them are reproduced", cells.Total(), cells.Reproduced),
		fmt.Sprintf("half as wide, %d cells would be reproduced. The paper's sentences, captions and rankings make %d claims that we could test. Of these claims %d deviate", f.CellsAt(0.5).Reproduced, claims.Total(), claims.Deviates),
		fmt.Sprintf("Only %d of the %d printed numbers guided no choice, and %d of these %d are reproduced", score.Others.Total(), f.Numbers().Total(), score.Others.Reproduced, score.Others.Total()),
		fmt.Sprintf("We made choices with %d of the numbers in view. The other %d guided no choice", score.Targets.Total(), score.Others.Total()),
		fmt.Sprintf("| risk | %.0f %% of it |", margins["risk"].Percent), fmt.Sprintf("| model order | %.0f %% of it, but at least four elements |", margins["order"].Percent),
		f.values("their mean distance to the nearest mode is %.2f times that of a training sample", "multidist.concentrate.nearer"),
		f.values("For the paper's 15 modes the model order is %.1f", "multidist.optimal-order.order"),
		f.values("our five runs err on %.2f %%", "table3.mnist.ksvm.bsgd.error"),
		fmt.Sprintf("Among the first %d,%03d draws %d are of this kind", last/1000, last%1000, len(accepted)),
		fmt.Sprintf("With the unselected draws %s of the %s cells is reproduced", f.word(reproduced), f.word(run)),
		fmt.Sprintf("Our errors lie within %.1f points of the six that are printed for POLK. Nine of its ten printed model orders agree within %.0f %%. We had fitted settings to %s of these nine", up(errors[5], 0.1), up(100*orders[8], 1), f.word(fitted)),
		fmt.Sprintf("Errors. Ours lie within %.1f points of all six printed ones", up(errors[5], 0.1)),
		fmt.Sprintf("Nine of the ten lie within %.0f %% of the printed ones. The tenth, on Brodatz with K = 0.02, is %.0f %% lower", up(100*orders[8], 1), 100*orders[9]),
		fmt.Sprintf("Those on multidist and MNIST lie within %.0f %% of the printed ones", up(100*f.farthest(true, "risk", "table2.multidist.ksvm.polk", "table2.multidist.klr.polk", "table3.mnist.ksvm.polk", "table3.mnist.klr.polk"), 1)),
		fmt.Sprintf("The errors of our C-SVC lie within %.1f points of those printed for LIBSVM. Its numbers of support vectors lie within %.0f %% of the printed ones. On multidist the risks of L-BFGS and IVM lie within %.0f %% of the printed ones",
			up(f.farthest(false, "error", libsvm...), 0.1), up(100*f.farthest(true, "order", libsvm...), 1),
			up(100*f.farthest(true, "risk", "table2.multidist.ksvm.lbfgs", "table2.multidist.klr.lbfgs", "table2.multidist.klr.ivm"), 1)),
		f.assuming(asPrinted).values("With the printed 0.2, C-SVC errs on %.0f %% and BSGD by merging on %.0f %%", "table2.multidist.ksvm.libsvm.error", "table2.multidist.ksvm.bsgd.error"),
		f.assuming(asPrinted).values("the methods that we ran err on %.0f to %.0f %%", "table2.multidist.ksvm.libsvm.error", "table2.multidist.ksvm.bsgd.error"),
		fmt.Sprintf("With a tenth of K, our model orders lie within %.0f %% of all three printed ones", mnistOrders),
		projection.values("| BSGD by projection, five seeds | %.2f | %.4f |", "table3.mnist.ksvm.bsgd.error", "table3.mnist.ksvm.bsgd.risk"),
		f.values("| BSGD by merging, five seeds | %.2f | %.4f |", "table3.mnist.ksvm.bsgd.error", "table3.mnist.ksvm.bsgd.risk"),
		fmt.Sprintf("With BSGD by projection, %d cells are reproduced", projectionCells.Reproduced),
		f.values("merging errs on %.1f %%", "table2.multidist.ksvm.bsgd.error") + projection.values(" and projection on %.1f %%", "table2.multidist.ksvm.bsgd.error") +
			f.assuming("bsgd-maintenance=removal").values(". Removal errs on %.1f %%", "table2.multidist.ksvm.bsgd.error"),
		f.values("POLK stays ahead of BSGD at equal model order: it errs on %.2f %%, BSGD by merging on %.2f %%", "table2.multidist.ksvm.polk.error", "table2.multidist.ksvm.bsgd.error"),
		fmt.Sprintf("Over ten draws POLK is %.1f points behind L-BFGS (%.1f to %.1f)", batch.Value, batch.Low, batch.High),
		fmt.Sprintf("over ten draws, POLK with the logistic loss is %.1f points behind the batch solver L-BFGS", batch.Value),
		f.assuming("multidist-draws=any").values("On draws that were not selected it is %.1f points behind", "multidist.like-libsvm.error"),
		fmt.Sprintf("With six times as many modes the model order grows only %.1f times", f.value("multidist.learned-order.modes-30[POLK on 30 modes]")/f.value("multidist.learned-order.modes-5[POLK on 5 modes]")),
		fmt.Sprintf("the largest norm that we measured is %.0f %% of it", 100*f.largest("table1.iterates")),
		"= 1,409 samples",
		fmt.Sprintf("%s of our %s draws reach this", titled(f.word(early)), f.word(len(below.Of.Runs))),
		fmt.Sprintf("We found %d errata", len(f.in.Ledger.Errata)),
	}, "docs/choices.md": {
		fmt.Sprintf("Other choices reproduce up to 16 of the %d cells, and ours reproduce %d", cells.Total(), cells.Reproduced),
		fmt.Sprintf("This is %.0f %% more than printed, and the margin of %.0f %% still calls it %s", 100*(less.Value/1171-1), margins["order"].Percent, f.assuming("epochs-brodatz=five").test("table3.brodatz.ksvm.polk.order").Verdict),
		fmt.Sprintf("one percentage point for an error, %.0f %% for a risk, %.0f %% for a model order but at least four elements", margins["risk"].Percent, margins["order"].Percent),
		fmt.Sprintf("Our own choices reproduce %d of the %d cells", cells.Reproduced, cells.Total()),
		fmt.Sprintf("With five passes POLK keeps %s elements (%s to %s)", elements(less.Value), elements(less.Low), elements(less.High)),
		f.passes("hinge", "ksvm"), f.passes("logistic", "klr"),
		fmt.Sprintf("With margins half as wide the combination reproduces %d cells. Our own choices reproduce as many", together),
		fmt.Sprintf("Its error is %.1f %%, with an interval of %.1f to %.1f %%. The margin is %.1f to %.1f %%, so the cell is %s", newest.Ours.Value, newest.Ours.Low, newest.Ours.High, newest.Target.Low, newest.Target.High, newest.Verdict),
		fmt.Sprintf("Our model orders then lie within %.0f %% of all three printed ones", mnistOrders),
		fmt.Sprintf("On MNIST a tenth of the printed K gives the printed model orders to within %.0f %%", mnistOrders),
		f.assuming(asPrinted).interval("With the printed variance of 0.2 and the modes of the selected draws, BSGD by merging errs on %.1f %% (%.1f to %.1f)", "table2.multidist.ksvm.bsgd.error"),
		f.assuming("multidist-draws=any").interval("With the variance 0.04 and unselected draws it errs on %.1f %% (%.1f to %.1f)", "table2.multidist.ksvm.bsgd.error"),
	}} {
		prose := words.OneLine(strings.ReplaceAll(string(must(os.ReadFile(filepath.Join("..", name)))), "*", ""))
		for _, sentence := range stated {
			if !strings.Contains(prose, sentence) {
				t.Errorf("%s does not say %q", name, sentence)
			}
		}
	}
}

// figures are numbers computed from the records.
type figures struct {
	t  *testing.T
	in Input
	*Assessment
}

// asPrinted assumes the variance of multidist that the paper prints.
const asPrinted = "multidist-variance=as-printed"

// word writes a count as a word.
func (f *figures) word(n int) string {
	of := map[int]string{0: "none", 5: "five", 6: "six", 7: "seven", 9: "nine", 20: "twenty"}[n]
	if of == "" {
		f.t.Errorf("no word for %d", n)
	}
	return of
}

// anyDraws returns how many of multidist's cells are reproduced with unselected draws, and how many were
// run.
func (f *figures) anyDraws() (reproduced, run int) {
	for _, c := range f.assuming("multidist-draws=any").cells() {
		if strings.Contains(c.Claim.ID, "multidist") {
			reproduced, run = reproduced+one(c.Verdict == stats.Reproduced), run+one(c.Verdict != stats.NotRun)
		}
	}
	return reproduced, run
}

// maintenance returns the line of a table with a test's estimate and its claim's verdict for each way in which
// BSGD keeps its budget.
func (f *figures) maintenance(name, measured, format, claim, test string) string {
	f.t.Helper()
	line := fmt.Sprintf("| %s | %s |", name, measured)
	for _, of := range []*figures{f, f.assuming("bsgd-maintenance=projection"), f.assuming("bsgd-maintenance=removal")} {
		s, ok := of.Find(claim)
		if !ok {
			f.t.Fatalf("no claim %s", claim)
		}
		line += fmt.Sprintf(" %s, %s |", strings.ReplaceAll(fmt.Sprintf(format, of.value(claim+"."+test)), "-", "−"), s.Verdict)
	}
	return line
}

// values writes the estimates of tests, CLAIM.TEST.
func (f *figures) values(format string, ids ...string) string {
	f.t.Helper()
	var values []any
	for _, id := range ids {
		values = append(values, f.value(id))
	}
	return fmt.Sprintf(format, values...)
}

// interval writes the estimate of a test and the ends of its interval.
func (f *figures) interval(format, id string) string {
	f.t.Helper()
	ours := f.test(id).Ours
	return fmt.Sprintf(format, ours.Value, ours.Low, ours.High)
}

// passes returns the lines of docs/choices.md with POLK's numbers on Brodatz after eight and after five passes.
func (f *figures) passes(loss, task string) string {
	f.t.Helper()
	five, cell := f.assuming("epochs-brodatz=five"), "table3.brodatz."+task+".polk."
	var lines []string
	for _, of := range [][2]string{{"risk", "%.4f"}, {"error (%)", "%.2f"}, {"model order", "%.0f"}} {
		id := map[string]string{"risk": "risk", "error (%)": "error", "model order": "order"}[of[0]]
		line := "| " + loss + ", " + of[0]
		for _, v := range []float64{f.test(cell + id).Paper.Value, f.value(cell + id), five.value(cell + id)} {
			text := fmt.Sprintf(of[1], v)
			if id == "order" {
				n := int(math.Round(v))
				text = fmt.Sprintf("%d,%03d", n/1000, n%1000)
			}
			line += " | " + text
		}
		lines = append(lines, line+" |")
	}
	return strings.Join(lines, " ")
}

// value is the estimate of a test.
func (f *figures) value(id string) float64 { return f.test(id).Ours.Value }

func (f *figures) test(id string) *Finding {
	f.t.Helper()
	s, ok := f.Find(id)
	if !ok || len(s.Tests) != 1 || s.Tests[0].Verdict == stats.NotRun {
		f.t.Fatalf("no result of %s", id)
	}
	return &s.Tests[0]
}

// largest is the largest estimate of a claim's tests.
func (f *figures) largest(id string) float64 {
	f.t.Helper()
	most := 0.0
	for _, c := range f.Claims {
		if c.Claim.ID == id {
			for _, test := range c.Tests {
				most = max(most, test.Ours.Value)
			}
		}
	}
	return most
}

// titled returns a word with a capital letter.
func titled(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// assuming returns the figures under alternatives, given as ASSUMPTION=ALTERNATIVE.
func (f *figures) assuming(alternatives ...string) *figures {
	f.t.Helper()
	in := f.in
	in.Assume = make(map[string]string)
	for _, a := range alternatives {
		assumption, alternative, _ := strings.Cut(a, "=")
		in.Assume[assumption] = alternative
	}
	return &figures{t: f.t, in: in, Assessment: must(Assess(in))}
}

// polk returns the sorted distances of our results from the paper's ten model orders (relative) and
// six errors (absolute) of POLK, and the number of orders that were fitted.
func (f *figures) polk() (orders, errors []float64, fitted int) {
	for _, id := range []string{
		"table2.multidist.ksvm.polk.order", "table2.multidist.klr.polk.order", "multidist.order-129.order", "multidist.between-4-and-5.order-75",
		"table3.mnist.ksvm.polk.order", "table3.mnist.klr.polk.order", "mnist.orders.order-324",
		"table3.brodatz.ksvm.polk.order", "table3.brodatz.klr.polk.order", "brodatz.orders.order-305",
	} {
		r := f.test(id)
		orders = append(orders, math.Abs(r.Ours.Value / *r.Test.Paper - 1))
		fitted += one(!strings.Contains(id, "brodatz"))
		if cell, ok := strings.CutSuffix(id, ".order"); ok && strings.HasPrefix(id, "table") {
			errors = append(errors, f.farthest(false, "error", cell))
		}
	}
	slices.Sort(orders)
	slices.Sort(errors)
	return orders, errors, fitted
}

// farthest is the largest distance of cells' means from the printed values, in the unit of
// the quantity or relative.
func (f *figures) farthest(relative bool, quantity string, cells ...string) float64 {
	most := 0.0
	for _, cell := range cells {
		r := f.test(cell + "." + quantity)
		d := math.Abs(r.Ours.Value - *r.Test.Paper)
		if relative {
			d /= *r.Test.Paper
		}
		most = max(most, d)
	}
	return most
}

// up rounds up to a multiple of a unit.
func up(v, unit float64) float64 { return math.Ceil(v/unit) * unit }
