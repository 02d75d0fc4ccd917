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
	var others []*record.Record
	for _, r := range have {
		if r.Header.Run.Code != r.Header.Run.PresentCode() {
			others = append(others, r)
		}
	}
	out := make(map[string]*record.Record)
	if len(others) == 0 { // as nearly always: nothing is hashed
		return out
	}
	missing := make(map[string]string) // ID of the run without its code → planned ID
	for _, p := range plan {
		if have[p.ID] == nil {
			missing[experiments.CodelessID(p.Run)] = p.ID
		}
	}
	for _, r := range others {
		id, ok := missing[experiments.CodelessID(r.Header.Run)]
		if ok && (out[id] == nil || r.Header.Started.After(out[id].Header.Started)) {
			out[id] = r
		}
	}
	return out
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
