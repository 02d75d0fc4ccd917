package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/report"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// mostBytes is the largest allowed size of a page.
const mostBytes = 5 << 20

// holds returns the only element with an attribute's value, and checks that it contains the words.
func holds(t *testing.T, root *node, attr, value string, words ...string) *node {
	t.Helper()
	found := root.with(attr, value)
	if len(found) != 1 {
		t.Fatalf("%d elements with %s=%q", len(found), attr, value)
	}
	for _, w := range words {
		if w = strings.Join(strings.Fields(w), " "); !strings.Contains(found[0].words(), w) {
			t.Errorf("%s: %q is not in %q", value, w, found[0].words())
		}
	}
	return found[0]
}

// TestContents looks for every cell of the paper's tables, every claim with its tests, every
// assumption and every figure.
func TestContents(t *testing.T) {
	r, _ := whole()
	root, _ := wholePage()
	a := r.Input.Assessment
	paper := paper.Printed()
	n := 0
	for id, c := range paper.Cells {
		if c.Extra {
			continue
		}
		n++
		row := holds(t, root, "data-cell", id)
		for q, name := range []string{"risk", "error", "order"} {
			want := strings.Replace(strings.Split(c.Printed, "/")[q], "-", words.Dash, 1)
			cell := holds(t, row, "data-quantity", name)
			if got := holds(t, cell, "class", "paper").words(); got != want {
				t.Errorf("%s, %s: the paper's is %q, want %q", id, name, got, want)
			}
			if s, claimed := a.Find(id + "." + name); claimed {
				holds(t, row, "data-quantity", name, s.Tests[0].Verdict.String())
			}
		}
	}
	if n != 26 {
		t.Errorf("%d cells: the paper's tables have 10 and 16", n)
	}
	for _, c := range a.Claims {
		rows := holds(t, root, "data-claim", c.Claim.ID, c.Verdict.String(), c.Claim.Quote, c.Claim.Section).all("tr")
		if len(rows) != 1+len(c.Tests) {
			t.Fatalf("%s: %d rows for %d tests", c.Claim.ID, len(rows), len(c.Tests))
		}
		for i, r := range c.Tests {
			for _, want := range []string{r.Sentence(), r.Test.ID, r.Measured(), r.Compared(), r.Printed(), r.Target.String(), r.Ours.Interval(), r.Runs(), r.Verdict.String(), r.Note()} {
				if !strings.Contains(rows[i+1].words(), want) {
					t.Errorf("%s.%s: %q is not in %q", c.Claim.ID, r.Test.ID, want, rows[i+1].words())
				}
			}
		}
	}
	for _, a := range ledger.Embedded().Assumptions {
		want := append([]string{a.How, a.Paper, a.Chosen, a.Evidence}, ledger.Embedded().Dependents(a.ID)...)
		for _, alt := range a.Alternatives {
			want = append(want, alt.ID, alt.Value, alt.Effect)
		}
		holds(t, root, "data-assumption", a.ID, want...)
	}
	missing := 0
	for _, f := range r.Figures {
		if figure := holds(t, root, "id", f.Name, f.Missing); f.Missing != "" {
			missing++
		} else if images := figure.all("img"); len(images) != 1 || !strings.HasPrefix(images[0].attrs["src"], "data:image/") || images[0].attrs["alt"] == "" {
			t.Errorf("%s: %d images, want one with a description", f.Name, len(images))
		}
	}
	if missing == 0 || missing == len(r.Figures) {
		t.Errorf("%d of %d figures are missing: want both kinds", missing, len(r.Figures))
	}
}

