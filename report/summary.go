package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/report/table"
)

// A Summary summarizes a reproduction for a terminal: Tables 2 and 3 with one
// line a method, the verdicts counted, missing data and runs with the command that
// gets them, and where the report is. If only specs outside the paper were asked
// for, it gives their results instead of the tables.
type Summary struct {
	*Report                         // with an assessment
	StandIns map[string]string      // data set of the paper → generated data set that stands in for it
	Names    []string               // specs asked for, as on the command line (default: all of the paper's)
	Specs    []string               // names of the specs of Names
	Damaged  int                    // incomplete or corrupt records
	Index    string                 // path of the report's index; empty if the report was not written
	Page     string                 // path of the report as one page; empty if it was not written
	Command  func(...string) string // the command line that runs this program with arguments
}

// A summaryItem is a line of a summary: a word, a text and a command, of which
// the text or the command may be empty.
type summaryItem struct{ word, text, command string }

// A summaryBlock is the part of a table on one task and data set.
type summaryBlock struct {
	data    string
	heading string
	rows    []summaryRow
}

// A summaryRow is one method: its name; for each quantity the paper's number, an
// arrow, ours and the verdict's mark; the number of runs. The name, the paper's numbers and
// the number of runs are indented.
type summaryRow struct {
	cells [summaryColumns]string
	runs  int
	why   string // why there is nothing to compare, neither numbers nor runs
}

const summaryColumns = 1 + 4*quantityCount + 1

// dash stands for a missing number and for a missing verdict.
const dash = "–"

// blocks returns the blocks of Tables 2 and 3. If specs are named, it returns
// the blocks that have runs or that the named specs feed, and none if the named
// specs feed no printed cell.
func (b *Summary) blocks() []summaryBlock {
	fed := make(map[string]bool)
	for _, p := range b.Input.Planned {
		for _, id := range p.Cells {
			if slices.Contains(b.Specs, p.Spec) && b.printed(id) {
				fed[id] = true
			}
		}
	}
	if len(b.Names) > 0 && len(fed) == 0 {
		return nil
	}
	var out []summaryBlock
	for _, t := range b.Tables {
		for _, blk := range t.Blocks {
			wanted := len(b.Names) == 0 && !b.smoke() || slices.ContainsFunc(blk.Rows, func(r *table.Row) bool {
				return !r.Extra && (b.Cells[r.Cell].Why == "" || fed[r.Cell])
			})
			if wanted {
				out = append(out, b.block(t, blk))
			}
		}
	}
	return out
}

// smoke reports whether all specs were asked for in profile smoke, which runs few of them. The
// summary then shows only runs with a record.
func (b *Summary) smoke() bool {
	return len(b.Names) == 0 && b.Input.Profile == experiments.ProfileSmoke
}

// block makes a block from the rows of the printed table. A method that is not defined for the
// task has no row.
func (b *Summary) block(t *Table, blk *table.Block) summaryBlock {
	number := strings.TrimPrefix(t.Name, "table")
	out := summaryBlock{data: blk.Data, heading: fmt.Sprintf("Table %s, %s: %s (%s)", number, blk.Data, blk.Title, blk.Risk)}
	for _, row := range blk.Rows {
		if why := b.Cells[row.Cell].Why; !row.Extra && why != words.Dash && (why == "" || !b.smoke()) {
			out.rows = append(out.rows, b.row(row))
		}
	}
	return out
}

func (b *Summary) row(row *table.Row) summaryRow {
	c := b.Cells[row.Cell]
	out := summaryRow{cells: [summaryColumns]string{"  " + row.Title}, runs: c.Runs()}
	if c.Why != "" && c.Paper == [quantityCount]*float64{} {
		out.why = words.Shorten(c.Why, whyWidth)
		return out
	}
	for q, judged := range c.Judged {
		paper, ours, mark := dash, dash, dash
		if c.Paper[q] != nil {
			paper = c.Printed[q]
		}
		if s := c.Ours[q]; s.Diverged > 0 {
			ours = "∞"
		} else if s.N > 0 {
			ours = number(s.Mean, q, s.Mean)
		}
		if judged != nil {
			mark = judged.Verdict.Mark()
		}
		if out.cells[4*q+1] = "  " + paper; paper != dash || ours != dash {
			copy(out.cells[4*q+2:], []string{"→", ours, mark})
		}
	}
	out.cells[summaryColumns-1] = "  " + strconv.Itoa(out.runs)
	return out
}

