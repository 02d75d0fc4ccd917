// Package export opens results folders and exports their records.
//
// [Open] reads the records of a folder and plans the runs that they belong to. The [Folder]
// provides the input for judging the claims, and the [Report], whose tables, figures and page can
// be written. [Reference] makes a results folder from the records in other folders, with the
// tables, figures and verdicts that are made from these records, and [Seal] seals it.
package export

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/record"
	"polkrepro/report"
	"polkrepro/report/page"
)

// Options say how a results folder is opened.
type Options struct {
	Specs   []string                // names or files of specs to show in addition to the embedded ones
	Profile string                  // default: the one that most records belong to
	Plan    experiments.PlanOptions // options for planning the profile
	Finder  data.Finder             // finds the images that figures show, and tells which data sets are unavailable
	Keep    bool                    // show runs of other code in place of planned runs without a record
	Whole   bool                    // incomplete or corrupt records, or no records at all, are an error that wraps harness.ErrIncomplete
	Warn    func(error)             // is called for each incomplete or corrupt record, and with a note on records of other code
}

// A Folder is a results folder opened for reading: its records, and the plan by which they are
// judged and shown.
type Folder struct {
	Records *record.Collection
	Profile string
	Plan    []experiments.Planned

	specs  []*experiments.Spec
	own    []string // names of the user's specs that the report is about; none for a report about the paper
	opt    Options
	sealed bool // the report does not depend on the data on this machine
}

// Open reads a results folder. Its errors are those of harness.ReadResults, or wrap
// harness.ErrUsage if a spec is unknown.
func Open(dir string, opt Options) (*Folder, error) {
	read := harness.ReadResults
	if opt.Whole {
		read = harness.ReadWhole
	}
	have, err := read(dir, opt.Warn)
	if err != nil {
		return nil, err
	}
	f := &Folder{Records: have, Profile: opt.Profile, opt: opt, sealed: record.Sealed(dir)}
	if len(opt.Specs) > 0 {
		if f.specs, err = harness.FindSpecs(opt.Specs); err != nil {
			return nil, harness.Usage(err)
		}
	}
	embedded := experiments.EmbeddedAll() // they give the tables their layout
	f.specs = append(f.specs, embedded...)
	embedded = slices.DeleteFunc(embedded, func(s *experiments.Spec) bool { return s.Supplement != "" })
	if f.Profile == "" {
		if f.Profile, err = harness.GuessProfile(f.specs, opt.Plan, have.Records); err != nil {
			return nil, err
		}
	}
	if f.Plan, err = harness.PlanAll(f.specs, f.Profile, opt.Plan); err != nil {
		return nil, err
	}
	if opt.Keep {
		f.Plan = harness.Adopt(f.Plan, have.Records)
	} else if other := harness.OfOtherCode(f.Plan, have.Records); len(other) > 0 {
		opt.Warn(fmt.Errorf("not shown: %s", harness.OtherCodeNote(other)))
	}
	f.own = f.ownSpecs(embedded)
	return f, nil
}

// Specs returns the names of the specs that were asked for.
func (f *Folder) Specs() (names []string) {
	for _, s := range f.specs[:len(f.opt.Specs)] {
		names = append(names, s.Name)
	}
	return names
}

// ownSpecs returns the names of the specs that were asked for. It returns nil if one of them is
// embedded or feeds a table or figure of the paper.
func (f *Folder) ownSpecs(embedded []*experiments.Spec) []string {
	for _, e := range embedded {
		if slices.Contains(f.opt.Specs, e.Name) {
			return nil
		}
	}
	names := f.Specs()
	ofPaper := func(p experiments.Planned) bool {
		return slices.Contains(names, p.Spec) && len(p.Cells)+len(p.Figures) > 0
	}
	if slices.ContainsFunc(f.Plan, ofPaper) {
		return nil
	}
	return names
}

// Evidence returns the input for judging the claims.
func (f *Folder) Evidence() evidence.Input {
	return evidence.Input{Ledger: experiments.Ledgers(), Plan: f.Plan, Records: f.Records.Records, Failed: f.Records.Failures()}
}

