package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/spec"
)

// collection returns records of a plan's runs, made by a clean source tree.
func collection(plan []spec.Planned) *record.Collection {
	c := &record.Collection{Records: make(map[string]*record.Record)}
	for _, p := range plan {
		r := &record.Record{Path: p.ID + ".jsonl", Header: record.Header{ID: p.ID, Run: p.Run}}
		r.Header.Provenance.Revision = "0123"
		r.Final.Digest = "d" + p.ID
		c.Records[p.ID] = r
	}
	return c
}

func TestCleanRecords(t *testing.T) {
	specs, err := FindSpecs([]string{"multidist-klr", "mnist-klr", "glyphs-klr"})
	testutil.NoError(t, err)
	plan, err := PlanAll(specs, spec.ProfileQuick, spec.PlanOptions{})
	testutil.NoError(t, err)
	var own, standIns []spec.Planned
	for _, p := range plan {
		if p.Spec == "glyphs-klr" {
			standIns = append(standIns, p)
		} else {
			own = append(own, p)
		}
	}
	if len(standIns) < 2 || len(own) < 4 {
		t.Fatalf("%d stand-ins, %d others", len(standIns), len(own))
	}
	refer := func(from ...*record.Collection) ([]*record.Record, error) { return cleanRecords(specs, plan, from) }
	for _, c := range []struct {
		name string
		from []*record.Collection
		want int
	}{
		{"without stand-ins", []*record.Collection{collection(own)}, len(own)},
		{"with them", []*record.Collection{collection(plan)}, len(plan)},
		{"from two folders", []*record.Collection{collection(own[:3]), collection(plan[2:])}, len(plan)},
	} {
		if got, err := refer(c.from...); err != nil || len(got) != c.want {
			t.Errorf("%s: %d records, %v, want %d", c.name, len(got), err, c.want)
		}
	}
	other := collection(own)
	other.Records["another"] = &record.Record{}
	if got, err := refer(other); err != nil || len(got) != len(own) {
		t.Errorf("a run that is not planned: %d records, %v", len(got), err)
	}
	for _, c := range []struct {
		name, want string
		from       []*record.Collection
	}{
		{"a run missing", "without a record (1): " + own[0].ID, []*record.Collection{collection(own[1:])}},
		{"a stand-in missing", "without a record (1): " + standIns[0].ID, []*record.Collection{collection(own), collection(standIns[1:])}},
		{"nothing", "and ", []*record.Collection{{}}},
		{"local changes", "local changes, or of unknown revision (1): " + own[1].ID, []*record.Collection{dirty(collection(own), own[1].ID)}},
		{"two that differ", "records of one run and differ", []*record.Collection{collection(own), changed(collection(own), own[2].ID)}},
	} {
		if _, err := refer(c.from...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func dirty(c *record.Collection, id string) *record.Collection {
	c.Records[id].Header.Provenance.Dirty = true
	return c
}

func changed(c *record.Collection, id string) *record.Collection {
	c.Records[id].Final.Digest += "x"
	return c
}

func TestOpenSealed(t *testing.T) {
	dir := t.TempDir()
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, record.ManifestName), nil, 0o666))
	if _, err := OpenResults(dir); !errors.Is(err, ErrUsage) {
		t.Errorf("a sealed folder is opened: %v", err)
	}
	if _, err := os.Stat(RecordsDir(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was made in it: %v", err)
	}
}