// series lists the runs that no block shows, one row for each series below a header: those of the
// named specs, or those on stand-ins for missing data.
func (b *Summary) series(paper bool) (heading string, rows [][]string) {
	all := newBuilder(b.Input).series(func(p experiments.Planned) bool {
		switch ran := b.Input.Records[p.ID] != nil; {
		case b.smoke():
			return ran && !slices.ContainsFunc(p.Cells, b.printed)
		case len(b.Names) == 0:
			return ran && b.standsIn(p.Run.Data.Name)
		}
		return slices.Contains(b.Specs, p.Spec) && !slices.ContainsFunc(p.Cells, b.printed)
	})
	if len(all) == 0 {
		return "", nil
	}
	switch {
	case b.smoke():
		heading = "Other series"
	case len(b.Names) == 0:
		var pairs []string
		for _, missing := range sortedKeys(b.Input.Unavailable) {
			if by := b.StandIns[missing]; by != "" {
				pairs = append(pairs, by+" for "+missing)
			}
		}
		heading = "Generated data, not in the paper (" + strings.Join(pairs, ", ") + ")"
	case paper:
		heading = "Other series of " + strings.Join(b.Specs, ", ")
	default:
		heading = "Results of " + strings.Join(b.Specs, ", ") + ", profile " + b.Input.Profile
	}
	columns, same := distinctColumns(all)
	columns = columns[:len(columns)-1] // the runs come last
	if len(same) > 0 {
		heading += ": " + strings.Join(same, ", ")
	}
	columns = append(columns, finalColumns("error (%)", func(s Stat, q int) string {
		if len(b.Names) == 0 && s.N > 0 && s.Diverged == 0 {
			return number(s.Mean, q, s.Mean)
		}
		return cmp.Or(s.text(q), dash)
	})...)
	if b.Input.Own != "" {
		columns = append(columns, column{"CPU (s)", processorTime}, column{"numbers", func(s *Series) string { return cmp.Or(s.numbers(), dash) }})
	}
	columns = append(columns, column{"runs", func(s *Series) string { return strconv.Itoa(len(s.Runs)) }})
	return heading, tabulate(all, columns, nil)
}

// printed reports whether a cell is one of the printed tables.
func (b *Summary) printed(cell string) bool {
	c, ok := experiments.Paper().Cells[cell]
	return ok && !c.Extra
}

// standsIn reports whether a generated data set stands in for one that is
// missing.
func (b *Summary) standsIn(name string) bool {
	return slices.ContainsFunc(sortedKeys(b.Input.Unavailable), func(missing string) bool { return b.StandIns[missing] == name })
}

// needless reports whether a run is on generated data that stands in for no missing data set,
// because that data set is available or all its runs have records. A run whose spec was asked for
// is not needless.
func (b *Summary) needless(p experiments.Planned) bool {
	name := p.Run.Data.Name
	return slices.Contains(slices.Collect(maps.Values(b.StandIns)), name) && !b.standsIn(name) && !slices.Contains(b.Specs, p.Spec)
}

