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
	"polkrepro/internal/words"
	"polkrepro/report/table"
)

// Verdicts are the verdicts on the paper's claims, written for readers (Text,
// Markdown) and for CI services (JUnit).
type Verdicts struct {
	Assessment *evidence.Assessment
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
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, s := range v.differences() {
		fmt.Fprintf(t, "\n%s\n", s.title)
		if len(s.rows) == 1 { // a header alone
			continue
		}
		for _, row := range s.rows {
			fmt.Fprintf(t, "  %s\n", strings.Join(row, "\t"))
		}
	}
	return t.Flush()
}

// Markdown writes the counts, the verdicts that change or differ, and a table of all claims. For
// any records the text is shorter than 1 MiB, GitHub's limit for a job summary.
func (v *Verdicts) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("### Verdicts on the paper's claims, profile " + v.Profile + "\n\n")
	for _, n := range v.Assessment.Tallies() {
		fmt.Fprintf(&b, "- %s: %s\n", n.What, n.Counts)
	}
	for _, s := range append(v.differences(), listing{"All claims", v.Assessment.Rows()}) {
		fmt.Fprintf(&b, "\n**%s**\n\n", table.Escape(markdownText(s.title)))
		g := table.NewGrid(s.rows[0]...)
		for _, row := range s.rows[1:] {
			for i := range row {
				row[i] = markdownText(row[i])
			}
			g.Rows = append(g.Rows, row)
		}
		g.Markdown(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// A listing is a title and rows below a header.
type listing struct {
	title string
	rows  [][]string
}

// differences lists the verdicts that change with the alternatives assumed, then the claims whose
// verdicts differ from the reference's or are not compared.
func (v *Verdicts) differences() (out []listing) {
	if len(v.Assume) > 0 {
		rows := [][]string{{"claim", "without", "with"}}
		for _, c := range v.Changes {
			rows = append(rows, []string{c.Claim, c.From.String(), c.To.String()})
		}
		out = append(out, listing{fmt.Sprintf("verdicts changed by %s: %d", strings.Join(v.Assume, ", "), len(v.Changes)), rows})
	}
	if r := v.Reference; r != nil {
		rows := [][]string{{"claim", "", "here", "there"}}
		for _, d := range r.Changed {
			rows = append(rows, []string{d.Claim, "different", d.Here, d.Reference})
		}
		for _, d := range r.NotCompared {
			rows = append(rows, []string{d.Claim, "not compared", d.Here, d.Reference})
		}
		out = append(out, listing{fmt.Sprintf("compared with %s: %d same, %d different, %d not compared (runs missing), %d not in profile %s",
			r.Folder, r.Same, len(r.Changed), len(r.NotCompared), r.NotRun, v.Profile), rows})
	}
	return out
}

// longest is the maximum number of characters of a cell in Markdown.
const longest = 200

// markdownText prepares external text for a cell of a grid: on one line, cut to a reasonable
// length, and with the characters escaped that table.Escape does not escape.
func markdownText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "[", `\[`).Replace(words.Shorten(s, longest))
}

// The elements and attributes of JUnit's XML that Jenkins, GitLab and Go's go-junit all read.
// These programs count the cases. Durations are left out, because judging takes negligible time.
type (
	junitSuite struct {
		XMLName xml.Name    `xml:"testsuite"`
		Name    string      `xml:"name,attr"`
		Cases   []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name   string `xml:"name,attr"`
		Class  string `xml:"classname,attr"`
		Result junitResult
	}
	junitResult struct {
		XMLName xml.Name // the state of the case
		Message string   `xml:"message,attr,omitempty"`
		Text    string   `xml:",chardata"`
	}
)

// States of a test case: the elements that say so.
const (
	testPassed  = "system-out"
	testFailed  = "failure"
	testMissing = "error"
	testSkipped = "skipped"
)

// JUnit writes a test case for each claim, named by its ID, in the class of the paper's section. The
// file has no failure and no error exactly if 'runall verify' has exit status 0.
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
	suite := junitSuite{Name: "runall verify"}
	for _, c := range v.Assessment.Claims {
		state, message := v.state(&c)
		suite.Cases = append(suite.Cases, junitCase{c.Claim.ID, c.Claim.Section, junitResult{xml.Name{Local: state}, message, junitText(&c)}})
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}

// state returns the state of a claim's test case, and why it is not passed.
func (v *Verdicts) state(c *evidence.ClaimResult) (state, why string) {
	if r := v.Reference; r != nil {
		of := func(d evidence.Difference) bool { return d.Claim == c.Claim.ID }
		if i := slices.IndexFunc(r.NotCompared, of); i >= 0 {
			return testMissing, fmt.Sprintf("runs are missing: %s here, %s in %s", r.NotCompared[i].Here, r.NotCompared[i].Reference, r.Folder)
		}
		if i := slices.IndexFunc(r.Changed, of); i >= 0 {
			return testFailed, fmt.Sprintf("%s here, %s in %s", r.Changed[i].Here, r.Changed[i].Reference, r.Folder)
		}
		if c.Verdict != stats.Reproduced {
			return testSkipped, fmt.Sprintf("%s, as in %s", c.Outcome(), r.Folder)
		}
		return testPassed, ""
	}
	switch {
	case len(c.Tests) == 0:
		return testSkipped, "no test applies with " + strings.Join(v.Assume, ", ")
	case c.Incomplete():
		return testMissing, "runs are missing: " + c.Outcome()
	case c.Verdict == stats.Reproduced:
		return testPassed, ""
	case c.Explained():
		return testSkipped, c.Outcome()
	}
	return testFailed, c.Outcome() + " without an explanation"
}

// junitText is the text of a test case: what the paper prints, then each test and, if it deviates,
// why.
func junitText(c *evidence.ClaimResult) string {
	lines := []string{"“" + strings.TrimSpace(c.Claim.Quote) + "”"}
	for _, f := range c.Tests {
		line := fmt.Sprintf("%s, %s: %s", f.Test.ID, f.Outcome(), f.Sentence())
		if f.Explained() {
			line += " " + words.OneLine(f.Test.Explained)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
