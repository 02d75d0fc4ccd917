package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// The elements and attributes of JUnit's XML that Jenkins, GitLab and Go's
// go-junit all read. Judging takes no time worth a figure, so there is none.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
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

// JUnit writes a test suite for each section of the paper and a test case for
// each claim, named by its ID. The file has no failure and no error exactly if
// 'runall verify' has exit status 0.
//
// Without a reference, a claim that deviates without an explanation or is
// inconclusive is a failure, one without all of its runs is an error (status 4 if
// there is one, else 3), and a deviation with an explanation is skipped: it is
// expected, but not reproduced.
//
// With a reference, a claim whose verdict differs is a failure, one that can't be
// compared is an error (status 3 if there is a failure, else 4), and one that is
// not reproduced, as in the reference, is skipped.
//
// Characters that XML 1.0 excludes, as the error of a failed run may have, become
// U+FFFD.
func (v *Verdicts) JUnit(w io.Writer) error {
	properties := []junitProperty{{"profile", v.Profile}}
	for _, a := range v.Assume {
		properties = append(properties, junitProperty{"assume", a})
	}
	if v.Reference != nil {
		properties = append(properties, junitProperty{"reference", v.Reference.Folder})
	}
	doc := junitSuites{Name: "runall verify"}
	for i := range v.Assessment.Claims {
		c := &v.Assessment.Claims[i]
		n := slices.IndexFunc(doc.Suites, func(s junitSuite) bool { return s.Name == c.Claim.Section })
		if n < 0 {
			n = len(doc.Suites)
			doc.Suites = append(doc.Suites, junitSuite{Name: c.Claim.Section, Properties: properties})
		}
		s, tc := &doc.Suites[n], v.junitCase(c)
		s.Cases = append(s.Cases, tc)
		s.Tests++
		switch {
		case tc.Failure != nil:
			s.Failures++
		case tc.Error != nil:
			s.Errors++
		case tc.Skipped != "":
			s.Skipped++
		}
	}
	for _, s := range doc.Suites {
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Errors += s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitCase returns the test case of a claim.
func (v *Verdicts) junitCase(c *evidence.ClaimResult) junitCase {
	out := junitCase{Name: c.Claim.ID, Class: c.Claim.Section}
	text := v.junitText(c)
	outcome, message := v.outcome(c)
	problem := &junitProblem{Type: string(outcome), Message: message, Text: text}
	switch outcome {
	case passed:
		out.SystemOut = text
	case skipped:
		out.Skipped = message + "\n" + text
	case incomplete, notCompared:
		out.Error = problem
	default:
		out.Failure = problem
	}
	return out
}

// An outcome is what a claim is as a test.
type outcome string

const (
	passed       outcome = "passed"
	skipped      outcome = "skipped"
	deviates     outcome = "deviates" // without an explanation
	inconclusive outcome = "inconclusive"
	changed      outcome = "changed"      // from the reference
	incomplete   outcome = "incomplete"   // runs are missing
	notCompared  outcome = "not compared" // runs are missing here or in the reference
)

// outcome returns the outcome of a claim and a sentence on it.
func (v *Verdicts) outcome(c *evidence.ClaimResult) (outcome, string) {
	if r := v.Reference; r != nil {
		for _, d := range r.NotCompared {
			if d.Claim == c.Claim.ID {
				return notCompared, fmt.Sprintf("runs are missing: %s here, %s in %s", d.Here, d.Reference, r.Folder)
			}
		}
		for _, d := range r.Changed {
			if d.Claim == c.Claim.ID {
				return changed, fmt.Sprintf("%s here, %s in %s", d.Here, d.Reference, r.Folder)
			}
		}
		if c.Verdict == stats.Reproduced {
			return passed, ""
		}
		return skipped, fmt.Sprintf("%s, as in %s", c.Outcome(), r.Folder)
	}
	switch {
	case len(c.Tests) == 0:
		return skipped, "no test applies with " + strings.Join(v.Assume, ", ")
	case c.Verdict == stats.NotRun:
		return incomplete, c.Outcome()
	case c.Incomplete():
		return incomplete, c.Outcome() + ", but runs are missing"
	case c.Verdict == stats.Reproduced:
		return passed, ""
	case c.Explained():
		return skipped, c.Outcome()
	case c.Verdict == stats.Inconclusive:
		return inconclusive, "inconclusive: the records neither reproduce nor contradict it"
	}
	return deviates, "deviates without an explanation"
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