// verdicts counts the verdicts on the paper's claims. It uses the same marks as the rows.
func (b *Summary) verdicts() []summaryItem {
	cells, sentences, theorems := b.Input.Assessment.Counts()
	numbers := b.Input.Assessment.Numbers()
	each := func(of func(evidence.Counts) int) string {
		return fmt.Sprintf("%s, %s, %s", words.Count(of(cells), "cell"), words.Count(of(numbers), "number"), words.Count(of(sentences), "sentence"))
	}
	reproduced := fmt.Sprintf("%d of %s, %d of %s, %d of %s", cells.Reproduced, words.Count(cells.Total(), "cell"),
		numbers.Reproduced, words.Count(numbers.Total(), "number"), sentences.Reproduced, words.Count(sentences.Total(), "sentence"))
	deviates := each(func(n evidence.Counts) int { return n.Deviates })
	switch all, explained := cells.Deviates+sentences.Deviates, cells.Explained+sentences.Explained; {
	case all == 0:
	case explained == all:
		deviates += ", each with a likely cause"
	default:
		deviates += fmt.Sprintf("; explained: %s, %s", words.Count(cells.Explained, "cell"), words.Count(sentences.Explained, "sentence"))
	}
	none := "the paper prints no number"
	if cells.NotRun+sentences.NotRun > 0 {
		none = each(func(n evidence.Counts) int { return n.NotRun }) + " not run; or none printed"
	}
	out := []summaryItem{
		{word: stats.Reproduced.Mark() + " reproduced", text: reproduced},
		{word: stats.Deviates.Mark() + " deviates", text: deviates},
		{word: stats.Inconclusive.Mark() + " inconclusive", text: each(func(n evidence.Counts) int { return n.Inconclusive })},
		{word: stats.NotRun.Mark() + " no verdict", text: none},
	}
	if cells.NotRun < cells.Total() {
		half, twice := b.Input.Assessment.CellsAt(0.5), b.Input.Assessment.CellsAt(2)
		out = append(out, summaryItem{word: "margins", text: fmt.Sprintf("%s reproduced at half of them, %d at twice", words.Count(half.Reproduced, "cell"), twice.Reproduced)})
	}
	if in, of, numbers, ofNumbers := b.Input.Assessment.WithinOneRun(); ofNumbers > 0 {
		out = append(out, summaryItem{word: "new run", text: fmt.Sprintf("%d of %s in its 90 %% interval, all in %d of %s", numbers, words.Count(ofNumbers, "number"), in, words.Count(of, "cell"))})
	}
	if theorems.Reproduced+theorems.Deviates+theorems.Inconclusive > 0 {
		out = append(out, summaryItem{word: "Table 1", text: fmt.Sprintf("%d of %s on convergence reproduced", theorems.Reproduced, words.Count(theorems.Total(), "statement"))})
	}
	if single, judged := b.singleRuns(); single > 0 && b.Input.Profile != experiments.ProfileFull {
		out = append(out, summaryItem{word: "single runs", text: fmt.Sprintf("decide %d of %s on numbers, without an interval", single, words.Count(judged, "verdict"))})
	}
	return out
}

// singleRuns counts the verdicts on the paper's numbers (judged) and how many of them rest on one
// run, without an interval (single).
func (b *Summary) singleRuns() (single, judged int) {
	for _, c := range b.Input.Assessment.Claims {
		for _, t := range c.Tests {
			if !c.Claim.Cell || t.Test.Paper == nil || t.Verdict == stats.NotRun {
				continue
			}
			judged++
			if len(t.Of.Runs) == 1 {
				single++
			}
		}
	}
	return single, judged
}

// missing lists what is missing, with the command that gets it.
func (b *Summary) missing(blocks []summaryBlock) (out []summaryItem) {
	paper := len(blocks) > 0
	reproduce := b.Command(append([]string{"reproduce"}, b.Names...)...)
	if paper {
		reproduce = b.Command("reproduce")
	}
	wanted := slices.DeleteFunc(slices.Clone(b.Input.Planned), func(p experiments.Planned) bool { return !paper && !slices.Contains(b.Specs, p.Spec) || b.needless(p) })
	gaps := evidence.Gaps(wanted, b.Input.Records, b.Input.Failed, b.Input.Unavailable)
	of := func(kind evidence.GapKind) *evidence.Gap { // all gaps of a kind as one, with the first reason
		all := &evidence.Gap{Kind: kind}
		for _, g := range gaps {
			if g.Kind == kind {
				all.Why, all.Runs = cmp.Or(all.Why, g.Why), append(all.Runs, g.Runs...)
			}
		}
		return all
	}
	add := func(g *evidence.Gap, command string) {
		word, text := g.Item()
		out = append(out, summaryItem{word, text, command})
	}
	for _, name := range b.lacking(blocks, gaps) {
		g := &evidence.Gap{Kind: evidence.Unavailable, What: name, Why: "set " + data.EnvDir + ", or"}
		command := b.Command("data", "fetch", name)
		if i := slices.IndexFunc(wanted, func(p experiments.Planned) bool { return p.Run.Data.Name == name && p.Run.Data.Own() }); i >= 0 {
			g.Why, command = "missing file, for example "+wanted[i].Run.Data.Files.Train.Name, reproduce
		}
		add(g, command)
	}
	for _, g := range []*evidence.Gap{of(evidence.Failed), {Kind: evidence.Corrupt, N: b.Damaged}, of(evidence.Pending)} {
		if len(g.Runs)+g.N > 0 {
			add(g, reproduce)
		}
	}
	if paper {
		out = append(out, b.largerProfile()...)
	}
	return out
}

