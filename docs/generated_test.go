package docs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/compare"
	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/internal/words"
)

// generators make the blocks of documents that repeat recorded results or the ledger. The keys are the
// names in the comments before the blocks.
var generators = map[string]func(*testing.T) string{
	"results/reference/figures/joint.csv":                  joint,
	"results/reference/figures/passes-*.csv":               closest,
	"results/reference/placebo.json":                       placebo,
	"results/reference/tables/runs.csv, a billion samples": billion,
	"results/reference/tables/runs.csv, C-SVC":             cost,
	"results/reference/bench/bench.txt, MNIST":             mnistSteps,
	"results/reference/bench/bench.txt, steps":             steps,
	"results/reference/bench/bench.txt, projections":       projections,
	"results/reference/scale/scale.txt, steps":             exponents,
	"results/reference/scale/scale.txt, trainings":         trainings,
	"results/reference/own-data.txt":                       processes,
	"results/reference/own-data.txt, rates":                predictions,
	"results/reference/tables/runs.csv, advice":            advice,
	"results/reference/tables/runs.csv, early":             early,
	"results/reference/tables/runs.csv, sizes":             modelSizes,
	"results/reference/stream.csv":                         streams,
	"results/reference/tables/runs.csv, MNIST":             beyond,
	"results/reference/verdicts.json, cells":               cellVerdicts,
	"results/reference/tables/table1-series.csv":           distances,
	"results/reference/tables/tableS3.csv, choice":         choice,
	"the rules of memory":                                  memoryRules,
	"experiments/settings, hinge":                          tuned,
	"results/reference/tables/tableS3.csv, MNIST":          learners("mnist"),
	"results/reference/tables/tableS3.csv, multidist":      learners("multidist (calibrated)"),
	"results/reference/tables/tableS4.csv, BSGD's rates":   rates,
	"results/reference/tables/tableS4.csv, BSGD's risks":   rateRisks,
	"results/reference/tables/tableS4.csv, K of MNIST":     printedK,
	"results/reference/tables/tableS4.csv, patches":        patches,
	"results/reference/tables/tableS5.csv, any draws":      contrasts("multidist, selected draws", "multidist, any draws"),
	"results/reference/tables/tableS5.csv, BSGD":           contrastsOfRows("MNIST, 1,086 elements", "MNIST, 324 elements", "Brodatz, 1,171 elements", "Brodatz, 305 elements"),
	"results/reference/tables/tableS5.csv, maintenance":    maintenance,
	"results/reference/tables/tableS5.csv, maintained":     maintained,
	"results/reference/tables/tableS5.csv, memory":         atEqualMemory,
	"results/reference/tables/tableS5.csv, ten draws":      contrasts("Brodatz, ten draws"),
	"the choices by result":                                byResult,
	"errata.yaml, settings":                                errata("setting"),
	"errata.yaml, algorithms":                              errata("algorithm"),
	"errata.yaml, theorems":                                errata("theorem"),
	"errata.yaml, results":                                 errata("result"),
	"errata.yaml, others":                                  slips,
	"the draws of L-BFGS":                                  lbfgsDraws,
	"the intervals of one run":                             oneRun,
	"the modes of multidist":                               modes,
	"the numbers of POLK":                                  polk,
	"results/reference/times.csv":                          times,
	"results/reference/verdicts.json":                      counts,
	"the cells":                                            cells,
	"the intervals of test samples":                        otherSamples,
	"the scorecard":                                        scorecard,
	"the sentences that are not reproduced":                failures,
	"results/reference/tournament, error":                  tournament("", compare.ErrorAtOrder, "komp-merge", "komp-merge-order", "merging", "komp-order", "komp-loss", "ald", "coherence", "oldest"),
	"results/reference/tournament, time":                   tournament("", compare.Time, "komp-merge", "komp-merge-order", "merging"),
	"results/reference/tournament, merging":                tournament("against-merging", compare.ErrorAtOrder, "komp-merge", "komp-merge-order", "komp"),
	"results/reference/tournament, stream":                 tournament("", compare.Anytime, "komp-merge", "merging", "komp-age", "komp-loss"),
}

// TestGenerated: the blocks between "<!-- from SOURCE -->" and "<!-- end -->" match their sources. To
// write the blocks: go test ./docs -update
func TestGenerated(t *testing.T) {
	block := regexp.MustCompile(`(?s)(<!-- from ([^>]*) -->\n).*?(<!-- end -->)`)
	for _, doc := range documents(t) {
		golden.Check(t, filepath.Join(root, doc), block.ReplaceAllStringFunc(read(t, doc), func(text string) string {
			m := block.FindStringSubmatch(text)
			generate := generators[m[2]]
			if generate == nil {
				t.Fatalf("%s: nothing generates the block from %s", doc, m[2])
			}
			return m[1] + generate(t) + m[3]
		}))
	}
}

// markdown returns a table.
func markdown(header []string, rows [][]string) string {
	out := fmt.Sprintf("| %s |\n%s|\n", strings.Join(header, " | "), strings.Repeat("|---", len(header)))
	for _, row := range rows {
		out += "| " + strings.Join(row, " | ") + " |\n"
	}
	return out
}

// recorded reads a JSON file of the recorded results.
func recorded[T any](t *testing.T, name string) (v T) {
	t.Helper()
	testutil.NoError(t, json.Unmarshal([]byte(read(t, "results/reference/"+name)), &v))
	return v
}

// table reads a CSV file of the recorded results.
func table(t *testing.T, name string) []map[string]string {
	t.Helper()
	return testutil.Table(t, filepath.Join(root, "results/reference", name))
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	testutil.NoError(t, err)
	return v
}

