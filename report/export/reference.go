package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/record"
)

// verdictsName is the file of a reference with the output of 'runall verify --json' for its
// records.
const verdictsName = "verdicts.json"

// Kept reports whether a reference keeps a file of tables and figures. It keeps tables for
// readers and programs, pictures in the format that pages show, and the numbers of figures that a
// document cites. The other files can be made from the records on demand.
func Kept(path string) bool {
	folder, ext := filepath.Dir(path), filepath.Ext(path)
	return folder == "tables" && (ext == ".csv" || ext == ".md") || folder == "figures" && ext == ".png" || slices.Contains(cited, path)
}

var cited = []string{"figures/joint.csv", "figures/passes-ksvm.csv", "figures/passes-klr.csv"}

// Seal writes the manifest of a results folder whose records are all complete and valid. It
// returns the number of files in the manifest and how many of them are records. The error wraps
// harness.ErrIncomplete if runs are unfinished, or records missing or corrupt.
func Seal(dir string) (files, records int, err error) {
	if err := harness.CheckFolder(dir); err != nil {
		return 0, 0, err
	}
	have, err := record.ReadDir(harness.RecordsDir(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, 0, harness.Incomplete(fmt.Errorf("no records in %s", dir))
	case err != nil:
		return 0, 0, err
	case len(have.Partial) > 0:
		return 0, 0, harness.Incomplete(fmt.Errorf("%d runs in %s are unfinished, for example %s", len(have.Partial), dir, have.Partial[0]))
	}
	if err := have.Damage(); err != nil {
		return 0, 0, harness.Incomplete(err)
	}
	m, err := record.Seal(dir)
	return len(m), len(have.Records) + len(have.Failed), err
}

// A Reference describes how to make a reference: a results folder with the records of a profile's
// runs, taken from other folders, and the tables, figures and verdicts that are made from these
// records alone.
type Reference struct {
	From    []string // results folders
	Profile string
	Finder  data.Finder // finds the images that figures show
	Warn    func(error) // is called for each incomplete or corrupt record
}

// Write makes the reference in a results folder, where it replaces everything that a seal covers
// except a tournament. It does not seal the reference. Write completes the reference in a
// temporary folder inside dir before it replaces anything. The error wraps harness.ErrIncomplete
// if a planned run has no complete record made by a program of known revision without local
// changes, and harness.ErrUsage if unsealed results would be replaced.
func (r Reference) Write(dir string) error {
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
	if err := os.Mkdir(harness.RecordsDir(stage), 0o777); err != nil {
		return err
	}
	for _, rec := range records {
		if err := rec.WritePacked(harness.RecordsDir(stage)); err != nil {
			return err
		}
	}
	if err := r.present(stage); err != nil {
		return err
	}
	return replace(stage, dir)
}

// replaceable returns an error if unsealed results would be replaced.
func replaceable(dir string) error {
	if record.Sealed(dir) {
		return nil
	}
	for _, part := range record.Parts() { // Parts leaves out a tournament, which would stay
		if _, err := os.Lstat(filepath.Join(dir, part)); err == nil {
			return harness.Usage(fmt.Errorf("%s holds %s, which is not sealed; --from would replace it", dir, part))
		}
	}
	return nil
}

// records returns the records of the planned runs.
func (r Reference) records() ([]*record.Record, error) {
	specs := experiments.EmbeddedAll()
	plan, err := harness.PlanAll(specs, r.Profile, experiments.PlanOptions{})
	if err != nil {
		return nil, err
	}
	var from []*record.Collection
	for _, dir := range r.From {
		have, err := harness.ReadWhole(dir, r.Warn)
		if err != nil {
			return nil, err
		}
		from = append(from, have)
	}
	records, err := harness.Reference(specs, plan, from)
	return records, harness.Incomplete(err)
}

// present writes tables, figures and verdicts into a folder, made from the records in it.
func (r Reference) present(dir string) error {
	f, err := Open(dir, Options{Profile: r.Profile, Finder: r.Finder, Warn: r.Warn, Whole: true})
	if err != nil {
		return err
	}
	f.sealed = true
	rep, err := f.Report()
	if err != nil {
		return err
	}
	for _, p := range rep.Input.Planned { // without the example images, the figures would depend on this machine's data
		if pic, ok := rep.Input.Pictures[p.Run.Data.Name]; ok && len(pic.Images) == 0 {
			return harness.Incomplete(fmt.Errorf("the figures show examples of %s, which is not available: name its folder with --data-dir", p.Run.Data.Name))
		}
	}
	err = files.Write(filepath.Join(dir, verdictsName), func(w io.Writer) error {
		d := rep.Input.Assessment.Document()
		d.Profile = r.Profile
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(d)
	})
	if err != nil {
		return err
	}
	if err := rep.complete(); err != nil {
		return err
	}
	_, err = rep.Report.WriteAll(dir, Kept)
	return err
}

// replace moves everything in stage to dir, where it replaces all that a seal covers
// except a tournament; parts that stage lacks are removed. It removes the manifest
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
