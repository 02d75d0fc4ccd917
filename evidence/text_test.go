package evidence

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"polkrepro/data"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
)

// TestFiguresInText: every figure in README.md and REPRODUCE.md is one that the records have, or is
// listed below as none that they could have. The block of README.md that the program prints
// is compared by cmd/runall's TestCheckSummaryOfReference.
func TestFiguresInText(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: arithmetic alone")
	}
	in, err := referenceInput()
	if err != nil {
		t.Fatal(err)
	}
	f := &figures{t: t, in: in, Assessment: mustAssess(t, in)}
	for name, says := range map[string]func(*figures, *page){"README.md": (*figures).readme, "REPRODUCE.md": (*figures).reproduce} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		p := &page{t: t, name: name, text: prose(string(text))}
		says(f, p)
		for _, at := range figure.FindAllStringIndex(p.text, -1) {
			t.Errorf("%s: nothing holds the figure in …%s…", name, p.text[max(0, at[0]-40):min(len(p.text), at[1]+20)])
		}
	}
}

// figure matches what a test must hold: digits, and numbers in words.
var figure = regexp.MustCompile(`(?i)\d|\b(` + strings.Join(numerals[2:], "|") + `|half|third|quarter|tenth)\b`)

var numerals = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty")

// word is a number as the pages write it.
func word(n int) string {
	if n < len(numerals) {
		return numerals[n]
	}
	return strconv.Itoa(n)
}

// thousands is a number of four digits or more as the pages write it.
func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

// prose is a page's text in one line, without its code, paths, the targets of its links
// and the marks of its tables.
func prose(text string) string {
	for _, code := range []string{"(?s)\n```.*?\n```\n", "`[^`]*`", `\]\([^)]*\)`, `(?s)<img src="[^"]*" width="\d+"`, `\w\S*/\w\S*`} {
		text = regexp.MustCompile(code).ReplaceAllString(text, " ")
	}
	return strings.Join(strings.Fields(strings.NewReplacer("|", " ", "*", "", "[", "").Replace(text)), " ")
}

// A page is the part of a document's text that no assertion has taken out yet.
type page struct {
	t          *testing.T
	name, text string
}

// says takes a text out, which has to be there.
func (p *page) says(format string, args ...any) {
	p.t.Helper()
	text := fmt.Sprintf(format, args...)
	rest := strings.ReplaceAll(p.text, text, " ")
	if rest == p.text {
		p.t.Errorf("%s does not say %q", p.name, text)
	}
	p.text = rest
}

// states takes texts out that state no result: names, definitions, bounds.
func (p *page) states(texts ...string) {
	for _, text := range texts {
		p.says("%s", text)
	}
}

// figures are numbers computed from the records.
type figures struct {
	t  *testing.T
	in Input
	*Assessment
}

// estimate is that of a test, CLAIM.TEST.
func (f *figures) estimate(id string) Number { return f.test(id).Ours }

func (f *figures) value(id string) float64 { return f.estimate(id).Value }

func (f *figures) test(id string) *Finding {
	f.t.Helper()
	s, ok := f.Find(id)
	if !ok || len(s.Tests) != 1 || s.Tests[0].Verdict == stats.NotRun {
		f.t.Fatalf("no result of %s", id)
	}
	return &s.Tests[0]
}

// assuming are the figures with alternatives assumed, as ASSUMPTION=ALTERNATIVE.
func (f *figures) assuming(alternatives ...string) *figures {
	f.t.Helper()
	in := f.in
	in.Assume = make(map[string]string)
	for _, a := range alternatives {
		assumption, alternative, _ := strings.Cut(a, "=")
		in.Assume[assumption] = alternative
	}
	return &figures{t: f.t, in: in, Assessment: mustAssess(f.t, in)}
}

// runs is the number of runs behind a test.
func (f *figures) runs(id string) int { return len(f.test(id).Of.Runs) }

// mean is the mean of a quantity over the runs of a series of a spec.
func (f *figures) mean(spec, label, series, quantity string) float64 {
	f.t.Helper()
	side := newIndex(f.in, paper(f.t), noAlternatives(f.in.Ledger)).side(experiments.Selector{Spec: spec, Label: label, Series: series, Quantity: quantity})
	if len(side.Runs) == 0 || len(side.Missing) > 0 {
		f.t.Fatalf("%d runs of %s, %s, and %d missing", len(side.Runs), spec, series, len(side.Missing))
	}
	return stats.Mean(side.values()).Value
}