// A Report is the report of a results folder, with the verdicts that it shows.
type Report struct {
	*report.Report

	folder   *Folder
	evidence evidence.Input
}

// Report judges the claims and makes tables and figures.
func (f *Folder) Report() (*Report, error) {
	r := &Report{folder: f, evidence: f.Evidence()}
	assessment, err := evidence.Assess(r.evidence)
	if err != nil {
		return nil, err
	}
	shown, lacking := f.shown()
	if len(f.own) > 0 {
		shown = slices.DeleteFunc(slices.Clone(shown), func(p experiments.Planned) bool { return !slices.Contains(f.own, p.Spec) })
		maps.DeleteFunc(lacking, func(name, _ string) bool {
			return !slices.ContainsFunc(shown, func(p experiments.Planned) bool { return p.Run.Data.Name == name })
		})
	}
	r.Report = report.Build(report.Input{
		Own:         strings.Join(f.own, ", "),
		Planned:     shown,
		Records:     f.Records.Records,
		Failed:      r.evidence.Failed,
		Unavailable: lacking,
		Pictures:    report.Pictures(f.opt.Finder),
		Profile:     f.Profile,
		Assessment:  assessment,
	})
	return r, nil
}

// shown returns which planned runs a report shows, and which data sets it calls
// unavailable.
func (f *Folder) shown() (of []experiments.Planned, lacking map[string]string) {
	if f.sealed {
		return harness.Recorded(f.specs, f.Plan, f.Records.Records), nil
	}
	of = harness.Shown(f.specs, f.Plan, f.Records.Records, f.opt.Finder)
	return of, harness.Lacking(of, f.Records.Records, f.opt.Finder)
}

// complete adds the part on all combinations of alternatives to a report about the paper. It takes
// a second to make and is only in written reports.
func (r *Report) complete() error {
	if len(r.folder.own) > 0 {
		return nil
	}
	j, err := evidence.Joint(r.evidence)
	if err != nil {
		return err
	}
	r.Parts = append(r.Parts, &report.Part{
		ID: "joint", Title: "What combinations of choices reproduce",
		Paragraphs: append(j.Words(), "'runall verify multiverse' lists the verdicts that change if one alternative is assumed alone, with --joint the best combinations."),
		Figures:    []*report.Figure{report.JointFigure(j)},
	})
	return nil
}

// PageName is the file name of the report as one page.
const PageName = "report.html"

// WriteAll writes all tables and figures, and the report as one page, into a folder. It returns
// the number of files.
func (r *Report) WriteAll(dir string) (files int, err error) {
	if err := r.complete(); err != nil {
		return 0, err
	}
	paths, err := r.Report.WriteAll(dir, nil)
	if err != nil {
		return len(paths), err
	}
	_, err = r.writePage(dir)
	return len(paths) + 1, err
}

// WritePage writes the page into a folder and returns its path.
func (r *Report) WritePage(dir string) (string, error) {
	if err := r.complete(); err != nil {
		return "", err
	}
	return r.writePage(dir)
}

func (r *Report) writePage(dir string) (string, error) {
	have := r.folder.Records
	return writePage(dir, page.Input{Report: r.Report, Ledger: r.evidence.Ledger, Partial: len(have.Partial), Damaged: len(have.Errors)})
}

// WriteTournament writes the report on a tournament of heuristics, including its page, into a
// folder, and returns the paths.
func WriteTournament(dir string, t *report.Tournament) ([]string, error) {
	paths, err := t.WriteAll(dir, nil)
	if err != nil {
		return paths, err
	}
	path, err := writePage(dir, page.Input{Report: t.Report, Lead: t.Summary()})
	return append(paths, path), err
}

func writePage(dir string, in page.Input) (string, error) {
	p := harness.Provenance()
	in.Program = fmt.Sprintf("%s %s, revision %s", p.Module, p.Version, p.Code())
	path := filepath.Join(dir, PageName)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	if err := files.Write(path, func(w io.Writer) error { return page.Write(w, in) }); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return path, nil
}
