package harness

import (
	"fmt"
	"slices"

	"polkrepro/experiments"
	"polkrepro/record"
)

// OfOtherCode returns, by the ID of a planned run without a record, the newest record
// of the same run made by other code ([experiments.Run.PresentCode]).
func OfOtherCode(plan []experiments.Planned, have map[string]*record.Record) map[string]*record.Record {
	missing := make(map[string]string) // ID of the run without its code → planned ID
	for _, p := range plan {
		if have[p.ID] == nil {
			missing[codeless(p.Run)] = p.ID
		}
	}
	out := make(map[string]*record.Record)
	if len(missing) == 0 {
		return out
	}
	for _, r := range have {
		id, ok := missing[codeless(r.Header.Run)]
		if ok && (out[id] == nil || r.Header.Started.After(out[id].Header.Started)) {
			out[id] = r
		}
	}
	return out
}

func codeless(run experiments.Run) string {
	run.Code = ""
	return experiments.ID(run)
}

// Adopt returns a plan in which runs without a record are those of other code that
// have one.
func Adopt(plan []experiments.Planned, have map[string]*record.Record) []experiments.Planned {
	other := OfOtherCode(plan, have)
	plan = slices.Clone(plan)
	for i, p := range plan {
		if r := other[p.ID]; r != nil {
			plan[i].ID, plan[i].Run.Code = r.Header.ID, r.Header.Run.Code
		}
	}
	return plan
}

// OtherCodeNote counts records that [OfOtherCode] has found by their code.
func OtherCodeNote(other map[string]*record.Record) string {
	var runs []experiments.Run
	for _, r := range other {
		runs = append(runs, r.Header.Run)
	}
	return fmt.Sprintf("%d finished runs of other code, %s", len(runs), experiments.CodeNote(runs))
}
