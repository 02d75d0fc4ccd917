package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"polkrepro/experiments"
	"polkrepro/record"
)

// SeveralCodes says which parts of the program have runs of several versions of their
// code among the records, of runs that are otherwise the same, such as "pruner mygo".
// It is empty if there are none.
func SeveralCodes(records map[string]*record.Record) string {
	codes := make(map[string]map[string][]string) // the parts of each code of the runs that differ in nothing else
	for _, r := range records {
		run := r.Header.Run
		id := experiments.CodelessID(run)
		if codes[id] == nil {
			codes[id] = make(map[string][]string)
		}
		codes[id][run.Code] = strings.Split(run.Code, ", ") // method polk: version 2, pruner mygo: source 066bb907832e
	}
	differ, versions := make(map[string]bool), 0
	for _, of := range codes {
		count := make(map[string]int)
		for _, part := range slices.Concat(slices.Collect(maps.Values(of))...) {
			count[part]++
		}
		for part, n := range count {
			if name, _, ok := strings.Cut(part, ": "); ok && n < len(of) {
				differ[name] = true
			}
		}
		versions = max(versions, len(of))
	}
	if len(differ) == 0 {
		return ""
	}
	return fmt.Sprintf("runs of %d versions of the code of %s", versions, strings.Join(slices.Sorted(maps.Keys(differ)), ", "))
}
