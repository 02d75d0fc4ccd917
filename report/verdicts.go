package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/report/table"
)

// Verdicts are the verdicts on the paper's claims, written for readers (Text,
// Markdown) and for CI services (JUnit).
type Verdicts struct {
	Assessment *evidence.Assessment
	Ledger     *experiments.Ledger
	Profile    string
	Assume     []string          // alternatives assumed, each ASSUMPTION=ALTERNATIVE; default none
	Changes    []evidence.Change // from the verdicts without Assume
	Reference  *Reference        // verdicts that are expected; default: reproduced, or deviating with an explanation
}

// A Reference is a results folder with the expected verdicts, and how the actual
// ones compare.
type Reference struct {
	Folder string `json:"folder"` // as named by --reference
	evidence.Comparison
}

// Text writes all claims with their tests, the counts, and the verdicts that
// change or differ.
func (v *Verdicts) Text(w io.Writer) error {
	if err := v.Assessment.WriteText(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, v.errata()); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	if len(v.Assume) > 0 {
		fmt.Fprintf(t, "\n%s\n", v.changes())
		for _, c := range v.Changes {
			fmt.Fprintf(t, "  %s\t%s\t→ %s\n", c.Claim, c.From, c.To)
		}
	}
	if r := v.Reference; r != nil {
		fmt.Fprintf(t, "\n%s\n", v.comparison())
		for _, row := range r.rows() {
			fmt.Fprintf(t, "  %s\t%s\t%s here\t%s there\n", row[0], row[1], row[2], row[3])
		}
	}
	return t.Flush()
}

// errata counts the errata, and those that a test settles.
func (v *Verdicts) errata() string {
	settled := 0
	for i := range v.Ledger.Errata {
		if v.Ledger.Errata[i].Settled() {
			settled++
		}
	}
	return fmt.Sprintf("errata of the paper: %d, %d of them settled by a test (docs/errata.md)", len(v.Ledger.Errata), settled)
}

// changes counts the verdicts that change with the alternatives assumed.
func (v *Verdicts) changes() string {
	return fmt.Sprintf("verdicts changed by %s: %d", strings.Join(v.Assume, ", "), len(v.Changes))
}

// comparison counts the verdicts that equal the reference's, and the others.
func (v *Verdicts) comparison() string {
	r := v.Reference
	s := fmt.Sprintf("compared with %s: %d same, %d different", r.Folder, r.Same, len(r.Changed))
	if n := len(r.NotCompared); n > 0 {
		s += fmt.Sprintf(", %d not compared (runs missing)", n)
	}
	if r.NotRun > 0 {
		s += fmt.Sprintf(", %d not in profile %s", r.NotRun, v.Profile)
	}
	return s
}

// rows lists the claims that differ or are not compared: the claim, which of the
// two it is, the verdict here and the reference's.
func (r *Reference) rows() (rows [][]string) {
	for _, d := range r.Changed {
		rows = append(rows, []string{d.Claim, "different", d.Here, d.Reference})
	}
	for _, d := range r.NotCompared {
		rows = append(rows, []string{d.Claim, "not compared", d.Here, d.Reference})
	}
	return rows
}

// Markdown writes the counts, the verdicts that change or differ, and a table of
// all claims. Whatever the records hold, it is shorter than the 1 MiB that GitHub
// takes for a job summary.
func (v *Verdicts) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("### Verdicts on the paper's claims\n\n")
	cells, sentences, theorems := v.Assessment.Counts()
	counts := table.NewGrid("profile "+v.Profile, "reproduced", "deviating", "inconclusive", "not run")
	for _, n := range []struct {
		title string
		evidence.Counts
	}{
		{"cells of Tables 2 and 3", cells}, {"sentences and captions", sentences}, {"theorems of Table 1", theorems},
		{"cells at half the margins", v.Assessment.CellsAt(0.5)}, {"cells at twice the margins", v.Assessment.CellsAt(2)},
	} {
		deviating := fmt.Sprint(n.Deviates)
		if n.Explained > 0 {
			deviating += fmt.Sprintf(" (%d explained)", n.Explained)
		}
		counts.Rows = append(counts.Rows, []string{n.title, fmt.Sprintf("%d of %d", n.Reproduced, n.Total()), deviating, fmt.Sprint(n.Inconclusive), fmt.Sprint(n.NotRun)})
	}
	counts.Markdown(&b)
	if len(v.Assume) > 0 {
		changes := table.NewGrid("claim", "without", "with")
		for _, c := range v.Changes {
			changes.Rows = append(changes.Rows, []string{c.Claim, c.From.String(), c.To.String()})
		}
		under(&b, v.changes(), changes)
	}
	if r := v.Reference; r != nil {
		differences := table.NewGrid("claim", "", "here", "there")
		differences.Rows = r.rows()
		under(&b, v.comparison(), differences)
	}
	claims := table.NewGrid("claim", "section", "verdict", "½ margin", "2× margin", "measured, with 90 % interval")
	for i := range v.Assessment.Claims {
		c := &v.Assessment.Claims[i]
		half, twice := "", ""
		if at := c.Margins(); at != nil {
			half, twice = at[0].String(), at[1].String()
		}
		claims.Rows = append(claims.Rows, []string{c.Claim.ID, c.Claim.Section, c.Outcome(), half, twice, strings.Join(v.tests(c, markdownText), "<br>")})
	}
	under(&b, "All claims", claims)
	_, err := io.WriteString(w, b.String())
	return err
}

// under writes a paragraph in bold, and below it the grid in Markdown if it has
// rows.
func under(b *strings.Builder, title string, g *table.Grid) {
	fmt.Fprintf(b, "\n**%s**\n", table.Escape(markdownText(title)))
	if len(g.Rows) > 0 {
		b.WriteString("\n")
		g.Markdown(b)
	}
}

// tests words the tests of a claim, one line each. note prepares the remarks,
// which may quote the error of a run that failed.
func (v *Verdicts) tests(c *evidence.ClaimResult, note func(string) string) []string {
	var lines []string
	for i := range c.Tests {
		f := &c.Tests[i]
		line := f.Test.ID + ": "
		if f.Verdict != stats.NotRun {
			f := f.Ours
			line += words.Four(f.Value)
			if interval := f.Interval(); interval != "" {
				line += " (" + interval + ")"
			}
			line += ", "
		}
		line += "target " + f.Target.String()
		if f.Test.Paper != nil {
			line += ", paper " + f.Paper.String()
		}
		if f.Verdict != c.Verdict || f.Verdict != stats.Reproduced {
			line += "; " + f.Verdict.String()
		}
		if oneRun := f.OneRun(); oneRun != "" {
			line += "; a new run " + oneRun
		}
		if text := f.Note(); text != "" {
			line += "; " + note(text)
		}
		lines = append(lines, line)
	}
	return lines
}

// longest is the most characters of a remark in Markdown.
const longest = 200

// markdownText returns text from outside on one line, cut to a reasonable length,
// with the characters escaped that markdownRow leaves: it is for cells of a grid.
func markdownText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "…"
	}
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "[", `\[`).Replace(s)
}
