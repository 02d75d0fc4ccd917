package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
)

// A Summary summarizes a reproduction for a terminal: Tables 2 and 3 with one
// line a method, the verdicts counted, missing data and runs with the command that
// gets them, and where the report is. If specs are named, it gives their results.
type Summary struct {
	*Report                         // with an assessment
	StandIns map[string]string      // generated data set → data set of the paper that it stands in for
	Names    []string               // specs asked for, as on the command line (default: all of the paper's)
	Specs    []string               // names of the specs of Names
	Damaged  int                    // incomplete or corrupt records
	Page     string                 // path of the report as one page; empty if it was not written
	Command  func(...string) string // the command line that runs this program with arguments
}

// Text writes the summary. Its sections are lines with tabs between a word and what it says.
func (s *Summary) Text(w io.Writer) error {
	sections := []string{s.tables(), s.series()}
	paper := sections[0] != ""
	if paper {
		sections = append(sections, s.verdicts())
	}
	sections = append(sections, s.missing(paper), s.where(paper))
	sections = slices.DeleteFunc(sections, func(section string) bool { return section == "" })
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(t, strings.Join(sections, "\n"))
	return t.Flush()
}

// The columns of the summary's tables: the widths of the paper's number and of ours for each
// quantity, and the headings above them.
var summaryWidths = [quantityCount][2]int{qRisk: {6, 7}, qError: {4, 4}, qOrder: {5, 5}}

const summaryHeadings = "           risk                 error (%)       model order       runs\n"

// tables lays out Tables 2 and 3. If specs are named, and in profile smoke, which has few runs, it
// shows only the methods with runs; it is empty if the named specs feed none of their cells.
func (s *Summary) tables() string {
	all := len(s.Names) == 0 && s.Input.Profile != experiments.ProfileSmoke
	fed := func(p experiments.Planned) bool { return slices.Contains(s.Specs, p.Spec) && ofPrinted(p) }
	if len(s.Names) > 0 && !slices.ContainsFunc(s.Input.Planned, fed) {
		return ""
	}
	text := ""
	for _, t := range s.Tables {
		for _, blk := range t.Blocks {
			heading := fmt.Sprintf("\nTable %s, %s: %s (%s)\n", strings.TrimPrefix(t.Name, "table"), blk.Data, blk.Title, blk.Risk)
			for _, row := range blk.Rows {
				c := s.Cells[row.Cell]
				missing := all && c.Why != words.Dash && c.Paper != [quantityCount]*float64{}
				if !row.Extra && (c.Why == "" || missing) {
					text += heading + c.summary(row.Title)
					heading = ""
				}
			}
		}
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf("The paper's Tables 2 and 3 → this reproduction, profile %s\n", s.Input.Profile) + summaryHeadings + text[1:]
}

// summary returns the cell as a line: its name; for each quantity the paper's number, an arrow,
// ours and the verdict's mark; the number of runs.
func (c *Cell) summary(title string) string {
	const dash = "–" // for a missing number and for a missing verdict
	line := fmt.Sprintf("  %-6s", title)
	for q, judged := range c.Judged {
		paper, arrow, ours, mark := dash, "→", dash, dash
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
			arrow, ours, mark = "", "", ""
		}
		line += fmt.Sprintf("   %*s %1s %*s %1s", summaryWidths[q][0], paper, arrow, summaryWidths[q][1], ours, mark)
	}
	return line + fmt.Sprintf("   %2d\n", c.Runs())
}

// series lists the series that the tables do not show: those of the named specs, or those on
// stand-ins for missing data.
func (s *Summary) series() string {
	heading, wanted := "Generated data in place of missing data", func(p experiments.Planned) bool {
		_, needed := s.Input.Unavailable[s.StandIns[p.Run.Data.Name]]
		return needed && s.Input.Records[p.ID] != nil
	}
	if len(s.Names) > 0 {
		heading = "Results of " + strings.Join(s.Specs, ", ") + ", profile " + s.Input.Profile
		wanted = func(p experiments.Planned) bool { return slices.Contains(s.Specs, p.Spec) }
	}
	all := newBuilder(s.Input).series(func(p experiments.Planned) bool { return wanted(p) && !ofPrinted(p) })
	if len(all) == 0 {
		return ""
	}
	return tabulate(Table{Title: heading}, all, plannedColumns(), resultColumns(Stat.text)).Text()
}

// ofPrinted reports whether a run feeds a cell of the printed tables.
func ofPrinted(p experiments.Planned) bool {
	return slices.ContainsFunc(p.Cells, func(id string) bool {
		c, ok := experiments.Paper().Cells[id]
		return ok && !c.Extra
	})
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

// missing lists what is missing, and the commands that make it. If the tables are shown, that may
// be a larger profile.
func (s *Summary) missing(paper bool) string {
	wanted := slices.DeleteFunc(slices.Clone(s.Input.Planned), func(p experiments.Planned) bool {
		return len(s.Names) > 0 && !slices.Contains(s.Specs, p.Spec)
	})
	gaps := evidence.Gaps(wanted, s.Input.Records, s.Input.Failed, s.Input.Unavailable)
	if s.Damaged > 0 {
		gaps = append(gaps, &evidence.Gap{Kind: evidence.Corrupt, N: s.Damaged})
	}
	text := ""
	for _, g := range gaps {
		text += "  " + g.Sentence() + "\n"
	}
	if len(gaps) > 0 {
		text += "  To run what is missing: " + s.Command(append([]string{"reproduce"}, s.Names...)...) + "\n"
	}
	larger := map[string]string{experiments.ProfileSmoke: experiments.ProfileQuick, experiments.ProfileQuick: experiments.ProfileFull}[s.Input.Profile]
	if paper && larger != "" {
		text += "  More verdicts and seeds: " + s.Command("reproduce", "--profile", larger) + "\n"
	}
	if text == "" {
		return ""
	}
	return "Missing\n" + text
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
