package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
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
	Changes    []evidence.Change // changes relative to the verdicts without Assume
	Reference  *Reference        // expected verdicts; default: reproduced, or deviating with an explanation
}

// A Reference is a results folder with the expected verdicts, and the comparison of the actual
// verdicts with them.
type Reference struct {
	Folder string `json:"folder"` // path of the folder, as given to --reference
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

// errata counts the errata, and those that are settled by a test.
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

// Markdown writes the counts, the verdicts that change or differ, and a table of all claims. For
// any records the text is shorter than 1 MiB, GitHub's limit for a job summary.
func (v *Verdicts) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("### Verdicts on the paper's claims\n\n")
	counts := table.NewGrid("profile "+v.Profile, "reproduced", "deviating", "inconclusive", "not run")
	for _, n := range v.Assessment.Tallies() {
		counts.Rows = append(counts.Rows, []string{n.What, fmt.Sprintf("%d of %d", n.Reproduced, n.Total()), n.Deviating(), fmt.Sprint(n.Inconclusive), fmt.Sprint(n.NotRun)})
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
	for _, c := range v.Assessment.Claims {
		half, twice := "", ""
		if at := c.Margins(); at != nil {
			half, twice = at[0].String(), at[1].String()
		}
		claims.Rows = append(claims.Rows, []string{c.Claim.ID, c.Claim.Section, c.Outcome(), half, twice, strings.Join(v.tests(&c, markdownText), "<br>")})
	}
	under(&b, "All claims", claims)
	_, err := io.WriteString(w, b.String())
	return err
}

// under writes a paragraph in bold and, if the grid has rows, the grid in Markdown below it.
func under(b *strings.Builder, title string, g *table.Grid) {
	fmt.Fprintf(b, "\n**%s**\n", table.Escape(markdownText(title)))
	if len(g.Rows) > 0 {
		b.WriteString("\n")
		g.Markdown(b)
	}
}

// tests describes the tests of a claim, one line each. note prepares the remarks, which may quote
// the error of a failed run.
func (v *Verdicts) tests(c *evidence.ClaimResult, note func(string) string) []string {
	var lines []string
	for _, f := range c.Tests {
		line := f.Test.ID + ": "
		if f.Verdict != stats.NotRun {
			line += words.Four(f.Ours.Value)
			if interval := f.Ours.Interval(); interval != "" {
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
		lines = append(lines, line+f.Also(note))
	}
	return lines
}

// longest is the maximum number of characters of a remark in Markdown.
const longest = 200

// markdownText prepares external text for a cell of a grid: on one line, cut to a reasonable
// length, and with the characters escaped that markdownRow does not escape.
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

// The elements and attributes of JUnit's XML that Jenkins, GitLab and Go's go-junit all read.
// Durations are left out, because judging takes negligible time.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitCounts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Skipped    int             `xml:"skipped,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		Class     string        `xml:"classname,attr"`
		Skipped   string        `xml:"skipped,omitempty"`
		Error     *junitProblem `xml:"error"`
		Failure   *junitProblem `xml:"failure"`
		SystemOut string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a test suite for each section of the paper and a test case for each claim, named
// by its ID. The file has no failure and no error exactly if 'runall verify' has exit status 0.
//
// Without a reference, a claim that deviates without an explanation or is inconclusive is a
// failure, and a claim with missing runs is an error. An error means exit status 4, a failure
// alone 3. A deviation with an explanation is skipped: it is expected, but not reproduced.
//
// With a reference, a claim whose verdict differs is a failure, and a claim that can't be
// compared is an error. A failure means exit status 3, an error alone 4. A claim that is not
// reproduced, as in the reference, is skipped.
//
// Characters that XML 1.0 excludes, for example in the error of a failed run, become U+FFFD.
func (v *Verdicts) JUnit(w io.Writer) error {
	properties := []junitProperty{{"profile", v.Profile}}
	for _, a := range v.Assume {
		properties = append(properties, junitProperty{"assume", a})
	}
	if v.Reference != nil {
		properties = append(properties, junitProperty{"reference", v.Reference.Folder})
	}
	doc := junitSuites{Name: "runall verify"}
	sections, claims := grouped(v.Assessment.Claims, func(c evidence.ClaimResult) string { return c.Claim.Section })
	for i, section := range sections {
		s := junitSuite{Name: section, Properties: properties}
		for k := range claims[i] {
			tc := v.junitCase(&claims[i][k])
			s.Cases = append(s.Cases, tc)
			for _, n := range []*junitCounts{&doc.junitCounts, &s.junitCounts} {
				n.Tests++
				if tc.Failure != nil {
					n.Failures++
				} else if tc.Error != nil {
					n.Errors++
				}
			}
			if tc.Skipped != "" {
				s.Skipped++
			}
		}
		doc.Suites = append(doc.Suites, s)
	}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}

// junitCase returns the test case of a claim.
func (v *Verdicts) junitCase(c *evidence.ClaimResult) junitCase {
	out, text := junitCase{Name: c.Claim.ID, Class: c.Claim.Section}, v.junitText(c)
	fail := func(kind, message string) { out.Failure = &junitProblem{kind, message, text} }
	lack := func(kind, message string) { out.Error = &junitProblem{kind, message, text} }
	skip := func(message string) { out.Skipped = message + "\n" + text }
	if r := v.Reference; r != nil {
		of := func(d evidence.Difference) bool { return d.Claim == c.Claim.ID }
		if i := slices.IndexFunc(r.NotCompared, of); i >= 0 {
			lack("not compared", fmt.Sprintf("runs are missing: %s here, %s in %s", r.NotCompared[i].Here, r.NotCompared[i].Reference, r.Folder))
		} else if i := slices.IndexFunc(r.Changed, of); i >= 0 {
			fail("changed", fmt.Sprintf("%s here, %s in %s", r.Changed[i].Here, r.Changed[i].Reference, r.Folder))
		} else if c.Verdict == stats.Reproduced {
			out.SystemOut = text
		} else {
			skip(fmt.Sprintf("%s, as in %s", c.Outcome(), r.Folder))
		}
		return out
	}
	switch {
	case len(c.Tests) == 0:
		skip("no test applies with " + strings.Join(v.Assume, ", "))
	case c.Verdict == stats.NotRun:
		lack("incomplete", c.Outcome())
	case c.Incomplete():
		lack("incomplete", c.Outcome()+", but runs are missing")
	case c.Verdict == stats.Reproduced:
		out.SystemOut = text
	case c.Explained():
		skip(c.Outcome())
	case c.Verdict == stats.Inconclusive:
		fail("inconclusive", "inconclusive: the records neither reproduce nor contradict it")
	default:
		fail("deviates", "deviates without an explanation")
	}
	return out
}

// junitText is the text of a test case: what the paper prints, each test, and the
// explanations of the deviations.
func (v *Verdicts) junitText(c *evidence.ClaimResult) string {
	what := "“" + strings.TrimSpace(c.Claim.Quote) + "”"
	if c.Claim.Cell {
		what = "The paper prints risk/error/order " + c.Claim.Quote + "."
	}
	lines := append([]string{what}, v.tests(c, strings.TrimSpace)...)
	for _, f := range c.Tests {
		if f.Explained() {
			lines = append(lines, "explanation of "+f.Test.ID+": "+words.OneLine(f.Test.Explained))
		}
	}
	return strings.Join(lines, "\n")
}
