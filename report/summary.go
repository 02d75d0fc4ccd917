package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/report/table"
)

// A Summary summarizes a reproduction for a terminal: Tables 2 and 3 with one
// line a method, the verdicts counted, missing data and runs with the command that
// gets them, and where the report is. If specs are named, it gives their results.
type Summary struct {
	*Report                         // with an assessment
	StandIns map[string]string      // generated data set → data set of the paper that it stands in for
	Names    []string               // specs asked for, as on the command line (default: all of the paper's)
	Specs    []string               // names of the specs of Names
	Page     string                 // path of the report as one page; empty if it was not written
	Command  func(...string) string // the command line that runs this program with arguments
}

// Text writes the summary. Its sections are lines with tabs between a word and what it says.
func (s *Summary) Text(w io.Writer) error {
	tables := s.tables()
	paper := tables != ""
	sections := []string{tables, s.series(), "", s.missing(paper), s.where(paper)}
	if paper {
		sections[2] = s.verdicts()
	}
	sections = slices.DeleteFunc(sections, func(section string) bool { return section == "" })
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(t, strings.Join(sections, "\n"))
	return t.Flush()
}

// tables lays out Tables 2 and 3. If specs are named, and in profile smoke, which has few runs, it
// shows only the methods with runs; it is empty if the named specs feed none of their cells.
func (s *Summary) tables() string {
	all := len(s.Names) == 0 && s.Input.Profile != experiments.ProfileSmoke
	fed := func(p experiments.Planned) bool { return slices.Contains(s.Specs, p.Spec) && ofPrinted(p) }
	if len(s.Names) > 0 && !slices.ContainsFunc(s.Input.Planned, fed) {
		return ""
	}
	const columns = 2 + 4*quantityCount
	g := table.Grid{Header: make([]string, columns), Left: make([]bool, columns)}
	g.Left[0] = true
	for q := range quantityCount {
		g.Left[4*q+4] = true // marks
	}
	headings := make(map[int]string) // by the number of rows above
	for _, t := range s.Tables {
		for _, blk := range t.Blocks {
			first := len(g.Rows)
			for _, row := range blk.Rows {
				c := s.Cells[row.Cell]
				missing := all && c.Why != words.Dash && c.Paper != [quantityCount]*float64{}
				if !row.Extra && (c.Why == "" || missing) {
					g.Rows = append(g.Rows, c.summary(row.Title))
					headings[first] = fmt.Sprintf("Table %s, %s: %s (%s)\n", strings.TrimPrefix(t.Name, "table"), blk.Data, blk.Title, blk.Risk)
				}
			}
		}
	}
	if len(g.Rows) == 0 {
		return ""
	}
	var b strings.Builder
	widths := g.Widths()
	fmt.Fprintf(&b, "The paper's Tables 2 and 3 → this reproduction, profile %s\n%*s", s.Input.Profile, widths[0], "")
	for q, name := range table.Headings {
		group := 3
		for _, n := range widths[4*q+1 : 4*q+5] {
			group += n
		}
		fmt.Fprintf(&b, " %-*s", group, "  "+name)
	}
	b.WriteString("   runs\n")
	for i, row := range g.Rows {
		if i > 0 && headings[i] != "" {
			b.WriteString("\n")
		}
		b.WriteString(headings[i] + strings.TrimRight(strings.Join(g.Pad(row, widths), " "), " ") + "\n")
	}
	return b.String()
}

// summary returns the cell as a line: its name; for each quantity the paper's number, an arrow,
// ours and the verdict's mark; the number of runs. The name, the paper's numbers and the number of
// runs are indented.
func (c *Cell) summary(title string) []string {
	const dash = "–" // for a missing number and for a missing verdict
	out := []string{"  " + title}
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
		if paper == dash && ours == dash {
			out = append(out, "  "+dash, "", "", "")
		} else {
			out = append(out, "  "+paper, "→", ours, mark)
		}
	}
	return append(out, "  "+strconv.Itoa(c.Runs()))
}

// series lists the series that the tables do not show: those of the named specs, or those on
// stand-ins for missing data.
func (s *Summary) series() string {
	heading := "Results of " + strings.Join(s.Specs, ", ") + ", profile " + s.Input.Profile
	if len(s.Names) == 0 {
		heading = "Generated data in place of missing data"
	}
	all := newBuilder(s.Input).series(func(p experiments.Planned) bool {
		wanted := slices.Contains(s.Specs, p.Spec)
		if len(s.Names) == 0 {
			_, needed := s.standsIn(p)
			wanted = needed && s.Input.Records[p.ID] != nil
		}
		return wanted && !ofPrinted(p)
	})
	if len(all) == 0 {
		return ""
	}
	rows := tabulate(all, plannedColumns(), resultColumns(Stat.text))
	return (&Table{Title: heading, Header: rows[0], Rows: rows[1:]}).Text()
}

// ofPrinted reports whether a run feeds a cell of the printed tables.
func ofPrinted(p experiments.Planned) bool {
	return slices.ContainsFunc(p.Cells, func(id string) bool {
		c, ok := experiments.Paper().Cells[id]
		return ok && !c.Extra
	})
}

// standsIn reports whether a run is on a generated data set that stands in for another one, and
// whether that one is missing.
func (s *Summary) standsIn(p experiments.Planned) (generated, needed bool) {
	of, generated := s.StandIns[p.Run.Data.Name]
	_, needed = s.Input.Unavailable[of]
	return generated, needed
}