// lacking returns the names of the data sets that are not available, including those on which the
// profile has no runs.
func (b *Summary) lacking(blocks []summaryBlock, gaps []*evidence.Gap) []string {
	names := make(map[string]bool)
	for _, g := range gaps {
		if g.Kind == evidence.Unavailable {
			names[g.What] = true
		}
	}
	for _, blk := range blocks {
		_, unavailable := b.Input.Unavailable[blk.data]
		if unavailable && !slices.ContainsFunc(blk.rows, func(r summaryRow) bool { return r.runs > 0 }) {
			names[blk.data] = true
		}
	}
	return sortedKeys(names)
}

// largerProfile counts the claims that only runs of a larger profile answer.
func (b *Summary) largerProfile() []summaryItem {
	larger := map[string]string{experiments.ProfileSmoke: experiments.ProfileQuick, experiments.ProfileQuick: experiments.ProfileFull}[b.Input.Profile]
	if larger == "" {
		return nil
	}
	n := 0
	for _, c := range b.Input.Assessment.Claims {
		if slices.ContainsFunc(c.Tests, func(f evidence.Finding) bool {
			return f.Verdict == stats.NotRun && len(f.Of.Missing)+len(f.To.Missing) == 0
		}) {
			n++
		}
	}
	text := "more seeds"
	if n > 0 {
		text = words.Count(n, "verdict") + ", more seeds"
	}
	return []summaryItem{{"profile " + larger, text, b.Command("reproduce", "--profile", larger)}}
}

// where lists the paths of the report and the commands that show more.
func (b *Summary) where(paper bool) (out []summaryItem) {
	out = []summaryItem{{"report", b.Page, ""}, {"tables, figures", b.Index, ""}}
	if b.Page == "" {
		out = []summaryItem{{"report", "", b.Command("report", "--format", "html")}}
	}
	if mixed := experiments.MixedCode(b.Input.Planned); mixed != "" {
		out = append(out, summaryItem{word: "other code", text: mixed})
	}
	if paper {
		out = append(out, summaryItem{word: "full tables", command: b.Command("report")}, summaryItem{word: "verdicts", command: b.Command("verify")})
		deviates := func(c evidence.ClaimResult) bool { return c.Claim.Cell && c.Verdict == stats.Deviates }
		if i := slices.IndexFunc(b.Input.Assessment.Claims, deviates); i >= 0 {
			out = append(out, summaryItem{word: "one verdict", command: b.Command("explain", b.Input.Assessment.Claims[i].Claim.ID)})
		}
	}
	return out
}

// The size of a summary's text.
const (
	SummaryLines = 60  // at most
	SummaryWidth = 100 // columns at most; a longer path is not broken
)

