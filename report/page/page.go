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
//
// # Sections of other packages
//
// A section is a [report.Part], which is plain data, so one function makes it:
// [MultiverseSection], [JointSection].
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
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
	Report   *report.Report      // with an assessment
	Ledger   *experiments.Ledger // nil for a page about the user's own runs
	Partial  int                 // number of unfinished runs
	Damaged  []string            // errors of incomplete or corrupt records
	Sections []*report.Part      // shown after the figures and the report's own parts
	Lead     []string            // first paragraphs of a page about the user's own runs
	Program  string              // name, version and revision of the program that makes the page
}

//go:embed page.gohtml page.css page.js uplot
var files embed.FS

// page is the template. Each action is escaped for its context.
var page = template.Must(template.New("page.gohtml").Funcs(template.FuncMap{
	"class":        func(v stats.Verdict) string { return classes[v] },
	"reproduced":   always(stats.Reproduced),
	"inconclusive": always(stats.Inconclusive),
	"notrun":       always(stats.NotRun),
	"deviates":     always(stats.Deviates),
	"four":         words.Four,
	"numeric":      numeric,
	"plain":        words.Plain,
	"headings":     func() []string { return table.Headings[:] },
	"quantities":   func() []string { return report.Quantities[:] },
	"trim":         strings.TrimSpace,
}).ParseFS(files, "page.gohtml"))

// always returns a function that returns v, a verdict that the page explains or counts.
func always(v stats.Verdict) func() stats.Verdict { return func() stats.Verdict { return v } }

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
	Forest    *report.Figure   // nil if the report has no forest plot
	Differing []differing
	Missing   []string
	Figures   []*report.Figure // all other figures
	Charts    [][]*plot.Panel  // of the figures that the template has shown so far
	Claims    []claimGroup
	ByID      map[string]*claimView
	Machines  *report.Table
	Data      *report.Table
}

// newView lays the page out.
func newView(in Input) *view {
	from := in.Report.Input
	v := &view{Input: in, Own: from.Own, ByID: make(map[string]*claimView), Missing: missing(in), Machines: machines(from.Records), Data: dataSums(from.Records)}
	v.assets()
	if v.Own == "" {
		v.claims(in)
	}
	v.Sections = slices.Concat(in.Report.Parts, in.Sections)
	for _, f := range in.Report.Figures {
		if f.Name == report.ForestName {
			v.Forest = f
		} else {
			v.Figures = append(v.Figures, f)
		}
	}
	return v
}

// Charted reports whether any figure has curves that readers can point at.
func (v *view) Charted() bool {
	all := v.Figures
	for _, s := range v.Sections {
		all = slices.Concat(all, s.Figures)
	}
	return slices.ContainsFunc(all, func(f *report.Figure) bool { return f.Missing == "" && len(f.Charts()) > 0 })
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

// numeric reports for each column of a table whether every cell begins with a number, is a dash
// or is empty. Readers sort such a column by the numbers, any other by the text.
func numeric(t *report.Table) []bool {
	out := make([]bool, len(t.Header))
	for i := range out {
		out[i] = len(t.Rows) > 0
		for _, row := range t.Rows {
			word, _, _ := strings.Cut(row[i], " ")
			_, err := strconv.ParseFloat(strings.ReplaceAll(word, "−", "-"), 64)
			out[i] = out[i] && (word == "" || word == words.Dash || err == nil)
		}
	}
	return out
}
