package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/experiments"
	"polkrepro/report"
)

// mostBytes is the most that a page may have.
const mostBytes = 5 << 20

// TestCells looks for every cell of the paper's tables, its printed values
// and the verdicts on them.
func TestCells(t *testing.T) {
	in, _ := whole()
	root, _ := wholePage()
	paper, err := experiments.Paper()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, pt := range paper.Tables {
		for _, col := range pt.Columns {
			for _, row := range pt.Rows {
				n++
				id := pt.CellID(col, row)
				rows := root.with("data-cell", id)
				if len(rows) != 1 {
					t.Fatalf("%d rows of %s", len(rows), id)
				}
				checkCell(t, rows[0], paper.Cells[id], in.Report.Input.Assessment)
			}
		}
	}
	if n != 26 {
		t.Errorf("%d cells: the paper's tables have 10 and 16", n)
	}
}

func checkCell(t *testing.T, row *node, pc experiments.PaperCell, a *evidence.Assessment) {
	t.Helper()
	printed := strings.Split(pc.Printed, "/")
	for q, name := range []string{"risk", "error", "order"} {
		cells := row.with("data-quantity", name)
		if len(cells) != 1 {
			t.Fatalf("%s: %d cells for the %s", pc.ID, len(cells), name)
		}
		want := dash
		if []*float64{pc.Risk, pc.Error, pc.Order}[q] != nil {
			want = printed[q]
		}
		if got := cells[0].with("class", "paper")[0].words(); got != want {
			t.Errorf("%s, %s: the paper's is %q, want %q", pc.ID, name, got, want)
		}
		s, claimed := a.Find(pc.ID + "." + name)
		if claimed && !strings.Contains(cells[0].words(), s.Tests[0].Verdict.String()) {
			t.Errorf("%s, %s: %q does not say %s", pc.ID, name, cells[0].words(), s.Tests[0].Verdict)
		}
	}
}

// TestClaims looks for every claim and every test of it with its verdict.
func TestClaims(t *testing.T) {
	in, _ := whole()
	root, _ := wholePage()
	paper, err := experiments.Paper()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range in.Report.Input.Assessment.Claims {
		bodies := root.with("data-claim", c.Claim.ID)
		if len(bodies) != 1 {
			t.Fatalf("%d bodies of claim %s", len(bodies), c.Claim.ID)
		}
		rows := bodies[0].all("tr")
		if len(rows) != 1+len(c.Tests) {
			t.Fatalf("%s: %d rows for %d tests", c.Claim.ID, len(rows), len(c.Tests))
		}
		head := rows[0].words()
		for _, want := range []string{c.Verdict.String(), strings.Join(strings.Fields(c.Claim.Quote), " "), c.Claim.Section} {
			if !strings.Contains(head, want) {
				t.Errorf("%s: %q is not in %q", c.Claim.ID, want, head)
			}
		}
		for i, r := range c.Tests {
			for _, want := range []string{r.Sentence(paper), r.Test.ID, r.Measured(), r.Compared(), r.Printed(), r.Target.String(), r.Ours.Interval(), r.Runs(), r.Verdict.String(), r.Note()} {
				if !strings.Contains(rows[i+1].words(), want) {
					t.Errorf("%s.%s: %q is not in %q", c.Claim.ID, r.Test.ID, want, rows[i+1].words())
				}
			}
		}
	}
	if n := len(in.Report.Input.Assessment.Claims); n < 40 {
		t.Errorf("%d claims", n)
	}
}

