package report

import (
	"bytes"
	"image/png"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/evidence"
	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/internal/testutil"
	"polkrepro/paper"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// assessed judges the ledger by made-up means. of returns a test's first mean, NaN for a test
// without records; the second mean is 10. Each interval extends half a per cent to either side of
// its value.
func assessed(t *testing.T, of func(claim string, test ledger.Test) float64) *evidence.Assessment {
	t.Helper()
	a := &evidence.Assessment{}
	for _, c := range ledger.Embedded().Claims {
		r := evidence.ClaimResult{Claim: c}
		for _, test := range c.Tests {
			tr := evidence.NewFinding(test)
			if m := of(c.ID, test); !math.IsNaN(m) {
				const to = 10
				v := m
				switch test.Kind {
				case ledger.KindLess, ledger.KindDifference:
					v = m - to
				case ledger.KindRatio:
					v = m / to
				}
				half := 0.005 * math.Abs(v)
				tr.Ours = evidence.Number{Value: v, Low: v - half, High: v + half, Basis: stats.Student}
				tr.Of.Runs, tr.To.Runs = []evidence.Observation{{Value: m}}, []evidence.Observation{{Value: to}}
				tr.Verdict = stats.Judge(stats.Estimate(tr.Ours), tr.Target.Low, tr.Target.High)
			}
			r.Verdict = max(r.Verdict, tr.Verdict)
			r.Tests = append(r.Tests, tr)
		}
		a.Claims = append(a.Claims, r)
	}
	return a
}

// everywhere returns the paper's value, or 9 for a test of two means or without a printed value.
func everywhere(_ string, test ledger.Test) float64 {
	if test.To == nil && test.Paper != nil {
		return *test.Paper
	}
	return 9
}

// plotted is the forest plot of an assessment.
func plotted(t *testing.T, a *evidence.Assessment) *Figure {
	t.Helper()
	r := Build(Input{Assessment: a, Profile: spec.ProfileFull})
	if r.Figures[0].Name != ForestName {
		t.Fatalf("the first figure is %s", r.Figures[0].Name)
	}
	return r.Figures[0]
}

// entry is the entry of a test.
func entry(t *testing.T, f *Figure, claim, test string) *forestEntry {
	t.Helper()
	for _, e := range f.Drawing.(*forest).entries() {
		if e.claim == claim && e.result.Test.ID == test {
			return e
		}
	}
	t.Fatalf("%s.%s is not in the plot", claim, test)
	return nil
}

// TestForestNumbers checks the position of every printed number against the ledger's margins: one
// point, 25 % of a risk, and 15 % of a model order but at least 4.
func TestForestNumbers(t *testing.T) {
	a := assessed(t, func(_ string, test ledger.Test) float64 { return 1.1 * everywhere("", test) })
	paper := paper.Printed()
	f := plotted(t, a)
	n := 0
	for _, cell := range paper.Cells {
		if cell.Extra {
			continue
		}
		for i, printed := range strings.Split(cell.Printed, "/") {
			p, err := strconv.ParseFloat(printed, 64)
			if err != nil {
				continue // a dash
			}
			n++
			quantity := []string{"risk", "error", "order"}[i]
			margin := []float64{0.25 * p, 1, max(0.15*p, 4)}[i]
			e := entry(t, f, cell.ID, quantity)
			for got, ours := range map[*float64]float64{&e.x: 1.1 * p, &e.low: 0.995 * 1.1 * p, &e.high: 1.005 * 1.1 * p} {
				if want := (ours - p) / margin; !(math.Abs(*got-want) <= 1e-9) {
					t.Errorf("%s, %s: %g margins, want %g", cell.ID, quantity, *got, want)
				}
			}
		}
	}
	d := f.Drawing.(*forest)
	rows, entries := 0, len((&forest{numbers: d.numbers}).entries())
	for _, g := range d.numbers {
		rows += len(g.rows)
	}
	if n != 48 || entries != 48 || rows != 17 {
		t.Errorf("%d numbers printed, %d plotted in %d rows: the paper has 48 in 17", n, entries, rows)
	}
}

// TestForestSentences checks that the plot has exactly the sentences' tests of one side of a bound,
// some of them at positions computed by hand. The theorems have separate figures, and the ranks of
// the tables are not plotted.
func TestForestSentences(t *testing.T) {
	f := plotted(t, assessed(t, everywhere))
	var plotted, want []string
	for _, e := range f.Drawing.(*forest).entries()[48:] {
		plotted = append(plotted, e.claim+"."+e.result.Test.ID)
	}
	for _, c := range ledger.Embedded().Claims {
		for _, test := range c.Tests {
			if plottedSection(c.Section) && (test.Kind == ledger.KindLess || (test.Low == nil) != (test.High == nil)) {
				want = append(want, c.ID+"."+test.ID)
			}
		}
	}
	slices.Sort(plotted)
	slices.Sort(want)
	if !slices.Equal(plotted, want) || len(want) < 40 {
		t.Errorf("plotted %d: %q\nwant %d: %q", len(plotted), plotted, len(want), want)
	}
	for id, x := range map[string]float64{
		"multidist.beats-lbfgs.error":        -10,                                      // 9 < 10
		"multidist.low-risk.risk":            100 * (9 - 0.1) / 0.1,                    // 9 < 0.1
		"multidist.below-4.samples":          100 * (9 - 1409.0) / 1409,                // 9 < 1249 + 160
		"multidist.bsgd-fails.error":         -100,                                     // 21.8 > 10.9
		"multidist.order-of-magnitude.error": 100 * (3.1623*10 - 9) / (3.1623 * 10),    // 9 > 3.1623 · 10
		"multidist.like-batch.ivm":           100 * (9 - 10.5) / 10.5,                  // 9 < 10 + 0.5
		"multidist.like-libsvm.order":        100 * (2*10 - 9.0) / (2 * 10),            // 9 > 2 · 10
		"brodatz.like-batch.order":           100 * (3.1623*10 - 9.0) / (3.1623 * 10.), // 9 > 3.1623 · 10
	} {
		i := strings.LastIndexByte(id, '.')
		e := entry(t, f, id[:i], id[i+1:])
		if !(math.Abs(e.x-x) <= 1e-9) || !(e.low < e.x && e.x < e.high) {
			t.Errorf("%s: %g from %g to %g, want %g", id, e.x, e.low, e.high, x)
		}
	}
}

// svgTexts counts the occurrences of each text in an SVG.
func svgTexts(svg []byte) map[string]int {
	out := make(map[string]int)
	for _, m := range regexp.MustCompile(`(?s)<text[^>]*>([^<]*)</text>`).FindAllSubmatch(svg, -1) {
		out[strings.TrimSpace(string(m[1]))]++
	}
	return out
}

// TestForestBeyond checks that values beyond the axis are written out, and that tests without a
// position on it show words.
func TestForestBeyond(t *testing.T) {
	a := assessed(t, func(claim string, test ledger.Test) float64 {
		switch claim + "." + test.ID {
		case "table2.multidist.ksvm.bsgd.error": // (4.6 − 21.8) / 1
			return 4.6
		case "table3.mnist.klr.polk.order": // (10000 − 2326) / 348.9
			return 10000
		case "table3.mnist.klr.polk.error":
			return math.Inf(1)
		case "table3.mnist.klr.polk.risk", "multidist.beats-lbfgs.error":
			return math.NaN()
		case "multidist.low-risk.risk": // (0.45 − 0.1) / 0.1
			return 0.45
		}
		return everywhere(claim, test)
	})
	svg, err := plotted(t, a).SVG()
	testutil.NoError(t, err)
	texts := svgTexts(svg)
	for want, n := range map[string]int{"-17.2": 1, "22.0": 1, "diverged": 1, "350": 1, "not printed": 3, "not run": 3} { // one of them in the legend
		if texts[want] != n {
			t.Errorf("%q is there %d times, want %d", want, texts[want], n)
		}
	}
	if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
		t.Error("coordinates that are not numbers")
	}
	if f := plotted(t, assessed(t, func(string, ledger.Test) float64 { return math.NaN() })); f.Missing != whyNotRun {
		t.Errorf("nothing run: %q", f.Missing)
	}
}

