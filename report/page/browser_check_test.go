//go:build check

package page

import (
	"encoding/base64"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/report"
	"polkrepro/report/plot"

	"gonum.org/v1/plot/vg"
)

// convergence is a section with a plot unlike any figure of the report: both axes are logarithmic,
// and it has a gap, an interval and a level line.
var convergence = &report.Part{ID: "convergence", Title: "Convergence", Figures: []*report.Figure{{
	Name: "convergence-figure", Title: "Distance to the optimum", Series: []*report.Series{{Label: "measured"}},
	Drawing: &plot.Picture{Panels: []*plot.Panel{{YLabel: "distance", LogX: true, LogY: true, XMin: 1, XMax: 1000, Traces: []plot.Trace{
		{Label: "measured", Look: plot.Look{Color: plot.RGB(0x08, 0x45, 0x94), Width: 1.2}, Curve: []plot.Sample{
			{X: 1, Mean: 1, Low: 0.5, High: 2}, {X: 10, Mean: 0.1, Low: 0.05, High: 0.2}, plot.Single(100, math.NaN()), {X: 1000, Mean: 0.001, Low: 0.0005, High: 0.002}}},
		{Label: "bound", Look: plot.Look{Color: plot.RGB(0xb8, 0x43, 0x00), Width: 1.2, Dash: []vg.Length{6, 2}}, Flat: true,
			Curve: []plot.Sample{plot.Single(1, 0.01), plot.Single(1000, 0.01)}},
	}}}},
}}}

