package docs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/internal/words"
	"polkrepro/record"
	"polkrepro/spec"
)

// learners returns a generator for Table S3 on a data set: a row for each learner, the least error with
// the hinge loss first.
func learners(set string) func(*testing.T) string {
	titles := map[string]string{
		"POLK, komp": "POLK, `komp` (the paper's)", "POLK, komp-order": "POLK, `komp-order`",
		"POLK, komp-merge": "POLK, `komp-merge`", "POLK, komp-merge-order": "POLK, `komp-merge-order`",
		"BSGD": "BSGD by merging", "FSGD": "FSGD (keeps every sample)",
		"FOGD, D = 10000": "FOGD, only weights counted", "FOGD, D = 248": "FOGD, frequencies counted too", "RFF-SGD, D = 248": "RFF-SGD, frequencies counted too",
		"FOGD, D = 40": "FOGD, only weights counted", "FOGD, D = 33": "FOGD, frequencies counted too",
		"RFF-SGD, D = 40": "RFF-SGD, only weights counted", "RFF-SGD, D = 33": "RFF-SGD, frequencies counted too",
	}
	return func(t *testing.T) string {
		type learner struct {
			hinge float64
			row   []string
		}
		var found []learner
		logistic := make(map[string]string)
		lines := table(t, "tables/tableS3.csv")
		for _, line := range lines {
			if line["data"] == set && line["task"] == "klr" {
				logistic[line["series"]], _, _ = strings.Cut(line["error (%)"], " (")
			}
		}
		for _, line := range lines {
			if line["data"] != set || line["task"] != "ksvm" {
				continue
			}
			err, _, _ := strings.Cut(line["error (%)"], " (")
			mean, _, _ := strings.Cut(err, " ")
			order, _, _ := strings.Cut(line["model order"], " ")
			title := cmp.Or(titles[line["series"]], line["series"])
			other := cmp.Or(logistic[line["series"]], words.Dash)
			row := []string{title, words.Grouped(int(number(t, order)+0.5)) + kept(line["series"]), err, other}
			if set == "mnist" {
				row = append(row, line["CPU (s)"])
			}
			found = append(found, learner{number(t, mean), row})
		}
		slices.SortStableFunc(found, func(a, b learner) int { return cmp.Compare(a.hinge, b.hinge) })
		header := []string{"learner", "mean model order, or number of frequencies or samples", "test error, hinge (%)", "test error, logistic (%)"}
		if set == "mnist" {
			header = append(header, "processor time, hinge (s)")
		}
		var rows [][]string
		for _, l := range found {
			rows = append(rows, l.row)
		}
		return markdown(header, rows)
	}
}

// kept names what a series keeps in place of elements, or nothing.
func kept(series string) string {
	switch {
	case strings.Contains(series, "D ="):
		return " frequencies"
	case series == "NOGD", series == "Nyström-SGD":
		return " samples"
	}
	return ""
}

// atMemory returns the line of Table S3 of a series.
func atMemory(t *testing.T, set, task, series string) map[string]string {
	t.Helper()
	for _, line := range table(t, "tables/tableS3.csv") {
		if line["data"] == set && line["task"] == task && line["series"] == series {
			return line
		}
	}
	t.Fatalf("no %s on %s", series, set)
	return nil
}

