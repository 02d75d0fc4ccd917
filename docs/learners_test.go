package docs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/words"
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
			row := []string{title, words.Grouped(int(number(t, order) + 0.5)), err, other}
			if set == "mnist" {
				seconds, _, _ := strings.Cut(line["CPU (s)"], " ")
				row = append(row, seconds)
			}
			found = append(found, learner{number(t, mean), row})
		}
		slices.SortStableFunc(found, func(a, b learner) int { return cmp.Compare(a.hinge, b.hinge) })
		header := []string{"learner", "elements", "error, hinge (%)", "error, logistic (%)"}
		if set == "mnist" {
			header = append(header, "CPU s, hinge")
		}
		var rows [][]string
		for _, l := range found {
			rows = append(rows, l.row)
		}
		return markdown(header, rows)
	}
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
			rows = append(rows, []string{set, line["difference"], words.Signed(number(t, line["points"]), 2), interval(t, line, "low", "high"), interval(t, line, "low_other_rows", "high_other_rows")})
		}
	}
	return markdown([]string{"data", "difference of errors", "points", "90 %, these test rows", "90 %, other test rows"}, rows)
}

// maintenance returns the differences of Table S5 between POLK and BSGD that merges, and BSGD that projects,
// at equal model order.
func maintenance(t *testing.T) string {
	var rows [][]string
	lines := table(t, "tables/tableS5.csv")
	for _, line := range lines {
		if line["difference"] != "POLK − BSGD by projection" {
			continue
		}
		row := []string{line["data"]}
		for _, other := range lines {
			if other["data"] == line["data"] && strings.HasPrefix(other["difference"], "POLK − BSGD by ") {
				row = append(row, fmt.Sprintf("%s (%s)", words.Signed(number(t, other["points"]), 2), interval(t, other, "low", "high")))
			}
		}
		rows = append(rows, row)
	}
	return markdown([]string{"data, model order", "POLK − BSGD by merging", "POLK − BSGD by projection"}, rows)
}

// TestLearnersProse: the sentences of learners.md with a number say what Table S3 says.
func TestLearnersProse(t *testing.T) {
	value := func(series, column string) float64 {
		for _, line := range table(t, "tables/tableS3.csv") {
			if line["data"] == "mnist" && line["task"] == "ksvm" && line["series"] == series {
				mean, _, _ := strings.Cut(line[column], " ")
				return number(t, mean)
			}
		}
		t.Fatalf("no %s", series)
		return 0
	}
	saysAll(t, "docs/learners.md",
		fmt.Sprintf("about %.0f times the processor time of BSGD", 10*math.Round(value("FOGD, D = 10000", "CPU (s)")/value("BSGD", "CPU (s)")/10)),
		fmt.Sprintf("POLK has %.1f times the error of BSGD", value("POLK, komp", "error (%)")/value("BSGD", "error (%)")))
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
