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
	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/harness"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/internal/words"
	"polkrepro/record"
	"polkrepro/spec"

	"gonum.org/v1/gonum/mat"
)

// generators make the blocks of documents that repeat recorded results or the ledger. The keys are the
// names in the comments before the blocks.
var generators = map[string]func(*testing.T) string{
	"results/reference/figures/joint.csv":                  joint,
	"results/reference/figures/passes-*.csv":               closest,
	"results/reference/figures/passes-*.csv, passes":       passes,
	"results/reference/figures/passes-*.csv, L-BFGS":       iterations,
	"results/reference/deploy.txt, sizes":                  deploySizes,
	"results/reference/deploy.txt, ways":                   deployWays,
	"results/reference/peers.txt":                          peerTable,
	"results/reference/peers.txt, goals":                   peerGoals,
	"results/reference/peers.txt, means":                   peerMeans,
	"results/reference/peers.txt, mixed":                   peerMixed,
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
	"results/reference/tables/runs.csv, factors":           factors,
	"results/reference/records, MNIST":                     untilError,
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
	"results/reference/tables/tableS4.csv, MNIST":          ratesOnMNIST,
	"results/reference/tables/tableS4.csv, K of MNIST":     printedK,
	"results/reference/tables/tableS4.csv, patches":        patches,
	"results/reference/tables/tableS4.csv, sparse":         sparse,
	"question-sparse-minimizer, models":                    dropCosts,
	"question-brodatz-draws, each draw":                    eachDraw,
	"results/reference/tables/tableS4.csv, ten draws":      tenDraws,
	"results/reference/tables/tableS5.csv, any draws":      contrasts("multidist, selected draws", "multidist, any draws"),
	"results/reference/tables/tableS5.csv, BSGD":           contrastsOfRows("MNIST, 1,086 elements", "MNIST, 324 elements", "Brodatz, 1,171 elements", "Brodatz, 305 elements"),
	"results/reference/tables/tableS5.csv, L-BFGS":         againstLBFGS,
	"results/reference/tables/tableS5.csv, both rows":      bsgdOtherRows,
	"results/reference/tables/table1-series.csv, radius":   radius,
	"results/reference/tables/tableS5.csv, memory":         atEqualMemory,
	"results/reference/tables/tableS5.csv, ten draws":      contrasts("Brodatz, ten draws"),
	"the alternatives":                                     alternatives,
	"the choices by result":                                byResult,
	"the errors of multidist":                              multidistErrors,
	"the errors of POLK and BSGD":                          bsgdErrors,
	"the errors of POLK and batch methods":                 batchErrors,
	"docs/checklists.md":                                   answers,
	"errata.yaml, status":                                  errataByStatus,
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
	"results/reference/comparison, error":                  comparison("", compare.ErrorAtOrder, "komp-merge", "komp-merge-order", "merging", "komp-order", "komp-loss", "ald", "coherence", "oldest"),
	"results/reference/comparison, time":                   comparison("", compare.Time, "komp-merge", "komp-merge-order", "merging"),
	"results/reference/comparison, merging":                comparison("against-merging", compare.ErrorAtOrder, "komp-merge", "komp-merge-order", "komp"),
	"results/reference/comparison, stream":                 comparison("", compare.Anytime, "komp-merge", "merging", "komp-age", "komp-loss"),
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

// TestQuestionsInText checks the sentences on the experiments of Table S4, on the intervals of one further run and on
// the search with other numbers.
func TestQuestionsInText(t *testing.T) {
	line := questions(t)
	error := func(set, series string) float64 { return number(t, mean(line(set, "ksvm", series)["error (%)"])) }
	leak := fmt.Sprintf("POLK errs on %.1f %% in place of %.1f %% (hinge loss, means over ten draws)", error("brodatz (raw-interleaved)", "POLK"), error("brodatz (raw)", "POLK"))
	var control evidence.PlaceboKind
	for _, k := range recorded[evidence.PlaceboReport](t, "placebo.json").Kinds {
		if k.Name == "perturbed by 10 %" {
			control = k
		}
	}
	middle, _ := control.Summary()
	rows := strings.Split(oneRun(t), "\n")
	inside := func(i int) string { // of the lines, "| data set | of | inside |"
		cells := strings.Split(rows[i], " | ")
		return fmt.Sprintf("%s of %s", strings.TrimSuffix(cells[2], " |"), cells[1])
	}
	removal := line("multidist (calibrated)", "ksvm", "BSGD, removal, η = 10")
	_, spread, _ := strings.Cut(line("multidist (calibrated)", "ksvm", "BSGD, keep-newest, η = 1 or 1/(λt): constant")["error (%)"], "± ")
	behind := func(on, difference string) string {
		for _, line := range table(t, "tables/tableS5.csv") {
			if line["data"] == on && line["difference"] == difference {
				return fmt.Sprintf("%.2f points behind", number(t, line["points"]))
			}
		}
		t.Fatalf("Table S5 has no %s", difference)
		return ""
	}
	for name, stated := range map[string][]string{
		"REPRODUCE.md": {
			"Without shared pixels " + leak + ". |", "Without shared pixels " + leak + ". BSGD",
			fmt.Sprintf("On multidist %s do. On MNIST only %s do, and on Brodatz only %s does", inside(2), inside(3), inside(4)),
			"POLK that prunes to a fixed model order is " + behind("multidist, 400 numbers", "komp-order − BSGD by merging"),
			"On MNIST with 200,000 numbers it is " + behind("MNIST, 200,000 numbers", "komp-order − BSGD by merging"),
		},
		"docs/choices.md": {
			fmt.Sprintf("The median search reproduces %d cells, and %d of %d searches reproduce 16 cells", middle, control.Equal, control.Draws),
			fmt.Sprintf("Half of these searches reproduce %d cells or more", middle),
			"its training risk there is " + mean(removal["training risk"]),
			fmt.Sprintf("their standard deviation is %.1f points", number(t, mean(spread))),
		},
		"docs/questions.md": {"If they do not, " + leak + ". The layout"},
		"docs/results.md":   {fmt.Sprintf("On multidist %s printed numbers could be, on MNIST %s, and on Brodatz %s", inside(2), inside(3), inside(4))},
	} {
		prose := words.OneLine(strings.ReplaceAll(read(t, name), "*", ""))
		for _, sentence := range stated {
			if !strings.Contains(prose, sentence) {
				t.Errorf("%s does not say %q", name, sentence)
			}
		}
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

// comparison returns a generator for the table of one measure of the recorded comparison. Better
// values are bold, worse values are marked "worse", and values that the grid is too coarse to
// judge are in brackets.
func comparison(folder string, by compare.Measure, names ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		titles := []string{"multidist, hinge", "logistic", "drift", "MNIST", "Brodatz", "Fashion", "letter", "satimage"}
		var fields []column
		for i, name := range []string{"multidist-ksvm", "multidist-klr", "drift-ksvm", "mnist-ksvm", "brodatz-ksvm", "fashion-ksvm", "letter-ksvm", "satimage-ksvm"} {
			fields = append(fields, column{titles[i], filepath.Join("comparison", folder, "tables", name+".csv"), func(line map[string]string) bool { return line["by"] == by.String() }})
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

// bsgdOtherRows returns the differences to BSGD with both intervals, the model orders and the number of runs.
func bsgdOtherRows(t *testing.T) string {
	orders := make(map[string]string) // of POLK, by the data in Table S5
	for _, of := range [][4]string{{"MNIST, 1,086 elements", "mnist", "0.016", "240000"}, {"MNIST, 324 elements", "mnist", "0.024", "240000"},
		{"Brodatz, 1,171 elements", "brodatz (raw)", "0.01", "80000"}, {"Brodatz, 305 elements", "brodatz (raw)", "0.02", "80000"}} {
		orders[of[0]] = elements(number(t, mean(runsLine(t, of[1], "ksvm", "POLK, K = "+of[2], "5 of 5", of[3])["model order"])))
	}
	var rows [][]string
	for _, line := range table(t, "tables/tableS5.csv") {
		if strings.Contains(line["data"], "elements") && strings.HasPrefix(line["difference"], "POLK − BSGD") {
			points := func(name string) string { return words.Signed(number(t, line[name]), 2) }
			set, budget, _ := strings.Cut(strings.TrimSuffix(line["data"], " elements"), ", ")
			rows = append(rows, []string{set, budget, orders[line["data"]], line["difference"], points("points"),
				points("low") + " to " + points("high"), points("low_other_rows") + " to " + points("high_other_rows"), line["runs"]})
		}
	}
	return markdown([]string{"data", "model order of BSGD", "model order of POLK", "difference of errors", "points", "90 % interval, these test rows", "90 % interval, other test rows", "seeds"}, rows)
}

// radius returns the table of Δ for the constant rates, with the measured and the proven σ².
func radius(t *testing.T) string {
	var rows [][]string
	for _, line := range table(t, "tables/table1-series.csv") {
		if setting, ok := strings.CutPrefix(line["series"], "POLK, η"); ok {
			rows = append(rows, []string{"η" + setting, strings.Fields(line["Δ"])[0], line["Δ, proven σ²"]})
		}
	}
	return markdown([]string{"setting", "Δ, measured σ²", "Δ, proven σ²"}, rows)
}

// againstLBFGS returns the lines of Table S5 that compare POLK with L-BFGS.
func againstLBFGS(t *testing.T) string {
	var rows [][]string
	for _, line := range table(t, "tables/tableS5.csv") {
		if loss, ok := strings.CutPrefix(line["difference"], "POLK − L-BFGS, "); ok {
			points := func(name string) string { return words.Signed(number(t, line[name]), 2) }
			data := strings.Replace(line["data"], "any draws", "unselected draws", 1)
			rows = append(rows, []string{data, loss, points("points"), points("low") + " to " + points("high"), line["runs"]})
		}
	}
	return markdown([]string{"data", "loss", "POLK − L-BFGS, points of error", "90 % interval", "draws"}, rows)
}

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

// rates returns the table of BSGD's errors on multidist by learning rate and maintenance, with their
// intervals over the draws. Bold intervals overlap the margin of the printed error.
func rates(t *testing.T) string {
	line := questions(t)
	const low, high = 20.8, 22.8 // one point around the printed 21.8 %
	var rows [][]string
	crossing, narrow := make(map[string]int), make(map[string]bool)
	for _, rate := range [][2]string{{"0.1", "η = 0.1"}, {"0.3", "η = 0.3"}, {"1", "η = 1 or 1/(λt): constant"}, {"3", "η = 3"}, {"10", "η = 10"}, {"1/(λt)", "η = 1 or 1/(λt): inverse"}} {
		row := []string{rate[0]}
		for _, maintenance := range []string{"merging", "projection", "removal", "keep-newest"} {
			l := line("multidist (calibrated)", "ksvm", "BSGD, "+maintenance+", "+rate[1])
			if l["runs"] != "20 of 20" {
				t.Errorf("%s, %s: %s runs", maintenance, rate[0], l["runs"])
			}
			entry := withInterval(t, l["error (%)"])
			from, until := ends(t, l["error (%)"])
			if until-from <= high-low {
				narrow[maintenance+" "+rate[0]] = true
			}
			switch {
			case from >= low && until <= high:
				t.Errorf("%s, %s: reproduced, which docs/choices.md denies", maintenance, rate[0])
			case from <= high && until >= low:
				entry = "**" + entry + "**"
				crossing[maintenance]++
				if maintenance == "removal" && rate[0] != "10" {
					t.Errorf("removal is inconclusive at η = %s, too", rate[0])
				}
			}
			row = append(row, entry)
		}
		rows = append(rows, row)
	}
	if crossing["removal"] != 1 || crossing["keep-newest"] != 6 || len(crossing) != 2 {
		t.Errorf("inconclusive: %v; docs/choices.md says removal at η = 10 and keep-newest at all rates", crossing)
	}
	below, _ := ends(t, line("multidist (calibrated)", "ksvm", "BSGD, removal, η = 1 or 1/(λt): constant")["error (%)"])
	for _, rate := range []string{"η = 3", "η = 10", "η = 1 or 1/(λt): inverse"} {
		if _, until := ends(t, line("multidist (calibrated)", "ksvm", "BSGD, removal, "+rate)["error (%)"]); until >= below {
			t.Errorf("removal: the interval at %s is not below that at η = 1, as docs/choices.md says", rate)
		}
	}
	if len(narrow) != 3 || !narrow["merging 0.3"] || !narrow["merging 1"] || !narrow["projection 1"] {
		t.Errorf("intervals that fit into the margin: %v; docs/choices.md says merging at 0.3 and 1, and projection at 1", narrow)
	}
	return markdown([]string{"η", "merging, error (%)", "projection, error (%)", "removal, error (%)", "`keep-newest`, error (%)"}, rows)
}

// withInterval returns the mean and the interval of an entry "mean ± deviation (low to high)".
func withInterval(t *testing.T, entry string) string {
	t.Helper()
	_, after, found := strings.Cut(entry, " (")
	if !found {
		t.Fatalf("%q has no interval", entry)
	}
	return mean(entry) + " (" + after
}

// ends returns the ends of the interval of such an entry.
func ends(t *testing.T, entry string) (low, high float64) {
	t.Helper()
	_, after, _ := strings.Cut(entry, " (")
	from, until, found := strings.Cut(strings.TrimSuffix(after, ")"), " to ")
	if !found {
		until = from
	}
	return number(t, from), number(t, until)
}

// ratesOnMNIST returns the table of BSGD's errors on MNIST by learning rate and maintenance.
func ratesOnMNIST(t *testing.T) string {
	line := questions(t)
	names := [][2]string{{"0.1", "η = 0.1"}, {"0.3", "η = 0.3"}, {"1", "η = 1 or 1/(λt): constant"}, {"3", "η = 3"}, {"10", "η = 10"}, {"1/(λt)", "η = 1 or 1/(λt): inverse"}}
	rows := make([][]string, len(names))
	for i, rate := range names {
		rows[i] = []string{rate[0]}
	}
	for _, maintenance := range []string{"merging", "projection", "removal"} {
		error := func(rate string) float64 {
			return number(t, line("mnist", "ksvm", "BSGD, "+maintenance+", "+rate)["error (%)"])
		}
		for i, rate := range names {
			rows[i] = append(rows[i], fmt.Sprintf("%.2f", error(rate[1])))
			if error(rate[1]) < error(names[2][1]) {
				t.Errorf("%s: η = %s has a lower error than η = 1", maintenance, rate[0])
			}
		}
	}
	return markdown([]string{"η", "merging, error (%)", "projection, error (%)", "removal, error (%)"}, rows)
}

// rateRisks compares the test risks of BSGD by merging at the two rates that are best by some measure.
func rateRisks(t *testing.T) string {
	line := questions(t)
	risk := func(set, rate string) string { return mean(line(set, "ksvm", "BSGD, merging, "+rate)["test risk"]) }
	const best, one = "η = 0.3", "η = 1 or 1/(λt): constant"
	for _, set := range []string{"multidist (calibrated)", "mnist"} {
		if number(t, risk(set, best)) >= number(t, risk(set, one)) {
			t.Errorf("%s: the risk at η = 0.3 is not lower, as docs/choices.md says", set)
		}
	}
	return fmt.Sprintf("If BSGD merges, its mean test risk is lower at η = 0.3 than at η = 1: %s against %s on multidist, and %s against %s on MNIST.\nOn multidist their intervals overlap. On MNIST these are single runs.\n",
		risk("multidist (calibrated)", best), risk("multidist (calibrated)", one), risk("mnist", best), risk("mnist", one))
}

// printedK returns the table of POLK's model orders and errors on MNIST with the printed K and with a
// tenth of it.
func printedK(t *testing.T) string {
	line := questions(t)
	shown := func(order, error string) string {
		return fmt.Sprintf("%s (%.2f %%)", elements(math.Round(number(t, mean(order)))), number(t, mean(error)))
	}
	tenth := []string{"**η = 24, a tenth of the printed K (our choice)**"}
	for _, at := range [][2]string{{"ksvm", "0.024"}, {"ksvm", "0.016"}, {"klr", "0.016"}, {"klr", "0.008"}} {
		l := runsLine(t, "mnist", at[0], "POLK, K = "+at[1], "5 of 5", "240000")
		tenth = append(tenth, shown(l["model order"], l["test error (%)"]))
	}
	printed := []string{"η = 24, as printed"}
	for _, at := range [][2]string{{"ksvm", "0.24"}, {"ksvm", "0.16"}, {"klr", "0.16"}, {"klr", "0.08"}} {
		l := runsLine(t, "mnist", at[0], "POLK, K = "+at[1], "5 of 5", "240000")
		printed = append(printed, shown(l["model order"], l["test error (%)"]))
	}
	rows := [][]string{{"the paper's", "324", "1,086 (2.46 %)", "not printed", "2,326 (2.68 %)"}, tenth, printed}
	for _, of := range [][2]string{{"η = 6", "POLK, K = %s, η = 6"}, {"η = 5.2", "POLK, K = %s, η = 5.2"}, {"η = 2.4", "POLK, K = %s, η = 2.4"},
		{"η = 0.24, only 12,000 samples", "POLK, K = %s, η = 0.24, 12,000 samples"}, {"η = 24, gradients of a mini-batch summed", "POLK, summed gradients, ε of K = %s"}} {
		row := []string{of[0]}
		for _, at := range [][2]string{{"ksvm", "0.24"}, {"ksvm", "0.16"}, {"klr", "0.16"}, {"klr", "0.08"}} {
			l := line("mnist", at[0], fmt.Sprintf(of[1], at[1]))
			row = append(row, shown(l["model order"], l["error (%)"]))
		}
		rows = append(rows, row)
	}
	return markdown([]string{"setting", "hinge, printed K = 0.24", "hinge, printed K = 0.16", "logistic, printed K = 0.16", "logistic, printed K = 0.08"}, rows)
}

// patches returns the tables of the errors and the model orders on Brodatz by where the test patches lie.
func patches(t *testing.T) string {
	line := questions(t)
	var rows [][]string
	var polk []float64
	for _, of := range [][2]string{{"anywhere in the image, as in the paper", "brodatz (raw)"}, {"in other stripes", "brodatz (raw-interleaved)"}, {"in the other part of the image", "brodatz (raw-disjoint)"}} {
		row := []string{of[0]}
		for _, method := range []string{"POLK", "BSGD", "C-SVC"} {
			row = append(row, withInterval(t, line(of[1], "ksvm", method)["error (%)"]))
		}
		l := line(of[1], "ksvm", "POLK")
		polk = append(polk, number(t, mean(l["error (%)"])))
		rows = append(rows, append(row, elements(number(t, mean(l["model order"])))))
	}
	return markdown([]string{"test patches lie", "POLK, error (%)", "BSGD by merging, error (%)", "C-SVC, error (%)", "POLK, model order"}, rows) +
		fmt.Sprintf("\nWith stripes POLK's error is %.1f points higher than in the paper's layout. With test patches in the other part of the image it is\n%.1f points higher still.\n", polk[1]-polk[0], polk[2]-polk[1])
}

// tenDraws returns the table of errors, risks and model orders on ten draws of Brodatz.
func tenDraws(t *testing.T) string {
	line := questions(t)
	var rows [][]string
	for _, of := range [][3]string{{"ksvm", "POLK", "POLK"}, {"ksvm", "BSGD", "BSGD by merging"}, {"ksvm", "C-SVC", "C-SVC"}, {"ksvm", "L-BFGS", "L-BFGS"}, {"klr", "POLK", "POLK"}, {"klr", "L-BFGS", "L-BFGS"}} {
		l := line("brodatz (raw)", of[0], of[1])
		if l["runs"] != "10 of 10" {
			t.Errorf("%s: %s runs", of[1], l["runs"])
		}
		rows = append(rows, []string{losses[of[0]], of[2], withInterval(t, l["error (%)"]), elements(number(t, mean(l["model order"])))})
	}
	return markdown([]string{"loss", "method", "error (%), with its 90 % interval", "model order"}, rows)
}

// sparse returns the table of POLK's runs on fifteen points.
func sparse(t *testing.T) string {
	var rows [][]string
	for _, of := range [][3]string{{"1/(1 + t/200)", "η²", "POLK, diminishing"}, {"0.03", "0.003", ""}, {"0.03", "0.03", ""}, {"0.03", "0.3", ""}, {"0.3", "0.003", ""}, {"0.3", "0.03", ""}, {"0.3", "0.3", ""}} {
		series, budget := of[2], "ε = η²"
		if series == "" {
			series, budget = fmt.Sprintf("POLK, η = %s, K = %s", of[0], of[1]), "K = "+of[1]
		}
		l := questions(t)("multidist (15-points)", "klr", series)
		if l["runs"] != "5 of 5" {
			t.Errorf("%s: %s runs", series, l["runs"])
		}
		order, _, _ := strings.Cut(l["model order"], " (")
		distance, _, _ := strings.Cut(l["‖f − f*‖/‖f*‖"], " ± ")
		rows = append(rows, []string{"η = " + of[0], budget, order, percent(100 * number(t, distance))})
	}
	return markdown([]string{"learning rate η", "K, or ε", "elements at the end", "distance from f\\*, in % of ‖f\\*‖"}, rows)
}

// recordsOf returns the records of the runs of a spec with a label, or of all its runs.
func recordsOf(t *testing.T, name, label string) (out []*record.Record) {
	t.Helper()
	specs, err := harness.FindSpecs([]string{name})
	testutil.NoError(t, err)
	plan, err := harness.PlanAll(specs, spec.ProfileFull, spec.PlanOptions{})
	testutil.NoError(t, err)
	for _, p := range plan {
		if label == "" || p.Run.Method == label {
			r, err := record.Read(filepath.Join(root, "results/reference/records", p.ID+".jsonl.gz"))
			testutil.NoError(t, err)
			out = append(out, r)
		}
	}
	return out
}

// eachDraw returns the least and the largest difference of POLK's error from those of other methods on a draw of
// Brodatz.
func eachDraw(t *testing.T) string {
	errors := func(spec, method string) map[uint64]float64 {
		of := make(map[uint64]float64)
		for _, r := range recordsOf(t, spec, method) {
			of[r.Header.Run.Data.Draw] = 100 * r.Final.TestError
		}
		if len(of) != 10 {
			t.Fatalf("%s has %d draws of %s", spec, len(of), method)
		}
		return of
	}
	var parts []string
	for _, of := range [][3]string{{"question-brodatz-draws", "bsgd", "BSGD by merging"}, {"question-brodatz-draws", "csvc", "C-SVC"}, {"question-brodatz-draws", "lbfgs", "L-BFGS, hinge"}, {"question-brodatz-draws-klr", "lbfgs", "L-BFGS, logistic"}} {
		polk, other := errors(of[0], "polk"), errors(of[0], of[1])
		least, most := math.Inf(1), math.Inf(-1)
		for draw, error := range polk {
			least, most = min(least, error-other[draw]), max(most, error-other[draw])
		}
		if least <= 0 {
			t.Errorf("POLK is not behind %s on each draw, as docs/questions.md says", of[2])
		}
		parts = append(parts, fmt.Sprintf("| POLK − %s | %s | %s |", of[2], words.Signed(least, 2), words.Signed(most, 2)))
	}
	return "| difference on a single draw | least, points | largest, points |\n|---|---|---|\n" + strings.Join(parts, "\n") + "\n"
}

// dropCosts says how far the final models on fifteen points are from losing an element. If the element d_j is
// removed and its weights are given to the others by projection, the function changes by ‖w_j‖/√(K⁻¹)_jj.
func dropCosts(t *testing.T) string {
	least, budget, models := math.Inf(1), 0.0, 0
	for _, r := range recordsOf(t, "question-sparse-minimizer", "") {
		m, params := r.Final.Model, r.Header.Run.Params
		order := len(m.Dictionary) / m.Dim
		budget = max(budget, params.Parsimony*math.Pow(params.LearningRate, 1.5))
		if order < 15 {
			continue
		}
		models++
		gram := mat.NewDense(order, order, nil)
		for i := range order {
			for j := range order {
				square := 0.0
				for k := range m.Dim {
					d := float64(m.Dictionary[i*m.Dim+k]) - float64(m.Dictionary[j*m.Dim+k])
					square += d * d
				}
				gram.Set(i, j, math.Exp(-square/(2*0.6*0.6)))
			}
		}
		var inverse mat.Dense
		testutil.NoError(t, inverse.Inverse(gram))
		for j := range order {
			norm := 0.0
			for _, w := range m.Weights[j*m.Outputs : (j+1)*m.Outputs] {
				norm += w * w
			}
			least = min(least, math.Sqrt(norm/inverse.At(j, j)))
		}
	}
	if models != 34 {
		t.Errorf("%d models with fifteen elements; docs/questions.md says 34", models)
	}
	return fmt.Sprintf("The test is easy for POLK. In the final models with fifteen elements, removing the cheapest element would change the function by\nat least %.2f. The largest budget of a step at a constant rate is %.3f, for η = 0.3 and K = 0.3. This is %.1f times smaller.\nWith the falling rate the budget is η², which starts at 1 and is below %.2f from about step %.0f on.\n", least, budget, least/budget, least, 10*math.Round(20*(1/math.Sqrt(least)-1)))
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

// A brodatzPath has the points of a method's path over Brodatz, in the order of training.
type brodatzPath struct {
	title  string
	points []map[string]string
}

// brodatzPaths reads the paths of the online methods, or those of the batch method.
func brodatzPaths(t *testing.T, batch bool) (out []brodatzPath) {
	of := [][3]string{{"ksvm", "POLK", "POLK, hinge"}, {"klr", "POLK", "POLK, logistic"}, {"ksvm", "BSGD, projection", "BSGD by projection, hinge"}, {"ksvm", "BSGD, merging", "BSGD by merging, hinge"}, {"ksvm", "BSGD, removal", "BSGD by removal, hinge"}}
	if batch {
		of = [][3]string{{"ksvm", "L-BFGS", "L-BFGS, hinge"}, {"klr", "L-BFGS", "L-BFGS, logistic"}}
	}
	for _, of := range of {
		p := brodatzPath{title: of[2]}
		for _, line := range table(t, "figures/passes-"+of[0]+".csv") {
			if line["series"] == of[1] {
				p.points = append(p.points, line)
			}
		}
		out = append(out, p)
	}
	return out
}

func offPrint(t *testing.T, point map[string]string) float64 {
	return 100 * number(t, point["largest_relative_distance"])
}

// nearest returns the point of a path that is nearest to the printed numbers.
func (p brodatzPath) nearest(t *testing.T) map[string]string {
	return slices.MinFunc(p.points, func(a, b map[string]string) int { return cmp.Compare(offPrint(t, a), offPrint(t, b)) })
}

// closest returns the table of the points of the paths on Brodatz that are closest to the printed numbers.
func closest(t *testing.T) string {
	var rows [][]string
	for _, p := range brodatzPaths(t, false) {
		best := p.nearest(t)
		rows = append(rows, []string{p.title, fmt.Sprintf("%.1f", number(t, best["samples_or_iterations"])/10_000), percent(offPrint(t, best))})
	}
	return markdown([]string{"method", "passes at which the mismatch is least", "mismatch there"}, rows)
}

// iterations is closest for L-BFGS.
func iterations(t *testing.T) string {
	var rows [][]string
	for _, p := range brodatzPaths(t, true) {
		best := p.nearest(t)
		rows = append(rows, []string{p.title, best["samples_or_iterations"], percent(offPrint(t, best))})
	}
	return markdown([]string{"method", "iterations at which the mismatch is least", "mismatch there"}, rows)
}

// passes returns the table of the paths' differences from the printed numbers by the number of passes.
func passes(t *testing.T) string {
	header := []string{"method"}
	at := []float64{2, 4, 5, 6, 8}
	for _, n := range at {
		header = append(header, fmt.Sprintf("%.0f passes", n))
	}
	var rows [][]string
	worst := make(map[float64]float64) // of POLK and BSGD by projection
	for _, p := range brodatzPaths(t, false) {
		row := []string{p.title}
		for _, n := range at {
			point := slices.MinFunc(p.points, func(a, b map[string]string) int {
				from := func(p map[string]string) float64 { return math.Abs(number(t, p["samples_or_iterations"]) - 10_000*n) }
				return cmp.Compare(from(a), from(b))
			})
			row = append(row, percent(offPrint(t, point)))
			if strings.HasPrefix(p.title, "POLK") || strings.Contains(p.title, "projection") {
				worst[n] = max(worst[n], offPrint(t, point))
			}
		}
		rows = append(rows, row)
	}
	for _, n := range at {
		if worst[n] < worst[5] || percent(worst[5]) != "11 %" {
			t.Errorf("largest mismatches %v; docs/questions.md says that the least is 11 %% at five passes", worst)
		}
	}
	return markdown(header, rows)
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
	return markdown([]string{"data set", "printed numbers that were judged", "of these: in the interval of one further run"}, rows)
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
	return markdown([]string{"data set", "loss", "method", "verdict", "our numbers that are not reproduced", "verdict with half the margins"}, rows)
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

// multidistErrors returns the table of the errors on multidist, printed and ours.
func multidistErrors(t *testing.T) string {
	var rows [][]string
	for _, task := range []string{"ksvm", "klr"} {
		for _, method := range []string{"libsvm", "lbfgs", "ivm", "bsgd", "polk"} {
			for _, test := range verdicts(t)["table2.multidist."+task+"."+method].Tests {
				if test.ID == "error" {
					rows = append(rows, []string{losses[task], methods[method], quantityText("error", *test.Paper), estimated(test, 2)})
				}
			}
		}
	}
	return markdown([]string{"loss", "method", "printed error (%)", "our error (%), mean over 20 draws with its 90 % interval"}, rows)
}

// estimated writes the estimate of a test with its interval.
func estimated(test evidence.TestDocument, decimals int) string {
	return fmt.Sprintf("%s (%s to %s)", words.Decimals(float64(*test.Value), decimals), words.Decimals(float64(*test.From), decimals), words.Decimals(float64(*test.Until), decimals))
}

// bsgdErrors returns the table of the errors of POLK and BSGD at equal model order.
func bsgdErrors(t *testing.T) string {
	runs := func(series string) string {
		return mean(runsLine(t, "multidist (calibrated)", "ksvm", series, "20 of 20", "15000")["test error (%)"])
	}
	polk := verdicts(t)["table2.multidist.ksvm.polk"].Tests
	bsgd := verdicts(t)["table2.multidist.ksvm.bsgd"].Tests
	value := func(tests []evidence.TestDocument) string {
		i := slices.IndexFunc(tests, func(test evidence.TestDocument) bool { return test.ID == "error" })
		return quantityText("error", float64(*tests[i].Value))
	}
	rows := [][]string{{"multidist, 16 elements", "20 draws", value(polk), value(bsgd), runs("BSGD, B = 16, projection")}}
	for _, on := range []string{"MNIST, 1,086 elements", "MNIST, 324 elements", "Brodatz, 1,171 elements", "Brodatz, 305 elements"} {
		row := []string{on, "5 seeds", "", "", ""}
		for _, line := range table(t, "tables/tableS5.csv") {
			if line["data"] == on {
				row[2] = quantityText("error", number(t, line["of"]))
				row[map[string]int{"POLK − BSGD by merging": 3, "POLK − BSGD by projection": 4}[line["difference"]]] = quantityText("error", number(t, line["to"]))
			}
		}
		rows = append(rows, row)
	}
	return markdown([]string{"data set, model order", "runs", "POLK, error (%)", "BSGD by merging, error (%)", "BSGD by projection, error (%)"}, rows)
}

// batchErrors returns the table of the claims that compare POLK's error with that of a batch method.
func batchErrors(t *testing.T) string {
	var rows [][]string
	count := make(map[stats.Verdict]int)
	for _, of := range [][5]string{
		{"multidist, hinge", "C-SVC", "“approximately the same error rate”", "multidist.like-libsvm", "error"},
		{"multidist, hinge", "L-BFGS", "POLK “outperforms” it", "multidist.beats-lbfgs", "error"},
		{"multidist, logistic", "L-BFGS", "“comparably, or in some cases, favorably”", "multidist.like-batch", "lbfgs"},
		{"multidist, logistic", "IVM", "the same sentence", "multidist.like-batch", "ivm"},
		{"MNIST, hinge", "C-SVC", "“within 1-2%”", "mnist.like-libsvm", "error"},
		{"Brodatz, hinge, ten draws", "C-SVC", "“within 1-2%”", "brodatz.like-libsvm", "error"},
		{"Brodatz, logistic, ten draws", "L-BFGS", "“within 0.5%”", "brodatz.like-batch", "error"},
		{"Brodatz, hinge, ten draws", "L-BFGS", "“comparably to batch kernel methods”", "discussion.like-batch", "brodatz-lbfgs"},
	} {
		for _, test := range verdicts(t)[of[3]].Tests {
			if test.ID != of[4] {
				continue
			}
			limit := ""
			if test.Low != nil {
				limit = fmt.Sprintf("%s to ", words.Signed(float64(*test.Low), 1))
			}
			limit += words.Signed(float64(*test.High), 1)
			switch {
			case *test.High == 0:
				limit = "below 0"
			case test.Low == nil:
				limit = "at most " + limit
			}
			if *test.Value <= 0 {
				t.Errorf("%s: POLK is not behind %s, as REPRODUCE.md says", of[0], of[1])
			}
			count[test.Verdict]++
			rows = append(rows, []string{of[0], of[1], of[2], limit,
				fmt.Sprintf("%s (%s to %s)", words.Signed(float64(*test.Value), 2), words.Signed(float64(*test.From), 2), words.Signed(float64(*test.Until), 2)), test.Verdict.String()})
		}
	}
	if count[stats.Reproduced] != 5 || count[stats.Deviates] != 2 || count[stats.Inconclusive] != 1 {
		t.Errorf("verdicts %v; REPRODUCE.md says that five of eight comparisons agree, two deviate and one is inconclusive", count)
	}
	return markdown([]string{"data set, loss", "batch method", "the paper says", "POLK − batch that we allow, points of error", "POLK − batch that we found, points of error, with its 90 % interval", "verdict"}, rows)
}

// joined are the assumptions whose alternatives the joint search combines, with words for readers who have not seen the ledger.
var joined = [][2]string{
	{"mini-batch", "the mean or the sum of the gradients of a mini-batch"}, {"budget-norm", "how the changes of several class functions add up in the budget"}, {"bandwidth", "whether the printed bandwidth is σ̃ or σ̃²"},
	{"multidist-variance", "0.04 or the printed 0.2"}, {"multidist-draws", "draws selected by their Bayes error, or not"}, {"mnist-parsimony", "a tenth of K or the printed K"},
	{"epochs-multidist", "passes over multidist"}, {"epochs-mnist", "passes over MNIST"}, {"epochs-brodatz", "passes over Brodatz"},
	{"regularizer", "how the regularizer enters the risk: with λ/2, with λ, or not at all"}, {"risk", "on which data risks are taken"}, {"bsgd-maintenance", "how BSGD gets rid of an element"},
	{"libsvm-cost", "the constant C of C-SVC"}, {"libsvm-multiclass", "how C-SVC combines two-class machines"}, {"lbfgs-risk", "Table 2 prints one risk of L-BFGS for both losses; whether it belongs to both or to one"},
	{"lbfgs-stopping", "when L-BFGS stops"}, {"ivm-stopping", "when IVM stops"}, {"textons", "how grey levels are treated when textons are computed"}, {"brodatz-patches", "where test patches lie"},
}

// alternatives returns the table of the choices that the joint search combines.
func alternatives(t *testing.T) string {
	product, combinations := 1, 0.0
	var rows [][]string
	for _, of := range joined {
		i := slices.IndexFunc(ledger.Embedded().Assumptions, func(a ledger.Assumption) bool { return a.ID == of[0] })
		a := ledger.Embedded().Assumptions[i]
		made := "no"
		if a.How == ledger.ChosenByResult {
			made = "yes"
		}
		product *= 1 + len(a.Alternatives)
		rows = append(rows, []string{"`" + a.ID + "`", of[1], strconv.Itoa(len(a.Alternatives)), made})
	}
	for _, row := range table(t, "figures/joint.csv") {
		combinations += number(t, row["combinations"])
	}
	if float64(product) != combinations {
		t.Errorf("the choices have %d combinations; the search had %.0f", product, combinations)
	}
	return markdown([]string{"choice", "about", "number of other values", "our value chosen by result"}, rows)
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
		{What: "of these: guided a choice of ours", Counts: v.Scorecard.Targets}, {What: "of these: guided no choice", Counts: v.Scorecard.Others}, {What: "of these: given to the method", Counts: v.Scorecard.Set},
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
	for _, a := range ledger.Embedded().Assumptions {
		if a.How != ledger.ChosenByResult {
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
	return markdown([]string{"choice", "in the paper", "our choice", "cells that it concerns"}, rows)
}

// scorecard counts the results that were in view when choices were made.
func scorecard(t *testing.T) string {
	s := recorded[evidence.Document](t, "verdicts.json").Scorecard
	return fmt.Sprintf("- **Choices.** Of the %d printed numbers, %d are settings. For %d of the others we made a choice with the number in view; %d of these are\n  reproduced. No choice used the last %d; %d are reproduced, although choices for other numbers shaped the same runs.\n",
		s.Set.Total()+s.Targets.Total()+s.Others.Total(), s.Set.Total(), s.Targets.Total(), s.Targets.Reproduced, s.Others.Total(), s.Others.Reproduced)
}

// unemphasized keeps Markdown from reading formulas as emphasis or as the ends of cells.
var unemphasized = strings.NewReplacer("*", `\*`, "_", `\_`, "|", `\|`)

// answers counts the answers of the numbered items of docs/checklists.md.
func answers(t *testing.T) string {
	count := make(map[string]int)
	for _, item := range regexp.MustCompile(`(?m)^\| \d+ \| [^|]* \| (\w+) \| .* \| (.*) \|$`).FindAllStringSubmatch(read(t, "docs/checklists.md"), -1) {
		count[item[1]]++
		if (item[1] == "yes") != (item[2] == "–") {
			t.Errorf("docs/checklists.md: %q is answered %s and misses %q", item[0], item[1], item[2])
		}
	}
	if n := count["yes"] + count["partly"] + count["no"]; n != 21 {
		t.Errorf("docs/checklists.md has %d items", n)
	}
	return markdown([]string{"yes", "partly", "no"}, [][]string{{strconv.Itoa(count["yes"]), strconv.Itoa(count["partly"]), strconv.Itoa(count["no"])}})
}

// statuses are the words for how far an erratum can be trusted, and for the correction.
var statuses = map[string]struct{ says, right string }{
	"certain":  {"certain", "Right"},
	"repaired": {"repaired (the printed step certainly fails; what replaces it is ours)", "Our repair"},
	"inferred": {"inferred", "Our reading"},
	"measured": {"measured", "In our runs"},
}

// errataByStatus returns the table of the errata with consequences, by status.
func errataByStatus(*testing.T) string {
	var rows [][]string
	for _, status := range [][2]string{
		{"certain", "Algebra, or another place in the paper, shows the error and what should stand there."},
		{"repaired", "It is certain that a printed step of a proof fails. The step that we put in its place is ours."},
		{"inferred", "The print can't be right, is unlikely to be, or can be read in two ways. What should stand there is our reading."},
		{"measured", "Our runs disagree with the paper. The paper's own data may differ."},
	} {
		var titles []string
		for _, e := range ledger.Embedded().Errata {
			if e.Status == status[0] {
				titles = append(titles, fmt.Sprintf("[%s](#%s)", e.Title, strings.ReplaceAll(strings.ToLower(e.Title), " ", "-")))
			}
		}
		which := strings.Join(titles, "; ")
		if status[0] == "certain" {
			which = "all others"
		}
		rows = append(rows, []string{status[0], status[1], strconv.Itoa(len(titles)), which})
	}
	return markdown([]string{"status", "meaning", "errata", "which"}, rows)
}

// errata returns a generator for the errata of a severity, with what follows from them: by rank, and of one
// rank in the order of the paper.
func errata(severity string) func(*testing.T) string {
	return func(*testing.T) string {
		var out strings.Builder
		of := slices.DeleteFunc(slices.Clone(ledger.Embedded().Errata), func(e ledger.Erratum) bool { return e.Severity != severity })
		slices.SortStableFunc(of, func(a, b ledger.Erratum) int { return cmp.Compare(a.Rank, b.Rank) })
		for _, e := range of {
			fmt.Fprintf(&out, "### %s\n\n", e.Title)
			for _, line := range [][2]string{{"Status", statuses[e.Status].says}, {"Where", fmt.Sprintf("line %d, %s", e.Line, e.Place)}, {"Printed", e.Printed}, {statuses[e.Status].right, e.Right}, {"Reason", e.How}, {"**What follows**", e.Follows}} {
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
	for _, e := range ledger.Embedded().Errata {
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
		"multidist.concentrate":        {"majority", "the dictionary concentrates near the modes", "multidist, hinge", "% of the elements within σ of a mode", "ours: most elements; of the training points 41 % are within σ", ""},
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

// cellVerdicts returns the table of the numbers of the 17 cells, printed and ours, with the verdicts. Numbers that
// are not reproduced are bold.
func cellVerdicts(t *testing.T) string {
	quantities := []string{"risk", "error", "order"}
	var rows [][]string
	for _, c := range recorded[evidence.Document](t, "verdicts.json").Claims {
		if !c.Cell {
			continue
		}
		id := strings.Split(c.ID, ".") // table, data set, task, method
		row := []string{titles[id[1]], losses[id[2]], methods[id[3]], words.Dash, words.Dash, words.Dash, c.Verdict.String()}
		for _, test := range c.Tests {
			text := quantityText(test.ID, *test.Paper) + " → " + quantityText(test.ID, float64(*test.Value))
			switch {
			case test.Set:
				text = quantityText(test.ID, *test.Paper) + ", a setting"
			case test.Verdict != stats.Reproduced:
				text = "**" + text + "**"
			}
			row[3+slices.Index(quantities, test.ID)] = text
		}
		rows = append(rows, row)
	}
	return markdown([]string{"data set", "loss", "method", "risk", "error (%)", "model order", "verdict"}, rows)
}

// target writes the target of a test.
func target(test evidence.TestDocument) string {
	short := func(v *float64) string { return words.Plain(math.Round(*v*100) / 100) }
	switch {
	case test.Kind == ledger.KindLess:
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
	if decimals > 2 && test.Kind != ledger.KindUpper {
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
	ours := ""
	for _, row := range table(t, "figures/joint.csv") {
		if row["on_front"] == "true" && row["by_result"] == "11" {
			ours = row["cells"]
		}
	}
	return fmt.Sprintf("The best of %.1f billion combinations reproduces %s of the %d cells, with %s choices by result. Combinations with\n11 such choices, as many as ours, reproduce at most %s cells.\n",
		combinations/1e9, best["cells"], recorded[evidence.Document](t, "verdicts.json").Counts.Cells.Total(), best["by_result"], ours)
}