// Text writes the summary in at most SummaryLines lines of SummaryWidth columns.
func (s *Summary) Text(w io.Writer) error {
	blocks := s.blocks()
	paper := len(blocks) > 0
	title := "The paper's Tables 2 and 3 → this reproduction, profile " + s.Input.Profile
	heading, series := s.series(paper)
	var tail []string
	if paper {
		tail = itemLines("", s.verdicts())
	}
	tail = append(tail, itemLines("Missing", s.missing(blocks))...)
	tail = append(tail, itemLines("", s.where(paper))...)
	head := tableLines(title, blocks)
	if need := len(series) + 2; len(head)+need+len(tail) > SummaryLines {
		head = slices.DeleteFunc(head, func(l string) bool { return l == "" })
	}
	lines := append(head, seriesLines(heading, series, SummaryLines-len(head)-len(tail))...)
	text := strings.Join(append(lines, tail...), "\n") + "\n"
	_, err := io.WriteString(w, strings.TrimPrefix(text, "\n"))
	return err
}

// tableLines lays out the paper's tables, one line for each method, with empty lines between the
// blocks.
func tableLines(title string, blocks []summaryBlock) []string {
	if len(blocks) == 0 {
		return nil
	}
	g := table.Grid{Header: make([]string, summaryColumns), Left: make([]bool, summaryColumns)}
	g.Left[0] = true
	for q := range quantityCount {
		g.Left[4*q+4] = true // marks
	}
	for _, b := range blocks {
		for _, r := range b.rows {
			g.Rows = append(g.Rows, r.cells[:])
		}
	}
	widths := g.Widths()
	header := strings.Repeat(" ", widths[0])
	for q, name := range table.Headings {
		group := 3
		for _, n := range widths[4*q+1 : 4*q+5] {
			group += n
		}
		header += fmt.Sprintf(" %-*s", group, "  "+name)
	}
	lines := []string{title, header + "   runs"}
	for i, b := range blocks {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, b.heading)
		for _, r := range b.rows {
			cells := g.Pad(r.cells[:], widths)
			if r.why != "" { // in place of the others
				cells = []string{cells[0], " ", r.why}
			}
			lines = append(lines, strings.TrimRight(strings.Join(cells, " "), " "))
		}
	}
	return lines
}

// seriesLines lays a table of series out in at most room lines.
func seriesLines(heading string, rows [][]string, room int) []string {
	room -= 2 // an empty line and the heading
	if len(rows) == 0 || room < 2 {
		return nil
	}
	more := 0
	if len(rows) > room {
		rows, more = rows[:room-1], len(rows)-room+1
	}
	name := slices.Index(rows[0], "series") // the last column of text
	g := table.Grid{Header: rows[0], Rows: rows, Left: make([]bool, len(rows[0]))}
	for i := range g.Left {
		g.Left[i] = i <= name
	}
	widths := g.Widths()
	total := 2 * len(widths)
	for _, n := range widths {
		total += n
	}
	if over := total - SummaryWidth; over > 0 {
		widths[name] = max(12, widths[name]-over)
	}
	lines := []string{"", fit(heading, SummaryWidth)}
	for _, row := range g.Rows {
		row[name] = fit(row[name], widths[name])
		lines = append(lines, strings.TrimRight("  "+strings.Join(g.Pad(row, widths), "  "), " "))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more, see tables/runs.txt of the report", more))
	}
	return lines
}

// itemLines lays out items in two columns. An item takes one line, or two if the command does not
// fit beside the text.
func itemLines(heading string, items []summaryItem) []string {
	if len(items) == 0 {
		return nil
	}
	lines, indent := []string{""}, ""
	if heading != "" {
		lines, indent = append(lines, heading), "  "
	}
	widest := 0
	for _, i := range items {
		widest = max(widest, utf8.RuneCountInString(i.word))
	}
	for _, i := range items {
		line := fmt.Sprintf("%s%-*s  ", indent, widest, i.word)
		start := len(line)
		switch {
		case i.text == "" || i.command == "":
			line += i.text + i.command
		case utf8.RuneCountInString(line+i.text+": "+i.command) > SummaryWidth:
			line += i.text + ":\n" + strings.Repeat(" ", min(start, 4)) + i.command
		default:
			line += i.text + ": " + i.command
		}
		lines = append(lines, strings.Split(line, "\n")...)
	}
	return lines
}

// fit shortens a text to a width.
func fit(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:width-3])) + "..."
}
