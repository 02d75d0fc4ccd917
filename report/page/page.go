// Package page writes a report as one HTML file that opens offline. The page begins with what
// holds and what deviates, in sentences beside the forest plot of the verdicts. Then come the
// tables and figures beside the paper's, with intervals and verdicts, the claims, the
// assumptions, the cost of the runs and the machines that they ran on.
//
// [Write] takes a report (package report) with its records and the verdicts on them (package
// evidence); it never trains anything and opens no file. Equal input gives equal bytes. [Save]
// writes the page into a folder, and [SaveAll] everything else of the report too.
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
	"os"
	"path/filepath"
	"strings"

	"polkrepro/evidence"
	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/internal/words"
	"polkrepro/report"
	"polkrepro/report/plot"
	"polkrepro/report/table"
)

//go:embed page.gohtml page.css page.js uplot
var assets embed.FS

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
}).ParseFS(assets, "page.gohtml"))

// Write writes the page of a report. program is the name, version and revision of the program
// that makes the page.
func Write(w io.Writer, r *report.Report, program string) error {
	var out bytes.Buffer
	if err := page.Execute(&out, newView(r, program)); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// Name is the file name of a page.
const Name = "report.html"

// Save writes the page of a report into a folder and returns its path.
func Save(dir string, r *report.Report) (string, error) {
	p := harness.Provenance()
	program := fmt.Sprintf("%s %s, revision %s", p.Module, p.Version, p.Code())
	path := filepath.Join(dir, Name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	if err := files.Write(path, func(w io.Writer) error { return Write(w, r, program) }); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return path, nil
}

// SaveAll writes all tables and figures of a report, and its page, into a folder. It returns the
// paths, the page's last.
func SaveAll(dir string, r *report.Report) ([]string, error) {
	paths, err := r.WriteAll(dir, nil)
	if err != nil {
		return paths, err
	}
	path, err := Save(dir, r)
	return append(paths, path), err
}

// A view holds the data of the template.
type view struct {
	Report  *report.Report
	Program string
	Ledger  *ledger.Ledger // nil for a page about the user's own runs

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
func newView(r *report.Report, program string) *view {
	v := &view{Report: r, Program: program, Own: r.Input.Own, ByID: make(map[string]*claimView)}
	v.assets()
	if v.Own == "" {
		v.Ledger = ledger.Embedded()
		v.claims(r.Input.Assessment)
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
	b, err := assets.ReadFile(name)
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
