package evidence

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/evidence/stats"
	"polkrepro/internal/testutil"
	"polkrepro/internal/words"
)

// TestFiguresInText checks the numbers in the sentences of README.md and REPRODUCE.md against the
// records. The tests of docs and TestCheckSummaryOfReference compare their blocks.
func TestFiguresInText(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: arithmetic alone")
	}
	in := referenceInput(t)
	f := &figures{t: t, in: in, Assessment: must(Assess(in))}
	for name, sentences := range map[string][]string{"README.md": f.readme(), "REPRODUCE.md": f.reproduce()} {
		text := string(must(os.ReadFile(filepath.Join("..", name))))
		prose := words.OneLine(strings.ReplaceAll(text, "*", ""))
		for _, sentence := range sentences {
			if !strings.Contains(prose, sentence) {
				t.Errorf("%s does not say %q", name, sentence)
			}
		}
	}
}

func (f *figures) readme() []string {
	cells, _, theorems := f.Counts()
	orders, errors, fitted := f.polk()
	const bsgd, libsvm = "table2.multidist.ksvm.bsgd.error", "table3.mnist.ksvm.libsvm.order"
	return []string{
		fmt.Sprintf("Errors are within %.1f points of the printed ones, nine of ten model orders within %.0f %%, %s of them fitted", up(errors[5], 0.1), up(100*orders[8], 1), f.word(fitted)),
		fmt.Sprintf("all %s statements", f.word(theorems.Reproduced)),
		fmt.Sprintf("On Brodatz the logistic one is %.1f point off; 0.5 is claimed", f.value("brodatz.like-batch.error")),
		f.margins("one point of the printed error, %.0f %% of the risk, or %.0f %% of the model order but at least %s elements"),
		fmt.Sprintf("%d of %d cells, ", cells.Reproduced, cells.Total()),
		fmt.Sprintf("With unselected draws, %s reproduced", f.anyDraws()),
		fmt.Sprintf("fitted to %s of POLK's ten model orders", f.word(fitted)),
		fmt.Sprintf("With the printed 0.2 POLK errs on %.1f %%", f.assuming(asPrinted).value("table2.multidist.ksvm.polk.error")),
		fmt.Sprintf("from %.1f for 5 modes to %.1f for 30", f.modes(5), f.modes(30)),
		fmt.Sprintf("at equal memory on MNIST (hinge, %.1f against %.1f %%)", f.supplement("tableS3", "mnist", "ksvm", "BSGD", "error (%)"), f.supplement("tableS3", "mnist", "ksvm", "POLK", "error (%)")),
		fmt.Sprintf("C-SVC then has %s support vectors on MNIST, %s are printed", words.Grouped(int(f.value(libsvm))), words.Grouped(int(*f.test(libsvm).Test.Paper))),
		fmt.Sprintf("The paper's has %.1f %% error on multidist. With merging, as its authors recommend, it has %.1f %%", *f.test(bsgd).Test.Paper, f.value(bsgd)),
		fmt.Sprintf("%.1f %% of Brodatz' test patches share pixels with training patches. Over ten draws POLK's error is %.1f %%, but %.1f %% without overlap, and %.1f %% when it is trained on the left",
			f.overlap(), f.brodatz("", "POLK"), f.brodatz("-interleaved", "POLK"), f.brodatz("-disjoint", "POLK")),
	}
}

