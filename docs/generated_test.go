package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
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
	_ "polkrepro/harness" // registers the methods that specs name
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/internal/words"
)

// generators make the blocks of documents that repeat recorded results, ledgers or imports. The
// keys are the names in the comments before the blocks.
var generators = map[string]func(*testing.T) string{
	"the imports":                           arrows,
	"experiments/ledgers/assumptions.yaml":  assumptions,
	"experiments/ledgers/errata.yaml":       errata,
	"results/reference/figures/joint.csv":   joint,
	"results/reference/calibration":         effort,
	"results/reference/peers.txt":           peers,
	"results/reference/placebo.json":        placebo,
	"results/reference/tables/tableS3.csv":  learners,
	"results/reference/times.csv":           times,
	"results/reference/verdicts.json":       counts,
	"the scorecard":                         scorecard,
	"the sentences that are not reproduced": failures,
	"results/reference/tournament, error":   tournament("", compare.ErrorAtOrder, "komp-merge", "komp-merge-order", "merging", "komp-order", "komp-loss", "ald", "coherence", "oldest"),
	"results/reference/tournament, time":    tournament("", compare.Time, "komp-merge", "komp-merge-order", "merging"),
	"results/reference/tournament, merging": tournament("against-merging", compare.ErrorAtOrder, "komp-merge", "komp-merge-order", "komp"),
	"results/reference/tournament, stream":  tournament("", compare.Anytime, "komp-merge", "merging", "komp-age", "komp-loss"),
}

// TestGenerated: the blocks between "<!-- from SOURCE -->" and "<!-- end -->" match their sources,
// and every generator has a block. To write the blocks: go test ./docs -update
func TestGenerated(t *testing.T) {
	block := regexp.MustCompile(`(?s)(<!-- from ([^>]*) -->\n)(.*?)(<!-- end -->)`)
	unused := maps.Clone(generators)
	for _, doc := range documents(t) {
		had := read(t, doc)
		want := block.ReplaceAllStringFunc(had, func(text string) string {
			m := block.FindStringSubmatch(text)
			generate := generators[m[2]]
			if generate == nil {
				t.Errorf("%s: nothing generates the block from %s", doc, m[2])
				return text
			}
			delete(unused, m[2])
			return m[1] + generate(t) + m[4]
		})
		if want == had {
			continue
		}
		if !*golden.Update {
			t.Errorf("%s is not what its sources give; run go test ./docs -update", doc)
		} else if err := os.WriteFile(filepath.Join(root, doc), []byte(want), 0o644); err != nil {
			t.Error(err)
		}
	}
	for source := range unused {
		t.Errorf("no document has the block from %s", source)
	}
}

