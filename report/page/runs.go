package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"polkrepro/evidence"
	"polkrepro/record"
	"polkrepro/report"
)

// missing says what is not there, plainly.
func missing(in Input) []string {
	var gaps []*evidence.Gap
	for _, d := range in.Damaged {
		gaps = append(gaps, &evidence.Gap{Kind: evidence.Corrupt, Why: d})
	}
	if in.Partial > 0 {
		gaps = append(gaps, &evidence.Gap{Kind: evidence.Unfinished, N: in.Partial})
	}
	from := in.Report.Input
	gaps = append(gaps, evidence.Gaps(from.Planned, from.Records, nil, nil)...) // whatever the cause
	var out []string
	for _, g := range gaps {
		out = append(out, g.Sentence())
	}
	if from.Own == "" && len(from.Assessment.Missing) > 0 {
		out = append(out, (&evidence.Gap{Kind: evidence.Pending, Runs: from.Assessment.Missing}).NeededSentence())
	}
	return append(out, in.Report.Missing()...)
}

// cost is what the runs of one method in one spec took.
type cost struct {
	spec, method       string
	ids                map[string]bool
	have, failed       int
	wall, cpu, elapsed float64
}

// add counts a run once.
func (c *cost) add(in report.Input, id string) {
	if c.ids[id] {
		return
	}
	c.ids[id] = true
	r := in.Records[id]
	if r == nil {
		if in.Failed[id] != "" {
			c.failed++
		}
		return
	}
	c.have++
	c.wall += r.Final.Timing.Wall
	c.cpu += r.Final.Timing.CPU
	c.elapsed += r.Final.Elapsed
}

// row writes the cost.
func (c *cost) row() []string {
	row := []string{c.spec, c.method, fmt.Sprintf("%d of %d", c.have, len(c.ids)), strconv.Itoa(c.failed)}
	if c.have == 0 {
		return append(row, dash, dash, dash, dash)
	}
	return append(row, seconds(c.wall/float64(c.have)), seconds(c.wall), seconds(c.cpu), seconds(c.elapsed))
}

// seconds writes a time.
func seconds(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// costs is the table of what the runs took, by spec and method.
func costs(in report.Input) *report.Table {
	t := &report.Table{
		Title:  "Times by spec and method",
		Header: []string{"spec", "method", "runs", "failed", "wall a run (s)", "wall (s)", "CPU (s)", "with evaluations (s)"},
		Notes: []string{
			"Wall and CPU seconds are of the training alone; the last column is from start to end of the runs, evaluations included. A run that two specs share counts in both, in the last row once.",
		},
	}
	byKey := make(map[string]*cost)
	all := &cost{spec: "all", ids: map[string]bool{}}
	for _, p := range in.Planned {
		key := p.Spec + "\x00" + p.Run.Method
		if byKey[key] == nil {
			byKey[key] = &cost{spec: p.Spec, method: p.Run.Method, ids: map[string]bool{}}
		}
		byKey[key].add(in, p.ID)
		all.add(in, p.ID)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		t.Rows = append(t.Rows, byKey[key].row())
	}
	if len(t.Rows) > 0 {
		t.Rows = append(t.Rows, all.row())
	}
	return t
}

// machine is one program on one machine, with the runs that it made.
type machine struct {
	record.Provenance
	runs        int
	first, last time.Time
}

// row writes the machine.
func (m *machine) row() []string {
	const day = "2006-01-02 15:04"
	p := m.Provenance
	platform := p.GOOS + "/" + p.GOARCH
	if p.GOAMD64 != "" {
		platform += " " + p.GOAMD64
	}
	return []string{strconv.Itoa(m.runs), p.Version, revision(p), p.Go, platform, p.CPU, strconv.Itoa(p.Cores),
		strings.Join(p.Features, " "), p.Backend, m.first.Format(day), m.last.Format(day)}
}

// revision shortens a revision and says whether there were changes to it.
func revision(p record.Provenance) string {
	if p.Revision == "" {
		return "unknown"
	}
	out := p.Revision[:min(12, len(p.Revision))]
	if p.Dirty {
		out += " with local changes"
	}
	return out
}

// machines is the table of the programs and machines that made the records,
// that of the most runs first.
func machines(records map[string]*record.Record) *report.Table {
	t := &report.Table{
		Title:  "Programs and machines",
		Header: []string{"runs", "version", "revision", "Go", "platform", "processor", "cores", "vector extensions", "linear algebra", "first started (UTC)", "last started (UTC)"},
		Notes:  []string{"A row for each revision, build and machine that made records."},
	}
	byKey := make(map[string]*machine)
	for _, id := range slices.Sorted(maps.Keys(records)) {
		p, at := records[id].Header.Provenance, records[id].Header.Started.UTC()
		key := fmt.Sprintf("%q", []string{p.Module, p.Revision, strconv.FormatBool(p.Dirty), p.Version, p.Go, p.GOOS, p.GOARCH, p.GOAMD64,
			p.CPU, strings.Join(p.Features, " "), p.Backend, strconv.Itoa(p.Cores)})
		m := byKey[key]
		if m == nil {
			m = &machine{Provenance: p, first: at, last: at}
			byKey[key] = m
		}
		m.runs++
		if at.Before(m.first) {
			m.first = at
		}
		if at.After(m.last) {
			m.last = at
		}
	}
	keys := slices.Sorted(maps.Keys(byKey))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(byKey[b].runs, byKey[a].runs) })
	for _, key := range keys {
		t.Rows = append(t.Rows, byKey[key].row())
	}
	return t
}

// dataSums is the table of the data that the runs were trained on.
func dataSums(records map[string]*record.Record) *report.Table {
	t := &report.Table{
		Title:  "Data",
		Header: []string{"data set", "file", "SHA-256", "runs"},
		Notes:  []string{"SHA-256 of the files, of MNIST's decompressed, or of the generated bytes, as the runs read them."},
	}
	runs := make(map[dataSum]int)
	for _, r := range records {
		for name, sum := range r.Header.DataSums {
			d := r.Header.Run.Data
			runs[dataSum{d.Name, d.Draw, name, sum}]++
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(runs), func(a, b dataSum) int {
		return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(a.draw, b.draw), cmp.Compare(a.file, b.file), cmp.Compare(a.sum, b.sum))
	}) {
		set := d.set
		if d.draw != 0 {
			set = fmt.Sprintf("%s, draw %d", set, d.draw)
		}
		t.Rows = append(t.Rows, []string{set, d.file, d.sum, strconv.Itoa(runs[d])})
	}
	return t
}

// A dataSum is the sum of one file of a data set, or of one draw of one that is
// generated.
type dataSum struct {
	set       string
	draw      uint64
	file, sum string
}
