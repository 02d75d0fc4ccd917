package page

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"polkrepro/evidence"
	"polkrepro/evidence/ledger"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/report"
	"polkrepro/spec"
)

// madeUp returns a record of a planned run, with values that depend only on its ID.
func madeUp(p spec.Planned) *record.Record {
	h := fnv.New64a()
	io.WriteString(h, p.ID)
	src := rand.New(rand.NewPCG(h.Sum64(), 1))
	r := &record.Record{Header: record.Header{
		ID: p.ID, Run: p.Run, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		DataSums: map[string]string{p.Run.Data.Name + ".bin": strings.Repeat("ab", 32)},
		Provenance: record.Provenance{Module: "polkrepro", Version: "v1", Revision: "0123456789abcdef", Go: "go1.26",
			GOOS: "linux", GOARCH: "amd64", CPU: "a processor", Features: []string{"avx2"}, Backend: "avx2", Cores: 2},
	}}
	order := 10 + src.IntN(90)
	for i := 1; i <= 8; i++ {
		e := 0.04 + 0.2/float64(i) + 0.01*src.Float64()
		r.Points = append(r.Points, record.Point{Samples: i * p.Run.Samples / 8, TrainRisk: 2 * e, TestRisk: 2.1 * e, TestError: e, ModelOrder: order})
	}
	last := r.Points[len(r.Points)-1]
	r.Final = record.Final{Samples: last.Samples, TrainRisk: last.TrainRisk, TestRisk: last.TestRisk, TestError: last.TestError,
		ModelOrder: float64(order), Timing: record.Timing{Wall: 2, CPU: 3}, Elapsed: 4}
	return r
}

// records are made-up records of all runs of a plan.
func records(planned []spec.Planned) map[string]*record.Record {
	out := make(map[string]*record.Record)
	for _, p := range planned {
		out[p.ID] = madeUp(p)
	}
	return out
}

// made returns the report on a plan and its records.
func made(t testing.TB, profile string, planned []spec.Planned, recs map[string]*record.Record, failed map[string]string) *report.Report {
	t.Helper()
	a, err := evidence.Assess(evidence.Input{Ledger: ledger.Embedded(), Plan: planned, Records: recs, Failed: failed})
	testutil.NoError(t, err)
	return report.Build(report.Input{Planned: planned, Records: recs, Failed: failed, Profile: profile, Assessment: a})
}

// whole is the report on made-up records of the full profile, and its page.
var whole = sync.OnceValues(func() (*report.Report, []byte) {
	planned := theorytest.Plan(failing{}, spec.ProfileFull)
	r := made(failing{}, spec.ProfileFull, planned, records(planned), nil)
	return r, render(failing{}, r, "a program")
})

// failing replaces testing.TB outside of tests.
type failing struct{ testing.TB }

func (failing) Helper()                           {}
func (failing) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (failing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// render writes a page.
func render(t testing.TB, r *report.Report, program string) []byte {
	t.Helper()
	var out bytes.Buffer
	testutil.NoError(t, Write(&out, r, program))
	return out.Bytes()
}

// A node is an element of a page.
type node struct {
	name     string
	attrs    map[string]string
	children []*node
	text     strings.Builder // of the element and its descendants
}

// wholePage is the whole page, parsed, and its scripts.
var wholePage = sync.OnceValues(func() (*node, []string) {
	_, html := whole()
	return parse(failing{}, html)
})

// sources are the contents of scripts and styles, which are not XML.
var sources = regexp.MustCompile(`(?s)<(script|style)([^>]*)>(.*?)</(script|style)>`)

// parse reads a page. It empties scripts and styles, and returns the scripts separately.
func parse(t testing.TB, html []byte) (root *node, scripts []string) {
	t.Helper()
	for _, m := range sources.FindAllSubmatch(html, -1) {
		if string(m[1]) == "script" {
			scripts = append(scripts, string(m[3]))
		}
	}
	d := xml.NewDecoder(bytes.NewReader(sources.ReplaceAll(html, []byte("<$1$2></$1>"))))
	d.Strict, d.Entity, d.AutoClose = false, xml.HTMLEntity, xml.HTMLAutoClose
	root = &node{}
	open := []*node{root}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		testutil.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			n := &node{name: e.Name.Local, attrs: map[string]string{}}
			for _, a := range e.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			top := open[len(open)-1]
			top.children = append(top.children, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, n := range open {
				n.text.Write(e)
			}
		}
	}
	if len(open) != 1 {
		t.Fatalf("%d elements are not closed", len(open)-1)
	}
	return root, scripts
}

// all returns the descendants with a name, or all descendants if name is empty.
func (n *node) all(name string) []*node {
	var out []*node
	for _, c := range n.children {
		if name == "" || c.name == name {
			out = append(out, c)
		}
		out = append(out, c.all(name)...)
	}
	return out
}

// with returns the descendants that have an attribute with the given value.
func (n *node) with(attr, value string) []*node {
	return slices.DeleteFunc(n.all(""), func(c *node) bool { v, ok := c.attrs[attr]; return !ok || v != value })
}

// words is the text with single spaces.
func (n *node) words() string { return strings.Join(strings.Fields(n.text.String()), " ") }
