package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"polkrepro/internal/files"
	"polkrepro/report/plot"
	"polkrepro/report/table"
)

// WriteAll writes the report into a folder, which it makes if need be:
// tables/NAME.{txt,md,csv,tex}, figures/NAME.{svg,png,pdf,csv}, a contact sheet
// of the paper's figures, figures/contact.{svg,png}, and index.md; with extensions, such as
// .csv, only the tables and figures that have one of them. A figure of
// images alone has no CSV file. It returns the paths it wrote. Files of a
// figure that has no data any more are removed. Every file is written whole or not
// at all, and none through a symbolic link that stands for one of these folders.
func (r *Report) WriteAll(dir string, only ...string) ([]string, error) {
	w := writer{dir: dir, only: only}
	for _, t := range append(r.Tables[:len(r.Tables):len(r.Tables)], r.Runs) {
		w.table(t)
	}
	for _, f := range r.allFigures() {
		w.figure(f)
	}
	w.contact(r.Figures)
	w.file("index.md", r.Index)
	return w.paths, w.err
}

// A writer writes files into a folder until one fails.
type writer struct {
	dir   string
	only  []string // extensions of tables and figures to write; empty: all files
	paths []string
	err   error
}

// file writes one file.
func (w *writer) file(name string, write func(io.Writer) error) {
	left := len(w.only) > 0 && (filepath.Dir(name) == "." || !slices.Contains(w.only, filepath.Ext(name)))
	if w.err != nil || left {
		return
	}
	if w.err = files.NoLinks(w.dir, filepath.Dir(name)); w.err != nil {
		return
	}
	path := filepath.Join(w.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = files.Write(path, write) // which appears when it is whole
	}
	if err != nil {
		w.err = fmt.Errorf("write %s: %w", path, err)
		return
	}
	w.paths = append(w.paths, path)
}

// table writes a table with all its faces.
func (w *writer) table(t *Table) {
	for _, f := range table.Faces {
		w.file(filepath.Join("tables", t.Name+"."+f.Ext), func(out io.Writer) error { return f.Write(t, out) })
	}
}

// figure writes a figure's picture and numbers, or removes what is there of a
// figure that has none.
func (w *writer) figure(f *Figure) {
	if f.Missing != "" {
		w.remove("figures", f.Name)
		return
	}
	for _, format := range plot.Formats {
		w.rendered(f.Name+"."+format, func() ([]byte, error) { return plot.Render(f.Drawing, format) })
	}
	if f.hasNumbers() {
		w.file(filepath.Join("figures", f.Name+".csv"), f.CSV)
	}
}

// rendered writes a file of a picture.
func (w *writer) rendered(name string, render func() ([]byte, error)) {
	w.file(filepath.Join("figures", name), func(out io.Writer) error {
		b, err := render()
		if err != nil {
			return err
		}
		_, err = out.Write(b)
		return err
	})
}

// contact writes the contact sheet of figures of which at least one is drawn.
func (w *writer) contact(figures []*Figure) {
	d := newContact(figures)
	if d == nil {
		w.remove("figures", contactName)
		return
	}
	w.rendered(contactName+".svg", func() ([]byte, error) { return plot.Render(d, "svg") })
	w.rendered(contactName+".png", func() ([]byte, error) { return plot.RenderPNG(d, contactDPI) })
}

// remove removes the files of a figure.
func (w *writer) remove(sub, name string) {
	if w.err == nil {
		w.err = files.NoLinks(w.dir, sub)
	}
	if w.err != nil {
		return
	}
	for _, ext := range append([]string{"csv"}, plot.Formats...) {
		err := os.Remove(filepath.Join(w.dir, sub, name+"."+ext))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			w.err = err
		}
	}
}
