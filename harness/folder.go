package harness

import (
	"fmt"
	"maps"
	"slices"

	"polkrepro/data"
	"polkrepro/record"
	"polkrepro/spec"
)

// FolderOptions say how a results folder is opened for reading.
type FolderOptions struct {
	Specs   []string         // names or files of specs to show in addition to the embedded ones
	Profile string           // default: the one that most records belong to
	Plan    spec.PlanOptions // options for planning the profile
	Finder  data.Finder      // tells which data sets are unavailable
	Keep    bool             // show runs of other code in place of planned runs without a record
	Whole   bool             // incomplete or corrupt records, or no records at all, are an error that wraps ErrIncomplete
	Warn    func(error)      // is called for each incomplete or corrupt record, and with a note on records of other code
}

// A Folder is a results folder opened for reading: its records, and the plan by which they are
// judged and shown.
type Folder struct {
	Records *record.Collection
	Profile string
	Plan    []spec.Planned
	Specs   []string // names of the specs that were asked for
	Own     []string // the same if the report is about them alone; nil if one of them is embedded or feeds a table or figure of the paper
	Finder  data.Finder
	Sealed  bool // what is shown does not depend on the data on this machine

	specs []*spec.Spec
}

// OpenFolder opens a results folder for reading. Its errors are those of [ReadResults], or wrap
// ErrUsage if a spec is unknown.
func OpenFolder(dir string, opt FolderOptions) (*Folder, error) {
	read := ReadResults
	if opt.Whole {
		read = ReadWhole
	}
	have, err := read(dir, opt.Warn)
	if err != nil {
		return nil, err
	}
	f := &Folder{Records: have, Profile: opt.Profile, Finder: opt.Finder, Sealed: record.Sealed(dir)}
	if len(opt.Specs)+len(opt.Plan.Set) > 0 {
		if f.specs, err = FindSpecs(opt.Specs, opt.Plan.Set...); err != nil {
			return nil, Usage(err)
		}
	}
	for _, s := range f.specs {
		f.Specs = append(f.Specs, s.Name)
		if s.Apart() {
			opt.Warn(fmt.Errorf("%s: not an embedded spec: the paper's cells, figures and claims rest on runs of embedded specs alone; its runs are shown as those of %s", s.File, s.Name))
		}
	}
	embedded := spec.EmbeddedAll()         // they give the tables their layout
	f.specs = append(embedded, f.specs...) // first, because evidence takes a run that several specs share from the first
	if f.Profile == "" {
		if f.Profile, err = guessProfile(f.specs, opt.Plan, have.Records); err != nil {
			return nil, Usage(err)
		}
	}
	if f.Plan, err = PlanAll(f.specs, f.Profile, opt.Plan); err != nil {
		return nil, Usage(err)
	}
	if opt.Keep {
		f.Plan = Adopt(f.Plan, have.Records)
	} else if other := OfOtherCode(f.Plan, have.Records); len(other) > 0 {
		opt.Warn(fmt.Errorf("not shown: %s", OtherCodeNote(other)))
	}
	asked := func(s *spec.Spec) bool { return s.Supplement == "" && slices.Contains(opt.Specs, s.Name) }
	ofPaper := func(p spec.Planned) bool {
		return slices.Contains(f.Specs, p.Spec) && len(p.Cells)+len(p.Figures) > 0
	}
	if !slices.ContainsFunc(embedded, asked) && !slices.ContainsFunc(f.Plan, ofPaper) {
		f.Own = f.Specs
	}
	return f, nil
}

// Shown returns which planned runs a report shows, and which data sets it calls unavailable, by
// name, with the places that were searched.
func (f *Folder) Shown() (plan []spec.Planned, unavailable map[string]string) {
	if f.Sealed {
		plan = shown(f.specs, f.Plan, f.Records.Records, nil)
	} else {
		plan = shown(f.specs, f.Plan, f.Records.Records, &f.Finder)
		unavailable = lacking(plan, f.Records.Records, f.Finder)
	}
	if len(f.Own) > 0 {
		plan = slices.DeleteFunc(plan, func(p spec.Planned) bool { return !slices.Contains(f.Own, p.Spec) })
		maps.DeleteFunc(unavailable, func(name, _ string) bool {
			return !slices.ContainsFunc(plan, func(p spec.Planned) bool { return p.Run.Data.Name == name })
		})
	}
	return plan, unavailable
}