// A column of a table has values of the lines of a recorded CSV file that are in it.
type column struct {
	title, file string
	in          func(line map[string]string) bool
}

// layout returns a table of recorded values: a row for each name in the field key of the files, and in
// each column what show makes of the name's line.
func layout(t *testing.T, key string, names []string, show func(line map[string]string) string, columns ...column) string {
	header, rows := []string{""}, make([][]string, len(names))
	for i, name := range names {
		rows[i] = []string{"`" + name + "`"}
	}
	for _, c := range columns {
		header = append(header, c.title)
		found := make(map[string]string)
		for _, line := range table(t, c.file) {
			if c.in(line) {
				found[line[key]] = show(line)
			}
		}
		for i, name := range names {
			rows[i] = append(rows[i], found[name])
		}
	}
	return markdown(header, rows)
}

// tournament returns a generator for the table of one measure of the recorded tournament. Better
// values are bold, worse values are marked "worse", and values that the grid is too coarse to
// judge are in brackets.
func tournament(folder string, by compare.Measure, names ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		titles := []string{"multidist, hinge", "logistic", "drift", "MNIST", "Brodatz", "Fashion", "letter", "satimage"}
		var fields []column
		for i, name := range []string{"multidist-ksvm", "multidist-klr", "drift-ksvm", "mnist-ksvm", "brodatz-ksvm", "fashion-ksvm", "letter-ksvm", "satimage-ksvm"} {
			fields = append(fields, column{titles[i], filepath.Join("tournament", folder, "tables", name+".csv"), func(line map[string]string) bool { return line["by"] == by.String() }})
		}
		return layout(t, "heuristic", names, func(line map[string]string) string {
			if line["difference"] == "" {
				return words.Dash
			}
			value := by.Difference(words.Nullable(number(t, line["difference"])))
			switch verdict := compare.Verdict(line["verdict"]); {
			case by == compare.Time:
			case verdict == compare.Better:
				return "**" + value + "**"
			case verdict == compare.TooCoarse:
				return "(" + value + ")"
			case verdict == compare.Worse:
				return value + " worse"
			}
			return value
		}, fields...)
	}
}

// contrasts returns a generator for the lines of Table S5 on the given data.
func contrasts(on ...string) func(*testing.T) string { return differences(false, on) }

// contrastsOfRows is contrasts with the intervals that allow for other test rows.
func contrastsOfRows(on ...string) func(*testing.T) string { return differences(true, on) }

func differences(otherRows bool, on []string) func(*testing.T) string {
	return func(t *testing.T) string {
		header, rows := []string{"data", "difference of errors", "points", "90 % interval"}, [][]string(nil)
		if otherRows {
			header = append(header, "90 % interval, test set resampled")
		}
		for _, line := range table(t, "tables/tableS5.csv") {
			if slices.Contains(on, line["data"]) {
				points := func(name string) string { return words.Signed(number(t, line[name]), 2) }
				row := []string{strings.Replace(line["data"], "any draws", "unselected draws", 1), line["difference"], points("points"), points("low") + " to " + points("high")}
				if otherRows {
					row = append(row, points("low_other_rows")+" to "+points("high_other_rows"))
				}
				rows = append(rows, row)
			}
		}
		return markdown(header, rows)
	}
}

// mean returns the mean of an entry "mean ± deviation (low to high)".
func mean(entry string) string {
	m, _, _ := strings.Cut(entry, " ")
	return m
}

// questions returns a function that finds the line of Table S4 of a series on a data set with a task.
func questions(t *testing.T) func(set, task, series string) map[string]string {
	lines := table(t, "tables/tableS4.csv")
	return func(set, task, series string) map[string]string {
		for _, line := range lines {
			if line["data"] == set && line["task"] == task && line["series"] == series {
				return line
			}
		}
		t.Fatalf("Table S4 has no %s on %s", series, set)
		return nil
	}
}

// rates returns the table of BSGD's errors on multidist by maintenance and learning rate, with their
// deviations over the draws.
func rates(t *testing.T) string {
	line := questions(t)
	var rows [][]string
	for _, maintenance := range []string{"merging", "projection", "removal", "keep-newest"} {
		row := []string{"`" + maintenance + "`"}
		for _, rate := range []string{"η = 0.1", "η = 0.3", "η = 1 or 1/(λt): constant", "η = 3", "η = 10", "η = 1 or 1/(λt): inverse"} {
			l := line("multidist (calibrated)", "ksvm", "BSGD, "+maintenance+", "+rate)
			if l["runs"] != "20 of 20" {
				t.Errorf("%s, %s: %s runs", maintenance, rate, l["runs"])
			}
			error, _, _ := strings.Cut(l["error (%)"], " (")
			row = append(row, error)
		}
		rows = append(rows, row)
	}
	return markdown([]string{"maintenance", "η = 0.1", "η = 0.3", "η = 1", "η = 3", "η = 10", "η = 1/(λt)"}, rows)
}

// rateRisks returns the table of the test risks of BSGD by merging at the two rates that are best by some
// measure.
func rateRisks(t *testing.T) string {
	line := questions(t)
	var rows [][]string
	for _, of := range [][2]string{{"multidist (calibrated)", "multidist, mean over 20 draws"}, {"mnist", "MNIST, one run"}} {
		row := []string{of[1]}
		for _, rate := range []string{"η = 0.3", "η = 1 or 1/(λt): constant"} {
			row = append(row, mean(line(of[0], "ksvm", "BSGD, merging, "+rate)["test risk"]))
		}
		rows = append(rows, row)
	}
	return markdown([]string{"BSGD by merging, test risk", "η = 0.3", "η = 1"}, rows)
}

