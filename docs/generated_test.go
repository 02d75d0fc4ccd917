package docs

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/compare"
	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/internal/words"
)

// generators make the blocks of documents that repeat recorded results or the ledger. The keys are the
// names in the comments before the blocks.
var generators = map[string]func(*testing.T) string{
	"results/reference/figures/joint.csv":                  joint,
	"results/reference/placebo.json":                       placebo,
	"results/reference/tables/runs.csv, a billion samples": billion,
	"results/reference/tables/runs.csv, C-SVC":             cost,
	"results/reference/bench/bench.txt, MNIST":             mnistSteps,
	"results/reference/bench/bench.txt, steps":             steps,
	"results/reference/bench/bench.txt, projections":       projections,
	"results/reference/scale/scale.txt, steps":             exponents,
	"results/reference/scale/scale.txt, trainings":         trainings,
	"results/reference/stream.csv":                         streams,
	"results/reference/tables/table1-series.csv":           distances,
	"results/reference/tables/tableS3.csv, MNIST":          learners("mnist"),
	"results/reference/tables/tableS3.csv, multidist":      learners("multidist (calibrated)"),
	"results/reference/tables/tableS5.csv, any draws":      contrasts("multidist, selected draws", "multidist, any draws"),
	"results/reference/tables/tableS5.csv, BSGD":           contrasts("MNIST, 1,086 elements", "MNIST, 324 elements", "Brodatz, 1,171 elements", "Brodatz, 305 elements"),
	"results/reference/tables/tableS5.csv, maintenance":    maintenance,
	"results/reference/tables/tableS5.csv, memory":         atEqualMemory,
	"results/reference/tables/tableS5.csv, ten draws":      contrasts("Brodatz, ten draws"),
	"the intervals of one run":                             oneRun,
	"the risks of POLK":                                    risks,
	"results/reference/times.csv":                          times,
	"results/reference/verdicts.json":                      counts,
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
func contrasts(on ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		var rows [][]string
		for _, line := range table(t, "tables/tableS5.csv") {
			if slices.Contains(on, line["data"]) {
				points := func(name string) string { return words.Signed(number(t, line[name]), 2) }
				rows = append(rows, []string{line["data"], line["difference"], points("points"), points("low") + " to " + points("high")})
			}
		}
		return markdown([]string{"", "difference of errors", "points", "90 %"}, rows)
	}
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
		row := []string{of[0]}
		for _, name := range of[1:] {
			for _, key := range []string{"least distance", "M at the end"} {
				mean, _, _ := strings.Cut(by[name][key], " (")
				row = append(row, mean)
			}
		}
		rows = append(rows, row)
	}
	return markdown([]string{"learning rate", "POLK, least distance to f*", "elements", "FSGD, least distance to f*", "elements"}, rows)
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
	return fmt.Sprintf("Of the learned numbers with three runs or more, %d of %d on multidist lie in our 90 %% interval of one new run, %d of %d on MNIST and %d of %d on\nBrodatz: outside multidist %d of %d.\n",
		inside["multidist"], of["multidist"], inside["mnist"], of["mnist"], inside["brodatz"], of["brodatz"], inside["mnist"]+inside["brodatz"], of["mnist"]+of["brodatz"])
}

// risks returns the differences of POLK's risks from the printed ones.
func risks(t *testing.T) string {
	var rows [][]string
	for _, line := range tables(t) {
		if line["method"] == "polk" && line["quantity"] == "risk" {
			paper, ours := number(t, line["paper"]), number(t, line["mean"])
			rows = append(rows, []string{line["data"], map[string]string{"ksvm": "hinge", "klr": "logistic"}[line["task"]], line["paper"], fmt.Sprintf("%.3g", ours), words.Signed(100*(ours-paper)/paper, 0) + " %"})
		}
	}
	return markdown([]string{"data set", "loss", "printed risk", "ours", "difference"}, rows)
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
	return markdown([]string{fmt.Sprintf("%d draws of numbers", p.Kinds[0].Draws), "median of cells", "most", fmt.Sprintf("at least %d", p.Most), "p"}, rows)
}

func counts(t *testing.T) string {
	v := recorded[evidence.Document](t, "verdicts.json")
	var rows [][]string
	for _, of := range []evidence.Tally{
		{What: "cells of Tables 2 and 3", Counts: v.Counts.Cells},
		{What: "targets of a choice", Counts: v.Scorecard.Targets}, {What: "never a target", Counts: v.Scorecard.Others}, {What: "settings", Counts: v.Scorecard.Set},
		{What: "sentences, captions and ranks", Counts: v.Counts.Sentences}, {What: "statements of Table 1 and its theorems", Counts: v.Counts.Theorems},
		{What: "cells at half the margins", Counts: v.Counts.Half}, {What: "cells at twice the margins", Counts: v.Counts.Twice},
	} {
		rows = append(rows, []string{of.What, fmt.Sprintf("**%d of %d**", of.Reproduced, of.Total()), strconv.Itoa(of.Deviates), strconv.Itoa(of.Inconclusive)})
	}
	return markdown([]string{"", "reproduced", "deviates", "inconclusive"}, rows)
}

// scorecard counts the results that were in view when choices were made.
func scorecard(t *testing.T) string {
	s := recorded[evidence.Document](t, "verdicts.json").Scorecard
	return fmt.Sprintf("- **Targets**: %d of the %d numbers are settings. For %d of the others a choice was made with the number in view: %d are\n  reproduced. For %d it was not: %d are, though their cells rest on choices made for others.\n",
		s.Set.Total(), s.Set.Total()+s.Targets.Total()+s.Others.Total(), s.Targets.Total(), s.Targets.Reproduced, s.Others.Total(), s.Others.Reproduced)
}

// failures names the sentences and ranks that are not reproduced.
func failures(t *testing.T) string {
	names := make(map[stats.Verdict][]string)
	for _, c := range recorded[evidence.Document](t, "verdicts.json").Claims {
		if !c.Cell {
			names[c.Verdict] = append(names[c.Verdict], "`"+c.ID+"`")
		}
	}
	return fmt.Sprintf("Deviating: %s.\n\nInconclusive: %s.\n", strings.Join(names[stats.Deviates], ", "), strings.Join(names[stats.Inconclusive], ", "))
}

// joint returns the number of cells and numbers that the best combination of choices reproduces.
func joint(t *testing.T) string {
	var best map[string]string
	combinations := 0.0
	for _, row := range table(t, "figures/joint.csv") {
		combinations += number(t, row["combinations"])
		if row["on_front"] == "true" {
			best = row
		}
	}
	others := "`" + strings.ReplaceAll(best["assumed_otherwise"], ", ", "`, `") + "`"
	return fmt.Sprintf("The best of %.0f million combinations reproduces %s cells and %s numbers: %s.\n", combinations/1e6, best["cells"], best["numbers"], others)
}