func (f *figures) reproduce() []string {
	score := f.Scorecard()
	for _, c := range f.cells() {
		for _, r := range c.Tests {
			if r.Test.Set && r.Ours.Value != *r.Test.Paper {
				f.t.Errorf("%s.%s is %v, and %v is set", c.Claim.ID, r.Test.ID, r.Ours.Value, *r.Test.Paper)
			}
		}
	}
	accepted := data.CalibratedDraws()
	last := accepted[len(accepted)-1].Seed
	orders, errors, _ := f.polk()
	libsvm := []string{"table2.multidist.ksvm.libsvm", "table3.mnist.ksvm.libsvm", "table3.brodatz.ksvm.libsvm"}
	below := f.test("multidist.below-4.samples")
	early := 0
	for _, run := range below.Of.Runs {
		if run.Value <= below.Target.High {
			early++
		}
	}
	most := 0
	for _, a := range f.in.Ledger.Assumptions {
		for _, alternative := range a.Alternatives {
			if alternative.Run() {
				cells, _, _ := f.assuming(a.ID + "=" + alternative.ID).Counts()
				most = max(most, cells.Reproduced)
			}
		}
	}
	batch := f.test("brodatz.like-batch.error").Ours
	const lbfgs = "table3.brodatz.klr.lbfgs.error"
	better, worse, least, longest := f.merge()
	overlapping, disjoint, elsewhere := f.brodatz("", "POLK"), f.brodatz("-interleaved", "POLK"), f.brodatz("-disjoint", "POLK")
	five, together := f.assuming("epochs-brodatz=five"), f.assuming("epochs-brodatz=five", "bsgd-maintenance=keep-newest", "lbfgs-stopping=weights")
	const order = "table3.brodatz.ksvm.polk.order"
	less := five.test(order).Ours
	return []string{
		f.margins("one point of error, %.0f %% of the risk, %.0f %% of the model order but at least %s elements"),
		fmt.Sprintf("| targets of a choice | %d of %d |", score.Targets.Reproduced, score.Targets.Total()),
		fmt.Sprintf("| settings | %d of %d |", score.Set.Reproduced, score.Set.Total()),
		fmt.Sprintf("%d of the first %d,%03d. With any draws, %s reproduced", len(accepted), last/1000, last%1000, f.anyDraws()),
		fmt.Sprintf("No single other choice reproduces more than %d cells", most),
		fmt.Sprintf("The six printed errors come out within %.1f points, the printed risks of multidist and MNIST within %.0f %%, nine of ten model orders within %.0f %% (Brodatz, K = 0.02: %.0f %%)", up(errors[5], 0.1),
			up(100*f.farthest(true, "risk", "table2.multidist.ksvm.polk", "table2.multidist.klr.polk", "table3.mnist.ksvm.polk", "table3.mnist.klr.polk"), 1), up(100*orders[8], 1), 100*orders[9]),
		fmt.Sprintf("LIBSVM's errors and support vectors come out within %.1f points and %.0f %%, the risks of L-BFGS and the import vector machine on multidist within %.0f %%",
			up(f.farthest(false, "error", libsvm...), 0.1), up(100*f.farthest(true, "order", libsvm...), 1),
			up(100*f.farthest(true, "risk", "table2.multidist.ksvm.lbfgs", "table2.multidist.klr.lbfgs", "table2.multidist.klr.ivm"), 1)),
		fmt.Sprintf("(0.04; with the printed 0.2 C-SVC errs on %.0f %%)", f.assuming(asPrinted).value("table2.multidist.ksvm.libsvm.error")),
		fmt.Sprintf("a tenth comes within %.0f %% of all three printed model orders", up(100*max(f.farthest(true, "order", "table3.mnist.ksvm.polk", "table3.mnist.klr.polk"), f.farthest(true, "order-324", "mnist.orders")), 1)),
		fmt.Sprintf("On Brodatz POLK keeps more numbers, %.1f million for %.1f, as it has the inverse", f.brodatzNumbers("POLK"), f.brodatzNumbers("BSGD")),
		fmt.Sprintf("has less error than KOMP at equal order on %s of eight fields, more on %s, and takes %.1f to %.1f times as long", f.word(better), f.word(worse), least, longest),
		fmt.Sprintf("With merging it has %.2f %% on MNIST at 1,086 elements, POLK %.2f %%", f.value("table3.mnist.ksvm.bsgd.error"), f.value("table3.mnist.ksvm.polk.error")),
		fmt.Sprintf("at 1,171 (%.2f and %.2f %%)", f.value("table3.brodatz.ksvm.bsgd.error"), f.value("table3.brodatz.ksvm.polk.error")),
		fmt.Sprintf("On multidist it stays ahead at equal order (%.2f against %.2f %%)", f.value("table2.multidist.ksvm.polk.error"), f.value("table2.multidist.ksvm.bsgd.error")),
		fmt.Sprintf("%.1f points (%.1f to %.1f, so inconclusive; over ten draws %.1f), since L-BFGS at its minimum is at %.2f %%, not %.2f %%",
			batch.Value, batch.Low, batch.High, f.question("brodatz (raw)", "klr", "POLK", "error (%)")-f.question("brodatz (raw)", "klr", "L-BFGS", "error (%)"), f.value(lbfgs), *f.test(lbfgs).Test.Paper),
		fmt.Sprintf("POLK keeps %.1f, %.1f, %.1f, %.1f and %.1f elements for mixtures of 5, 10, 15, 20 and 30 modes", f.modes(5), f.modes(10), f.value("multidist.optimal-order.order"), f.modes(20), f.modes(30)),
		fmt.Sprintf("%s draws of %s get there by 1,409 samples", f.word(early), f.word(len(below.Of.Runs))),
		fmt.Sprintf("Errata: %d,", len(f.in.Ledger.Errata)),
		fmt.Sprintf("POLK's error is %.2f %%, BSGD's %.2f %%, C-SVC's %.2f %%, L-BFGS's %.2f %%", overlapping,
			f.brodatz("", "BSGD"), f.brodatz("", "C-SVC"), f.brodatz("", "L-BFGS")),
		fmt.Sprintf("POLK errs on %.2f %%, and on the other side of each texture on %.2f %%. So leakage hides %.1f points, and the change of place adds %.1f",
			disjoint, elsewhere, disjoint-overlapping, elsewhere-disjoint),
		fmt.Sprintf("a tenth of η leaves %.0f elements at most", f.question("mnist", "klr", "POLK, K = 0.08, η = 2.4", "model order")),
		fmt.Sprintf("at η = 1 merging has %.1f %%, projection %.1f %%; removal has %.0f to %.0f %% over all rates", f.bsgd("merging, η = 1 or 1/(λt): constant"),
			f.bsgd("projection, η = 1 or 1/(λt): constant"), f.bsgd("removal, η = 10"), f.bsgd("removal, η = 0.1")),
		fmt.Sprintf("POLK keeps %s elements (%s to %s), 1,171 are printed, and eight passes give %s", elements(less.Value), elements(less.Low), elements(less.High), elements(f.value(order))),
		fmt.Sprintf("At half the margins it reproduces %d cells, as many as the choices made before", together.CellsAt(0.5).Reproduced),
		fmt.Sprintf("| cells at half the margins | %d of ", together.CellsAt(0.5).Reproduced),
		fmt.Sprintf("on Brodatz has all three printed numbers within %s samples of 80,000; logistic %s), one of merging BSGD's within %s). L-BFGS is at best %s off, logistic %s.",
			f.nearest("ksvm", "POLK", " % ("), f.nearest("klr", "POLK", " %, "), f.nearest("ksvm", "BSGD, merging", " % ("), f.nearest("ksvm", "L-BFGS", ""), f.nearest("klr", "L-BFGS", "")),
		fmt.Sprintf("It ends about %.1f %% from f\\ with a diminishing rate, %.0f to %.0f %% with constant ones", f.sparse("diminishing"), f.sparse("η = 0.03, K = 0.003"), f.sparse("η = 0.3, K = 0.3")),
	}
}