// TestSummary looks on the first screen for the counts, the forest plot, and
// for every claim that deviates or is inconclusive its sentence, a link and its
// ID, and for no other claim.
func TestSummary(t *testing.T) {
	in, _ := whole()
	root, _ := wholePage()
	summary := root.with("class", "answer")
	if len(summary) != 1 {
		t.Fatalf("%d summaries", len(summary))
	}
	cells, sentences, _ := in.Report.Input.Assessment.Counts()
	numbers := in.Report.Input.Assessment.Numbers()
	want := fmt.Sprintf("%d of the 17 cells of Tables 2 and 3, %d of their 48 numbers, and %d of 33 sentences and captions are reproduced.",
		cells.Reproduced, numbers.Reproduced, sentences.Reproduced)
	if got := summary[0].with("class", "lead"); len(got) != 1 || got[0].words() != want {
		t.Errorf("the first sentence is not %q", want)
	}
	if figures := summary[0].all("figure"); len(figures) != 1 || figures[0].attrs["id"] != report.ForestName || len(figures[0].all("img")) != 1 {
		t.Errorf("%d figures", len(figures))
	}
	paper, err := experiments.Paper()
	if err != nil {
		t.Fatal(err)
	}
	items := make(map[string]*node) // by claim
	for _, item := range summary[0].with("class", "differs")[0].all("li") {
		if ids := item.with("class", "id"); len(ids) == 1 {
			items[ids[0].words()] = item
		}
	}
	kinds := make(map[stats.Verdict]int)
	for _, c := range in.Report.Input.Assessment.Claims {
		item := items[c.Claim.ID]
		differs := c.Verdict == stats.Deviates || c.Verdict == stats.Inconclusive
		if differs != (item != nil) {
			t.Errorf("%s, %s: shown %v", c.Claim.ID, c.Verdict, item != nil)
		}
		if item == nil {
			continue
		}
		kinds[c.Verdict]++
		if len(item.with("href", "#claim-"+c.Claim.ID)) != 1 {
			t.Errorf("%s: no link", c.Claim.ID)
		}
		for _, r := range c.Tests {
			if r.Verdict != stats.Deviates && r.Verdict != stats.Inconclusive {
				continue
			}
			_, rest, ok := strings.Cut(r.Sentence(paper), ": ") // the subject stands before several
			if !ok {
				rest = r.Sentence(paper)
			}
			if !strings.Contains(item.words(), strings.TrimSuffix(rest, ".")) {
				t.Errorf("%s: %q is not in %q", c.Claim.ID, rest, item.words())
			}
		}
	}
	if kinds[stats.Deviates] == 0 || kinds[stats.Inconclusive] == 0 {
		t.Errorf("verdicts shown: %v, want both kinds", kinds)
	}
}

