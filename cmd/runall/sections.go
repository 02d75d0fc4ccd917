package main

import (
	"fmt"
	"strings"

	"polkrepro/evidence"
	"polkrepro/report/page"
)

// multiverseSection says which verdicts hinge on which choice: a row for each
// alternative that was run, then one for each claim that hinges on one.
func multiverseSection(m *evidence.MultiverseReport) page.Section {
	alternatives := page.Table{
		Title:  "What each alternative does",
		Header: []string{"assumption = alternative", "chosen how", "what it is", "claims judged", "verdicts that change"},
		Notes:  []string{"Not in the table: alternatives that no claim depends on, or that no run or reading of the records answers."},
	}
	for _, a := range m.Assumptions {
		for i := range a.Alternatives {
			alt := &a.Alternatives[i]
			judged := len(alt.Claims) - len(alt.NotRun())
			if judged == 0 {
				continue
			}
			alternatives.Rows = append(alternatives.Rows, []string{
				a.ID + " = " + alt.ID, a.How, alt.Value, fmt.Sprintf("%d of %d", judged, len(alt.Claims)), changes(alt.Changed()),
			})
		}
	}
	hinges := page.Table{
		Title:  "Claims that hinge on a choice",
		Header: []string{"claim", "as chosen", "alternatives run", "otherwise with"},
	}
	robust := 0
	for i := range m.Claims {
		c := &m.Claims[i]
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
	return page.Section{
		ID:    "multiverse",
		Title: "What hinges on which choice",
		Paragraphs: []string{
			"Where the paper leaves a choice open, the other choices were run too, each alone: what two of them do together is not known.",
			fmt.Sprintf("%d claims have the same verdict under every alternative that was run, %d have another one under at least one.", robust, len(hinges.Rows)),
		},
		Tables: []page.Table{alternatives, hinges},
	}
}

// changes words changes of verdicts.
func changes(list []evidence.Change) string {
	if len(list) == 0 {
		return "none"
	}
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = fmt.Sprintf("%s: %s → %s", c.Claim, c.From, c.To)
	}
	return strings.Join(out, "; ")
}
