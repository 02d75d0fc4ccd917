package harness

import (
	"fmt"
	"slices"

	"polkrepro/record"
	"polkrepro/spec"
)

// OfOtherCode finds, for planned runs without a record, records of the same run made by
// other code ([spec.Run.PresentCode]). It returns the newest by the planned run's ID.
func OfOtherCode(plan []spec.Planned, have map[string]*record.Record) map[string]*record.Record {
	var others []*record.Record
	for _, r := range have {
		if r.Header.Run.Code != r.Header.Run.PresentCode() {
			others = append(others, r)
		}
	}
	out := make(map[string]*record.Record)
	if len(others) == 0 { // the usual case: saves hashing the plan
		return out
	}
	missing := make(map[string]string) // ID of the run without its code → planned ID
	for _, p := range plan {
		if have[p.ID] == nil {
			missing[spec.CodelessID(p.Run)] = p.ID
		}
	}
	for _, r := range others {
		id, ok := missing[spec.CodelessID(r.Header.Run)]
		if ok && (out[id] == nil || r.Header.Started.After(out[id].Header.Started)) {
			out[id] = r
		}
	}
	return out
}

// Adopt returns a plan in which each run without a record is replaced by the same run of
// other code, if that has a record.
func Adopt(plan []spec.Planned, have map[string]*record.Record) []spec.Planned {
	other := OfOtherCode(plan, have)
	plan = slices.Clone(plan)
	for i, p := range plan {
		if r := other[p.ID]; r != nil {
			plan[i].ID, plan[i].Run.Code = r.Header.ID, r.Header.Run.Code
		}
	}
	return plan
}

// OtherCodeNote counts the records that [OfOtherCode] found, by their code.
func OtherCodeNote(other map[string]*record.Record) string {
	var runs []spec.Run
	for _, r := range other {
		runs = append(runs, r.Header.Run)
	}
	return fmt.Sprintf("%d finished runs of other code, %s", len(runs), spec.CodeNote(runs))
}
