package export

import (
	"bytes"
	"strings"
	"testing"

	"polkrepro/evidence"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/experiments"
	"polkrepro/record"
	"polkrepro/report"
)

// madeUp returns a record for each run of the profile full with the same
// figures, those of the widest cells: risks of four digits with their spread.
func madeUp(t *testing.T) ([]experiments.Planned, map[string]*record.Record) {
	t.Helper()
	plan := theorytest.Plan(t, experiments.ProfileFull)
	records := make(map[string]*record.Record)
	for i, p := range plan {
		v := 1 + 0.01*float64(i%7)
		records[p.ID] = &record.Record{Header: record.Header{ID: p.ID, Run: p.Run},
			Points: []record.Point{{Samples: p.Run.Samples, TrainRisk: 0.0826 * v, TestRisk: 0.0826 * v, TestError: 0.0379 * v, ModelOrder: int(1173 * v)}},
			Final:  record.Final{TrainRisk: 0.0826 * v, TestRisk: 0.0826 * v, TestError: 0.0379 * v, ModelOrder: 1173 * v}}
	}
	return plan, records
}

// document returns the paper's tables of made-up records in LaTeX, with verdicts or
// without.
func document(t *testing.T, judged bool) []byte {
	t.Helper()
	plan, records := madeUp(t)
	in := report.Input{Planned: plan, Records: records, Profile: experiments.ProfileFull}
	if judged {
		ledger, err := experiments.Ledgers()
		if err != nil {
			t.Fatal(err)
		}
		if in.Assessment, err = evidence.Assess(evidence.Input{Ledger: ledger, Plan: plan, Records: records}); err != nil {
			t.Fatal(err)
		}
	}
	r := report.Build(in)
	var text bytes.Buffer
	if err := latex(&text, r.Tables); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// TestLaTeX: all tables are in one document, and no character in them is one
// that LaTeX could not be given.
func TestLaTeX(t *testing.T) {
	text := string(document(t, false))
	if !strings.HasPrefix(text, "\\documentclass") || !strings.HasSuffix(text, "\\end{document}\n") {
		t.Errorf("no document:\n%s", text)
	}
	for _, want := range []string{"\\label{tab:polkrepro-table2}", "\\label{tab:polkrepro-table3}", `Nystr\"{o}m`, `0.0851 $\pm$`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if i := strings.IndexByte(text, '?'); i >= 0 {
		t.Errorf("a character is lost: %q", text[max(0, i-20):i+20])
	}
}
