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
func (r *Report) WriteAll(dir string, keep func(path string) bool) (paths []string, err error) {
	if err := files.NoLinks(dir, "tables", "figures"); err != nil {
		return nil, err
	}
	write := func(folder, name string, content func() ([]byte, error)) {
		if err != nil || keep != nil && !keep(folder+"/"+name) {
			return
		}
		path := filepath.Join(dir, folder, name)
		b, failed := content()
		if failed == nil {
			failed = os.MkdirAll(filepath.Dir(path), 0o777)
		}
		if failed == nil {
			failed = files.WriteBytes(path, b)
		}
		if failed != nil {
			err = fmt.Errorf("write %s: %w", path, failed)
			return
		}
		paths = append(paths, path)
	}
	for _, t := range append(slices.Clip(r.Tables), r.Runs) {
		for _, f := range table.Faces {
			write("tables", t.Name+"."+f.Ext, func() ([]byte, error) { return []byte(f.Of(t)), nil })
		}
	}
	for _, f := range r.allFigures() {
		if f.Missing != "" {
			continue
		}
		formats := plot.Formats
		if r.Input.Own != "" {
			formats = append(slices.Clip(formats), plot.PDF)
		}
		for _, format := range formats {
			write("figures", f.Name+"."+format, func() ([]byte, error) { return plot.Render(f.Drawing, format) })
		}
		if numbers := f.CSV(); numbers != "" {
			write("figures", f.Name+".csv", func() ([]byte, error) { return []byte(numbers), nil })
		}
	}
	if d := newContact(r.Figures); len(d) > 0 {
		write("figures", "contact.png", func() ([]byte, error) { return plot.RenderPNG(d, contactDPI) })
	}
	return paths, err
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
)

// A contact is the paper's figures, by row, under their titles. Missing ones are left out.
type contact [][]*Figure

// newContact makes the contact sheet of the paper's figures.
func newContact(figures []*Figure) contact {
	figures = slices.DeleteFunc(slices.Clone(figures), func(f *Figure) bool { return f.number == 0 || f.Missing != "" })
	slices.SortStableFunc(figures, func(a, b *Figure) int { return cmp.Compare(a.number, b.number) })
	return slices.Collect(slices.Chunk(figures, contactColumns))
}

// height is the height of a row.
func height(row []*Figure) (h vg.Length) {
	for _, f := range row {
		_, own := f.Drawing.Size()
		h = max(h, own)
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

// Draw draws the figures, each under its title.
func (d contact) Draw(all draw.Canvas) {
	top := all.Max.Y - contactEdge
	for _, row := range d {
		for i, f := range row {
			left := contactEdge + vg.Length(i)*(plot.Width+contactGap)
			all.FillText(plot.Letters(contactTitle, draw.XLeft, draw.YBottom), vg.Point{X: left, Y: top - contactHead + 4}, plot.Plain(f.Title))
			w, h := f.Drawing.Size()
			all.Push()
			all.Translate(vg.Point{X: left, Y: top - contactHead - h})
			f.Drawing.Draw(draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{Max: vg.Point{X: w, Y: h}}})
			all.Pop()
		}
		top -= height(row)
	}
}
