//go:build golden

package export

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/record"
	"polkrepro/report"
)

// madeUp returns a record for each run of the profile full with the same
// figures, those of the widest cells: risks of four digits with their spread.
func madeUp(t *testing.T) ([]experiments.Planned, map[string]*record.Record) {
	t.Helper()
	specs, err := experiments.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	var plan []experiments.Planned
	records := make(map[string]*record.Record)
	for _, s := range specs {
		runs, err := s.Plan(experiments.ProfileFull, experiments.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		plan = append(plan, runs...)
	}
	for i, p := range plan {
		v := 1 + 0.01*float64(i%7)
		records[p.ID] = &record.Record{Header: record.Header{ID: p.ID, Run: p.Run},
			Final: record.Final{TrainRisk: 0.0826 * v, TestRisk: 0.0826 * v, TestError: 0.0379 * v, ModelOrder: 1173 * v}}
	}
	return plan, records
}

// TestGoldenLaTeX compiles the paper's tables with pdflatex. They must fit the
// page, and have no character that LaTeX could not be given.
func TestGoldenLaTeX(t *testing.T) {
	program, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("no pdflatex")
	}
	plan, records := madeUp(t)
	r, err := report.Build(report.Input{Planned: plan, Records: records, Profile: experiments.ProfileFull})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := LaTeX(&text, r.Tables); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexByte(text.String(), '?'); i >= 0 {
		t.Errorf("a character is lost: %q", text.String()[max(0, i-20):i+20])
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tables.tex"), text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-interaction=nonstopmode", "-halt-on-error", "tables.tex")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, complaint := range []string{"Overfull", "too large for page", "undefined"} {
		for line := range strings.SplitSeq(string(out), "\n") {
			if strings.Contains(line, complaint) {
				t.Error(line)
			}
		}
	}
	pdf, err := os.ReadFile(filepath.Join(dir, "tables.pdf"))
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Errorf("no PDF: %v", err)
	}
}
