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
	parts := make(map[string]bool)
	versions := 0
	for _, codes := range codesOf(records) {
		versions = max(versions, len(codes))
		for _, part := range differing(slices.Sorted(maps.Keys(codes))) {
			parts[part] = true
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("runs of %d versions of the code of %s", versions, strings.Join(slices.Sorted(maps.Keys(parts)), ", "))
}

// codesOf returns the codes of the runs that differ in nothing else, by their
// [experiments.CodelessID].
func codesOf(records map[string]*record.Record) map[string]map[string]bool {
	out := make(map[string]map[string]bool)
	for _, r := range records {
		id := experiments.CodelessID(r.Header.Run)
		if out[id] == nil {
			out[id] = make(map[string]bool)
		}
		out[id][r.Header.Run.Code] = true
	}
	return out
}

// differing returns the names of the parts that codes do not have in common: a code is
// a list such as "method polk: version 2, pruner mygo: source 066bb907832e".
func differing(codes []string) []string {
	count := make(map[string]int)
	for _, code := range codes {
		for _, part := range strings.Split(code, ", ") {
			count[part]++
		}
	}
	var out []string
	for part, n := range count {
		if name, _, ok := strings.Cut(part, ": "); ok && n < len(codes) {
			out = append(out, name)
		}
	}
	return out
}
