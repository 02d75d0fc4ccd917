package page

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"polkrepro/evidence"
	"polkrepro/report"
)

// MultiverseSection shows which verdicts hinge on which choice, with a row for each alternative
// that was run, then a row for each claim that hinges on one.
func MultiverseSection(m *evidence.MultiverseReport) *report.Part {
	alternatives := &report.Table{
		Title:  "What each alternative does",
		Header: []string{"assumption = alternative", "chosen how", "what it is", "claims judged", "verdicts that change"},
		Notes:  []string{"Not in the table: alternatives that no claim depends on, or that no run or reading of the records answers."},
	}
	for _, a := range m.Assumptions {
		for _, alt := range a.Alternatives {
			judged := len(alt.Claims) - len(alt.NotRun())
			if judged == 0 {
				continue
			}
			alternatives.Rows = append(alternatives.Rows, []string{
				a.ID + " = " + alt.ID, a.How, alt.Value, fmt.Sprintf("%d of %d", judged, len(alt.Claims)), changes(alt.Changed()),
			})
		}
	}
	hinges := &report.Table{
		Title:  "Claims that hinge on a choice",
		Header: []string{"claim", "as chosen", "alternatives run", "otherwise with"},
	}
	robust := 0
	for _, c := range m.Claims {
		if c.Robust() {
			robust++
		}
		if len(c.Hinges) == 0 {
			continue
		}
		var with []string
		for _, h := range c.Hinges {
			with = append(with, fmt.Sprintf("%s = %s: %s", h.Assumption, h.Alternative, h.To))
		}
		hinges.Rows = append(hinges.Rows, []string{c.Claim, c.Verdict.String(), fmt.Sprintf("%d of %d", c.Run, c.Run+c.NotRun), strings.Join(with, "; ")})
	}
	return &report.Part{
		ID:    "multiverse",
		Title: "What hinges on which choice",
		Paragraphs: []string{
			"Where the paper leaves a choice open, the other choices were run too. Here each is assumed alone.",
			fmt.Sprintf("%d claims keep their verdict under every alternative that was run; at least one alternative changes that of %d.", robust, len(hinges.Rows)),
		},
		Tables: []*report.Table{alternatives, hinges},
	}
}

// JointSection shows what combinations of alternatives reproduce: the front, the cells of the
// best combination, and the figure.
func JointSection(j *evidence.JointReport) *report.Part {
	front := &report.Table{
		Title:  "The most reproduced, by the number of choices by result",
		Header: []string{"choices by result", "cells", "numbers", "one run's", "not run", "combinations like it", "assumed otherwise"},
	}
	for _, r := range j.Shown() {
		front.Rows = append(front.Rows, []string{strconv.Itoa(r.ByResult), strconv.Itoa(r.Cells), strconv.Itoa(r.Numbers), strconv.Itoa(r.OneRun), strconv.Itoa(r.NotRun), strconv.Itoa(j.Like(r)), r.Names()})
	}
	best := j.Front[len(j.Front)-1]
	otherwise := &report.Table{Title: "What the best assumes otherwise", Header: []string{"assumption = alternative", "chosen how", "what it is", "instead of"}}
	for _, a := range best.Assumed {
		otherwise.Rows = append(otherwise.Rows, []string{a.Assumption + " = " + a.Alternative, a.How, a.Value, a.Chosen})
	}
	cells := &report.Table{Title: "The cells under the best", Header: []string{"cell", "verdict", "what is not reproduced"}}
	for _, c := range j.Best {
		cells.Rows = append(cells.Rows, []string{c.Claim.ID, c.Verdict.String(), strings.Join(c.Differences(), "; ")})
	}
	return &report.Part{
		ID: "joint", Title: "What combinations of choices reproduce",
		Paragraphs: append(j.Words(), j.Sentence()),
		Tables:     []*report.Table{front, otherwise, cells},
		Figures:    []*report.Figure{report.JointFigure(j)},
	}
}

// changes writes a list of changed verdicts in words.
func changes(list []evidence.Change) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s: %s → %s", c.Claim, c.From, c.To))
	}
	return cmp.Or(strings.Join(out, "; "), "none")
}
