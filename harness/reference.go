package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"polkrepro/internal/files"
	"polkrepro/record"
	"polkrepro/spec"
)

// mostListed is the maximum number of runs that an error names.
const mostListed = 5

// A Reference describes how to make a reference: a results folder with the records of a profile's
// runs, taken from other folders, and the tables, figures and verdicts that are made from these
// records alone.
type Reference struct {
	From    []string // results folders
	Profile string
	Warn    func(error) // is called for each incomplete or corrupt record
}

// Write makes the reference in a results folder, where it replaces everything that a seal covers
// except a comparison. present makes the tables, figures and verdicts in a folder with the records.
// Write does not seal the reference, and completes it in a temporary folder inside dir before it
// replaces anything. The error wraps ErrIncomplete if a planned run has no complete record made by
// a program of known revision without local changes, and ErrUsage if unsealed results would be
// replaced.
func (r Reference) Write(dir string, present func(dir string) error) error {
	if err := replaceable(dir); err != nil {
		return err
	}
	records, err := r.records()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	stage, err := os.MkdirTemp(dir, ".seal-*")
	if err != nil {
		return err
	}
	defer files.Unfinished(stage)()
	defer os.RemoveAll(stage)
	if err := os.Mkdir(RecordsDir(stage), 0o777); err != nil {
		return err
	}
	for _, rec := range records {
		if err := rec.WritePacked(RecordsDir(stage)); err != nil {
			return err
		}
	}
	if err := present(stage); err != nil {
		return err
	}
	return replace(stage, dir)
}

// replaceable returns an error if unsealed results would be replaced.
func replaceable(dir string) error {
	if record.Sealed(dir) {
		return nil
	}
	for _, part := range record.Parts() { // Parts leaves out a comparison, which would stay
		if _, err := os.Lstat(filepath.Join(dir, part)); err == nil {
			return Usage(fmt.Errorf("%s holds %s, which is not sealed; --from would replace it", dir, part))
		}
	}
	return nil
}

// records returns the records of the planned runs.
func (r Reference) records() ([]*record.Record, error) {
	specs := spec.EmbeddedAll()
	plan, err := PlanAll(specs, r.Profile, spec.PlanOptions{})
	if err != nil {
		return nil, err
	}
	var from []*record.Collection
	for _, dir := range r.From {
		have, err := ReadWhole(dir, r.Warn)
		if err != nil {
			return nil, err
		}
		from = append(from, have)
	}
	records, err := cleanRecords(specs, plan, from)
	return records, Incomplete(err)
}

// cleanRecords returns the records of a reference: those of the plan's runs, in the plan's
// order, from several collections. Every run must have a record, except that a spec that
// is a stand-in for a data set or a supplement may have none at all. A record from a
// program of unknown revision or from a tree with local changes is an error, and so are
// two records of one run with different digests.
func cleanRecords(specs []*spec.Spec, plan []spec.Planned, from []*record.Collection) ([]*record.Record, error) {
	have, err := merge(from)
	if err != nil {
		return nil, err
	}
	var out []*record.Record
	var missing, unclean []string
	for _, p := range spec.Distinct(shown(specs, plan, have, nil)) {
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

// replace moves everything in stage to dir, where it replaces all that a seal covers
// except a comparison; parts that stage lacks are removed. It removes the manifest
// first, so that an interrupted replacement leaves nothing sealed.
func replace(stage, dir string) error {
	defer files.Hold()()
	entries, err := os.ReadDir(stage)
	if err != nil {
		return err
	}
	for _, name := range append([]string{record.ManifestName}, record.Parts()...) {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(stage, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Seal writes the manifest of a results folder whose records are all complete and valid. It
// returns the number of files in the manifest and how many of them are records. The error wraps
// ErrIncomplete if runs are unfinished, or records missing or corrupt.
func Seal(dir string) (files, records int, err error) {
	if err := CheckFolder(dir); err != nil {
		return 0, 0, err
	}
	have, err := record.ReadDir(RecordsDir(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, 0, Incomplete(fmt.Errorf("no records in %s", dir))
	case err != nil:
		return 0, 0, err
	case len(have.Partial) > 0:
		return 0, 0, Incomplete(fmt.Errorf("%d runs in %s are unfinished, for example %s", len(have.Partial), dir, have.Partial[0]))
	}
	if err := have.Damage(); err != nil {
		return 0, 0, Incomplete(err)
	}
	m, err := record.Seal(dir)
	return len(m), len(have.Records) + len(have.Failed), err
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