// markdown returns a table. Its first column is text; the other columns are numbers, or text too.
func markdown(numbers bool, header []string, rows [][]string) string {
	rule := "|---"
	if numbers {
		rule = "|--:"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|---%s|\n", strings.Join(header, " | "), strings.Repeat(rule, len(header)-1))
	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String()
}

// table reads a CSV file of the recorded results.
func table(t *testing.T, name string) []map[string]string {
	t.Helper()
	return testutil.Table(t, filepath.Join(root, "results/reference", name))
}

// recorded reads a JSON file of the recorded results.
func recorded[T any](t *testing.T, name string) (v T) {
	t.Helper()
	testutil.NoError(t, json.Unmarshal([]byte(read(t, "results/reference/"+name)), &v))
	return v
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	testutil.NoError(t, err)
	return v
}

func assumptions(t *testing.T) string {
	var rows [][]string
	for _, a := range experiments.Ledgers().Assumptions {
		var others []string
		for _, alternative := range a.Alternatives {
			if alternative.Run() {
				others = append(others, alternative.ID)
			}
		}
		rows = append(rows, []string{"`" + a.ID + "`", a.Paper, a.Chosen, a.How, strings.Join(others, ", ")})
	}
	return markdown(false, []string{"", "the paper", "here", "chosen", "alternatives run"}, rows)
}

// errata shows the errata of the ledger that affect results. It checks that the tests that the
// ledger names exist.
func errata(t *testing.T) string {
	var rows [][]string
	listed, settled := experiments.Ledgers().Errata, 0
	for _, e := range listed {
		for _, name := range e.Tests {
			dot := strings.LastIndexByte(name, '.')
			files, _ := filepath.Glob(filepath.Join(root, name[:dot], "*_test.go"))
			if !slices.ContainsFunc(files, func(path string) bool {
				text, err := os.ReadFile(path)
				return err == nil && strings.Contains(string(text), "\nfunc "+name[dot+1:]+"(t *testing.T)")
			}) {
				t.Errorf("%s: there is no test %s", e.ID, name)
			}
		}
		if e.Settled() {
			settled++
		}
		if e.Assumption != "" || len(e.Claims) > 0 {
			rows = append(rows, []string{"`" + e.ID + "`", e.Printed, e.Right})
		}
	}
	return fmt.Sprintf("%d errata, %d of them settled by a test. Those on which a choice or a verdict depends:\n\n%s",
		len(listed), settled, markdown(false, []string{"", "printed", "right"}, rows))
}

// placebo returns the table of the joint search's results for numbers other than the paper's.
func placebo(t *testing.T) string {
	p := recorded[evidence.PlaceboReport](t, "placebo.json")
	out := fmt.Sprintf("| %d draws of numbers | median of cells | most | at least %d | p |\n|---|--:|--:|--:|--:|\n", p.Kinds[0].Draws, p.Most)
	for _, k := range p.Kinds {
		median, most := k.Summary()
		out += fmt.Sprintf("| %s | %d | %d | %d | %.3f |\n", k.Name, median, most, k.Equal, k.P)
	}
	return out
}

// peers returns the closing lines of 'make peers'.
func peers(t *testing.T) string {
	_, lines, found := strings.Cut(read(t, "results/reference/peers.txt"), "\n\nrunall, ")
	if !found {
		t.Error("results/reference/peers.txt has no means of runall")
	}
	return "```text\nrunall, " + lines + "```\n"
}

func counts(t *testing.T) string {
	v := recorded[evidence.Document](t, "verdicts.json")
	var rows [][]string
	for _, of := range []struct {
		name string
		n    evidence.Counts
	}{
		{"cells of Tables 2 and 3", v.Counts.Cells},
		{"targets of a choice", v.Scorecard.Targets}, {"never a target", v.Scorecard.Others}, {"settings", v.Scorecard.Set},
		{"sentences, captions and ranks", v.Counts.Sentences}, {"statements of Table 1 and its theorems", v.Counts.Theorems},
		{"cells at half the margins", v.Counts.Half}, {"cells at twice the margins", v.Counts.Twice},
	} {
		rows = append(rows, []string{of.name, fmt.Sprintf("**%d of %d**", of.n.Reproduced, of.n.Total()), strconv.Itoa(of.n.Deviates), strconv.Itoa(of.n.Inconclusive)})
	}
	return markdown(true, []string{"", "reproduced", "deviates", "inconclusive"}, rows)
}

// scorecard counts the results that were in view when choices were made.
func scorecard(t *testing.T) string {
	s := recorded[evidence.Document](t, "verdicts.json").Scorecard
	return fmt.Sprintf("- **Targets**: %d of the %d numbers are given. Of the others, %d were in view when a choice was made (%d reproduced), %d were\n  not (%d reproduced).\n",
		s.Set.Total(), s.Set.Total()+s.Targets.Total()+s.Others.Total(), s.Targets.Total(), s.Targets.Reproduced, s.Others.Total(), s.Others.Reproduced)
}

// effort counts the settings that were tried for each method of the tables: on held-out rows, and
// on the test rows, where alternatives of the ledger were run with the printed numbers in view.
func effort(t *testing.T) string {
	sets := []string{"multidist", "mnist", "brodatz"}
	heldOut := make(map[string]map[[3]string]bool) // settings of POLK
	for _, name := range []string{"multidist", "mnist-ksvm", "mnist-klr", "brodatz"} {
		set, _, _ := strings.Cut(name, "-")
		if heldOut[set] == nil {
			heldOut[set] = make(map[[3]string]bool)
		}
		for _, row := range table(t, "calibration/"+name+".csv") {
			heldOut[set][[3]string{row["task"], row["parsimony"], row["epoch"]}] = true
		}
	}
	others := make(map[string]int)
	for _, name := range []string{"fashion", "letter", "satimage"} {
		for _, task := range experiments.Tasks() {
			for _, row := range testutil.Table(t, filepath.Join(root, "experiments/settings", name+"-"+task+".csv")) {
				others[row["method"]]++
			}
		}
	}
	cells := experiments.Paper().Cells
	var rows [][]string
	for _, method := range []string{"polk", "bsgd", "lbfgs", "libsvm", "ivm"} {
		row := []string{"`" + method + "`"}
		for _, set := range sets {
			held, tested := 0, 0
			if method == "polk" {
				held = len(heldOut[set])
			}
			for _, a := range experiments.Ledgers().Assumptions {
				for _, alternative := range a.Alternatives {
					passes := alternative.Passes[set] > 0 && (method == "polk" || method == "bsgd")
					if passes || slices.ContainsFunc(alternative.Answers, func(w experiments.Answer) bool {
						return cells[w.Cell].Data == set && strings.HasSuffix(w.Cell, "."+method)
					}) {
						tested++
					}
				}
			}
			row = append(row, fmt.Sprintf("%d+%d", held, tested))
		}
		rows = append(rows, append(row, strconv.Itoa(others[method])))
	}
	return markdown(true, []string{"held out+tested", "multidist", "MNIST", "Brodatz", "other data"}, rows)
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

// times returns the table of the recorded times of commands.
func times(t *testing.T) string {
	what := map[string]string{
		"make reproduce": "tables and figures, profile quick", "make reproduce PROFILE=full": "all seeds and alternatives, Table 1",
		"POLK_OFFLINE=1 make reproduce": "the same without data files: generated stand-ins", "bin/runall verify --results results/reference": "every verdict with its numbers",
		"bin/runall explain table3.mnist.ksvm.polk --results results/reference": "the claim, runs and records behind one number",
		"bin/runall verify multiverse --results results/reference":              "which verdicts depend on which choice",
		"bin/runall verify multiverse --joint --results results/reference":      "what choices together reproduce",
		"bin/runall verify --reference results/reference":                       "your verdicts against the recorded ones",
		"make agree": "your records against the recorded ones, bit for bit", "make check-reference": "recorded tables, figures and verdicts, remade from the records",
		"make test": "the tests a contributor runs", "make check": "all other tests",
	}
	var rows [][]string
	for _, row := range table(t, "times.csv") {
		seconds := number(t, row["seconds"])
		text := fmt.Sprintf("%.0f s", 5*math.Ceil(seconds/5))
		if seconds >= 120 {
			text = fmt.Sprintf("%.0f min", math.Ceil(seconds/60))
		}
		rows = append(rows, []string{"`" + row["command"] + "`", what[row["command"]], text})
	}
	return markdown(false, []string{"command", "what", "time"}, rows)
}

// tournament returns a generator for the table of one measure of the recorded tournament. Better
// values are bold, worse values are marked "worse", and values that the grid is too coarse to
// judge are in brackets.
func tournament(folder string, by compare.Measure, names ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		fields := []string{"multidist-ksvm", "multidist-klr", "drift-ksvm", "mnist-ksvm", "brodatz-ksvm", "fashion-ksvm", "letter-ksvm", "satimage-ksvm"}
		cells := make(map[[2]string]string)
		for _, field := range fields {
			for _, row := range table(t, filepath.Join("tournament", folder, "tables", field+".csv")) {
				if row["by"] != by.String() {
					continue
				}
				value := words.Dash
				if row["difference"] != "" {
					value = by.Difference(words.Nullable(number(t, row["difference"])))
				}
				switch verdict := compare.Verdict(row["verdict"]); {
				case by == compare.Time:
				case verdict == compare.Better:
					value = "**" + value + "**"
				case verdict == compare.TooCoarse:
					value = "(" + value + ")"
				case verdict == compare.Worse:
					value += " worse"
				}
				cells[[2]string{row["heuristic"], field}] = value
			}
		}
		var rows [][]string
		for _, name := range names {
			row := []string{"`" + name + "`"}
			for _, field := range fields {
				value, ok := cells[[2]string{name, field}]
				if !ok {
					t.Errorf("no %s on %s", name, field)
				}
				row = append(row, value)
			}
			rows = append(rows, row)
		}
		return markdown(true, []string{"", "multidist, hinge", "logistic", "drift", "MNIST", "Brodatz", "Fashion", "letter", "satimage"}, rows)
	}
}

// learners returns the table of the errors of Table S3.
func learners(t *testing.T) string {
	errors := make(map[string]string)
	for _, row := range table(t, "tables/tableS3.csv") {
		errors[row["data"]+row["task"]+row["series"]], _, _ = strings.Cut(row["error (%)"], " (")
	}
	var rows [][]string
	for _, name := range []string{"polk", "bsgd", "fogd", "rff-sgd", "nogd", "nystrom-sgd", "projectron", "forgetron", "norma", "fsgd"} {
		row := []string{"`" + name + "`"}
		for _, field := range []string{"multidist (calibrated)ksvm", "multidist (calibrated)klr", "mnistksvm", "mnistklr"} {
			row = append(row, errors[field+experiments.Method(name).Title])
		}
		rows = append(rows, row)
	}
	return markdown(true, []string{"", "multidist, hinge", "logistic", "MNIST, hinge", "logistic"}, rows)
}

// arrows draws the imports between the top-level folders except internal. It leaves out an import
// that a chain of other imports implies.
func arrows(t *testing.T) string {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	list.Dir = root
	out, err := list.Output()
	testutil.NoError(t, err)
	imports := make(map[string]map[string]bool)
	top := func(path string) string {
		path, own := strings.CutPrefix(path, "polkrepro/")
		folder, _, _ := strings.Cut(path, "/")
		if !own || folder == "internal" {
			return ""
		}
		return folder
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := top(words[0])
		if strings.HasSuffix(words[0], "test") { // for tests alone
			continue
		}
		for _, path := range words[1:] {
			if to := top(path); from != "" && to != "" && to != from {
				if imports[from] == nil {
					imports[from] = make(map[string]bool)
				}
				imports[from][to] = true
			}
		}
	}
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		for next := range imports[from] {
			if next == to || reaches(next, to) {
				return true
			}
		}
		return false
	}
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		drawn := slices.DeleteFunc(slices.Sorted(maps.Keys(imports[from])), func(to string) bool {
			for other := range imports[from] {
				if reaches(other, to) {
					return true
				}
			}
			return false
		})
		fmt.Fprintf(&b, "    %s --> %s\n", from, strings.Join(drawn, " & "))
	}
	b.WriteString("```\n")
	return b.String()
}