// TestForestLegible checks that the plot is as wide as a column and legible, and that drawing it
// again gives the same SVG.
func TestForestLegible(t *testing.T) {
	f := plotted(t, assessed(t, everywhere))
	first := legible(t, f)
	if second, err := f.SVG(); err != nil || !bytes.Equal(first, second) {
		t.Errorf("the plot differs when it is drawn again (%v)", err)
	}
	if w, h := f.Drawing.Size(); !(w <= 3.4*72) || !(h <= 11*72) {
		t.Errorf("%g by %g points", w, h)
	}
}

// legible draws a figure and checks that its letters have at least 7 points and that nothing is cut
// off at its edge. It returns the SVG.
func legible(t *testing.T, f *Figure) []byte {
	t.Helper()
	svg, err := f.SVG()
	testutil.NoError(t, err)
	for _, m := range regexp.MustCompile(`font-size:([\d.]+)px`).FindAllSubmatch(svg, -1) {
		if size, err := strconv.ParseFloat(string(m[1]), 64); err != nil || !(size >= 7) {
			t.Errorf("letters of %s points", m[1])
		}
	}
	b, err := plot.RenderPNG(f.Drawing, 100)
	testutil.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(b))
	testutil.NoError(t, err)
	checkEdges(t, img)
	return svg
}