// TestSummary checks that the first screen shows the counts, the forest plot, and links to exactly
// the claims that deviate or are inconclusive.
func TestSummary(t *testing.T) {
	r, _ := whole()
	root, _ := wholePage()
	a := r.Input.Assessment
	cells, sentences, _ := a.Counts()
	summary := holds(t, root, "class", "answer")
	holds(t, summary, "class", "lead", fmt.Sprintf("%d of the 17 cells of Tables 2 and 3, %d of their 48 numbers, and %d of 39 sentences and captions are reproduced.",
		cells.Reproduced, a.Numbers().Reproduced, sentences.Reproduced))
	if figures := summary.all("figure"); len(figures) != 1 || figures[0].attrs["id"] != report.ForestName || len(figures[0].all("img")) != 1 {
		t.Errorf("%d figures", len(figures))
	}
	var shown, want []string
	items := make(map[string]string)
	for _, item := range holds(t, summary, "class", "differs").all("li") {
		if ids := item.with("class", "id"); len(ids) == 1 {
			shown = append(shown, ids[0].words())
			items[ids[0].words()] = item.words()
			holds(t, item, "href", "#claim-"+ids[0].words())
		}
	}
	differs := func(v stats.Verdict) bool { return v == stats.Deviates || v == stats.Inconclusive }
	kinds := make(map[stats.Verdict]int)
	for _, c := range a.Claims {
		if !differs(c.Verdict) {
			continue
		}
		want = append(want, c.Claim.ID)
		kinds[c.Verdict]++
		for _, r := range c.Tests {
			sentence := r.Sentence()
			if differs(r.Verdict) && !strings.Contains(items[c.Claim.ID], sentence) {
				t.Errorf("%s: %q is not in %q", c.Claim.ID, sentence, items[c.Claim.ID])
			}
		}
	}
	slices.Sort(shown)
	slices.Sort(want)
	if !slices.Equal(shown, want) || len(kinds) != 2 {
		t.Errorf("shown %q, want %q, of both kinds: %v", shown, want, kinds)
	}
}

// TestWithin checks that the page requests nothing: its only addresses are places on the page and
// embedded pictures, and its policy forbids all others.
func TestWithin(t *testing.T) {
	_, html := whole()
	if len(html) > mostBytes {
		t.Errorf("%d bytes, at most %d are allowed", len(html), mostBytes)
	}
	root, scripts := wholePage()
	ids := make(map[string]int)
	for _, n := range root.all("") {
		if id, ok := n.attrs["id"]; ok {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d elements with the id %q", n, id)
		}
	}
	for _, n := range root.all("") {
		for name, value := range n.attrs {
			switch {
			case name == "href" && strings.HasPrefix(value, "#"):
				if ids[value[1:]] == 0 {
					t.Errorf("link to %s, which is not there", value)
				}
			case name == "src" && n.name == "img" && strings.HasPrefix(value, "data:image/"):
			case slices.Contains([]string{"href", "src", "srcset", "action", "data", "poster", "background", "ping", "formaction"}, name):
				t.Errorf("<%s %s=%.60q>", n.name, name, value)
			}
		}
	}
	for _, m := range sources.FindAllSubmatch(html, -1) {
		if string(m[1]) == "style" && (bytes.Contains(m[3], []byte("url(")) || bytes.Contains(m[3], []byte("@import"))) {
			t.Error("the style asks for something")
		}
	}
	policy := root.with("http-equiv", "Content-Security-Policy")
	if len(policy) != 1 {
		t.Fatal("no policy")
	}
	want := "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '" + sourceHash(scripts[1]) + "' '" + sourceHash(scripts[2]) + "'"
	if got := policy[0].attrs["content"]; got != want {
		t.Errorf("policy %s\nwant   %s", got, want)
	}
}

// TestScopes checks that every header has a scope, every table has a caption, and no heading skips
// a level.
func TestScopes(t *testing.T) {
	root, _ := wholePage()
	for _, table := range root.all("table") {
		if len(table.all("caption")) != 1 {
			t.Errorf("a table without caption: %.80s", table.words())
		}
		for _, th := range table.all("th") {
			if th.attrs["scope"] == "" {
				t.Errorf("a header without scope: %s", th.words())
			}
		}
	}
	level := 0
	for _, n := range root.all("") {
		if len(n.name) == 2 && n.name[0] == 'h' && n.name[1] >= '1' && n.name[1] <= '6' {
			l := int(n.name[1] - '0')
			if l > level+1 {
				t.Errorf("heading %q is of level %d below one of level %d", n.words(), l, level)
			}
			level = l
		}
	}
}

// TestDeterministic checks that equal inputs make identical pages.
func TestDeterministic(t *testing.T) {
	first, html := whole()
	r := *first
	r.Input.Records = maps.Clone(r.Input.Records)
	if !bytes.Equal(render(t, &r, "a program"), html) {
		t.Error("two pages of the same input differ")
	}
}

