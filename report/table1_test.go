package report

import (
	"strings"
	"testing"

	"polkrepro/evidence/theory"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// theoryInput returns the input of a report: made-up records of Table 1's runs in a profile that
// agree with the theory, modified by change.
func theoryInput(t *testing.T, profile string, change func(*record.Record)) Input {
	t.Helper()
	in := Input{Records: map[string]*record.Record{}, Profile: profile, Planned: theorytest.Plan(t, profile, Table1Spec)}
	for _, p := range in.Planned {
		in.Records[p.ID] = theorytest.Record(p)
		if change != nil {
			change(in.Records[p.ID])
		}
	}
	in.Assessment = judged(t, in)
	return in
}

// verdicts are the verdicts of Table 1's rows that have one.
func verdicts(r *Report) string {
	var out []string
	for _, row := range r.Tables[0].Rows {
		if v := row[len(row)-1]; v != "" {
			out = append(out, v)
		}
	}
	return strings.Join(out, ", ")
}

// TestTable1Verdicts checks that the table shows the claims' verdicts, and that a record that
// contradicts a claim changes only the claim's row.
func TestTable1Verdicts(t *testing.T) {
	const good = "reproduced, reproduced, reproduced, reproduced"
	if got := verdicts(built(theoryInput(t, spec.ProfileQuick, nil))); got != good {
		t.Errorf("verdicts %s", got)
	}
	stalled := theoryInput(t, spec.ProfileQuick, func(r *record.Record) {
		if run := r.Header.Run; run.Method == spec.MethodPOLK && run.Params.Schedule == spec.ScheduleInverse {
			for i := range r.Points {
				r.Points[i].Measured[theory.Distance] = 5
			}
		}
	})
	if got := verdicts(built(stalled)); got != "deviates, reproduced, reproduced, reproduced" {
		t.Errorf("verdicts %s of a run that stalls", got)
	}
	one := theoryInput(t, spec.ProfileQuick, nil)
	clear(one.Records)
	one.Records[one.Planned[0].ID] = theorytest.Record(one.Planned[0])
	r := built(one)
	if want := "Table 1: 24 of its runs are missing, and each series needs one: "; len(r.Tables) != 2 || !strings.Contains(strings.Join(r.Missing(), "\n"), want) {
		t.Errorf("one record: %d tables, missing %q", len(r.Tables), r.Missing())
	}
}

// TestTable1Figures checks that the pictures of a complete study are drawn.
func TestTable1Figures(t *testing.T) {
	drawn := 0
	for _, f := range built(theoryInput(t, spec.ProfileQuick, nil)).Figures {
		if !strings.HasPrefix(f.Name, Table1Spec) {
			continue
		}
		drawn++
		renderAll(t, f.Drawing, "svg")
		if text := f.Drawing.(*plot.Picture).Legend[0].Text; strings.Contains(text, "?") {
			t.Errorf("%s: legend %q", f.Name, text)
		}
	}
	if drawn != 3 {
		t.Errorf("%d figures", drawn)
	}
}
