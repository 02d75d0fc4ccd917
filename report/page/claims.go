package page

import (
	"slices"
	"strings"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
)

// classes maps the verdicts to classes of the style sheet.
var classes = map[stats.Verdict]string{stats.Reproduced: "good", stats.Deviates: "bad", stats.Inconclusive: "open", stats.NotRun: "none"}

// A claimGroup holds the claims of one kind.
type claimGroup struct {
	ID     string
	Title  string
	Claims []*claimView
}

// A claimView is a claim with its verdict.
type claimView struct {
	*evidence.ClaimResult
	Sentences []string // on the tests that are not reproduced
	Reason    string   // why the claim deviates, as far as the ledger says
	Order     int      // position in the paper's order
}

// Rank is the sort key of a claim: the worse the verdict, the greater, and one less if explained.
func (v *claimView) Rank() int {
	if v.Outcome() != v.Verdict.String() {
		return 2*int(v.Verdict) - 1
	}
	return 2 * int(v.Verdict)
}

// claims fills in the claims, their counts and the claims that are not reproduced.
func (v *view) claims(assessed *evidence.Assessment) {
	cells, sentences, theorems := assessed.Counts()
	_, _, v.OneRun, v.OfOneRun = assessed.WithinOneRun()
	v.Counts = []evidence.Tally{{What: "cells", Counts: cells}, {What: "numbers", Counts: assessed.Numbers()}, {What: "sentences", Counts: sentences}, {What: "theorems", Counts: theorems}}
	of := make(map[stats.Verdict][]*claimView)
	v.Claims = []claimGroup{
		{ID: "claims-sentences", Title: "Sentences and captions of the paper"},
		{ID: "claims-cells", Title: "Cells of the paper's tables"},
		{ID: "claims-theorems", Title: "Theorems on convergence, which Table 1 sums up"},
	}
	for i := range assessed.Claims {
		c := newClaim(&assessed.Claims[i], i)
		v.ByID[c.Claim.ID] = c
		of[c.Verdict] = append(of[c.Verdict], c)
		g := &v.Claims[0]
		switch {
		case c.Claim.Cell:
			g = &v.Claims[1]
		case c.Claim.Theorem():
			g = &v.Claims[2]
		}
		g.Claims = append(g.Claims, c)
	}
	v.Differing = slices.DeleteFunc([]claimGroup{
		{Title: "What deviates", Claims: of[stats.Deviates]},
		{Title: "What is inconclusive", Claims: of[stats.Inconclusive]},
	}, func(g claimGroup) bool { return len(g.Claims) == 0 })
}

// newClaim makes the view of a claim: the sentences on the tests that deviate, then on those that
// are inconclusive, and the first reason that does not refer to another one.
func newClaim(c *evidence.ClaimResult, order int) *claimView {
	v := &claimView{ClaimResult: c, Order: order}
	for _, verdict := range []stats.Verdict{stats.Deviates, stats.Inconclusive} {
		for _, t := range c.Tests {
			if t.Verdict != verdict {
				continue
			}
			v.Sentences = append(v.Sentences, t.Sentence())
			if e := t.Test.Explained; v.Reason == "" || strings.HasPrefix(v.Reason, "As for ") && e != "" && !strings.HasPrefix(e, "As for ") {
				v.Reason = e
			}
		}
	}
	return v
}