// printedK returns the table of POLK's model orders and errors on MNIST with the printed K and with a
// tenth of it.
func printedK(t *testing.T) string {
	line := questions(t)
	shown := func(order, error string) string {
		return fmt.Sprintf("%s (%.0f %%)", elements(math.Round(number(t, mean(order)))), number(t, mean(error)))
	}
	tenth := []string{"**η = 24, a tenth of K (our choice)**"}
	for _, at := range [][2]string{{"ksvm", "0.024"}, {"ksvm", "0.016"}, {"klr", "0.016"}, {"klr", "0.008"}} {
		l := runsLine(t, "mnist", at[0], "POLK, K = "+at[1], "5 of 5", "240000")
		tenth = append(tenth, shown(l["model order"], l["test error (%)"]))
	}
	printed := []string{"η = 24"}
	for _, at := range [][2]string{{"ksvm", "0.24"}, {"ksvm", "0.16"}, {"klr", "0.16"}, {"klr", "0.08"}} {
		l := runsLine(t, "mnist", at[0], "POLK, K = "+at[1], "5 of 5", "240000")
		printed = append(printed, shown(l["model order"], l["test error (%)"]))
	}
	rows := [][]string{{"the paper's model order", "324", "1,086", "not printed", "2,326"}, tenth, printed}
	for _, of := range [][2]string{{"η = 6", "POLK, K = %s, η = 6"}, {"η = 5.2", "POLK, K = %s, η = 5.2"}, {"η = 2.4", "POLK, K = %s, η = 2.4"},
		{"η = 0.24, only 12,000 samples", "POLK, K = %s, η = 0.24, 12,000 samples"}, {"η = 24, gradients of a mini-batch summed", "POLK, summed gradients, ε of K = %s"}} {
		row := []string{of[0]}
		for _, at := range [][2]string{{"ksvm", "0.24"}, {"ksvm", "0.16"}, {"klr", "0.16"}, {"klr", "0.08"}} {
			l := line("mnist", at[0], fmt.Sprintf(of[1], at[1]))
			row = append(row, shown(l["model order"], l["error (%)"]))
		}
		rows = append(rows, row)
	}
	return markdown([]string{"learning rate", "hinge, K = 0.24", "hinge, K = 0.16", "logistic, K = 0.16", "logistic, K = 0.08"}, rows)
}

// patches returns the table of the errors on Brodatz by where the test patches lie.
func patches(t *testing.T) string {
	line := questions(t)
	var rows [][]string
	for _, of := range [][2]string{{"anywhere in the image, as in the paper", "brodatz (raw)"}, {"in every other stripe", "brodatz (raw-interleaved)"}, {"in the right half", "brodatz (raw-disjoint)"}} {
		row := []string{of[0]}
		for _, method := range []string{"POLK", "BSGD", "C-SVC"} {
			row = append(row, mean(line(of[1], "ksvm", method)["error (%)"]))
		}
		rows = append(rows, row)
	}
	polk := func(i int) float64 { return number(t, rows[i][1]) }
	return markdown([]string{"test patches lie", "POLK, error (%)", "BSGD by merging, error (%)", "C-SVC, error (%)"}, rows) +
		fmt.Sprintf("\nWithout shared pixels POLK's error is %.1f points higher. If test patches also lie in another half of the image, it is %.1f\npoints higher still.\n", polk(1)-polk(0), polk(2)-polk(1))
}

// percent writes a share with two significant digits, or all digits before the point.
func percent(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f %%", v)
	}
	return fmt.Sprintf("%.0f %%", v)
}

