// Package page writes a report as one HTML file that opens offline. The page begins with what
// holds and what deviates, in sentences beside the forest plot of the verdicts. Then come the
// tables and figures beside the paper's, with intervals and verdicts, the claims, the
// assumptions, the cost of the runs and the machines that they ran on.
//
// [Write] takes the records, their report (package report) and the verdicts on them (package
// evidence); it never trains anything and opens no file. Equal input gives equal bytes.
//
// # One file
//
// The file contains its style sheet, scripts and pictures. Its content security policy forbids
// the browser to fetch anything. html/template escapes text from records and specs. uPlot draws
// the curves (folder uplot: release 1.6.32 as published, MIT licence); without JavaScript, and in
// print, the pictures of package report replace them.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/report"
	"polkrepro/report/plot"
	"polkrepro/report/table"
)

// Input holds everything that a page is made from.
type Input struct {
	Report  *report.Report      // with an assessment
	Ledger  *experiments.Ledger // nil for a page about the user's own runs
	Partial int                 // number of unfinished runs
	Damaged int                 // number of incomplete or corrupt records
	Lead    []string            // first paragraphs of a page about the user's own runs
	Program string              // name, version and revision of the program that makes the page
}

//go:embed page.gohtml page.css page.js uplot
var files embed.FS

// page is the template. Each action is escaped for its context.
var page = template.Must(template.New("page.gohtml").Funcs(template.FuncMap{
	"class": func(v stats.Verdict) string { return classes[v] },
	"verdict": func(name string) (v stats.Verdict, err error) {
		err = v.UnmarshalText([]byte(name))
		return v, err
	},
	"four":       words.Four,
	"plain":      words.Plain,
	"headings":   func() []string { return table.Headings[:] },
	"forest":     func(f *report.Figure) bool { return f.Name == report.ForestName },
	"quantities": func() []string { return report.Quantities[:] },
	"trim":       strings.TrimSpace,
}).ParseFS(files, "page.gohtml"))

// Write writes the page.
func Write(w io.Writer, in Input) error {
	var out bytes.Buffer
	if err := page.Execute(&out, newView(in)); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// A view holds the data of the template.
type view struct {
	Input
	Policy  template.HTMLAttr
	Style   template.CSS
	Library template.JS
	Script  template.JS

	Own       string           // names of the user's specs; empty for a report about the paper
	Counts    []evidence.Tally // of cells, numbers, sentences and theorems
	OneRun    int              // printed numbers within the interval of one new run
	OfOneRun  int              // printed numbers for which that is known
	Differing []claimGroup     // the claims that deviate, and those that are inconclusive
	Charts    [][]*plot.Panel  // of the figures that the template has shown so far
	Claims    []claimGroup
	ByID      map[string]*claimView
}

// newView lays the page out.
func newView(in Input) *view {
	v := &view{Input: in, Own: in.Report.Input.Own, ByID: make(map[string]*claimView)}
	v.assets()
	if v.Own == "" {
		v.claims(in.Report.Input.Assessment)
	}
	return v
}

// A shownFigure is a figure and, if it has curves, their place in the page's data. Where
// JavaScript runs, the curves are shown in place of the picture.
type shownFigure struct {
	*report.Figure
	Picture template.URL
	Curves  bool
	Index   int // of the charts in the page's data
}

// Show draws a figure and puts its charts into the page's data.
func (v *view) Show(f *report.Figure) (*shownFigure, error) {
	out := &shownFigure{Figure: f, Index: len(v.Charts)}
	if f.Missing != "" {
		return out, nil
	}
	svg, err := f.SVG()
	if err != nil {
		return nil, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	out.Picture = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg))
	if charts := f.Charts(); len(charts) > 0 {
		out.Curves, v.Charts = true, append(v.Charts, charts)
	}
	return out, nil
}

// assets fills in the style sheet, the scripts and the policy, which lets only these scripts run
// and forbids fetching anything.
func (v *view) assets() {
	v.Style = template.CSS(file("uplot/uPlot.min.css") + file("page.css"))
	v.Library = template.JS("/*\n" + file("uplot/LICENSE") + "\n*/\n" + file("uplot/uPlot.iife.min.js"))
	v.Script = template.JS(file("page.js"))
	v.Policy = template.HTMLAttr(fmt.Sprintf(
		`content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '%s' '%s'"`,
		sourceHash(string(v.Library)), sourceHash(string(v.Script))))
}

// file returns an embedded file.
func file(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic("page: " + err.Error())
	}
	return string(b)
}

// sourceHash names a script in a content security policy.
func sourceHash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
