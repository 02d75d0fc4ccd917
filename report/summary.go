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
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/spec"
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
	all := len(s.Names) == 0 && s.Input.Profile != spec.ProfileSmoke
	fed := func(p spec.Planned) bool { return slices.Contains(s.Specs, p.Spec) && ofPrinted(p) }
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
			paper = c.Texts[q]
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
	heading, wanted := "Generated data in place of missing data", func(p spec.Planned) bool {
		_, needed := s.Input.Unavailable[s.StandIns[p.Run.Data.Name]]
		return needed && s.Input.Records[p.ID] != nil
	}
	if len(s.Names) > 0 {
		heading = "Results of " + strings.Join(s.Specs, ", ") + ", profile " + s.Input.Profile
		wanted = func(p spec.Planned) bool { return slices.Contains(s.Specs, p.Spec) }
	}
	all := newBuilder(s.Input).series(func(p spec.Planned) bool { return wanted(p) && !ofPrinted(p) })
	if len(all) == 0 {
		return ""
	}
	return tabulate(Table{Title: heading}, all, plannedColumns(), resultColumns(Stat.text)).Text()
}

// ofPrinted reports whether a run feeds a cell of the printed tables.
func ofPrinted(p spec.Planned) bool {
	return slices.ContainsFunc(p.Cells, func(id string) bool {
		c, ok := paper.Printed().Cells[id]
		return ok && !c.Extra
	})
}

// verdicts counts the verdicts on the paper's claims, in the words of 'runall verify', and those on
// numbers that rest on a single run.
func (s *Summary) verdicts() string {
	text := fmt.Sprintf("%s reproduced, %s deviates, %s inconclusive, %s no verdict\n", stats.Reproduced.Mark(), stats.Deviates.Mark(), stats.Inconclusive.Mark(), stats.NotRun.Mark())
	cells, sentences, theorems := s.Input.Assessment.Counts()
	for _, n := range []evidence.Tally{{What: "cells", Counts: cells}, {What: "numbers", Counts: s.Input.Assessment.Numbers()}, {What: "sentences", Counts: sentences}, {What: "theorems", Counts: theorems}} {
		text += n.What + "\t" + n.Counts.String() + "\n"
	}
	single := 0
	for _, c := range s.Cells {
		for _, f := range c.Judged {
			if f != nil && f.Verdict != stats.NotRun && len(f.Of.Runs) == 1 {
				single++
			}
		}
	}
	if single > 0 && s.Input.Profile != spec.ProfileFull {
		text += fmt.Sprintf("single runs\tdecide %s on numbers, without an interval\n", words.Count(single, "verdict"))
	}
	return text
}

// missing lists what is missing, and the commands that make it. If the tables are shown, that may
// be a larger profile.
func (s *Summary) missing(paper bool) string {
	wanted := slices.DeleteFunc(slices.Clone(s.Input.Planned), func(p spec.Planned) bool {
		return len(s.Names) > 0 && !slices.Contains(s.Specs, p.Spec)
	})
	gaps := evidence.Gaps(wanted, s.Input.Records, s.Input.Failed, s.Input.Unavailable)
	if s.Input.Damaged > 0 {
		gaps = append(gaps, &evidence.Gap{Kind: evidence.Corrupt, N: s.Input.Damaged})
	}
	text := ""
	for _, g := range gaps {
		text += "  " + g.Sentence() + "\n"
	}
	if len(gaps) > 0 {
		text += "  To run what is missing: " + s.Command(append([]string{"reproduce"}, s.Names...)...) + "\n"
	}
	larger := map[string]string{spec.ProfileSmoke: spec.ProfileQuick, spec.ProfileQuick: spec.ProfileFull}[s.Input.Profile]
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
	if mixed := spec.MixedCode(s.Input.Planned); mixed != "" {
		text += "other code\t" + mixed + "\n"
	}
	if paper {
		text += fmt.Sprintf("full tables\t%s\nverdicts\t%s\n", s.Command("report"), s.Command("verify"))
	}
	return text
}
