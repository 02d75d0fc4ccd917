package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/internal/files"
	"polkrepro/report/plot"
	"polkrepro/report/table"
)

// WriteAll writes the report into a folder, which it creates if necessary:
// tables/NAME.{txt,md,csv,tex}, figures/NAME.{svg,png,csv}, a contact sheet of the paper's
// figures, figures/contact.{svg,png}, and index.md. A figure of images alone has no CSV file. If
// keep is not nil, WriteAll writes only the files for whose path keep returns true. It returns
// the paths that it wrote. Every file is written completely or not at all. A symbolic link in
// place of one of these folders is an error.
func (r *Report) WriteAll(dir string, keep func(path string) bool) ([]string, error) {
	w := writer{dir: dir, keep: keep}
	w.tables(append(slices.Clip(r.Tables), r.Runs)...)
	w.figures(r.allFigures()...)
	w.contact(r.Figures)
	w.text("index.md", r.Index)
	return w.paths, w.err
}

// A writer writes files into a folder until one fails.
type writer struct {
	dir   string
	keep  func(path string) bool // nil: all files
	paths []string
	err   error
}

// file writes one file with the bytes that content returns.
func (w *writer) file(name string, content func() ([]byte, error)) {
	if w.err != nil || w.keep != nil && !w.keep(filepath.ToSlash(name)) {
		return
	}
	if w.err = files.NoLinks(w.dir, filepath.Dir(name)); w.err != nil {
		return
	}
	path := filepath.Join(w.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = files.Write(path, func(out io.Writer) error { // the file appears only when it is complete
			b, err := content()
			if err == nil {
				_, err = out.Write(b)
			}
			return err
		})
	}
	if err != nil {
		w.err = fmt.Errorf("write %s: %w", path, err)
		return
	}
	w.paths = append(w.paths, path)
}

// text writes one file of text.
func (w *writer) text(name string, of func() string) {
	w.file(name, func() ([]byte, error) { return []byte(of()), nil })
}

// tables writes all faces of tables.
func (w *writer) tables(tables ...*Table) {
	for _, t := range tables {
		for _, f := range table.Faces {
			w.text(filepath.Join("tables", t.Name+"."+f.Ext), func() string { return f.Of(t) })
		}
	}
}

// figures writes the pictures and numbers of the figures that have some.
func (w *writer) figures(figures ...*Figure) {
	for _, f := range figures {
		if f.Missing != "" {
			continue
		}
		for _, format := range plot.Formats {
			w.file(filepath.Join("figures", f.Name+"."+format), func() ([]byte, error) { return plot.Render(f.Drawing, format) })
		}
		if f.hasNumbers() {
			w.text(filepath.Join("figures", f.Name+".csv"), f.CSV)
		}
	}
}

// contact writes the contact sheet of the paper's figures, if at least one of them has a picture.
func (w *writer) contact(figures []*Figure) {
	d := newContact(figures)
	if d == nil {
		return
	}
	w.file(filepath.Join("figures", contactName+".svg"), func() ([]byte, error) { return plot.Render(d, "svg") })
	w.file(filepath.Join("figures", contactName+".png"), func() ([]byte, error) { return plot.RenderPNG(d, contactDPI) })
}

// Index is the report's first page in Markdown: the tables, the pictures,
// and what is missing and why.
func (r *Report) Index() string {
	var b strings.Builder
	heading, contents := "Results beside the paper's", ", with the verdicts on the paper's claims"
	if own := r.Input.Own; own != "" {
		heading, contents = "Results of "+table.Escape(own), ""
	}
	fmt.Fprintf(&b, "# %s\n\n", heading)
	if p := r.Input.Profile; p != "" {
		fmt.Fprintf(&b, "Profile: %s.\n\n", p)
	}
	if r.Page != "" {
		fmt.Fprintf(&b, "As one page%[2]s: [%[1]s](%[1]s).\n\n", r.Page, contents)
	}
	indexTables(&b, r.Tables...)
	indexFigures(&b, r.Figures...)
	for _, s := range r.Parts {
		fmt.Fprintf(&b, "# %s\n\n%s\n\n", table.Escape(s.Title), table.Escape(strings.Join(s.Paragraphs, "\n\n")))
		indexFigures(&b, s.Figures...)
	}
	indexTables(&b, r.Runs)
	if missing := r.Missing(); len(missing) > 0 {
		b.WriteString("## What is missing, and why\n\n")
		for _, l := range missing {
			fmt.Fprintf(&b, "- %s\n", table.Escape(l))
		}
	}
	return b.String()
}