// figures are numbers computed from the records.
type figures struct {
	t  *testing.T
	in Input
	*Assessment
}

// word writes a count as a word.
func (f *figures) word(n int) string {
	of := map[int]string{0: "none", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 20: "twenty"}[n]
	if of == "" {
		f.t.Errorf("no word for %d", n)
		return "?"
	}
	return of
}

// margins writes the ledger's margins in words.
func (f *figures) margins(format string) string {
	m := f.in.Ledger.Margins
	if m["error"].Points != 1 {
		f.t.Error("the margin of an error is not one point")
	}
	return fmt.Sprintf(format, m["risk"].Percent, m["order"].Percent, map[float64]string{4: "four"}[m["order"].Least])
}

// asPrinted assumes the variance of multidist that the paper prints.
const asPrinted = "multidist-variance=as-printed"

// anyDraws says how many of multidist's cells are reproduced with unselected draws, of those
// that were run.
func (f *figures) anyDraws() string {
	reproduced, run := 0, 0
	for _, c := range f.assuming("multidist-draws=any").Claims {
		if !c.Claim.Cell || !strings.Contains(c.Claim.ID, "multidist") || c.Verdict == stats.NotRun {
			continue
		}
		if run++; c.Verdict == stats.Reproduced {
			reproduced++
		}
	}
	return fmt.Sprintf("%s of the %s cells that were run is", f.word(reproduced), f.word(run))
}

// modes returns POLK's model order for a mixture of n modes.
func (f *figures) modes(n int) float64 {
	return f.value(fmt.Sprintf("multidist.learned-order.modes-%d[POLK on %d modes]", n, n))
}

