// Package report turns records into the paper's tables and figures.
//
// [Build] makes the model of a report from the planned runs and their records; it never trains
// anything. A [Table] is one model (package table) that is written as text for a terminal,
// Markdown, CSV and LaTeX. A [Figure] has a title, a caption, a drawing (package plot) that is
// written as SVG and PNG, and the numbers behind it as CSV. A contact sheet shows all of the
// paper's figures. The first figure is a forest plot of the verdicts of package evidence.
// [Report.WriteAll] writes all files into a folder. Package page, below this one, makes one HTML
// file of the report, with the verdicts on the paper's claims.
//
// Every omission is reported: a cell or figure without records states the reason, and the caption
// counts the values that can't be drawn. Equal input gives equal bytes in every file.
package report

import (
	"errors"
	"slices"

	"polkrepro/compare"
	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/spec"
)

// Input holds everything that a report is made from.
type Input struct {
	Own         string                    // names of the user's specs that the report is about; empty for a report about the paper
	Planned     []spec.Planned            // planned runs; several specs may share one
	Records     map[string]*record.Record // finished runs by ID
	Failed      map[string]string         // errors of failed runs by run ID
	Partial     int                       // number of unfinished runs
	Damaged     int                       // number of incomplete or corrupt records
	Unavailable map[string]string         // how to get each unavailable data set, by name
	Pictures    map[string]DataPicture    // examples of the image data sets, by name
	Profile     string                    // smoke, quick or full; empty if unknown
	Assessment  *evidence.Assessment      // verdicts; if nil, tables have none and there is no forest plot
	Contrasts   []evidence.Contrast       // differences between methods; if empty, there is no table of them
}

// A Report is the tables and figures of one set of records.
type Report struct {
	Input   Input            // what it was made from
	Lead    []string         // first paragraphs of the page of a comparison
	Tables  []*Table         // the paper's, then the supplementary ones; or those of the user's specs
	Cells   map[string]*Cell // of the paper's tables, by ID
	Figures []*Figure        // the forest plot of the verdicts, the paper's figures, and those that supplement them
	Runs    *Table           // cost of the runs

	Standings []*compare.Standing // ranks of methods over the data sets of the user's specs, one for each task

	Parts []*Part  // results that the paper does not show
	Notes []string // unavailable data and failed runs, and why; runs of other code; cells that the profile leaves out
}

// Build makes a report about the paper, or about the user's own specs if in.Own is set. Tables
// and figures without records state what is missing.
func Build(in Input) *Report {
	if in.Own != "" {
		return own(in)
	}
	return build(in, data.FigureDraw().Seed)
}

// build makes the report that compares with the paper. figureDraw is the draw of multidist's
// means that the figures show.
func build(in Input, figureDraw uint64) *Report {
	b := newBuilder(in)
	b.figureDraw = figureDraw
	r := &Report{Input: in, Cells: b.cells}
	for i := range b.paper.Tables {
		r.Tables = append(r.Tables, b.table(&b.paper.Tables[i]))
	}
	tables := []*Table{b.results("tableS1", "Table S1. Results on data that the paper does not have", b.notOfPaper)}
	for _, s := range spec.Supplements() {
		tables = append(tables, b.results("table"+s.Table, "Table "+s.Table+". "+s.Title, func(p spec.Planned) bool {
			return spec.SupplementOf(p.Spec) == s.Name
		}, columnsOfQuestions(s.Name)...))
	}
	tables = append(tables, contrastTable(in.Contrasts))
	r.Tables = append(r.Tables, slices.DeleteFunc(tables, func(t *Table) bool { return len(t.Rows) == 0 })...)
	if f := b.forest(); f != nil {
		r.Figures = append(r.Figures, f)
	}
	r.Figures = append(r.Figures, b.figures()...)
	study, lacking := b.theory()
	if study != nil {
		r.Tables = append([]*Table{study.table(), study.seriesTable()}, r.Tables...)
		r.Figures = append(r.Figures, study.figures()...)
	}
	ofPaper := *b // the parts select runs by their settings, which a user's spec may have
	ofPaper.in.Planned = slices.DeleteFunc(slices.Clone(in.Planned), func(p spec.Planned) bool { return !spec.IsEmbedded(p.Spec) })
	r.Parts = ofPaper.parts()
	r.Runs = b.runs()
	r.Notes = b.notes()
	if lacking != "" {
		r.Notes = append(r.Notes, lacking)
	}
	if in.Profile == spec.ProfileSmoke || in.Profile == spec.ProfileQuick {
		r.Notes = append(r.Notes, (&evidence.Gap{Kind: evidence.NotPlanned, What: in.Profile}).Sentence())
	}
	return r
}

