package plot

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	gonum "gonum.org/v1/plot"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		of       func(min, max float64) []gonum.Tick
		min, max float64
		want     string
	}{
		{logTicks, 0.07, 1.1, "0.1 0.2 0.5 1"}, {logTicks, 2.2, 90, "5 10 20 50"}, {logTicks, 0.9, 2, "1 1.25 1.5 1.75 2"},
		{logTicks, 1e-5, 1e5, "10^{-5} 0.001 0.1 10 1000 10^{5}"}, {logTicks, 1e-5, 3e-5, "1.5e-05 2e-05 2.5e-05 3e-05"},
		{logTicks, -1, 1, ""}, {logTicks, 1, math.Inf(1), ""},
		{countTicks, 0, 50000, "0 10k 20k 30k 40k 50k"}, {countTicks, 0, 1e6, "0 200k 400k 600k 800k 1M"}, {countTicks, 0, 140, "0 50 100"},
		{countTicks, 0, 0, ""}, {countTicks, 0, math.Inf(1), ""},
	} {
		var got []string
		for _, k := range c.of(c.min, c.max) {
			if k.Label != "" {
				got = append(got, k.Label)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("[%v, %v]: %s, want %s", c.min, c.max, s, c.want)
		}
	}
}

func TestRunsOf(t *testing.T) {
	line := func(s string) textRun { return textRun{s, 1, 0} }
	low, high := func(s string) textRun { return textRun{s, scriptSize, scriptDrop} }, func(s string) textRun { return textRun{s, scriptSize, scriptRaise} }
	for in, want := range map[string][]textRun{
		"M_t":      {line("M"), low("t")},
		"R(f_t) x": {line("R(f"), low("t"), line(") x")},
		"10^{-5}":  {line("10"), high("-5")},
		"a_":       {line("a_")},
		"a_{b":     {line("a"), low("{"), line("b")},
		"":         nil,
	} {
		if got := runsOf(in); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
	if got := Plain("POLK, η₀ = 6 — “x”"); got != "POLK, eta0 = 6 - ?x?" {
		t.Error(got)
	}
}

// TestRender checks that a label with a subscript is one text in SVG, whatever the viewer's font, and
// that a PDF is the same in every call.
func TestRender(t *testing.T) {
	p := &Picture{Panels: []*Panel{{YLabel: "R(f_t) x", Traces: []Trace{{Curve: []Sample{Single(1, 1), Single(2, 3)}}}}}}
	svg, err := Render(p, "svg")
	label := regexp.MustCompile(`>R\(f<tspan dy="1.36" style="[^"]*font-size:5.76px">t</tspan><tspan dy="-1.36" style="[^"]*font-size:8px">\) x</tspan></text>`)
	if err != nil || !label.Match(svg) || strings.ContainsRune(string(svg), continues) {
		t.Errorf("%v: not %s in\n%s", err, label, svg)
	}
	pdf, err := Render(p, PDF)
	again, _ := Render(p, PDF)
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.Equal(pdf, again) {
		t.Errorf("%v: %d bytes of PDF, again %d", err, len(pdf), len(again))
	}
}

// TestSampleJSON checks that a number that is not finite is a gap on a page.
func TestSampleJSON(t *testing.T) {
	b, err := json.Marshal([]Sample{{X: 1, Mean: 2, Low: 1. / 3, High: math.Inf(1)}, Single(2, math.NaN())})
	if want := "[[1,2,0.333333,null],[2,null,null,null]]"; err != nil || string(b) != want {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
}
