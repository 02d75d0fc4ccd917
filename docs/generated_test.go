package docs

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/experiments"
	_ "polkrepro/harness" // registers the methods that specs name
)

var update = flag.Bool("update", false, "write the generated parts of the documents")

// generated compares the part of a document between a comment that begins with
// the source's name and the next "<!-- end -->" with what it should be, or
// replaces it.
func generated(t *testing.T, doc, source, want string) {
	t.Helper()
	text := read(t, doc)
	begin := strings.Index(text, "<!-- from "+source)
	if begin < 0 {
		t.Fatalf("%s has no part from %s", doc, source)
	}
	begin += strings.Index(text[begin:], "-->\n") + len("-->\n")
	end := begin + strings.Index(text[begin:], "<!-- end -->")
	if text[begin:end] == want {
		return
	}
	if !*update {
		t.Fatalf("%s differs from %s; run go test ./docs -run %s -update", doc, source, t.Name())
	}
	if err := os.WriteFile(filepath.Join(root, doc), []byte(text[:begin]+want+text[end:]), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAssumptions: docs/assumptions.md has the ledger's assumptions.
func TestAssumptions(t *testing.T) {
	ledger, err := experiments.Ledgers()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, a := range ledger.Assumptions {
		fmt.Fprintf(&b, "\n### %s\n\n- **The paper**: %s\n- **Here** (%s): %s\n- **Why**: %s\n", a.ID, a.Paper, a.How, a.Chosen, a.Evidence)
		for _, alt := range a.Alternatives {
			how := "not run"
			switch {
			case alt.Reading():
				how = "another reading of the same runs"
			case len(alt.Answers) > 0:
				how = "run"
			case len(alt.Passes) > 0:
				how = "cut from longer runs"
			}
			if alt.How != "" {
				how += ", " + alt.How
			}
			fmt.Fprintf(&b, "- Alternative `%s` (%s): %s", alt.ID, how, alt.Value)
			if alt.Effect != "" {
				fmt.Fprintf(&b, ". Effect: %s", alt.Effect)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	generated(t, "docs/assumptions.md", "experiments/ledgers/assumptions.yaml", b.String())
}

// TestErrata: docs/errata.md has the ledger's errata, and the tests that settle them exist.
func TestErrata(t *testing.T) {
	ledger, err := experiments.Ledgers()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	settled := 0
	for _, e := range ledger.Errata {
		fmt.Fprintf(&b, "\n### %s\n\n- **Where** (%s): %s (line %d)\n- **Printed**: %s\n- **Right**: %s\n- **How it is known**: %s\n", e.ID, e.Kind, e.Place, e.Line, e.Printed, e.Right, e.How)
		var by []string
		for _, name := range e.Tests {
			by = append(by, "test `"+name+"`")
			if !isTest(t, name) {
				t.Errorf("%s: there is no test %s", e.ID, name)
			}
		}
		for _, id := range e.Claims {
			by = append(by, "claim `"+id+"`")
		}
		if len(by) > 0 {
			settled++
			fmt.Fprintf(&b, "- **Settled by**: %s\n", strings.Join(by, ", "))
		}
		if e.Assumption != "" {
			fmt.Fprintf(&b, "- **Here**: assumption [%s](assumptions.md#%s)\n", e.Assumption, e.Assumption)
		}
	}
	head := fmt.Sprintf("\n%d errata, %d of them settled by a test.\n", len(ledger.Errata), settled)
	generated(t, "docs/errata.md", "experiments/ledgers/errata.yaml", head+b.String()+"\n")
}

// isTest reports whether PACKAGE.TEST is a test of the tree.
func isTest(t *testing.T, name string) bool {
	dot := strings.LastIndexByte(name, '.')
	files, err := filepath.Glob(filepath.Join(root, name[:dot], "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(text), "\nfunc "+name[dot+1:]+"(t *testing.T)")
	})
}

// TestParsimonyOnMNIST: docs/assumptions.md has the validation errors of
// results/reference/calibration. The K that the specs use are bold.
func TestParsimonyOnMNIST(t *testing.T) {
	used := map[string][]string{"ksvm": {"0.016", "0.024"}, "klr": {"0.008", "0.016"}}
	var b strings.Builder
	b.WriteString("| task | K | error, 4 epochs | order | error, 8 epochs | order |\n|---|--:|--:|--:|--:|--:|\n")
	for _, task := range []string{"ksvm", "klr"} {
		f, err := os.Open(filepath.Join(root, "results/reference/calibration/mnist-"+task+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
		var cells []string
		for _, row := range rows[1:] {
			epoch := column(row, "epoch")
			if epoch != "4" && epoch != "8" {
				continue
			}
			if epoch == "4" {
				k := column(row, "parsimony")
				if slices.Contains(used[task], k) {
					k = "**" + k + "**"
				}
				cells = []string{task, k}
			}
			wrong, err := strconv.ParseFloat(column(row, "validation_error"), 64)
			if err != nil {
				t.Fatal(err)
			}
			cells = append(cells, fmt.Sprintf("%.2f %%", 100*wrong), column(row, "model_order"))
			if epoch == "8" {
				fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
			}
		}
	}
	generated(t, "docs/assumptions.md", "results/reference/calibration", b.String())
}

// TestPeers: docs/own-data.md has the table of make peers.
func TestPeers(t *testing.T) {
	_, table, found := strings.Cut(read(t, "results/reference/peers.txt"), "\n\n")
	if !found {
		t.Fatal("results/reference/peers.txt has no table")
	}
	generated(t, "docs/own-data.md", "results/reference/peers.txt", "```text\n"+table+"```\n")
}

// TestCounts: the counts of verdicts in REPRODUCE.md and README.md are those of
// results/reference.
func TestCounts(t *testing.T) {
	type counts struct{ Reproduced, Inconclusive, Deviates int }
	var verdicts struct {
		Counts struct{ Cells, Sentences counts }
		Claims []struct {
			ID    string
			Cell  bool
			Tests []struct{ Verdict string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "results/reference/verdicts.json")), &verdicts); err != nil {
		t.Fatal(err)
	}
	var numbers counts
	for _, c := range verdicts.Claims {
		for _, test := range c.Tests {
			switch {
			case !c.Cell:
			case test.Verdict == "reproduced":
				numbers.Reproduced++
			case test.Verdict == "deviates":
				numbers.Deviates++
			default:
				numbers.Inconclusive++
			}
		}
	}
	text := read(t, "REPRODUCE.md")
	for name, n := range map[string]counts{
		"cells of Tables 2 and 3": verdicts.Counts.Cells, "numbers in these cells": numbers,
		"sentences and captions": verdicts.Counts.Sentences,
	} {
		row := fmt.Sprintf("| %s | **%d of %d** | %d | %d |", name, n.Reproduced,
			n.Reproduced+n.Deviates+n.Inconclusive, n.Deviates, n.Inconclusive)
		if !strings.Contains(text, row) {
			t.Errorf("REPRODUCE.md has no row %q", row)
		}
	}
	of := func(n counts) string {
		return fmt.Sprintf("%d of %d", n.Reproduced, n.Reproduced+n.Deviates+n.Inconclusive)
	}
	line := fmt.Sprintf("%s cells, %s numbers, %s sentences", of(verdicts.Counts.Cells), of(numbers), of(verdicts.Counts.Sentences))
	if !strings.Contains(read(t, "README.md"), line) {
		t.Errorf("README.md does not say %q", line)
	}
}