// choice returns the table that says when to use which learner, with the errors that speak for it.
func choice(t *testing.T) string {
	var rows [][]string
	for _, of := range []struct{ need, learner, loss, task, mnist, multidist, tested string }{
		{"little error on MNIST with the hinge loss, from a learner that keeps samples", "BSGD by merging", "hinge", "ksvm", "BSGD", "BSGD", "POLK with `komp-order` and `komp-merge-order`"},
		{"probabilities of the classes, from a learner that keeps samples", "POLK, `komp-merge-order`", "logistic", "klr", "POLK, komp-merge-order", "POLK, komp-merge-order", "none"},
		{"a model whose size adapts to the data: K is set, and the size follows", "POLK, `komp-merge`", "hinge", "ksvm", "POLK, komp-merge", "POLK, komp-merge", "none"},
		{"", "", "logistic", "klr", "POLK, komp-merge", "POLK, komp-merge", "none"},
		{"least error on MNIST with the hinge loss, if the frequencies need not be stored (drawing them again for each sample is slow; our run stored them)", "FOGD, only weights counted", "hinge", "ksvm", "FOGD, D = 10000", "FOGD, D = 40", "POLK with `komp-merge-order`, on MNIST"},
		{"the paper's method", "POLK, `komp`", "hinge", "ksvm", "POLK, komp", "POLK, komp", "none"},
		{"", "", "logistic", "klr", "POLK, komp", "POLK, komp", "none"},
	} {
		row := []string{of.need, of.learner, of.loss}
		for _, cell := range [][2]string{{"mnist", of.mnist}, {"multidist (calibrated)", of.multidist}} {
			value, _, _ := strings.Cut(atMemory(t, cell[0], of.task, cell[1])["error (%)"], " (")
			row = append(row, value)
		}
		rows = append(rows, append(row, of.tested))
	}
	return markdown([]string{"you need", "learner", "loss", "MNIST, test error (%)", "multidist, test error (%)", "tested against"}, rows)
}

// A memoryRule is a way to count the numbers of a learner of model order m with p features and c classes.
type memoryRule struct {
	title string
	count func(m, p, c int) int
}

// most returns the largest model order whose count is within a limit.
func (r memoryRule) most(p, c, limit int) (m int) {
	for r.count(m+1, p, c) <= limit {
		m++
	}
	return m
}

// stored counts the numbers of POLK as Table S3 does.
func stored(m, p, c int) int { return m*(p+c) + m*m }

// memoryRules returns the table of POLK's largest model order by what counts as memory.
func memoryRules(*testing.T) string {
	var rows [][]string
	for _, rule := range []memoryRule{
		{"samples, weights and the whole inverse (our count)", stored},
		{"samples, weights and half of the inverse, which is symmetric", func(m, p, c int) int { return m*(p+c) + m*(m+1)/2 }},
		{"samples and weights only: the inverse is computed again in each step", func(m, p, c int) int { return m * (p + c) }},
		{"our count at its peak, with 32 new elements before pruning", func(m, p, c int) int { return stored(m+32, p, c) }},
		{"the same with one new element", func(m, p, c int) int { return stored(m+1, p, c) }},
	} {
		row := []string{rule.title}
		for _, of := range [][3]int{{784, 10, 200_000}, {2, 5, 400}} {
			if m := rule.most(of[0], of[1], of[2]); m > 0 {
				row = append(row, fmt.Sprint(m))
			} else {
				row = append(row, "none")
			}
		}
		rows = append(rows, row)
	}
	return markdown([]string{"what counts", "MNIST, 200,000 numbers", "multidist, 400 numbers"}, rows)
}

// chosen returns the settings of the learners with the hinge loss on a data set, by label. Some learners have nothing
// to choose.
func chosen(t *testing.T, set string) map[string]string {
	t.Helper()
	specs, err := harness.FindSpecs([]string{"learners-" + set + "-ksvm"})
	testutil.NoError(t, err)
	plan, err := harness.PlanAll(specs, spec.ProfileFull, spec.PlanOptions{})
	testutil.NoError(t, err)
	out := make(map[string]string)
	for _, p := range plan {
		of, text := p.Run.Params, []string(nil)
		add := func(name string, value float64) { text = append(text, name+" = "+words.Plain(value)) }
		if p.Label != "forgetron" && p.Label != "projectron" {
			add("η", of.LearningRate)
		}
		switch p.Label {
		case "komp", "komp-merge":
			add("K", of.Parsimony)
		case "norma":
			add("λ", of.Regularizer)
		case "projectron":
			add("δ", of.Own["projection_error"])
		case "nogd":
			add("k", of.Own["rank"])
		case "rff-sgd", "rff-sgd-redrawn", "nystrom-sgd":
			add("t₀", of.Horizon)
		}
		out[p.Label] = strings.Join(text, ", ")
	}
	out["polk"] = out["komp-order"] // its name in experiments/settings
	return out
}