// TestJoined joins sentences on one subject.
func TestJoined(t *testing.T) {
	got := joined([]string{"A on B: x.", "A on B: y.", "A on C: z.", "Of A and B.", "A on C: w."})
	if want := []string{"A on B: x, and y.", "A on C: z.", "Of A and B.", "A on C: w."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestReason cuts reasons to whole sentences that fit.
func TestReason(t *testing.T) {
	long := strings.Repeat("word ", 60) + "end."
	for _, c := range []struct {
		reasons []string
		want    string
	}{
		{nil, ""},
		{[]string{"", ""}, ""},
		{[]string{"As for the risk. And more.", "It is 0.1 points. So\n  it is."}, "It is 0.1 points. So it is."},
		{[]string{"As for the risk."}, "As for the risk."},
		{[]string{"Short. " + long}, "Short."},
		{[]string{long + " Short."}, long},
	} {
		if got := firstReason(c.reasons); got != c.want {
			t.Errorf("%q: %q, want %q", c.reasons, got, c.want)
		}
	}
}

// TestAssumptions looks for every assumption, how it was chosen, its
// alternatives and the claims that depend on it.
func TestAssumptions(t *testing.T) {
	in, _ := whole()
	root, _ := wholePage()
	for _, a := range in.Ledger.Assumptions {
		cards := root.with("data-assumption", a.ID)
		if len(cards) != 1 {
			t.Fatalf("%d cards of assumption %s", len(cards), a.ID)
		}
		words := cards[0].words()
		want := []string{a.How, a.Paper, a.Chosen, a.Evidence}
		for _, alt := range a.Alternatives {
			want = append(want, alt.ID, alt.Value, alt.Effect)
		}
		want = append(want, in.Ledger.Dependents(a.ID)...)
		for _, w := range want {
			if w = strings.Join(strings.Fields(w), " "); !strings.Contains(words, w) {
				t.Errorf("%s: %q is not in %q", a.ID, w, words)
			}
		}
	}
}

// TestFigures looks for every figure of the report: a picture that has a
// description, or why there is none.
func TestFigures(t *testing.T) {
	in, _ := whole()
	root, _ := wholePage()
	missing := 0
	for _, f := range in.Report.Figures {
		figs := root.with("id", f.Name)
		if len(figs) != 1 {
			t.Fatalf("%d figures %s", len(figs), f.Name)
		}
		if f.Missing != "" {
			missing++
			if !strings.Contains(figs[0].words(), f.Missing) {
				t.Errorf("%s does not say why it is missing", f.Name)
			}
			continue
		}
		images := figs[0].all("img")
		if len(images) != 1 || !strings.HasPrefix(images[0].attrs["src"], "data:image/") || images[0].attrs["alt"] == "" {
			t.Errorf("%s: images %v", f.Name, len(images))
		}
	}
	if missing == 0 || missing == len(in.Report.Figures) {
		t.Errorf("%d of %d figures are missing: want both kinds", missing, len(in.Report.Figures))
	}
}

// TestWithin makes sure that the page asks for nothing: the only addresses in
// it are places on it and pictures in it, and its policy forbids all others.
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

// TestScopes makes sure that every header says what it heads and every table
// has a caption.
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

// TestDeterministic makes a page twice of equal input.
func TestDeterministic(t *testing.T) {
	in, html := whole()
	r := *in.Report
	r.Input.Records = maps.Clone(r.Input.Records)
	in.Report = &r
	if !bytes.Equal(render(t, in), html) {
		t.Error("two pages of the same input differ")
	}
}

// TestHostile puts markup and script into every text that comes from records
// and sections.
func TestHostile(t *testing.T) {
	const evil = `</script></style></table>'"><script>alert(1)</script><img src=x onerror=alert(2)>&amp;`
	planned := theorytest.Plan(t, experiments.ProfileSmoke)
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
	in := input(t, experiments.ProfileSmoke, planned, recs, failed)
	in.Program = evil
	in.Damaged = []string{evil}
	in.Sections = []Section{{ID: "extra", Title: evil, Paragraphs: []string{evil},
		Tables:  []*report.Table{{Title: evil, Header: []string{evil}, Rows: [][]string{{evil}}, Notes: []string{evil}}},
		Figures: []Figure{{ID: "extra-figure", Title: evil, Caption: evil, Alt: evil, Picture: []byte("<svg/>"), Charts: []report.Chart{{Title: evil, Lines: []report.ChartLine{{Label: evil}}}}}},
	}}
	root, scripts := parse(t, render(t, in))
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
}

// TestNothingRun makes a page of no records at all, and of a folder that other
// things went wrong in.
func TestNothingRun(t *testing.T) {
	planned := theorytest.Plan(t, experiments.ProfileQuick)
	in := input(t, experiments.ProfileQuick, planned, nil, nil)
	in.Partial, in.Damaged = 1, []string{"x.jsonl: cut off"}
	root, _ := parse(t, render(t, in))
	words := root.words()
	for _, want := range []string{
		"0 recorded runs", "1 run is unfinished", "Corrupt record, ignored: x.jsonl: cut off",
		"planned runs are without a record", "Figure 2. Multi-KSVM on multidist: not run yet", "Programs and machines: nothing recorded.",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not said", want)
		}
	}
	if n := len(root.with("class", "verdict good")); n != 2 { // the two that explain the word
		t.Errorf("%d times reproduced", n)
	}
}

// TestSection looks for what a section brings with it.
func TestSection(t *testing.T) {
	in := input(t, experiments.ProfileSmoke, nil, nil, nil)
	in.Sections = []Section{{
		ID: "extra", Title: "Something else", Paragraphs: []string{"A paragraph."},
		Tables:  []*report.Table{{Title: "A table", Header: []string{"name", "value"}, Rows: [][]string{{"a", "1.5 ± 0.1"}, {"b", "—"}}}},
		Figures: []Figure{{ID: "picture", Title: "A picture", Alt: "what it shows", Picture: []byte("<svg/>")}},
	}}
	root, _ := parse(t, render(t, in))
	if n := len(root.with("href", "#extra")); n != 1 {
		t.Errorf("%d links to the section", n)
	}
	img := root.with("id", "picture")[0].all("img")[0]
	if !strings.HasPrefix(img.attrs["src"], "data:image/svg+xml;base64,") || img.attrs["alt"] != "what it shows" {
		t.Errorf("image %v", img.attrs)
	}
	for _, want := range []string{"A paragraph.", "A table", "1.5 ± 0.1"} {
		if !strings.Contains(root.words(), want) {
			t.Errorf("%q is not there", want)
		}
	}
}

// TestMachines tells revisions apart.
func TestMachines(t *testing.T) {
	planned := theorytest.Plan(t, experiments.ProfileSmoke)
	recs := records(planned)
	recs[planned[0].ID].Header.Provenance.Revision = "fedcba9876543210"
	recs[planned[0].ID].Header.Provenance.Dirty = true
	rows := machines(recs).Rows
	if len(rows) != 2 || rows[0][2] != "0123456789ab" || rows[1][2] != "fedcba987654 with local changes" || rows[1][0] != "1" {
		t.Errorf("machines %q", rows)
	}
}

// TestCosts sums up a plan in which two specs share a run.
func TestCosts(t *testing.T) {
	run := experiments.Run{Method: "polk"}
	planned := []experiments.Planned{{ID: "a", Spec: "one", Run: run}, {ID: "b", Spec: "one", Run: run}, {ID: "c", Spec: "one", Run: run}, {ID: "a", Spec: "two", Run: run}}
	in := report.Input{Planned: planned, Records: records(planned[:2]), Failed: map[string]string{"c": "a reason"}}
	want := [][]string{
		{"one", "polk", "2 of 3", "1", "2.00", "4.00", "6.00", "8.00"},
		{"two", "polk", "1 of 1", "0", "2.00", "2.00", "3.00", "4.00"},
		{"all", "", "2 of 3", "1", "2.00", "4.00", "6.00", "8.00"},
	}
	got := costs(in).Rows
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("costs %q\nwant  %q", got, want)
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