// TestHostile puts markup and script into every text of records and sections, and checks that the
// page shows them as text. It also checks the link and the figure of a section.
func TestHostile(t *testing.T) {
	const evil = `</script></style></table>'"><script>alert(1)</script><img src=x onerror=alert(2)>&amp;`
	planned := theorytest.Plan(t, spec.ProfileSmoke)
	for i := range planned {
		planned[i].Series += evil
		planned[i].Spec += evil
	}
	recs := records(planned)
	for _, r := range recs {
		r.Header.Provenance.CPU, r.Header.Provenance.Version, r.Header.Provenance.Revision = evil, evil, evil
		r.Header.Provenance.Features = []string{evil}
		r.Header.DataSums = map[string]string{evil: evil}
	}
	failed := map[string]string{planned[0].ID: evil}
	delete(recs, planned[0].ID)
	r := made(t, spec.ProfileSmoke, planned, recs, failed)
	r.Parts = []*report.Part{{ID: "extra", Title: evil, Paragraphs: []string{evil},
		Tables: []*report.Table{{Title: evil, Header: []string{evil}, Rows: [][]string{{evil}}, Notes: []string{evil}}},
		Figures: []*report.Figure{{Name: "extra-figure", Title: evil, Caption: evil, Alt: evil, Series: []*report.Series{{Label: evil}},
			Drawing: &plot.Picture{Panels: []*plot.Panel{{YLabel: evil, Traces: []plot.Trace{{Label: evil}}}}}}},
	}}
	root, scripts := parse(t, render(t, r, evil))
	if len(scripts) != 3 {
		t.Errorf("%d scripts, want 3", len(scripts))
	}
	for _, n := range root.all("") {
		if n.attrs["onerror"] != "" || n.name == "img" && n.attrs["src"] == "x" {
			t.Error("text of a record became an element")
		}
	}
	if n := strings.Count(root.text.String(), "<script>alert(1)</script>"); n < 10 {
		t.Errorf("the text is shown %d times", n)
	}
	holds(t, root, "href", "#extra")
	if img := holds(t, root, "id", "extra-figure").all("img")[0]; !strings.HasPrefix(img.attrs["src"], "data:image/svg+xml;base64,") || img.attrs["alt"] != evil {
		t.Errorf("image %v", img.attrs)
	}
}

// TestNothingRun makes the page of a folder without finished records, with one unfinished run and
// one corrupt record.
func TestNothingRun(t *testing.T) {
	planned := theorytest.Plan(t, spec.ProfileQuick)
	r := made(t, spec.ProfileQuick, planned, nil, nil)
	r.Input.Partial, r.Input.Damaged = 1, 2
	root, _ := parse(t, render(t, r, "a program"))
	words := root.words()
	for _, want := range []string{
		"0 recorded runs", "1 run unfinished", "2 records incomplete or corrupt and left out.",
		"planned runs without a record", "Figure 2. Multi-KSVM on multidist: not run yet", "Programs and machines: nothing recorded.",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not said", want)
		}
	}
	if n := len(root.with("class", "verdict good")); n != 2 { // the two that explain the word
		t.Errorf("%d times reproduced", n)
	}
}

// TestMachines checks that the table of machines distinguishes revisions.
func TestMachines(t *testing.T) {
	planned := theorytest.Plan(t, spec.ProfileSmoke)
	recs := records(planned)
	recs[planned[0].ID].Header.Provenance.Revision = "fedcba9876543210"
	recs[planned[0].ID].Header.Provenance.Dirty = true
	v := &view{Report: &report.Report{Input: report.Input{Records: recs}}}
	rows := v.Machines().Rows
	if len(rows) != 2 || rows[0][1] != "0123456789ab" || rows[1][1] != "fedcba987654 with local changes" || rows[1][8] != "1" {
		t.Errorf("machines %q", rows)
	}
}

// TestLibrary compares uPlot's files with those of the package uplot 1.6.32
// as its authors published it.
func TestLibrary(t *testing.T) {
	for name, want := range map[string]string{
		"uplot/uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uplot/uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
		"uplot/LICENSE":           "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
	} {
		sum := sha256.Sum256([]byte(file(name)))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: SHA-256 %s, want %s", name, got, want)
		}
	}
}

// TestCharts checks that the page's first script holds the panels of all figures with curves.
func TestCharts(t *testing.T) {
	r, _ := whole()
	_, scripts := wholePage()
	var want [][]*plot.Panel
	for _, f := range r.Figures {
		if charts := f.Charts(); len(charts) > 0 {
			want = append(want, charts)
		}
	}
	text, err := json.Marshal(want)
	if err != nil || len(want) == 0 || scripts[0] != string(text) {
		t.Errorf("%d figures, %v: %.200s\nwant %.200s", len(want), err, scripts[0], text)
	}
}
