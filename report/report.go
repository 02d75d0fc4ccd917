// Package report turns records into the paper's tables and figures.
//
// [Build] makes the model of a report from what was planned and what was
// recorded; it never trains anything. A [Table] is one model (package table) with
// faces: text for a terminal, Markdown, CSV and LaTeX. A [Figure] has a title, a caption, a
// drawing (package plot), written as SVG, PNG and PDF, and the numbers behind it, as CSV; a contact sheet shows all of the paper's.
// A forest plot of the verdicts of package evidence is the first figure.
// [Report.WriteAll] writes all of it into a folder. Package page, below this
// one, makes it one HTML file with the verdicts on the paper's claims.
//
// Nothing is left out in silence: a cell or a figure without records says why
// it has none, and a value that can't be drawn is counted in the caption.
// Equal input gives equal bytes in every file.
package report

import (
	"errors"
	"slices"

	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/record"
)

// Input is all that a report is made from.
type Input struct {
	Own         string                    // names of the specs that the report is about, if none is of this project: nothing in it is about the paper
	Planned     []experiments.Planned     // what was asked for; several specs may share a run
	Records     map[string]*record.Record // finished runs by ID
	Failed      map[string]string         // error of a failed run by ID
	Unavailable map[string]string         // how to get a data set that is not there, by its name
	Pictures    map[string]DataPicture    // of data sets of images, by name
	Profile     string                    // smoke, quick or full; empty if it is not known
	FullCells   map[string]bool           // the table cells that the full profile feeds
	Assessment  *evidence.Assessment      // for the forest plot and Table 1; nil leaves their verdicts out
}

// A Report is the tables and figures of one set of records.
type Report struct {
	Input   Input            // what it was made from
	Tables  []*Table         // the paper's
	Cells   map[string]*Cell // of the paper's tables, by ID
	Figures []*Figure        // the forest plot of the verdicts, the paper's figures, and those that supplement them
	Runs    *Table           // what the runs cost

	Parts []*Part  // what the paper does not show
	Notes []string // what is missing and why, of other code, or left out
	Page  string   // file of the same report as one page, if it lies beside the index
}

// Build makes a report: the paper's, or one on the user's own specs. Missing records are
// said where they are missing.
func Build(in Input) *Report {
	if in.Own != "" {
		return own(in)
	}
	return build(in, data.FigureDraw().Seed)
}

// build makes a report beside the paper; figureDraw is the draw of the means that the
// figures of multidist show.
func build(in Input, figureDraw uint64) *Report {
	b := newBuilder(in)
	b.figureDraw = figureDraw
	r := &Report{Input: in, Cells: b.cells}
	for i := range b.paper.Tables {
		r.Tables = append(r.Tables, b.table(&b.paper.Tables[i]))
	}
	tables := []*Table{b.results("tableS1", "Table S1. Results on data that the paper does not have", b.notOfPaper)}
	for _, s := range experiments.Supplements() {
		tables = append(tables, b.results("table"+s.Table, "Table "+s.Table+". "+s.Title, func(p experiments.Planned) bool {
			return experiments.SupplementOf(p.Spec) == s.Name
		}, columnsOfQuestions(s.Name)...))
	}
	r.Tables = append(r.Tables, slices.DeleteFunc(tables, func(t *Table) bool { return len(t.Rows) == 0 })...)
	if f := b.forest(); f != nil {
		r.Figures = append(r.Figures, f)
	}
	r.Figures = append(r.Figures, b.figures()...)
	if s := b.theory(); s != nil {
		r.Tables = append([]*Table{s.table(), s.seriesTable()}, r.Tables...)
		r.Figures = append(r.Figures, s.figures()...)
	}
	r.Parts = b.parts()
	r.Runs = b.runs()
	r.Notes = b.notes()
	if in.Profile == experiments.ProfileSmoke || b.fullHasMore {
		r.Notes = append(r.Notes, (&evidence.Gap{Kind: evidence.NotPlanned, What: in.Profile}).Sentence())
	}
	return r
}

// notOfPaper fits the runs on data that the paper does not have, other than those of
// supplements.
func (b *builder) notOfPaper(p experiments.Planned) bool {
	_, ok := b.paper.Data[p.Run.Data.Name]
	return !ok && experiments.SupplementOf(p.Spec) == ""
}

// Missing says what is missing and why: figures, then all else.
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
	paper      *experiments.PaperValues
	figureDraw uint64

	cells       map[string]*Cell // of the paper's tables, by ID
	fullHasMore bool             // some cell is empty in this profile alone
}

// newBuilder makes the builder of a report: the paper's, or that of the user's own specs.
func newBuilder(in Input) *builder {
	return &builder{in: in, paper: experiments.Paper(), cells: make(map[string]*Cell)}
}

// planned returns the planned runs that fit, each ID once.
func (b *builder) planned(fits func(experiments.Planned) bool) []experiments.Planned {
	return experiments.Distinct(slices.DeleteFunc(slices.Clone(b.in.Planned), func(p experiments.Planned) bool { return !fits(p) }))
}

// records returns the records of planned runs, by draw and seed.
func (b *builder) records(planned []experiments.Planned) []*record.Record {
	var out []*record.Record
	for _, p := range planned {
		if r := b.in.Records[p.ID]; r != nil {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, compareRuns)
	return out
}

// gaps are what planned runs lack.
func (b *builder) gaps(planned []experiments.Planned) []*evidence.Gap {
	return evidence.Gaps(planned, b.in.Records, b.in.Failed, b.in.Unavailable)
}

// failed counts the planned runs that ended with an error.
func (b *builder) failed(planned []experiments.Planned) (n int) {
	for _, p := range planned {
		if _, ok := b.in.Failed[p.ID]; ok && b.in.Records[p.ID] == nil {
			n++
		}
	}
	return n
}

// whyNotRun stands in place of numbers of runs without a record.
var whyNotRun = (&evidence.Gap{Kind: evidence.Pending}).Cell()

// absent says why there are no records of the planned runs on a data set.
func (b *builder) absent(planned []experiments.Planned, dataSet string) string {
	gaps := b.gaps(planned)
	if _, ok := b.in.Unavailable[dataSet]; ok {
		gaps = []*evidence.Gap{{Kind: evidence.Unavailable}}
	}
	if len(gaps) > 0 {
		return gaps[0].Cell()
	}
	b.fullHasMore = b.fullHasMore || b.in.Profile == experiments.ProfileQuick
	return (&evidence.Gap{Kind: evidence.NotPlanned, What: b.in.Profile}).Cell()
}

// notes are the report's remarks on what is missing or of other code, a line for each error
// and series, with one of the runs that it ended.
func (b *builder) notes() []string {
	var out []string
	if mixed := experiments.MixedCode(b.in.Planned); mixed != "" {
		out = append(out, mixed)
	}
	for _, name := range sortedKeys(b.in.Unavailable) {
		out = append(out, (&evidence.Gap{Kind: evidence.Unavailable, What: name, Why: b.in.Unavailable[name]}).Sentence())
	}
	for _, g := range b.gaps(b.in.Planned) {
		if g.Kind == evidence.Failed {
			out = append(out, g.Sentence())
		}
	}
	return out
}

// pictured are the data sets of images that figures show, with the number of
// images in a row and what they are.
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

// Pictures returns the examples that figures show of data sets of images. One
// that can't be had is shown as missing: nothing is trained on pictures.
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