// overlap returns the percentage of Brodatz' test patches that share pixels with training patches.
func (f *figures) overlap() float64 {
	return 100 * f.test("table3.brodatz.ksvm.polk.error").Of.Runs[0].Record.Header.DataFacts["test_overlap"]
}

// question is a number of Table S4.
func (f *figures) question(set, task, series, column string) float64 {
	f.t.Helper()
	return f.supplement("tableS4", set, task, series, column)
}

// supplement is a number of a supplementary table.
func (f *figures) supplement(table, set, task, series, column string) (v float64) {
	f.t.Helper()
	for _, row := range testutil.Table(f.t, "../results/reference/tables/"+table+".csv") {
		if row["data"] == set && row["task"] == task && row["series"] == series {
			if _, err := fmt.Sscan(row[column], &v); err != nil {
				f.t.Fatal(err)
			}
			return v
		}
	}
	f.t.Fatalf("%s has no %s of %s, %s", table, series, set, task)
	return 0
}

// brodatz is a method's error over ten draws of a kind of patches.
func (f *figures) brodatz(kind, method string) float64 {
	return f.question("brodatz (raw"+kind+")", "ksvm", method, "error (%)")
}

// brodatzNumbers are the millions of numbers that a method keeps on Brodatz.
func (f *figures) brodatzNumbers(method string) float64 {
	return f.question("brodatz (raw)", "ksvm", method, "numbers kept") / 1e6
}

// nearest returns the distance of a path's nearest point on Brodatz from all printed numbers, in
// per cent. If there is a separator, the point's number of samples follows it.
func (f *figures) nearest(task, series, separator string) string {
	f.t.Helper()
	least, after := math.Inf(1), 0
	for _, row := range testutil.Table(f.t, "../results/reference/figures/passes-"+task+".csv") {
		var off float64
		var samples int
		if _, err := fmt.Sscan(row["largest_relative_distance"]+" "+row["samples_or_iterations"], &off, &samples); err != nil {
			f.t.Fatal(err)
		}
		if row["series"] == series && off < least {
			least, after = off, samples
		}
	}
	if separator == "" {
		return fmt.Sprintf("%.0f %%", 100*least)
	}
	return fmt.Sprintf("%.0f%s%s", 100*least, separator, words.Grouped(after))
}

// elements writes a model order of at least 1,000.
func elements(order float64) string {
	n := int(math.Round(order))
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// bsgd is BSGD's error on multidist.
func (f *figures) bsgd(series string) float64 {
	return f.question("multidist (calibrated)", "ksvm", "BSGD, "+series, "error (%)")
}

// sparse is POLK's distance to a minimizer of fifteen elements, in per cent of its norm.
func (f *figures) sparse(series string) float64 {
	return 100 * f.question("multidist (15-points)", "klr", "POLK, "+series, "‖f − f*‖/‖f*‖")
}

// merge returns the numbers of fields of the tournament on which komp-merge is better and worse
// than KOMP, and its shortest and longest time as multiples of KOMP's.
func (f *figures) merge() (better, worse int, least, longest float64) {
	least = math.Inf(1)
	for _, file := range must(filepath.Glob("../results/reference/tournament/tables/*-k*[rm].csv")) { // without the fronts and levels
		for _, row := range testutil.Table(f.t, file) {
			switch {
			case row["heuristic"] != "komp-merge":
			case row["by"] == "error at equal model order" && row["verdict"] == "better":
				better++
			case row["by"] == "error at equal model order" && row["verdict"] == "worse":
				worse++
			case row["by"] == "training time at equal model order":
				v := must(strconv.ParseFloat(row["difference"], 64))
				least, longest = min(least, math.Exp(v)), max(longest, math.Exp(v))
			}
		}
	}
	return better, worse, least, longest
}

// value is the estimate of a test, CLAIM.TEST.
func (f *figures) value(id string) float64 { return f.test(id).Ours.Value }

func (f *figures) test(id string) *Finding {
	f.t.Helper()
	s, ok := f.Find(id)
	if !ok || len(s.Tests) != 1 || s.Tests[0].Verdict == stats.NotRun {
		f.t.Fatalf("no result of %s", id)
	}
	return &s.Tests[0]
}

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
		if !strings.Contains(id, "brodatz") {
			fitted++
		}
		if cell, ok := strings.CutSuffix(id, ".order"); ok && strings.HasPrefix(id, "table") {
			r := f.test(cell + ".error")
			errors = append(errors, math.Abs(r.Ours.Value-*r.Test.Paper))
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
