package report

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"polkrepro/evidence"
	"polkrepro/evidence/ledger"
	"polkrepro/harness"
	"polkrepro/internal/files"
)

// Evidence returns the input for judging the claims by the records of a results folder.
func Evidence(f *harness.Folder) evidence.Input {
	return evidence.Input{Ledger: ledger.Embedded(), Plan: f.Plan, Records: f.Records.Records, Failed: f.Records.Failures()}
}

// Read judges the claims by the records of a results folder and makes the report. If written is
// true, a report about the paper has the part on all combinations of alternatives, which takes a
// second to make.
func Read(f *harness.Folder, written bool) (*Report, error) {
	in := Evidence(f)
	assessment, err := evidence.Assess(in)
	if err != nil {
		return nil, err
	}
	contrasts, err := evidence.Contrasts(in)
	if err != nil {
		return nil, err
	}
	planned, unavailable := f.Shown()
	r := Build(Input{
		Own:         strings.Join(f.Own, ", "),
		Planned:     planned,
		Records:     in.Records,
		Failed:      in.Failed,
		Partial:     len(f.Records.Partial),
		Damaged:     len(f.Records.Errors),
		Unavailable: unavailable,
		Pictures:    Pictures(f.Finder),
		Profile:     f.Profile,
		Assessment:  assessment,
		Contrasts:   contrasts,
	})
	if !written || len(f.Own) > 0 {
		return r, nil
	}
	j, err := evidence.Joint(in)
	if err != nil {
		return nil, err
	}
	r.Parts = append(r.Parts, &Part{
		ID: "joint", Title: "What combinations of choices reproduce",
		Paragraphs: append(j.Words(), "'runall verify multiverse' lists the verdicts that change if one alternative is assumed alone, with --joint the best combinations."),
		Figures:    []*Figure{JointFigure(j)},
	})
	return r, nil
}

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

// WriteReference writes the tables, figures and verdicts of a reference into its folder, from the
// records alone.
func WriteReference(dir string, opt harness.FolderOptions) error {
	f, err := harness.OpenFolder(dir, opt)
	if err != nil {
		return err
	}
	f.Sealed = true
	r, err := Read(f, true)
	if err != nil {
		return err
	}
	for _, p := range r.Input.Planned { // without the example images, the figures would depend on this machine's data
		if pic, ok := r.Input.Pictures[p.Run.Data.Name]; ok && len(pic.Images) == 0 {
			return harness.Incomplete(fmt.Errorf("the figures show examples of %s, which is not available: name its folder with --data-dir", p.Run.Data.Name))
		}
	}
	err = files.Write(filepath.Join(dir, verdictsName), func(w io.Writer) error {
		d := r.Input.Assessment.Document()
		d.Profile = f.Profile
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(d)
	})
	if err != nil {
		return err
	}
	_, err = r.WriteAll(dir, Kept)
	return err
}
