package page

import (
	"slices"
	"strings"
	"unicode/utf8"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/experiments"
)

// classes maps the verdicts to classes of the style sheet.
var classes = map[stats.Verdict]string{stats.Reproduced: "good", stats.Deviates: "bad", stats.Inconclusive: "open", stats.NotRun: "none"}

// Rank is the sort key of a claim: the worse the verdict, the greater, and one less if explained.
func (v *claimView) Rank() int {
	if v.Outcome() != v.Verdict.String() {
		return 2*int(v.Verdict) - 1
	}
	return 2 * int(v.Verdict)
}

// A claimGroup holds the claims of one kind.
type claimGroup struct {
	ID     string
	Title  string
	Claims []*claimView
}

// A claimView is a claim with its verdict.
type claimView struct {
	*evidence.ClaimResult
	Sentences []string // first sentences of the tests that are not reproduced
	More      []string // the other sentences
	Reason    string   // why the claim deviates, as far as the ledger says
	Order     int      // position in the paper's order
}

// claims fills in the claims, their counts and the claims that are not reproduced.
func (v *view) claims(in Input) {
	assessed := in.Report.Input.Assessment
	cells, sentences, theorems := assessed.Counts()
	_, _, v.OneRun, v.OfOneRun = assessed.WithinOneRun()
	v.Counts = []evidence.Tally{{What: "cells", Counts: cells}, {What: "numbers", Counts: assessed.Numbers()}, {What: "sentences", Counts: sentences}, {What: "theorems", Counts: theorems}}
	groups := []claimGroup{
		{ID: "claims-sentences", Title: "Sentences and captions of the paper"},
		{ID: "claims-cells", Title: "Cells of the paper's tables"},
		{ID: "claims-theorems", Title: "Theorems on convergence, which Table 1 sums up"},
	}
	differences := []differing{{Title: "What deviates", verdict: stats.Deviates}, {Title: "What is inconclusive", verdict: stats.Inconclusive}}
	for i := range assessed.Claims {
		c := &claimView{ClaimResult: &assessed.Claims[i], Order: i}
		c.differences()
		v.ByID[c.Claim.ID] = c
		g := &groups[0]
		switch {
		case c.Claim.Cell:
			g = &groups[1]
		case c.Claim.Theorem():
			g = &groups[2]
		}
		g.Claims = append(g.Claims, c)
		for j := range differences {
			if differences[j].verdict == c.Verdict {
				differences[j].add(c)
			}
		}
	}
	v.Differing = slices.DeleteFunc(differences, func(d differing) bool { return len(d.Groups) == 0 })
	v.Claims = groups
}

// A differing holds the claims with one verdict, deviates or inconclusive, grouped by table.
type differing struct {
	Title   string
	Groups  []claimGroup
	verdict stats.Verdict
}

// add appends a claim to the group of its table, or to the sentences.
func (d *differing) add(c *claimView) {
	title := "Sentences and captions"
	if c.Claim.Cell {
		title = c.Claim.Section
	}
	if n := len(d.Groups); n == 0 || d.Groups[n-1].Title != title {
		d.Groups = append(d.Groups, claimGroup{Title: title})
	}
	g := &d.Groups[len(d.Groups)-1]
	g.Claims = append(g.Claims, c)
}

// shownSentences is the number of sentences of a claim that are not folded.
const shownSentences = 2

// differences fills in the sentences of the tests that deviate, then of those
// that are inconclusive, and the reason.
func (v *claimView) differences() {
	var sentences, reasons []string
	for _, verdict := range []stats.Verdict{stats.Deviates, stats.Inconclusive} {
		from := len(sentences)
		for _, t := range v.Tests {
			if t.Verdict != verdict {
				continue
			}
			reasons = append(reasons, t.Test.Explained)
			at := len(sentences)
			if v.Claim.Cell && t.Test.Of.Quantity == experiments.QuantityError { // what most readers look for
				at = from
			}
			sentences = slices.Insert(sentences, at, t.Sentence())
		}
	}
	n := min(len(sentences), shownSentences)
	v.Sentences, v.More = sentences[:n], sentences[n:]
	v.Reason = firstReason(reasons)
}

// longestReason is the maximum number of characters of a reason on the first screen; whole
// sentences are shown.
const longestReason = 260

// firstReason is the first reason that does not refer to another one, cut to
// the sentences that fit.
func firstReason(reasons []string) string {
	reasons = slices.DeleteFunc(reasons, func(r string) bool { return r == "" })
	if len(reasons) == 0 {
		return ""
	}
	i := max(0, slices.IndexFunc(reasons, func(r string) bool { return !strings.HasPrefix(r, "As for ") }))
	sentences := strings.SplitAfter(strings.Join(strings.Fields(reasons[i]), " "), ". ")
	out := sentences[0]
	for _, s := range sentences[1:] {
		if utf8.RuneCountInString(out+s) > longestReason {
			break
		}
		out += s
	}
	return strings.TrimSpace(out)
}