// elements writes a model order, with a comma from a thousand on.
func elements(order float64) string {
	if order < 100 {
		return fmt.Sprintf("%.3g", order)
	}
	n := int(math.Round(order))
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// closest returns the table of the points of the paths on Brodatz that are closest to the printed numbers.
func closest(t *testing.T) string {
	var rows [][]string
	for _, of := range [][3]string{{"ksvm", "POLK", "POLK, hinge"}, {"klr", "POLK", "POLK, logistic"}, {"ksvm", "BSGD, merging", "BSGD by merging"}, {"ksvm", "BSGD, projection", "BSGD by projection"},
		{"ksvm", "BSGD, removal", "BSGD by removal"}, {"ksvm", "L-BFGS", "L-BFGS, hinge"}, {"klr", "L-BFGS", "L-BFGS, logistic"}} {
		var best map[string]string
		for _, line := range table(t, "figures/passes-"+of[0]+".csv") {
			distance := line["largest_relative_distance"]
			if line["series"] == of[1] && (best == nil || number(t, distance) < number(t, best["largest_relative_distance"])) {
				best = line
			}
		}
		at, unit := number(t, best["samples_or_iterations"]), "samples"
		if of[1] == "L-BFGS" {
			unit = "iterations"
		}
		rows = append(rows, []string{of[2], elements(at) + " " + unit, percent(100 * number(t, best["largest_relative_distance"]))})
	}
	return markdown([]string{"method", "closest after", "largest difference from a printed number"}, rows)
}

// modes returns the table of POLK's model orders by the number of modes of multidist.
func modes(t *testing.T) string {
	var header, row = []string{"modes of the mixture"}, []string{"POLK's elements"}
	for _, of := range [][3]string{{"5", "multidist.learned-order", "modes-5[POLK on 5 modes]"}, {"10", "multidist.learned-order", "modes-10[POLK on 10 modes]"}, {"15", "multidist.optimal-order", "order"},
		{"20", "multidist.learned-order", "modes-20[POLK on 20 modes]"}, {"30", "multidist.learned-order", "modes-30[POLK on 30 modes]"}} {
		header = append(header, of[0])
		for _, c := range recorded[evidence.Document](t, "verdicts.json").Claims {
			for _, test := range c.Tests {
				if c.ID == of[1] && test.ID == of[2] {
					row = append(row, fmt.Sprintf("%.1f", float64(*test.Value)))
				}
			}
		}
	}
	return markdown(header, [][]string{row})
}

// beyond returns the table of methods on MNIST for which the paper prints no numbers, beside POLK.
func beyond(t *testing.T) string {
	var rows [][]string
	for _, of := range [][3]string{{"hinge", "ksvm", "POLK, K = 0.016"}, {"logistic", "klr", "POLK, K = 0.008"}} {
		lbfgs, nystrom, polk := runsLine(t, "mnist", of[1], "L-BFGS", "1 of 1", "60000"), runsLine(t, "mnist", of[1], "Nyström", "1 of 1", "60000"), runsLine(t, "mnist", of[1], of[2], "5 of 5", "240000")
		row := []string{of[0], fmt.Sprintf("%.1f min", number(t, lbfgs["wall (s)"])/60)}
		for _, line := range []map[string]string{lbfgs, nystrom, polk} {
			row = append(row, line["test error (%)"], line["model order"])
		}
		rows = append(rows, row)
	}
	return markdown([]string{"loss", "L-BFGS, wall time", "L-BFGS, error (%)", "L-BFGS, model order", "Nyström, error (%)", "Nyström, training points", "POLK, error (%)", "POLK, model order"}, rows)
}

// distances returns the table of the least distances to f* with and without pruning.
func distances(t *testing.T) string {
	by := make(map[string]map[string]string)
	for _, line := range table(t, "tables/table1-series.csv") {
		by[line["series"]] = line
	}
	var rows [][]string
	for _, of := range [][3]string{{"diminishing", "POLK, diminishing", "FSGD, diminishing"}, {"η = 0.3", "POLK, η = 0.3, K = 0.03", "FSGD, η = 0.3"},
		{"η = 0.1", "POLK, η = 0.1, K = 0.03", "FSGD, η = 0.1"}, {"η = 0.03", "POLK, η = 0.03, K = 0.03", "FSGD, η = 0.03"}} {
		runs, _, _ := strings.Cut(by[of[1]]["runs"], " ")
		row := []string{of[0], runs, words.Grouped(int(number(t, by[of[1]]["samples"])))}
		for _, name := range of[1:] {
			for _, key := range []string{"least distance", "M at the end"} {
				mean, _, _ := strings.Cut(by[name][key], " (")
				row = append(row, mean)
			}
		}
		rows = append(rows, row)
	}
	norm := regexp.MustCompile(`‖f\\\*‖ = (\d+\.\d+)`).FindStringSubmatch(read(t, "results/reference/tables/table1.md"))
	if norm == nil {
		t.Fatal("table1.md does not give the norm of f*")
	}
	return fmt.Sprintf("The norm of f\\* is %s.\n\n", norm[1]) +
		markdown([]string{"learning rate", "runs", "steps", "POLK, least distance to f\\*", "POLK, elements", "FSGD, least distance to f\\*", "FSGD, elements"}, rows)
}

// tables returns the lines of Tables 2 and 3 that have a verdict.
func tables(t *testing.T) (lines []map[string]string) {
	for _, line := range slices.Concat(table(t, "tables/table2.csv"), table(t, "tables/table3.csv")) {
		if line["verdict"] != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// oneRun counts the learned numbers inside the interval of one new run, by data set.
func oneRun(t *testing.T) string {
	set := make(map[string]bool) // numbers that are settings
	for _, c := range recorded[evidence.Document](t, "verdicts.json").Claims {
		for _, test := range c.Tests {
			if test.Set {
				set[c.ID+"."+test.ID] = true
			}
		}
	}
	inside, of := make(map[string]int), make(map[string]int)
	for _, line := range tables(t) {
		id := strings.Join([]string{line["table"], line["data"], line["task"], line["method"], line["quantity"]}, ".")
		if line["paper_in_one_run"] == "" || set[id] {
			continue
		}
		of[line["data"]]++
		if line["paper_in_one_run"] == "true" {
			inside[line["data"]]++
		}
	}
	var rows [][]string
	for _, name := range []string{"multidist", "mnist", "brodatz"} {
		rows = append(rows, []string{titles[name], strconv.Itoa(of[name]), strconv.Itoa(inside[name])})
	}
	return markdown([]string{"data set", "learned numbers with three runs or more", "in the interval of one further run"}, rows)
}

// otherSamples says which printed errors on MNIST and Brodatz lie in the intervals for one further run on
// another test sample.
func otherSamples(t *testing.T) string {
	inside, of := make(map[bool]int), make(map[bool]int) // whether the method is POLK or C-SVC
	for _, line := range tables(t) {
		if line["data"] == "multidist" || line["quantity"] != "error" {
			continue
		}
		kind := line["method"] == "polk" || line["method"] == "libsvm"
		of[kind]++
		if line["paper_in_new_rows"] == "true" {
			inside[kind]++
		}
	}
	if inside[true] != 6 || of[true] != 6 || inside[false] != 0 || of[false] != 4 {
		t.Errorf("of POLK and C-SVC %d of %d are inside, of the others %d of %d", inside[true], of[true], inside[false], of[false])
	}
	return "All six printed errors of POLK and LIBSVM on these two data sets lie in the wider intervals. None of the four printed\nerrors of BSGD and L-BFGS does.\n"
}

// titles are the names of the paper's data sets in text.
var titles = map[string]string{"multidist": "multidist", "mnist": "MNIST", "brodatz": "Brodatz"}

// lbfgsDraws returns the table of L-BFGS's error with the logistic loss on one draw of Brodatz and on ten.
func lbfgsDraws(t *testing.T) string {
	for _, line := range tables(t) {
		if line["data"] != "brodatz" || line["task"] != "klr" || line["method"] != "lbfgs" || line["quantity"] != "error" {
			continue
		}
		value := func(name string) float64 { return number(t, line[name]) }
		low, high, margin := value("draws_low"), value("draws_high"), [2]float64{value("paper") - 1, value("paper") + 1}
		if low >= margin[0] || high <= margin[0] || high > margin[1] {
			t.Errorf("the interval %g to %g of ten draws does not cross the lower end of the margin", low, high)
		}
		return markdown([]string{"L-BFGS, logistic loss, Brodatz", "error (%)", "verdict"}, [][]string{
			{"the paper's", fmt.Sprintf("%.2f, margin %.2f to %.2f", value("paper"), margin[0], margin[1]), words.Dash},
			{"ours, one run on one draw, which judges the cell", fmt.Sprintf("%.2f", value("mean")), line["verdict"]},
			{"ours, mean over ten draws with its 90 % interval", fmt.Sprintf("%.2f (%.2f to %.2f)", value("draws_mean"), low, high), "would be inconclusive"},
		})
	}
	t.Fatal("no L-BFGS on Brodatz")
	return ""
}

// methods are the names of the methods of Tables 2 and 3 in text, and losses those of the tasks.
var (
	methods = map[string]string{"libsvm": "C-SVC, for LIBSVM", "lbfgs": "L-BFGS", "ivm": "IVM", "bsgd": "BSGD by merging", "polk": "POLK"}
	losses  = map[string]string{"ksvm": "hinge", "klr": "logistic"}
)

// verdicts returns the claims of the recorded verdicts by their IDs.
func verdicts(t *testing.T) map[string]evidence.ClaimDocument {
	by := make(map[string]evidence.ClaimDocument)
	for _, c := range recorded[evidence.Document](t, "verdicts.json").Claims {
		by[c.ID] = c
	}
	return by
}

// quantityText writes a risk with three digits, and an error or a model order as the tables do.
func quantityText(quantity string, v float64) string {
	switch {
	case quantity == "risk":
		return words.Decimals(v, 2-int(math.Floor(math.Log10(v))))
	case quantity != "error":
		return elements(v)
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// cells returns the table of the cells of Tables 2 and 3 with their verdicts, and the numbers that are
// not reproduced.
func cells(t *testing.T) string {
	var rows [][]string
	for _, c := range recorded[evidence.Document](t, "verdicts.json").Claims {
		if !c.Cell {
			continue
		}
		id := strings.Split(c.ID, ".") // table, data set, task, method
		var why []string
		for _, test := range c.Tests {
			if test.Verdict != stats.Reproduced {
				unit := map[string]string{"error": " %"}[test.ID]
				why = append(why, fmt.Sprintf("%s %s%s (printed %s%s)", test.ID, quantityText(test.ID, float64(*test.Value)), unit, quantityText(test.ID, *test.Paper), unit))
			}
		}
		verdict := c.Verdict.String()
		if c.Verdict != stats.Reproduced {
			verdict = "**" + verdict + "**"
		} else {
			why = []string{words.Dash}
		}
		rows = append(rows, []string{titles[id[1]], losses[id[2]], methods[id[3]], verdict, strings.Join(why, ", "), c.Half.String()})
	}
	return markdown([]string{"data set", "loss", "method", "verdict", "our numbers that are not reproduced", "if margins were half as wide"}, rows)
}

// polk returns the table of the numbers of POLK, printed and ours, with their verdicts. The last rows are
// settings of K for which the paper prints only the model order.
func polk(t *testing.T) string {
	by := verdicts(t)
	var rows [][]string
	add := func(name, k string, tests ...evidence.TestDocument) {
		row := []string{name, k, words.Dash, words.Dash, words.Dash}
		verdict := stats.Reproduced.String()
		for _, test := range tests {
			paper, ours := *test.Paper, float64(*test.Value)
			quantity, _, _ := strings.Cut(test.ID, "-")
			change := quantityText(quantity, paper) + " → " + quantityText(quantity, ours)
			if test.Verdict != stats.Reproduced {
				verdict = fmt.Sprintf("%s: %s", test.Verdict, quantity)
			}
			switch quantity {
			case "risk":
				row[2] = fmt.Sprintf("%s (%s %%)", change, words.Signed(100*(ours-paper)/paper, 0))
			case "error":
				row[3] = change
			default:
				row[4] = change
			}
		}
		rows = append(rows, append(row, verdict))
	}
	for _, of := range [][3]string{{"multidist", "ksvm", "0.04"}, {"multidist", "klr", "0.03"}, {"mnist", "ksvm", "0.016"}, {"mnist", "klr", "0.008"}, {"brodatz", "ksvm", "0.01"}, {"brodatz", "klr", "0.005"}} {
		number := map[bool]string{true: "table2", false: "table3"}[of[0] == "multidist"]
		add(titles[of[0]]+", "+losses[of[1]], of[2], by[strings.Join([]string{number, of[0], of[1], "polk"}, ".")].Tests...)
	}
	for _, of := range [][4]string{{"multidist, hinge", "0.0001", "multidist.order-129", "order"}, {"multidist, logistic", "0.001", "multidist.between-4-and-5", "order-75"},
		{"MNIST, hinge", "0.024", "mnist.orders", "order-324"}, {"Brodatz, hinge", "0.02", "brodatz.orders", "order-305"}} {
		tests := by[of[2]].Tests
		i := slices.IndexFunc(tests, func(test evidence.TestDocument) bool { return test.ID == of[3] })
		if i < 0 {
			t.Fatalf("no test %s.%s", of[2], of[3])
		}
		add(of[0], of[1], tests[i])
	}
	return markdown([]string{"data set, loss", "our K", "risk", "error (%)", "model order", "verdict"}, rows)
}

// times returns the table of the times of commands.
func times(t *testing.T) string {
	var rows [][]string
	for _, line := range table(t, "times.csv") {
		rows = append(rows, []string{"`" + line["command"] + "`", line["what"], line["time"]})
	}
	return markdown([]string{"command", "what", "time"}, rows)
}

// placebo returns the table of the joint search's results for numbers other than the paper's.
func placebo(t *testing.T) string {
	p := recorded[evidence.PlaceboReport](t, "placebo.json")
	var rows [][]string
	for _, k := range p.Kinds {
		median, most := k.Summary()
		p := fmt.Sprintf("%.3f", k.P)
		if k.Equal == 0 { // no fewer draws can show a smaller p
			p = "≤ " + p
		}
		rows = append(rows, strings.Split(fmt.Sprintf("%s|%d|%d|%d|%s", k.Name, median, most, k.Equal, p), "|"))
	}
	return markdown([]string{fmt.Sprintf("replaced numbers, %d searches each", p.Kinds[0].Draws), "cells reproduced, median", "cells reproduced, most", fmt.Sprintf("searches with at least %d cells", p.Most), "p"}, rows)
}

func counts(t *testing.T) string {
	v := recorded[evidence.Document](t, "verdicts.json")
	var rows [][]string
	numbers := v.Scorecard.Targets
	for _, c := range []evidence.Counts{v.Scorecard.Others, v.Scorecard.Set} {
		numbers.Reproduced, numbers.Deviates, numbers.Inconclusive = numbers.Reproduced+c.Reproduced, numbers.Deviates+c.Deviates, numbers.Inconclusive+c.Inconclusive
	}
	for _, of := range []evidence.Tally{
		{What: "cells of Tables 2 and 3", Counts: v.Counts.Cells},
		{What: "the same cells, with margins half as wide", Counts: v.Counts.Half}, {What: "the same cells, with margins twice as wide", Counts: v.Counts.Twice},
		{What: "numbers in these cells", Counts: numbers},
		{What: "of these: seen when we made a choice", Counts: v.Scorecard.Targets}, {What: "of these: guided no choice", Counts: v.Scorecard.Others}, {What: "of these: given to the method", Counts: v.Scorecard.Set},
		{What: "sentences, captions and rankings", Counts: v.Counts.Sentences}, {What: "statements of Table 1 and its theorems", Counts: v.Counts.Theorems},
	} {
		rows = append(rows, []string{of.What, strconv.Itoa(of.Total()), fmt.Sprintf("**%d**", of.Reproduced), strconv.Itoa(of.Deviates), strconv.Itoa(of.Inconclusive)})
	}
	return markdown([]string{"what is judged", "how many", "reproduced", "deviate", "inconclusive"}, rows)
}

// plain describes the choices that were made with the paper's numbers in view to readers who have not
// seen the symbols of the ledger.
var plain = map[string][2]string{
	"mini-batch":         {"mini-batches of 32 samples; it is not said whether their gradients are averaged or summed", "the average"},
	"budget-norm":        {"a bound ε on the change of the function in a step; it is not said how the changes of several class functions add up", "the root of the sum of their squared norms is at most ε, for all removals of a step together"},
	"bandwidth":          {"“bandwidth σ̃²” = 0.6, 4.0 and 0.1", "these numbers are σ̃, not σ̃², in the kernel exp(−‖x − x'‖²/(2σ̃²))"},
	"multidist-variance": {"variance 0.2 of each Gaussian", "variance 0.04, that is, standard deviation 0.2"},
	"multidist-draws":    {"one draw of the means, which is not given", "20 draws whose Bayes error lies between 3.4 and 4.0 %"},
	"mnist-parsimony":    {"K = 0.16 and 0.24 (hinge), 0.08 and 0.16 (logistic)", "a tenth of each"},
	"epochs-mnist":       {"the number of passes over the data is not printed", "4 passes"},
	"risk":               {"it is not said on which data a risk is taken", "training data on multidist and Brodatz, test data on MNIST"},
	"libsvm-cost":        {"the constant C of LIBSVM is not printed", "C = 1"},
	"ivm-stopping":       {"it is not said when IVM stops; its model has 16 elements", "at 16 elements"},
	"textons":            {"13 of Brodatz's textures and 256 textons; it is not said which textures, or how grey levels are treated", "the first 13 scans of USC-SIPI, raw grey levels"},
}

// byResult returns the table of the choices that were made with the paper's numbers in view, with the
// number of cells that rest on each.
func byResult(t *testing.T) string {
	on := make(map[string]int)
	for _, c := range recorded[evidence.Document](t, "verdicts.json").Claims {
		for _, id := range c.ByResult {
			if c.Cell {
				on[id]++
			}
		}
	}
	var rows [][]string
	for _, a := range experiments.Ledgers().Assumptions {
		if a.How != experiments.ChosenByResult {
			continue
		}
		text, ok := plain[a.ID]
		if !ok {
			t.Errorf("no plain words for the choice %s", a.ID)
		}
		rows = append(rows, []string{"`" + a.ID + "`", text[0], text[1], strconv.Itoa(on[a.ID])})
	}
	if len(rows) != len(plain) {
		t.Errorf("%d choices by result; %d are described", len(rows), len(plain))
	}
	return markdown([]string{"choice", "in the paper", "our choice", "cells that rest on it"}, rows)
}

// scorecard counts the results that were in view when choices were made.
func scorecard(t *testing.T) string {
	s := recorded[evidence.Document](t, "verdicts.json").Scorecard
	return fmt.Sprintf("- **Choices.** Of the %d printed numbers, %d are settings. For %d of the others we made a choice with the number in view; %d of these are\n  reproduced. No choice used the last %d; %d are reproduced, although choices for other numbers shaped the same runs.\n",
		s.Set.Total()+s.Targets.Total()+s.Others.Total(), s.Set.Total(), s.Targets.Total(), s.Targets.Reproduced, s.Others.Total(), s.Others.Reproduced)
}

// unemphasized keeps Markdown from reading formulas as emphasis or as the ends of cells.
var unemphasized = strings.NewReplacer("*", `\*`, "_", `\_`, "|", `\|`)

// errata returns a generator for the errata of a severity, with what follows from them: by rank, and of one
// rank in the order of the paper.
func errata(severity string) func(*testing.T) string {
	return func(*testing.T) string {
		var out strings.Builder
		of := slices.DeleteFunc(slices.Clone(experiments.Ledgers().Errata), func(e experiments.Erratum) bool { return e.Severity != severity })
		slices.SortStableFunc(of, func(a, b experiments.Erratum) int { return cmp.Compare(a.Rank, b.Rank) })
		for _, e := range of {
			fmt.Fprintf(&out, "### %s\n\n", e.Title)
			for _, line := range [][2]string{{"Where", fmt.Sprintf("line %d, %s", e.Line, e.Place)}, {"Printed", e.Printed}, {"Right", e.Right}, {"Reason", e.How}, {"**What follows**", e.Follows}} {
				fmt.Fprintf(&out, "- %s: %s\n", line[0], unemphasized.Replace(line[1]))
			}
			var by []string
			for _, kind := range []struct {
				title string
				names []string
			}{{"test", e.Tests}, {"claim", e.Claims}, {"assumption", slices.DeleteFunc([]string{e.Assumption}, func(id string) bool { return id == "" })}} {
				for _, name := range kind.names {
					by = append(by, kind.title+" `"+name+"`")
				}
			}
			if len(by) > 0 {
				fmt.Fprintf(&out, "- See: %s\n", strings.Join(by, ", "))
			}
			out.WriteString("\n")
		}
		return out.String()
	}
}

// slips returns the table of the errata from which nothing follows.
func slips(*testing.T) string {
	var rows [][]string
	for _, e := range experiments.Ledgers().Errata {
		if e.Severity == "" {
			row := []string{strconv.Itoa(e.Line)}
			for _, text := range []string{e.Place, e.Printed, e.Right, e.How} {
				row = append(row, unemphasized.Replace(text))
			}
			rows = append(rows, row)
		}
	}
	return markdown([]string{"line of polk.tex", "where", "printed", "right", "reason"}, rows)
}

// failures returns the table of the sentences and ranks that are not reproduced: of each the measurement
// that decides, or the plainest of several. Ranks that another line measures stand in that line.
func failures(t *testing.T) string {
	const noBetter = "the sign of the difference decides"
	measured := map[string]struct{ test, says, data, what, why, rank string }{
		"multidist.order-of-magnitude": {"error", "POLK is an order of magnitude better than BSGD", "multidist, hinge", "error of BSGD / error of POLK", "√10, the least factor that rounds to ten on a logarithmic scale", ""},
		"multidist.learned-order":      {"modes-30[POLK on 30 modes]", "POLK learns the optimal model order, the number of modes", "multidist with 30 modes, hinge", "model order", "our margin of 15 %; a control that the paper does not have", ""},
		"multidist.concentrate":        {"majority", "the dictionary concentrates near the modes", "multidist, hinge", "% of the elements within σ of a mode", "ours: most elements", ""},
		"multidist.bsgd-fails":         {"error", "BSGD does not converge", "multidist, hinge", "error of BSGD, %", "ours: half of the printed 21.8 %", ""},
		"multidist.below-4":            {"samples", "the error is below 4 % after 1,249 samples", "multidist, hinge", "mean number of samples until then", "printed, and the 160 samples between two evaluations", ""},
		"multidist.like-libsvm":        {"error", "POLK has about the error of LIBSVM", "multidist, hinge", "POLK − C-SVC, points", "ours: the finest difference that the paper speaks of", ""},
		"multidist.beats-lbfgs":        {"error", "POLK has a lower error than L-BFGS", "multidist, hinge", "POLK − L-BFGS, points", noBetter, "multidist.ranks"},
		"multidist.low-risk":           {"risk", "the risk converges to less than 0.1", "multidist, logistic", "training risk at K = 0.001", "printed", ""},
		"multidist.between-4-and-5":    {"error-75-least", "the error is between 4 and 5 %", "multidist, logistic", "error at K = 0.001, %", "printed", ""},
		"mnist.beats-bsgd":             {"error-1086", "POLK outperforms BSGD in speed, risk and error", "MNIST, hinge", "POLK − BSGD, points, model order 1,086", noBetter, "mnist.ranks"},
		"mnist.logistic-behind":        {"error", "the logistic loss has a higher error than the hinge", "MNIST, both", "POLK, hinge − logistic, points", noBetter, ""},
		"brodatz.beats-bsgd":           {"error-1171", "POLK outperforms BSGD in speed, risk and error", "Brodatz, hinge", "POLK − BSGD, points, model order 1,171", noBetter, "brodatz.ranks"},
		"brodatz.near-96":              {"similar-305", "POLK behaves similarly to BSGD, near an accuracy of 96 %", "Brodatz, hinge", "POLK − BSGD, points, model order 305", "ours: the margin of an error", ""},
		"brodatz.like-batch":           {"error", "POLK is within 0.5 % of the batch solution", "Brodatz, logistic", "POLK − L-BFGS, points", "printed", ""},
	}
	decides := func(c evidence.ClaimDocument, id string) evidence.TestDocument {
		i := slices.IndexFunc(c.Tests, func(test evidence.TestDocument) bool { return test.ID == id })
		if i < 0 || c.Tests[i].Verdict != c.Verdict {
			t.Fatalf("%s: %q is not the test that decides", c.ID, id)
		}
		return c.Tests[i]
	}
	var rows [][]string
	open := make(map[string]evidence.ClaimDocument)
	for _, c := range recorded[evidence.Document](t, "verdicts.json").Claims {
		if !c.Cell && c.Verdict != stats.Reproduced {
			open[c.ID] = c
		}
	}
	for _, c := range recorded[evidence.Document](t, "verdicts.json").Claims {
		what, ok := measured[c.ID]
		if open[c.ID].ID == "" || !ok {
			continue
		}
		test, names := decides(c, what.test), "`"+c.ID+"`"
		if what.rank != "" {
			same := slices.ContainsFunc(open[what.rank].Tests, func(rank evidence.TestDocument) bool {
				return rank.Verdict == test.Verdict && *rank.Value == *test.Value && *rank.From == *test.From
			})
			if !same {
				t.Fatalf("%s does not fail by the measurement of %s", what.rank, c.ID)
			}
			names += ", `" + what.rank + "`"
			delete(open, what.rank)
		}
		delete(open, c.ID)
		rows = append(rows, []string{names, what.says, what.data, what.what, target(test), what.why, estimate(test), strconv.Itoa(len(test.Runs)), c.Verdict.String()})
	}
	if len(open) > 0 {
		t.Fatalf("no line for %v", open)
	}
	return markdown([]string{"claim", "the paper says", "data set, loss", "measured", "must be", "reason for this limit", "ours (90 % interval)", "runs", "verdict"}, rows)
}

// cellVerdicts returns the table of the verdicts of the 17 cells, with the numbers that are not reproduced.
func cellVerdicts(t *testing.T) string {
	columns := []string{"table2.multidist.ksvm", "table2.multidist.klr", "table3.mnist.ksvm", "table3.mnist.klr", "table3.brodatz.ksvm", "table3.brodatz.klr"}
	methods := [][2]string{{"libsvm", "C-SVC"}, {"lbfgs", "L-BFGS"}, {"ivm", "IVM"}, {"bsgd", "BSGD by merging"}, {"polk", "POLK"}}
	verdict := make(map[string]string)
	for _, c := range recorded[evidence.Document](t, "verdicts.json").Claims {
		if !c.Cell {
			continue
		}
		var of []string
		for _, test := range c.Tests {
			if test.Verdict != stats.Reproduced {
				of = append(of, test.ID)
			}
		}
		verdict[c.ID] = c.Verdict.String()
		if len(of) > 0 {
			verdict[c.ID] = fmt.Sprintf("**%s** (%s)", c.Verdict, strings.Join(of, ", "))
		}
	}
	var rows [][]string
	for _, m := range methods {
		row := []string{m[1]}
		for _, c := range columns {
			row = append(row, cmp.Or(verdict[c+"."+m[0]], words.Dash))
		}
		rows = append(rows, row)
	}
	return markdown([]string{"method", "multidist, hinge", "multidist, logistic", "MNIST, hinge", "MNIST, logistic", "Brodatz, hinge", "Brodatz, logistic"}, rows)
}

// target writes the target of a test.
func target(test evidence.TestDocument) string {
	short := func(v *float64) string { return words.Plain(math.Round(*v*100) / 100) }
	switch {
	case test.Kind == experiments.KindLess:
		return "< 0"
	case test.Low == nil:
		return "≤ " + short(test.High)
	case test.High == nil:
		return "≥ " + short(test.Low)
	}
	return short(test.Low) + " to " + short(test.High)
}

// estimate writes the estimate of a test and its interval to three digits.
func estimate(test evidence.TestDocument) string {
	value := float64(*test.Value)
	if !words.Finite(value) {
		return "not reached on some"
	}
	decimals := max(0, 2-int(math.Floor(math.Log10(math.Abs(value)))))
	if decimals > 2 && test.Kind != experiments.KindUpper {
		decimals = 2
	}
	return fmt.Sprintf("%s (%s to %s)", words.Decimals(value, decimals), words.Decimals(float64(*test.From), decimals), words.Decimals(float64(*test.Until), decimals))
}

// joint returns the number of cells that the best combination of choices reproduces.
func joint(t *testing.T) string {
	var best map[string]string
	combinations := 0.0
	for _, row := range table(t, "figures/joint.csv") {
		combinations += number(t, row["combinations"])
		if row["on_front"] == "true" {
			best = row
		}
	}
	if others := "epochs-brodatz=five, bsgd-maintenance=keep-newest, lbfgs-stopping=weights"; best["assumed_otherwise"] != others {
		t.Errorf("the best combination is %s; docs/choices.md explains %s", best["assumed_otherwise"], others)
	}
	return fmt.Sprintf("The best of %.1f billion combinations reproduces %s of the %d cells.\n",
		combinations/1e9, best["cells"], recorded[evidence.Document](t, "verdicts.json").Counts.Cells.Total())
}
