package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"polkrepro/experiments"
	"polkrepro/record"
)

// mostListed is the maximum number of runs that an error names.
const mostListed = 5

// Reference returns the records of a reference: those of the plan's runs, in the plan's
// order, from several collections. Every run must have a record, except that a spec that
// is a stand-in for a data set or a supplement may have none at all. A record from a
// program of unknown revision or from a tree with local changes is an error, and so are
// two records of one run with different digests.
func Reference(specs []*experiments.Spec, plan []experiments.Planned, from []*record.Collection) ([]*record.Record, error) {
	have, err := merge(from)
	if err != nil {
		return nil, err
	}
	var out []*record.Record
	var missing, unclean []string
	for _, p := range experiments.Distinct(Recorded(specs, plan, have)) {
		r := have[p.ID]
		switch {
		case r == nil:
			missing = append(missing, fmt.Sprintf("%s.jsonl (%s, %s)", p.ID, p.Spec, p.Series))
		case r.Header.Provenance.Dirty || r.Header.Provenance.Revision == "":
			unclean = append(unclean, r.Path)
		default:
			out = append(out, r)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("planned runs without a record (%d): %s", len(missing), firstOf(missing))
	}
	if len(unclean) > 0 {
		return nil, fmt.Errorf("records from a tree with local changes, or of unknown revision (%d): %s", len(unclean), firstOf(unclean))
	}
	return out, nil
}

// merge returns the records of several collections by ID.
func merge(from []*record.Collection) (map[string]*record.Record, error) {
	have := make(map[string]*record.Record)
	for _, c := range from {
		for _, id := range slices.Sorted(maps.Keys(c.Records)) {
			r := c.Records[id]
			if first := have[id]; first != nil && first.Final.Digest != r.Final.Digest {
				return nil, fmt.Errorf("%s and %s are records of one run and differ", first.Path, r.Path)
			}
			if have[id] == nil {
				have[id] = r
			}
		}
	}
	return have, nil
}

// firstOf lists the first few names.
func firstOf(names []string) string {
	listed := slices.Clone(names[:min(mostListed, len(names))])
	if more := len(names) - len(listed); more > 0 {
		listed = append(listed, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(listed, ", ")
}