// indexTables writes tables with links to their other faces.
func indexTables(b *strings.Builder, tables ...*Table) {
	for _, t := range tables {
		fmt.Fprintf(b, "## %s\n\n%s\n", table.Escape(t.Title), t.Markdown())
		fmt.Fprintf(b, "Also as [text](tables/%[1]s.txt), [CSV](tables/%[1]s.csv) and [LaTeX](tables/%[1]s.tex).\n\n", t.Name)
	}
}

// indexFigures shows figures or says why they are missing.
func indexFigures(b *strings.Builder, figures ...*Figure) {
	for _, f := range figures {
		fmt.Fprintf(b, "## %s\n\n", table.Escape(f.Title))
		if f.Missing != "" {
			fmt.Fprintf(b, "No picture: %s.\n\n", table.Escape(f.Missing))
			continue
		}
		fmt.Fprintf(b, "![%[1]s](figures/%[1]s.svg)\n\n%[2]s\n\n", f.Name, table.Escape(f.Caption))
		others := "[PNG](figures/%[1]s.png)"
		if f.hasNumbers() {
			others = "[PNG](figures/%[1]s.png) and [CSV](figures/%[1]s.csv)"
		}
		fmt.Fprintf(b, "Also as "+others+".\n\n", f.Name)
	}
}

// contactName is the stem of the contact sheet's files, and contactDPI makes
// it 1400 pixels wide.
const (
	contactName = "contact"
	contactDPI  = 104
)

// Measures of a contact sheet.
const (
	contactColumns = 2
	contactGap     = vg.Length(16) // between columns
	contactEdge    = vg.Length(8)
	contactHead    = vg.Length(20) // above a figure, for its title
	contactTitle   = vg.Length(10) // size of its letters
	contactMissing = vg.Length(60) // height of a figure that is missing
)

// A contact is all of the paper's figures, by row, under their titles.
type contact [][]*Figure

// newContact makes the contact sheet of the paper's figures, or nil if none
// has a picture.
func newContact(figures []*Figure) contact {
	figures = slices.DeleteFunc(slices.Clone(figures), func(f *Figure) bool { return f.number == 0 })
	if !slices.ContainsFunc(figures, func(f *Figure) bool { return f.Missing == "" }) {
		return nil
	}
	slices.SortStableFunc(figures, func(a, b *Figure) int { return cmp.Compare(a.number, b.number) })
	return slices.Collect(slices.Chunk(figures, contactColumns))
}

// height is the height of a row.
func height(row []*Figure) vg.Length {
	h := contactMissing
	for _, f := range row {
		if f.Missing == "" {
			_, own := f.Drawing.Size()
			h = max(h, own)
		}
	}
	return h + contactHead
}

// Size is the size in print.
func (d contact) Size() (w, h vg.Length) {
	for _, row := range d {
		h += height(row)
	}
	return 2*contactEdge + contactColumns*plot.Width + (contactColumns-1)*contactGap, h + 2*contactEdge
}

// Draw draws the figures, or why they are missing, each under its title.
func (d contact) Draw(all draw.Canvas) {
	top := all.Max.Y - contactEdge
	for _, row := range d {
		for i, f := range row {
			left := contactEdge + vg.Length(i)*(plot.Width+contactGap)
			all.FillText(plot.Letters(contactTitle, draw.XLeft, draw.YBottom), vg.Point{X: left, Y: top - contactHead + 4}, plot.Plain(f.Title))
			if f.Missing != "" {
				space := vg.Rectangle{Min: vg.Point{X: left, Y: top - height(row)}, Max: vg.Point{X: left + plot.Width, Y: top - contactHead}}
				plot.DrawNotice(draw.Canvas{Canvas: all.Canvas, Rectangle: space}, f.Missing)
				continue
			}
			w, h := f.Drawing.Size()
			all.Push()
			all.Translate(vg.Point{X: left, Y: top - contactHead - h})
			f.Drawing.Draw(draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{Max: vg.Point{X: w, Y: h}}})
			all.Pop()
		}
		top -= height(row)
	}
}