// shown writes the whole page, with one more section, to a file and opens it 1400 pixels wide in a
// browser without a network. The test fails if the page causes an error, a warning or a request to
// another address.
func shown(t *testing.T) (b *browser, url string) {
	t.Helper()
	b = openBrowser(t)
	made, _ := whole()
	r := *made
	r.Parts = []*report.Part{convergence}
	path := filepath.Join(t.TempDir(), "report.html")
	testutil.NoError(t, os.WriteFile(path, render(t, &r, "a program"), 0o666))
	b.call(t, "Network.emulateNetworkConditions", map[string]any{"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}, nil)
	b.width(t, 1400)
	url = "file://" + path
	b.open(t, url)
	t.Cleanup(func() {
		if bad := b.complaints(t, url); len(bad) > 0 {
			t.Errorf("the page complains:\n%s", strings.Join(bad, "\n"))
		}
	})
	return b, url
}

// TestCheckPage checks that the page draws every figure of curves.
func TestCheckPage(t *testing.T) {
	b, _ := shown(t)
	r, _ := whole()
	want := 0
	for _, f := range r.Figures {
		if len(f.Charts()) > 0 {
			want++
		}
	}
	var charted, canvases int
	b.eval(t, `document.querySelectorAll("figure.charted").length`, &charted)
	b.eval(t, `document.querySelectorAll(".plot canvas").length`, &canvases)
	if charted != want+1 || canvases != 3*want+1 || want == 0 {
		t.Errorf("%d figures with %d plots, want %d with three each and one with one", charted, canvases, want)
	}
	var blank int // plots of one colour
	b.eval(t, `[...document.querySelectorAll(".plot canvas")].filter(c => new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size < 5).length`, &blank)
	if blank > 0 {
		t.Errorf("%d plots are blank", blank)
	}
}

// TestCheckSort sorts a table by a number, up, down and back to the original order, with the mouse
// and the keyboard.
func TestCheckSort(t *testing.T) {
	b, _ := shown(t)
	const errors = `[...document.querySelector("table.results").tBodies[0].rows].map(r => r.cells[2].dataset.sort).filter(v => v !== "").map(Number)`
	var before, up, down, after []float64
	b.eval(t, errors, &before)
	b.eval(t, `window.head = document.querySelector("table.results thead").rows[0].cells[2].querySelector("[role=button]"); head.click()`, nil)
	b.eval(t, errors, &up)
	b.eval(t, `head.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}))`, nil)
	b.eval(t, errors, &down)
	var state string
	b.eval(t, `head.parentElement.getAttribute("aria-sort")`, &state)
	b.eval(t, `head.click()`, nil)
	b.eval(t, errors, &after)
	want := slices.Sorted(slices.Values(before))
	if len(before) < 5 || slices.Equal(before, want) || !slices.Equal(up, want) {
		t.Errorf("sorted %v, before %v", up, before)
	}
	slices.Reverse(want)
	if !slices.Equal(down, want) || state != "descending" {
		t.Errorf("sorted %v, %s", down, state)
	}
	if !slices.Equal(after, before) {
		t.Errorf("restored %v, before %v", after, before)
	}
	var ranks []float64
	b.eval(t, `document.querySelector("table.claims thead th:last-child [role=button]").click();
		[...document.querySelector("table.claims").tBodies].map(b => Number(b.dataset.rank))`, &ranks)
	if len(ranks) < 20 || !slices.IsSorted(ranks) || ranks[0] == ranks[len(ranks)-1] {
		t.Errorf("claims sorted by verdict: %v", ranks)
	}
}

// TestCheckToggle hides a method and shows it again: its line leaves the plots
// and the values below them, and comes back.
func TestCheckToggle(t *testing.T) {
	b, _ := shown(t)
	type state struct {
		Picture string
		Rows    int
		Pressed string
	}
	look := func() (s state) {
		b.eval(t, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done({
			picture: window.fig.querySelector("canvas").toDataURL(),
			rows: window.fig.querySelector(".readout tbody").rows.length,
			pressed: window.fig.querySelector("button.series").ariaPressed}))))`, &s)
		return s
	}
	b.eval(t, `window.fig = document.querySelector("figure.charted"); fig.scrollIntoView()`, nil)
	before := look()
	b.eval(t, `fig.querySelector("button.series").click()`, nil)
	hidden := look()
	b.eval(t, `fig.querySelector("button.series").click()`, nil)
	after := look()
	if before.Pressed != "true" || hidden.Pressed != "false" || hidden.Rows != before.Rows-1 || hidden.Picture == before.Picture {
		t.Errorf("hiding a method: %d rows of %d, pressed %s, picture changed: %v", hidden.Rows, before.Rows, hidden.Pressed, hidden.Picture != before.Picture)
	}
	if after != before {
		t.Errorf("shown again: %d rows of %d, the same picture: %v", after.Rows, before.Rows, after.Picture == before.Picture)
	}
}

// TestCheckReadOff reads values off a curve with the mouse and the keyboard.
func TestCheckReadOff(t *testing.T) {
	b, _ := shown(t)
	const caption = `document.querySelector("figure.charted .readout caption").textContent`
	var end, moved, stepped string
	b.eval(t, caption, &end)
	var at struct{ X, Y float64 }
	b.eval(t, `(() => { const f = document.querySelector("figure.charted .u-over"); f.scrollIntoView({block: "center"}); const r = f.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2} })()`, &at)
	b.call(t, "Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at.X, "y": at.Y}, nil)
	b.eval(t, caption, &moved)
	b.eval(t, `document.querySelector("figure.charted .area").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}))`, nil)
	b.eval(t, caption, &stepped)
	if moved == end || stepped == moved || !strings.HasPrefix(moved, "at ") {
		t.Errorf("at the end %q, under the mouse %q, a step to the right %q", end, moved, stepped)
	}
}

// TestCheckWidths checks that the page is never wider than the screen, and that the forest plot is
// beside the sentences on a wide screen and below them on a narrow one. Its letters, of 7 points in a
// picture 244.8 points wide, must have at least 8 pixels.
func TestCheckWidths(t *testing.T) {
	b, url := shown(t)
	for _, width := range []int{1400, 1000, 999, 700, 390, 320} {
		b.width(t, width)
		b.open(t, url)
		var at struct{ Page, Picture, Left, Top, Sentences, Below float64 }
		b.eval(t, `(() => { const box = q => document.querySelector(q).getBoundingClientRect(), f = box("#forest");
			return {page: document.documentElement.scrollWidth, picture: box("#forest img").width, left: f.left, top: f.top, sentences: box(".differs").right, below: box(".holds").bottom} })()`, &at)
		if at.Page > float64(width) {
			t.Errorf("the page is %.0f pixels wide on a screen of %d", at.Page, width)
		}
		if letters := 7 / 244.8 * at.Picture; !(letters >= 8) {
			t.Errorf("%d wide: letters of %.1f pixels", width, letters)
		}
		if beside := at.Left >= at.Sentences && at.Top < 900; beside != (width >= 1000) || !beside && !(at.Top >= at.Below) {
			t.Errorf("%d wide: the plot is beside the sentences: %v; at %.0f, below %.0f", width, beside, at.Top, at.Below)
		}
	}
}

// contrast evaluates to the lowest contrast, as WCAG 2.2 defines it, between a text and its
// background, and to that text.
const contrast = `(() => {
	const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
	const light = c => { const [r, g, b] = c.match(/[\d.]+/g).map(Number); return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b) };
	const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$|transparent/.test(c)) return c } return "rgb(255,255,255)" };
	let least = {ratio: 21, text: ""};
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
		const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < least.ratio) least = {ratio, text: e.textContent.slice(0, 60)};
	}
	return least;
})()`

// TestCheckContrast checks for the contrast that WCAG 2.2 requires of text (4.5), in the light and
// in the dark colour scheme.
func TestCheckContrast(t *testing.T) {
	b, _ := shown(t)
	grounds := make(map[string]bool)
	for _, scheme := range []string{"light", "dark"} {
		b.call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
		var least struct {
			Ratio float64
			Text  string
		}
		b.eval(t, contrast, &least)
		if !(least.Ratio >= 4.5) {
			t.Errorf("%s: contrast %.2f of %q", scheme, least.Ratio, least.Text)
		}
		var ground string
		b.eval(t, `getComputedStyle(document.body).backgroundColor`, &ground)
		grounds[ground] = true
	}
	if len(grounds) != 2 {
		t.Errorf("light and dark ground: %v", grounds)
	}
}

// TestCheckPrint prints the page. In print, pictures replace the plots, and all folded details are
// open.
func TestCheckPrint(t *testing.T) {
	b, _ := shown(t)
	b.eval(t, `addEventListener("beforeprint", () => { window.folded = document.querySelectorAll("details:not([open])").length })`, nil)
	var pdf struct{ Data string }
	b.call(t, "Page.printToPDF", map[string]any{"preferCSSPageSize": true}, &pdf)
	data, err := base64.StdEncoding.DecodeString(pdf.Data)
	if err != nil || !strings.HasPrefix(string(data), "%PDF-") {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	folded := -1
	b.eval(t, `window.folded ?? -1`, &folded)
	if folded != 0 {
		t.Errorf("%d details were closed in print", folded)
	}
	b.call(t, "Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	var charts, pictures int
	b.eval(t, `[...document.querySelectorAll(".charts, nav, .hint")].filter(e => e.getClientRects().length).length`, &charts)
	b.eval(t, `[...document.querySelectorAll(".charted img")].filter(e => e.getClientRects().length).length`, &pictures)
	if charts != 0 || pictures == 0 {
		t.Errorf("in print %d plots and hints, %d pictures", charts, pictures)
	}
}

// TestCheckWithoutScripts checks that a reader without scripts sees the tables and pictures, and no
// buttons.
func TestCheckWithoutScripts(t *testing.T) {
	b, url := shown(t)
	b.call(t, "Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.open(t, url)
	var doc struct{ Root struct{ NodeID int } }
	b.call(t, "DOM.getDocument", nil, &doc)
	count := func(selector string) int {
		var found struct{ NodeIds []int }
		b.call(t, "DOM.querySelectorAll", map[string]any{"nodeId": doc.Root.NodeID, "selector": selector}, &found)
		n := 0
		for _, id := range found.NodeIds {
			if m := b.ask(t, "DOM.getBoxModel", map[string]any{"nodeId": id}); m.Error == nil { // hidden elements have no box
				n++
			}
		}
		return n
	}
	if n := count("figure[data-charts] img"); n < 5 {
		t.Errorf("%d pictures", n)
	}
	if n := count("table.results"); n != 6 {
		t.Errorf("%d tables of results, want 6", n)
	}
	if n := count("button, [role=button]"); n != 0 {
		t.Errorf("%d buttons that do nothing", n)
	}
}