// polk are the ten model orders and the six errors that the paper prints of POLK, as
// relative and absolute distances of ours, in order of size.
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

// set is the number of printed model orders that no run could miss: all training points,
// a budget, or the number to stop at.
func (f *figures) set() int {
	n := 0
	for _, id := range []string{
		"table2.multidist.ksvm.lbfgs", "table2.multidist.klr.lbfgs", "table3.brodatz.ksvm.lbfgs", "table3.brodatz.klr.lbfgs",
		"table2.multidist.ksvm.bsgd", "table3.mnist.ksvm.bsgd", "table3.brodatz.ksvm.bsgd", "table2.multidist.klr.ivm",
	} {
		r := f.test(id + ".order")
		if r.Verdict != stats.Reproduced || r.Ours.Value != *r.Test.Paper {
			f.t.Errorf("the model order of %s is %v, and %v is set", id, r.Ours.Value, *r.Test.Paper)
		}
		n++
	}
	return n
}

// up rounds up to a multiple of a unit.
func up(v, unit float64) float64 { return math.Ceil(v/unit) * unit }

// table reads a CSV file of the recorded results: a map for each row.
func table(t *testing.T, name string) (rows []map[string]string) {
	t.Helper()
	file, err := os.Open(filepath.Join("../results/reference", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range all[1:] {
		row := make(map[string]string)
		for i, v := range values {
			row[all[0][i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

func (f *figures) readme(p *page) {
	cells, sentences, theorems := f.Counts()
	numbers := f.Numbers()
	orders, errors, fitted := f.polk()
	multidist, mnist := f.runs("table2.multidist.ksvm.polk.error"), f.runs("table3.mnist.ksvm.polk.error")
	if mnist != f.runs("table3.brodatz.ksvm.polk.error") {
		f.t.Error("README.md has one number of seeds for MNIST and Brodatz")
	}
	p.says("%d draws of multidist, %s seeds on MNIST and Brodatz", multidist, word(mnist))
	signed := 0
	for _, row := range table(f.t, "figures/forest.csv") {
		if row["panel"] == "sentences" && row["x"] != "" {
			signed++
		}
	}
	p.says("the %d printed numbers and %d signed sentences", numbers.Total(), signed)
	p.says("%d of the %d cells with numbers, %d of their %d numbers (%s of the %d are model orders that are set, not learned), %d of %d sentences, and all %s statements on convergence",
		cells.Reproduced, cells.Total(), numbers.Reproduced, numbers.Total(), word(f.set()), numbers.Reproduced, sentences.Reproduced, sentences.Total(), word(theorems.Total()))
	p.says("POLK's errors are within %.1f points of the printed ones, and %s of its %s model orders within %.0f %%, though %s of these orders helped",
		up(errors[5], 0.1), word(9), word(len(orders)), up(100*orders[8], 1), word(fitted))
	joint := f.joint()
	p.says("%s choices together, made with the paper's numbers in view, reproduce %d cells and %d numbers: five passes over Brodatz, a BSGD whose newest sample always stays, and an L-BFGS over the weights that is stopped after %s iterations",
		word(len(joint.Assumed)), joint.Cells, joint.Numbers, f.iterations())
	p.says("takes %s on two cores with MNIST and the Brodatz textures, and %s without", f.time("make reproduce"), f.time("POLK_OFFLINE=1 make reproduce"))
	p.says("%.1f times the time of its own kernel evaluations with the hinge, %.1f times with the logistic loss", f.step("ksvm"), f.step("klr"))
	f.margins(p)
	p.states("Koppel, Warnell, Stump, Ribeiro, 2016", "Go 1.26 or newer", "SHA-256", "K printed for MNIST has to be divided by ten", "one file each",
		"in Table 1 and the theorems behind it. On all three data sets", "understand the program in five minutes", "up to 10⁹ samples", "uPlot 1.6.32")
}

func (f *figures) reproduce(p *page) {
	cells, sentences, theorems := f.Counts()
	numbers := f.Numbers()
	multidist, mnist := f.runs("table2.multidist.ksvm.polk.error"), f.runs("table3.mnist.ksvm.polk.error")
	p.says("%d draws of multidist, %s orders of MNIST and Brodatz", multidist, word(mnist))
	for _, row := range []struct {
		name string
		Counts
	}{{"cells of Tables 2 and 3", cells}, {"numbers in these cells", numbers}, {"sentences and captions", sentences}, {"statements of Table 1 and its theorems", theorems}} {
		p.says("%s %d of %d %d %d", row.name, row.Reproduced, row.Total(), row.Deviates, row.Inconclusive)
	}
	f.margins(p)
	given, others := f.set(), numbers.Total()-f.set()
	p.says("%s of the %d numbers are set, not learned", strings.ToUpper(word(given)[:1])+word(given)[1:], numbers.Total())
	p.says("stops at the paper's %.0f. Of the other %d, %d are reproduced", f.value("table2.multidist.klr.ivm.order"), others, numbers.Reproduced-given)
	anyDraw, _, _ := f.assuming("multidist-draws=any").Counts()
	accepted := data.CalibratedDraws()
	p.says("%d of the first %s. With any draws, %d cells are reproduced", len(accepted), thousands(int(accepted[len(accepted)-1].Seed)), anyDraw.Reproduced)
	settled := 0
	for _, e := range f.in.Ledger.Errata {
		if len(e.Tests)+len(e.Claims) > 0 {
			settled++
		}
	}
	p.says("%d misprints are listed, %d of them settled by a test", len(f.in.Ledger.Errata), settled)
	p.says("Misprints: %d", len(f.in.Ledger.Errata))
	p.says("The aim was 15 of the %d cells: it is missed. These %s are not reproduced", cells.Total(), word(cells.Total()-cells.Reproduced))
	f.deviating(p)
	f.together(p)
	f.holds(p)
	f.doesNot(p)
	for what, command := range map[string]string{
		"tables and figures with one seed": "make reproduce", "everything: all seeds and alternatives, Table 1": "make reproduce PROFILE=full",
		"the same without data files: generated stand-ins": "POLK_OFFLINE=1 make reproduce", "every verdict with its numbers": "bin/runall verify --results results/reference",
		"the claim, runs and records behind one number":                      "bin/runall explain table3.mnist.ksvm.polk --results results/reference",
		"which verdicts depend on which choice":                              "bin/runall verify multiverse --results results/reference",
		"what choices together reproduce":                                    "bin/runall verify multiverse --joint --results results/reference",
		"your verdicts against the recorded ones":                            "bin/runall verify --reference results/reference",
		"your records against the recorded ones, bit for bit":                "make agree",
		"the recorded tables, figures and verdicts, remade from the records": "make check-reference",
	} {
		p.says("%s %s", what, f.time(command))
	}
	p.says("the tests a contributor runs; all others ; %s; %s", f.time("make test"), f.time("make check"))
	p.states("Ribeiro, Parsimonious Online Learning with Kernels via Sparse Projections in Function Space, 2016", "the npm package 1.2.6",
		"This project tests its Table 1 by experiment and repeats all rows of Tables 2 and 3", "Where Table 3 has a dash", "and Table 2 prints one risk for both losses",
		"time on 2 cores", "Table 1, notes on Tables 2 and 3", "Table 1 , 2 , 3 , all runs")
}

// deviating is the table of the cells that are not reproduced.
func (f *figures) deviating(p *page) {
	cell := func(id, quantity string) (ours, printed float64) {
		r := f.test(id + "." + quantity)
		return r.Ours.Value, *r.Test.Paper
	}
	pair := func(id string) []any {
		risk, printedRisk := cell(id, "risk")
		wrong, printedError := cell(id, "error")
		return []any{risk, printedRisk, wrong, printedError}
	}
	newest, two, three, five := f.assuming("bsgd-maintenance=keep-newest"), f.assuming("epochs-brodatz=two"), f.assuming("epochs-brodatz=three"), f.assuming("epochs-brodatz=five")
	weights := f.assuming("lbfgs-stopping=weights")
	const bsgd = "table2.multidist.ksvm.bsgd"
	p.says("BSGD, multidist risk %.3f for %.3f, error %.1f for %.1f %%", pair(bsgd)...)
	if within, known := newest.claim(bsgd).Within(); !within || !known {
		f.t.Errorf("the printed pair is not within the spread of runs of %s", bsgd)
	}
	p.says("Nor does one whose newest sample always stays: %.2f and %.0f %% on average over %d draws, and the printed pair is within the spread of runs",
		newest.value(bsgd+".risk"), newest.value(bsgd+".error"), newest.runs(bsgd+".risk"))
	const brodatz = "table3.brodatz.ksvm.bsgd"
	p.says("BSGD, Brodatz risk %.3f for %.3f, error %.1f for %.1f %%", pair(brodatz)...)
	p.says("Eight passes here, probably fewer in the paper: after two BSGD is at %.3f and %.1f %%, and it passes the printed pair in the third",
		two.value(brodatz+".risk"), two.value(brodatz+".error"))
	for _, quantity := range []string{"risk", "error"} {
		if _, printed := cell(brodatz, quantity); !(two.value(brodatz+"."+quantity) > printed && printed > three.value(brodatz+"."+quantity)) {
			f.t.Errorf("BSGD on Brodatz does not pass the printed %s in the third pass", quantity)
		}
	}
	const hinge, logistic = "table3.brodatz.ksvm.lbfgs", "table3.brodatz.klr.lbfgs"
	p.says("L-BFGS, Brodatz, hinge risk %.4f for %.4f, error %.1f for %.1f %%", pair(hinge)...)
	p.says("L-BFGS over the weights, as the paper writes the problem, is at %.4f and %.2f %% after %s iterations",
		weights.value(hinge+".risk"), weights.value(hinge+".error"), f.iterations())
	risk, printed := cell(logistic, "risk")
	p.says("L-BFGS, Brodatz, logistic risk %.3f for %.3f The same: %.4f and %.2f %% after %s iterations", risk, printed,
		weights.value(logistic+".risk"), weights.value(logistic+".error"), f.iterations())
	const polk = "table3.brodatz.ksvm.polk"
	e := f.estimate(polk + ".risk")
	_, printed = cell(polk, "risk")
	p.says("POLK, Brodatz, hinge inconclusive: risk %.4f (%.4f to %.4f) for %.4f Fewer passes: %.4f and %.2f %% after five",
		e.Value, e.Low, e.High, printed, five.value(polk+".risk"), five.value(polk+".error"))
}

// together is the section on choices together.
func (f *figures) together(p *page) {
	joint := f.joint()
	most := 0
	for _, a := range f.in.Ledger.Assumptions {
		for _, alternative := range a.Alternatives {
			if !alternative.Run() {
				continue
			}
			cells, _, _ := f.assuming(a.ID + "=" + alternative.ID).Counts()
			most = max(most, cells.Reproduced)
		}
	}
	cells, _, _ := f.Counts()
	p.says("No single other choice reproduces more than %d cells. Three together reproduce %d of the %d, and %d of the %d numbers",
		most, joint.Cells, cells.Total(), joint.Numbers, f.Numbers().Total())
	var names []string
	for _, a := range joint.Assumed {
		names = append(names, a.Assumption+"="+a.Alternative)
	}
	if want := []string{"epochs-brodatz=five", "bsgd-maintenance=keep-newest", "lbfgs-stopping=weights"}; !slices.Equal(names, want) {
		f.t.Fatalf("together: %v, and REPRODUCE.md has %v", names, want)
	}
	p.states("five passes over Brodatz, not eight")
	p.says("from small random weights, stopped after %s iterations", f.iterations())
	best := f.assuming(names...)
	risk, wrong := best.test("table2.multidist.ksvm.bsgd.risk"), best.test("table2.multidist.ksvm.bsgd.error")
	p.says("its risk is %.3f (%.3f to %.3f) and its error %.1f %% (%.1f to %.1f), and the printed %.3f and %.1f %% lie within the interval of one new run (%.3f to %.3f; %.1f to %.1f %%)",
		risk.Ours.Value, risk.Ours.Low, risk.Ours.High, wrong.Ours.Value, wrong.Ours.Low, wrong.Ours.High,
		*risk.Test.Paper, *wrong.Test.Paper, risk.NewRun.Low, risk.NewRun.High, wrong.NewRun.Low, wrong.NewRun.High)
	p.says("all %s choices were made by result, among %s million combinations of alternatives to %d assumptions",
		word(len(names)), thousands(int(math.Round(float64(joint.combinations)/1e6))), joint.assumptions)
}

// holds checks the section "What holds".
func (f *figures) holds(p *page) {
	orders, errors, fitted := f.polk()
	risks := f.farthest(true, "risk", "table2.multidist.ksvm.polk", "table2.multidist.klr.polk", "table3.mnist.ksvm.polk", "table3.mnist.klr.polk")
	p.says("The %s printed errors come out within %.1f points, the printed risks of multidist and MNIST within %.0f %%, and %s of the %s model orders within %.0f %% (Brodatz, K = 0.02: %.0f %%)",
		word(len(errors)), up(errors[5], 0.1), up(100*risks, 1), word(9), word(len(orders)), up(100*orders[8], 1), 100*orders[9])
	p.says("%s of these orders were not free: K was divided by ten to fit the three on MNIST, and the norm of the budget was chosen by the four on multidist. The three on Brodatz follow",
		strings.ToUpper(word(fitted)[:1])+word(fitted)[1:])
	libsvm := []string{"table2.multidist.ksvm.libsvm", "table3.mnist.ksvm.libsvm", "table3.brodatz.ksvm.libsvm"}
	p.says("LIBSVM's errors and support vectors come out within %.1f points and %.0f %% on all data sets, the risks of L-BFGS and the import vector machine on multidist within %.0f %%",
		up(f.farthest(false, "error", libsvm...), 0.1), up(100*f.farthest(true, "order", libsvm...), 1),
		up(100*f.farthest(true, "risk", "table2.multidist.ksvm.lbfgs", "table2.multidist.klr.lbfgs", "table2.multidist.klr.ivm"), 1))
	_, _, theorems := f.Counts()
	p.says("All %s statements, of Table 1 and of the theorems", word(theorems.Total()))
	f.tournament(p)
}

// tournament checks the sentences on other heuristics.
func (f *figures) tournament(p *page) {
	heuristics := make(map[string]bool)
	for _, row := range table(f.t, "tournament/runs.csv") {
		heuristics[row["heuristic"]] = true
	}
	fields, better, worse := 0, 0, 0
	least, most := math.Inf(1), 0.0
	images := make(map[string]float64) // merging's gain
	files, err := filepath.Glob("../results/reference/tournament/tables/*-k*.csv")
	if err != nil {
		f.t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "-fronts.csv") {
			continue
		}
		fields++
		for _, row := range table(f.t, strings.TrimPrefix(filepath.ToSlash(file), "../results/reference/")) {
			switch wrong := row["error, equal order"]; row["heuristic"] {
			case "komp-merge":
				if strings.HasSuffix(wrong, " better") {
					better++
				}
				if strings.HasSuffix(wrong, " worse") {
					worse++
				}
				var times float64
				if _, err := fmt.Sscanf(row["time, equal order"], "×%f", &times); err != nil {
					f.t.Fatal(err)
				}
				least, most = min(least, times), max(most, times)
			case "merging":
				var points float64
				if _, err := fmt.Sscanf(wrong, "−%f", &points); err == nil {
					images[strings.TrimSuffix(filepath.Base(file), "-ksvm.csv")] = points
				}
			}
		}
	}
	if worse > 0 {
		f.t.Errorf("komp-merge is worse than KOMP on %d fields", worse)
	}
	p.says("Of %d other heuristics, this project's beats KOMP at equal model order on %s of %s fields and is worse on none, in %.1f to %.1f times its time. Merging alone beats it on images, by %.2f to %.2f points, and is not better on drift",
		len(heuristics)-1, word(better), word(fields), least, most, min(images["mnist"], images["brodatz"], images["fashion"]), max(images["mnist"], images["brodatz"], images["fashion"]))
}

// doesNot checks the section "What does not".
func (f *figures) doesNot(p *page) {
	p.states("ten times too large", "A tenth gives all three printed model orders")
	p.says("it has %.2f %% on MNIST at %s elements, for POLK's %.2f %%", f.value("table3.mnist.ksvm.bsgd.error"), thousands(int(f.value("table3.mnist.ksvm.bsgd.order"))), f.value("table3.mnist.ksvm.polk.error"))
	p.says("On multidist POLK stays ahead (%.2f against %.2f %%)", f.value("table2.multidist.ksvm.polk.error"), f.value("table2.multidist.ksvm.bsgd.error"))
	p.says("of fewer passes than the %s made here", word(f.passes()))
	const lbfgs = "table3.brodatz.klr.lbfgs.error"
	p.says(`"Within 0.5 %% of the batch solution" (Brodatz, logistic): %.1f points, since L-BFGS at its minimum is at %.2f %%, not %.2f %%`, f.value("brodatz.like-batch.error"), f.value(lbfgs), *f.test(lbfgs).Test.Paper)
	modes := func(n int) float64 {
		return f.value(fmt.Sprintf("multidist.learned-order.modes-%d[POLK on %d modes]", n, n))
	}
	p.says("POLK keeps %.1f, %.1f, %.1f, %.1f and %.1f elements for mixtures of 5, 10, 15, 20 and 30 modes",
		modes(5), modes(10), f.value("multidist.optimal-order.order"), modes(20), modes(30))
	p.says("%.0f %% lie within σ of one, and their mean distance to the nearest is %.2f of the training points'", f.value("multidist.concentrate.majority"), f.value("multidist.concentrate.nearer"))
	early, below := 0, f.test("multidist.below-4.samples")
	for _, run := range below.Of.Runs {
		if run.Value <= below.Target.High {
			early++
		}
	}
	p.says("Below 4 %% early on multidist: %s draws of %s get there by %s samples", word(early), word(len(below.Of.Runs)), thousands(int(below.Target.High)))
	polk := f.test("table3.brodatz.ksvm.polk.error")
	p.says("%.1f %% of the test patches share pixels with training patches. Without overlap POLK's error is %.1f %% instead of %.1f %%",
		100*polk.Of.Runs[0].Record.Header.DataFacts["test_overlap"], f.mean("brodatz-disjoint", "polk", "POLK, K = 0.01", experiments.QuantityError), polk.Ours.Value)
	p.states("A component variance of 0.2")
}

// margins are the words for the margins of the ledger.
func (f *figures) margins(p *page) {
	m := f.in.Ledger.Margins
	p.says("90 %% interval of the mean")
	p.says("one point of error, %.0f %% of the risk, %.0f %% of the model order but at least %s elements", m["risk"].Percent, m["order"].Percent, word(int(m["order"].Least)))
	if m["error"].Points != 1 {
		f.t.Error("the margin of an error is not one point")
	}
}

// claim is the result of a claim.
func (f *figures) claim(id string) *ClaimResult {
	s, ok := f.Find(id)
	if !ok {
		f.t.Fatalf("no claim %s", id)
	}
	return s.Claim
}

// A combination is the best joint reading of the choices, with the numbers of readings
// and of assumptions that it was chosen among.
type combination struct {
	JointReading
	combinations, assumptions int
}

var bestReading = sync.OnceValues(func() (combination, error) {
	in, err := referenceInput()
	if err != nil {
		return combination{}, err
	}
	j, err := Joint(in)
	if err != nil {
		return combination{}, err
	}
	return combination{j.Front[len(j.Front)-1], j.Combinations, len(j.Assumptions)}, nil
})

func (f *figures) joint() combination {
	best, err := bestReading()
	if err != nil {
		f.t.Fatal(err)
	}
	return best
}

// iterations is after how many L-BFGS over the weights is stopped.
func (f *figures) iterations() string {
	run := f.assuming("lbfgs-stopping=weights").test("table3.brodatz.ksvm.lbfgs.risk").Of.Runs[0].Run
	return thousands(run.Samples / trainingSets()["brodatz"])
}

// passes is how many are made over Brodatz.
func (f *figures) passes() int {
	return f.test("table3.brodatz.ksvm.polk.risk").Of.Runs[0].Run.Samples / trainingSets()["brodatz"]
}

// time is how long a command took, in words.
func (f *figures) time(command string) string {
	f.t.Helper()
	for _, row := range table(f.t, "times.csv") {
		if row["command"] != command {
			continue
		}
		seconds, err := strconv.ParseFloat(row["seconds"], 64)
		if err != nil {
			f.t.Fatal(err)
		}
		if seconds < 120 {
			return fmt.Sprintf("%.0f s", up(seconds, 5))
		}
		return fmt.Sprintf("%.0f min", up(seconds/60, 1))
	}
	f.t.Fatalf("times.csv has no %q", command)
	return ""
}

// step is the time of a step of POLK on MNIST, as a multiple of its kernel evaluations'.
func (f *figures) step(task string) float64 {
	text, err := os.ReadFile("../results/reference/bench/bench.md")
	if err != nil {
		f.t.Fatal(err)
	}
	_, row, found := strings.Cut(string(text), "| MNIST/"+task+"/threads=1 |")
	var milliseconds, floor, ratio float64
	if n, _ := fmt.Sscanf(strings.ReplaceAll(row, "|", " "), "%f %f %f", &milliseconds, &floor, &ratio); !found || n != 3 {
		f.t.Fatalf("bench.md has no step of %s on MNIST", task)
	}
	return ratio
}