// notOfPaper reports whether a run is on data that the paper does not have and belongs to no
// supplement.
func (b *builder) notOfPaper(p spec.Planned) bool {
	_, ok := b.paper.Data[p.Run.Data.Name]
	return !ok && spec.SupplementOf(p.Spec) == ""
}

// Missing lists what is missing and why: the figures, then the notes.
func (r *Report) Missing() []string {
	var out []string
	for _, f := range r.Figures {
		if f.Missing != "" {
			out = append(out, f.Title+": "+f.Missing)
		}
	}
	return append(out, r.Notes...)
}

// A builder makes the parts of a report.
type builder struct {
	in         Input
	paper      *paper.Values
	figureDraw uint64

	cells map[string]*Cell // of the paper's tables, by ID
}

// newBuilder makes the builder of a report about the paper or about the user's own specs.
func newBuilder(in Input) *builder {
	return &builder{in: in, paper: paper.Printed(), cells: make(map[string]*Cell)}
}

// planned returns the planned runs for which fits returns true, each ID once.
func (b *builder) planned(fits func(spec.Planned) bool) []spec.Planned {
	return spec.Distinct(slices.DeleteFunc(slices.Clone(b.in.Planned), func(p spec.Planned) bool { return !fits(p) }))
}

// records returns the records of the planned runs that have one, by draw and seed.
func (b *builder) records(planned []spec.Planned) []*record.Record {
	var out []*record.Record
	for _, p := range planned {
		if r := b.in.Records[p.ID]; r != nil {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, compareRuns)
	return out
}

// gaps returns what the planned runs lack: data, a successful run or a record.
func (b *builder) gaps(planned []spec.Planned) []*evidence.Gap {
	return evidence.Gaps(planned, b.in.Records, b.in.Failed, b.in.Unavailable)
}

// failed counts the planned runs that ended with an error.
func (b *builder) failed(planned []spec.Planned) (n int) {
	for _, p := range planned {
		if _, ok := b.in.Failed[p.ID]; ok && b.in.Records[p.ID] == nil {
			n++
		}
	}
	return n
}

// whyNotRun replaces the numbers of runs without a record.
var whyNotRun = (&evidence.Gap{Kind: evidence.Pending}).Cell()

// absent returns the reason why the planned runs on a data set have no records.
func (b *builder) absent(planned []spec.Planned, dataSet string) string {
	gaps := b.gaps(planned)
	if _, ok := b.in.Unavailable[dataSet]; ok {
		gaps = []*evidence.Gap{{Kind: evidence.Unavailable}}
	}
	if len(gaps) > 0 {
		return gaps[0].Cell()
	}
	return (&evidence.Gap{Kind: evidence.NotPlanned, What: b.in.Profile}).Cell()
}

// notes returns the report's remarks on runs of other code, unavailable data sets and failed
// runs. Failed runs have one line for each error and series, which names one of the runs.
func (b *builder) notes() []string {
	var out []string
	if mixed := spec.MixedCode(b.in.Planned); mixed != "" {
		out = append(out, mixed)
	}
	for _, g := range b.gaps(b.in.Planned) {
		if g.Kind != evidence.Pending {
			out = append(out, g.Sentence())
		}
	}
	return out
}

// pictured are the image data sets that figures show, each with the number of images in a row and
// a caption.
var pictured = []struct {
	name    string
	columns int
	caption string
}{
	{"brodatz", 1, "brodatz, herringbone weave (plate D16)"},
	{"mnist", 6, "mnist, the first 36 training images"},
	{"glyphs", 9, "glyphs, the first 36 training images"},
	{"weaves", 5, "weaves, the thirteen textures"},
}

// Pictures returns the example images that figures show, by data set. If a data set can't be
// read, the figure shows it as missing: nothing is trained on these images.
func Pictures(finder data.Finder) map[string]DataPicture {
	out := make(map[string]DataPicture)
	for _, p := range pictured {
		images, err := data.Pictures(p.name, finder)
		pic := DataPicture{Images: images, Columns: p.columns, Caption: p.caption}
		if err != nil && !errors.Is(err, data.ErrNotAvailable) {
			pic.Missing = err.Error()
		}
		out[p.name] = pic
	}
	return out
}
