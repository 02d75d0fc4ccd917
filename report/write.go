package report

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/internal/files"
	"polkrepro/report/plot"
	"polkrepro/report/table"
)

// WriteAll writes the report into a folder, which it creates if necessary: tables and figures in
// all formats, the numbers behind the figures, and a contact sheet of the paper's figures,
// figures/contact.png. A figure without curves has no CSV file. If keep is not nil, WriteAll
// writes only the files for whose path keep returns true. It returns the paths that it wrote.
// Every file is written completely or not at all. A symbolic link in place of one of these folders
// is an error.
func (r *Report) WriteAll(dir string, keep func(path string) bool) ([]string, error) {
	w := writer{dir: dir, keep: keep}
	for _, t := range append(slices.Clip(r.Tables), r.Runs) {
		for _, f := range table.Faces {
			w.file("tables", t.Name+"."+f.Ext, func() ([]byte, error) { return []byte(f.Of(t)), nil })
		}
	}
	for _, f := range r.allFigures() {
		if f.Missing != "" {
			continue
		}
		for _, format := range plot.Formats {
			w.file("figures", f.Name+"."+format, func() ([]byte, error) { return plot.Render(f.Drawing, format) })
		}
		if numbers := f.CSV(); numbers != "" {
			w.file("figures", f.Name+".csv", func() ([]byte, error) { return []byte(numbers), nil })
		}
	}
	if d := newContact(r.Figures); d != nil {
		w.file("figures", "contact.png", func() ([]byte, error) { return plot.RenderPNG(d, contactDPI) })
	}
	return w.paths, w.err
}

// A writer writes files into a folder until one fails.
type writer struct {
	dir   string
	keep  func(path string) bool // nil: all files
	paths []string
	err   error
}

// file writes one file into a folder below dir, with the bytes that content returns.
func (w *writer) file(folder, name string, content func() ([]byte, error)) {
	if w.err != nil || w.keep != nil && !w.keep(folder+"/"+name) {
		return
	}
	if w.err = files.NoLinks(w.dir, folder); w.err != nil {
		return
	}
	path := filepath.Join(w.dir, folder, name)
	b, err := content()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o777)
	}
	if err == nil {
		err = files.WriteBytes(path, b)
	}
	if err != nil {
		w.err = fmt.Errorf("write %s: %w", path, err)
		return
	}
	w.paths = append(w.paths, path)
}

// contactDPI makes the contact sheet 1400 pixels wide.
const contactDPI = 104

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
