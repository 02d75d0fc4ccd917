package page

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"strconv"
	"strings"
)

// A Section is a part of the page that the page's maker adds. Text is escaped;
// what a Section lacks is left out.
type Section struct {
	ID         string // anchor, unique on the page: multiverse
	Title      string
	Paragraphs []string
	Tables     []Table
	Figures    []Figure
	HTML       template.HTML // shown as it is, so it has to be safe and may fetch nothing
}

// A Table is a header and rows of the same number of cells. Readers can sort
// it, by the numbers with which cells begin or else by the text.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
	Notes  []string
}

// A Figure is a picture, and the curves in it as data if it has some: these
// are then shown in its place where JavaScript runs.
type Figure struct {
	ID      string // anchor, unique on the page: figure2
	Title   string
	Caption string
	Alt     string // what the picture shows, for those who can't see it
	Picture []byte // SVG or PNG
	Missing string // why there is no picture; empty where there is one
	Charts  []Chart
}

// sectionView is a section as the template shows it.
type sectionView struct {
	Section
	Figures []figureView
}

// section lays a section out.
func (v *view) section(s Section) sectionView {
	out := sectionView{Section: s}
	for _, f := range s.Figures {
		out.Figures = append(out.Figures, v.figure(f))
	}
	return out
}

// figureView is a figure as the template shows it.
type figureView struct {
	Figure
	Source template.URL // the picture
	Index  int          // of its charts in the page's data, -1 if it has none
}

// figure lays a figure out and adds its charts to the page's.
func (v *view) figure(f Figure) figureView {
	out := figureView{Figure: f, Index: -1}
	if len(f.Picture) > 0 {
		out.Source = dataURL(f.Picture)
	}
	if len(f.Charts) > 0 {
		out.Index = len(v.Charts)
		v.Charts = append(v.Charts, f.Charts)
	}
	return out
}

// dataURL is a picture as an address that holds it.
func dataURL(picture []byte) template.URL {
	kind := "image/svg+xml"
	if bytes.HasPrefix(picture, []byte("\x89PNG")) {
		kind = "image/png"
	}
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(picture))
}

// Numeric says of each column whether all its cells are numbers or begin with
// one, or are empty.
func (t Table) Numeric() []bool {
	out := make([]bool, len(t.Header))
	for i := range out {
		out[i] = len(t.Rows) > 0
		for _, row := range t.Rows {
			out[i] = out[i] && startsWithNumber(row[i])
		}
	}
	return out
}

// startsWithNumber reports whether a cell is empty, a dash or begins with a number.
func startsWithNumber(cell string) bool {
	word, _, _ := strings.Cut(cell, " ")
	if word == "" || word == dash {
		return true
	}
	_, err := strconv.ParseFloat(strings.ReplaceAll(word, "−", "-"), 64)
	return err == nil
}

// dash stands where there is no number.
const dash = "—"