// tuned returns the table of the settings that were tried for the learners with the hinge loss, and of those chosen.
func tuned(t *testing.T) string {
	rate := regexp.MustCompile(`-(rate|rank)-.*`)
	titles := map[string]string{"polk": "POLK, `komp-order`", "komp": "POLK, `komp`", "komp-merge": "POLK, `komp-merge`", "komp-merge-order": "POLK, `komp-merge-order`",
		"bsgd": "BSGD by merging", "fsgd": "FSGD", "norma": "NORMA", "projectron": "Projectron++", "nogd": "NOGD", "nystrom-sgd": "Nyström-SGD",
		"fogd": "FOGD, frequencies counted too", "fogd-redrawn": "FOGD, only weights counted", "rff-sgd": "RFF-SGD, frequencies counted too", "rff-sgd-redrawn": "RFF-SGD, only weights counted"}
	found := make(map[string][4]string)
	for i, set := range []string{"mnist", "multidist"} {
		counts, runs := make(map[string]int), make(map[string]string)
		for _, part := range []string{"", "-pruners"} {
			for _, line := range testutil.Table(t, filepath.Join(root, "experiments/settings/learners-"+set+"-ksvm"+part+".csv")) {
				name := rate.ReplaceAllString(line["method"], "")
				counts[name]++
				runs[name] = line["runs"]
			}
		}
		best := chosen(t, set)
		for name, n := range counts {
			cells := found[name]
			cells[2*i], cells[2*i+1] = fmt.Sprintf("%d × %s", n, runs[name]), best[name]
			found[name] = cells
		}
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if titles[name] == "" {
			t.Fatalf("no title for %s", name)
		}
		row := []string{titles[name]}
		for _, cell := range found[name] {
			row = append(row, cmp.Or(cell, words.Dash))
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return markdown([]string{"learner", "MNIST: settings tried × runs of each", "MNIST: chosen", "multidist: settings tried × runs of each", "multidist: chosen"}, rows)
}

// interval writes the interval of a difference of Table S5, whose ends are in the given columns.
func interval(t *testing.T, line map[string]string, low, high string) string {
	t.Helper()
	if line[low] == "" {
		return words.Dash
	}
	return words.Signed(number(t, line[low]), 2) + " to " + words.Signed(number(t, line[high]), 2)
}

// atEqualMemory returns the lines of Table S5 on learners at equal memory.
func atEqualMemory(t *testing.T) string {
	var rows [][]string
	for _, line := range table(t, "tables/tableS5.csv") {
		if set, memory, _ := strings.Cut(line["data"], ", "); strings.HasSuffix(memory, " numbers") {
			difference, loss := line["difference"], "hinge"
			for _, l := range []string{"hinge", "logistic"} {
				if rest, found := strings.CutSuffix(difference, ", "+l); found {
					difference, loss = rest, l
				}
			}
			rows = append(rows, []string{set, loss, difference, line["runs"], words.Signed(number(t, line["points"]), 2), interval(t, line, "low", "high"), interval(t, line, "low_other_rows", "high_other_rows")})
		}
	}
	return markdown([]string{"data", "loss", "first learner − second learner", "pairs of runs", "difference of test errors (points)", "90 % interval, these test rows", "90 % interval, other test rows"}, rows)
}

// heldOut returns the least held-out error in the search for a learner's settings on MNIST.
func heldOut(t *testing.T, task, name string) string {
	t.Helper()
	for _, line := range testutil.Table(t, filepath.Join(root, "experiments/settings/learners-mnist-"+task+".csv")) {
		if line["method"] == name && line["best"] == "best" {
			return line["held-out error (%)"]
		}
	}
	t.Fatalf("no setting of %s", name)
	return ""
}

// TestLearnersProse: the sentences of learners.md with a number say what the records say.
func TestLearnersProse(t *testing.T) {
	value := func(series, column string) float64 {
		mean, _, _ := strings.Cut(atMemory(t, "mnist", "ksvm", series)[column], " ")
		return number(t, mean)
	}
	says := []string{
		fmt.Sprintf("about %.0f times the processor time of BSGD", 10*math.Round(value("FOGD, D = 10000", "CPU (s)")/value("BSGD", "CPU (s)")/10)),
		fmt.Sprintf("POLK has %.1f times the error of BSGD", value("POLK, komp", "error (%)")/value("BSGD", "error (%)")),
		fmt.Sprintf("%s random numbers for each sample", words.Grouped(10000*784)),
		fmt.Sprintf("%s numbers on MNIST and %s on multidist", words.Grouped(stored(201+32, 784, 10)), words.Grouped(stored(16+32, 2, 5))),
	}
	for _, task := range []string{"ksvm", "klr"} {
		says = append(says, fmt.Sprintf("| %s | %s | %s | %s |", losses[task], heldOut(t, task, "rff-sgd-redrawn"), heldOut(t, task, "fogd-redrawn"), heldOut(t, task, "komp-merge-order")))
	}
	for _, line := range table(t, "tables/tableS5.csv") {
		if line["difference"] == "komp-merge-order − BSGD by merging" && strings.HasPrefix(line["data"], "MNIST") {
			says = append(says, fmt.Sprintf("by %.2f points.", number(t, line["points"])),
				interval(t, line, "low_other_rows", "high_other_rows"))
		}
	}
	all := atMemory(t, "multidist (calibrated)", "ksvm", "FSGD")
	for _, series := range []string{"BSGD", "POLK, komp-merge", "POLK, komp-merge-order", "FOGD, D = 40", "FOGD, D = 33", "RFF-SGD, D = 40", "RFF-SGD, D = 33"} {
		mean := func(line map[string]string) float64 {
			m, _, _ := strings.Cut(line["error (%)"], " ")
			return number(t, m)
		}
		if d := math.Abs(mean(atMemory(t, "multidist (calibrated)", "ksvm", series)) - mean(all)); d > 0.205 {
			t.Errorf("the error of %s is %.2f points from that of FSGD", series, d)
		}
	}
	saysAll(t, "docs/learners.md", append(says, outlier(t))...)
}

// outlier says how far one draw of multidist is from the others for POLK with komp-merge-order and the hinge loss.
func outlier(t *testing.T) string {
	t.Helper()
	specs, err := harness.FindSpecs([]string{"learners-multidist-ksvm"})
	testutil.NoError(t, err)
	plan, err := harness.PlanAll(specs, spec.ProfileFull, spec.PlanOptions{})
	testutil.NoError(t, err)
	var errors []float64
	for _, p := range plan {
		if p.Label == "komp-merge-order" {
			r, err := record.Read(filepath.Join(root, "results/reference/records", p.ID+".jsonl.gz"))
			testutil.NoError(t, err)
			errors = append(errors, 100*r.Final.TestError)
		}
	}
	if len(errors) != 20 {
		t.Fatalf("%d runs of komp-merge-order", len(errors))
	}
	slices.Sort(errors)
	return fmt.Sprintf("%.1f %%. On the other nineteen it is between %.1f and %.1f %%", errors[19], errors[0], errors[18])
}

// saysAll checks that a document has the given sentences.
func saysAll(t *testing.T, doc string, sentences ...string) {
	t.Helper()
	prose := words.OneLine(strings.ReplaceAll(read(t, doc), "*", ""))
	for _, s := range sentences {
		if !strings.Contains(prose, s) {
			t.Errorf("%s does not say %q", doc, s)
		}
	}
}
