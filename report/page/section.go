package page

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"polkrepro/report"
)

// A Section is a part of the page that the page's maker adds. Text is escaped;
// what a Section lacks is left out.
type Section struct {
	ID         string // anchor, unique on the page: multiverse
	Title      string
	Paragraphs []string
	Tables     []*report.Table // a header and rows: readers can sort them
	Figures    []Figure
}

// A Figure is a picture, and the curves in it as data if it has some: these
// are then shown in its place where JavaScript runs.
type Figure struct {
	ID      string // anchor, unique on the page: figure2
	Title   string
	Caption string
	Alt     string // what the picture shows, for those who can't see it
	Picture []byte // SVG
	Missing string // why there is no picture; empty where there is one
	Charts  []report.Chart
	Index   int // of the charts in the page's data
}

// figureOf makes a figure of one of the report's.
func figureOf(f *report.Figure) (Figure, error) {
	out := Figure{ID: f.Name, Title: f.Title, Caption: f.Caption, Missing: f.Missing, Alt: f.Title + "."}
	if f.Missing != "" {
		return out, nil
	}
	if f.Name == report.ForestName {
		out.Alt = f.Title + ": a point with its interval for each test. The list of claims has the values."
	}
	var err error
	if out.Picture, err = f.SVG(); err != nil {
		return out, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	if out.Charts = f.Charts(); len(out.Charts) > 0 {
		var names []string
		for _, s := range f.Series {
			names = append(names, s.Label)
		}
		out.Alt = fmt.Sprintf("%s: curves of risk, error and model order over the samples processed, for %s. Tables 2 and 3 have the final values.",
			f.Title, strings.Join(names, "; "))
	}
	return out, nil
}

// picture is the address of a picture.
func picture(svg []byte) template.URL {
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg))
}

// dash stands where there is no number.
const dash = "—"

// numeric says of each column of a table whether its cells are numbers or begin
// with one, are dashes or empty: readers sort it by the numbers, else by the text.
func numeric(t *report.Table) []bool {
	out := make([]bool, len(t.Header))
	for i := range out {
		out[i] = len(t.Rows) > 0
		for _, row := range t.Rows {
			word, _, _ := strings.Cut(row[i], " ")
			_, err := strconv.ParseFloat(strings.ReplaceAll(word, "−", "-"), 64)
			out[i] = out[i] && (word == "" || word == dash || err == nil)
		}
	}
	return out
}