// verdicts counts the verdicts on the paper's claims. It uses the same marks as the tables.
func (s *Summary) verdicts() string {
	cells, sentences, theorems := s.Input.Assessment.Counts()
	numbers := s.Input.Assessment.Numbers()
	each := func(of func(evidence.Counts) int) string {
		return fmt.Sprintf("%s, %s, %s", words.Count(of(cells), "cell"), words.Count(of(numbers), "number"), words.Count(of(sentences), "sentence"))
	}
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
	var b strings.Builder
	fmt.Fprintf(&b, "%s reproduced\t%d of %s, %d of %s, %d of %s\n", stats.Reproduced.Mark(), cells.Reproduced, words.Count(cells.Total(), "cell"),
		numbers.Reproduced, words.Count(numbers.Total(), "number"), sentences.Reproduced, words.Count(sentences.Total(), "sentence"))
	fmt.Fprintf(&b, "%s deviates\t%s\n", stats.Deviates.Mark(), deviates)
	fmt.Fprintf(&b, "%s inconclusive\t%s\n", stats.Inconclusive.Mark(), each(func(n evidence.Counts) int { return n.Inconclusive }))
	fmt.Fprintf(&b, "%s no verdict\t%s\n", stats.NotRun.Mark(), none)
	if theorems.Reproduced+theorems.Deviates+theorems.Inconclusive > 0 {
		fmt.Fprintf(&b, "Table 1\t%d of %s on convergence reproduced\n", theorems.Reproduced, words.Count(theorems.Total(), "statement"))
	}
	if single, judged := s.singleRuns(); single > 0 && s.Input.Profile != experiments.ProfileFull {
		fmt.Fprintf(&b, "single runs\tdecide %d of %s on numbers, without an interval\n", single, words.Count(judged, "verdict"))
	}
	return b.String()
}

// singleRuns counts the verdicts on the paper's numbers (judged) and how many of them rest on one
// run, without an interval (single).
func (s *Summary) singleRuns() (single, judged int) {
	for _, c := range s.Cells {
		for _, f := range c.Judged {
			if f == nil || f.Verdict == stats.NotRun {
				continue
			}
			judged++
			if len(f.Of.Runs) == 1 {
				single++
			}
		}
	}
	return single, judged
}

// missing lists what is missing, with the command that gets it. If the tables are shown, that may be
// a larger profile.
func (s *Summary) missing(paper bool) string {
	var b strings.Builder
	add := func(g *evidence.Gap, command string) {
		word, text := g.Item()
		fmt.Fprintf(&b, "  %s\t%s: %s\n", word, text, command)
	}
	reproduce := s.Command(append([]string{"reproduce"}, s.Names...)...)
	wanted := slices.DeleteFunc(slices.Clone(s.Input.Planned), func(p experiments.Planned) bool {
		generated, needed := s.standsIn(p)
		return len(s.Names) > 0 && !slices.Contains(s.Specs, p.Spec) || len(s.Names) == 0 && generated && !needed
	})
	failed, pending := &evidence.Gap{Kind: evidence.Failed}, &evidence.Gap{Kind: evidence.Pending}
	for _, g := range evidence.Gaps(wanted, s.Input.Records, s.Input.Failed, s.Input.Unavailable) {
		switch ref := g.Runs[0].Run.Data; {
		case g.Kind == evidence.Failed:
			failed.Why, failed.Runs = cmp.Or(failed.Why, g.Why), append(failed.Runs, g.Runs...)
		case g.Kind == evidence.Pending:
			pending = g
		case ref.Own():
			g.Why = "missing file, for example " + ref.Files.Train.Name
			add(g, reproduce)
		default:
			g.Why = "set " + data.EnvDir + ", or"
			add(g, s.Command("data", "fetch", g.What))
		}
	}
	for _, g := range []*evidence.Gap{failed, {Kind: evidence.Corrupt, N: s.Input.Damaged}, pending} {
		if len(g.Runs)+g.N > 0 {
			add(g, reproduce)
		}
	}
	if paper {
		b.WriteString(s.largerProfile())
	}
	if b.Len() == 0 {
		return ""
	}
	return "Missing\n" + b.String()
}

// largerProfile counts the claims that only runs of a larger profile answer.
func (s *Summary) largerProfile() string {
	larger := map[string]string{experiments.ProfileSmoke: experiments.ProfileQuick, experiments.ProfileQuick: experiments.ProfileFull}[s.Input.Profile]
	if larger == "" {
		return ""
	}
	n := 0
	for _, c := range s.Input.Assessment.Claims {
		if slices.ContainsFunc(c.Tests, func(f evidence.Finding) bool {
			return f.Verdict == stats.NotRun && len(f.Of.Missing)+len(f.To.Missing) == 0
		}) {
			n++
		}
	}
	more := "more seeds"
	if n > 0 {
		more = words.Count(n, "verdict") + ", more seeds"
	}
	return fmt.Sprintf("  profile %s\t%s: %s\n", larger, more, s.Command("reproduce", "--profile", larger))
}

// where says where the report is and lists the commands that show more, if it is about the paper.
func (s *Summary) where(paper bool) string {
	text := fmt.Sprintf("report\t%s\n", cmp.Or(s.Page, s.Command("report", "--format", "html")))
	if mixed := experiments.MixedCode(s.Input.Planned); mixed != "" {
		text += "other code\t" + mixed + "\n"
	}
	if paper {
		text += fmt.Sprintf("full tables\t%s\nverdicts\t%s\n", s.Command("report"), s.Command("verify"))
	}
	return text
}
