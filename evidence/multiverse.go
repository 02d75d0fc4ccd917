package evidence

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
	"polkrepro/spec"
)

// A MultiverseReport says which assumptions decide which verdicts. Each alternative is assumed
// alone, with all other assumptions as chosen; a JointReport has the combinations.
type MultiverseReport struct {
	Profile     string              `json:"profile"`     // profile of the runs: smoke, quick or full
	Assumptions []AssumptionOutcome `json:"assumptions"` // outcomes by assumption, in the ledger's order
	Claims      []ClaimStanding     `json:"claims"`      // standings by claim, in the ledger's order
}

// An AssumptionOutcome holds the outcomes of the alternatives of one assumption.
type AssumptionOutcome struct {
	ID           string               `json:"id"`           // ID of the assumption, as 'runall verify --assume' takes it
	Paper        string               `json:"paper"`        // the paper's statement
	Chosen       string               `json:"chosen"`       // chosen value
	How          string               `json:"how"`          // how the value was chosen: blind, algebra or by result
	Alternatives []AlternativeOutcome `json:"alternatives"` // outcomes of the alternatives, each assumed alone
}

// An AlternativeOutcome holds the verdicts, under one alternative, on the claims that depend on
// its assumption.
type AlternativeOutcome struct {
	ID     string   `json:"id"`               // ID of the alternative, as 'runall verify --assume' takes it
	Value  string   `json:"value"`            // assumed value
	Effect string   `json:"effect,omitempty"` // measured effect, as in the ledger; missing if it was not measured
	Claims []Change `json:"claims"`           // all claims that depend on the assumption, changed or not
	Specs  []string `json:"specs,omitempty"`  // names of specs that have runs of the alternative without a record; missing if there are none
}

// A ClaimStanding summarizes the verdicts on a claim under all alternatives of the assumptions
// that it depends on.
type ClaimStanding struct {
	Claim   string        `json:"claim"`            // ID of the claim
	Verdict stats.Verdict `json:"verdict"`          // verdict with all values as chosen
	Run     int           `json:"run"`              // number of alternatives with a verdict
	NotRun  int           `json:"not_run"`          // number of alternatives without a verdict
	Hinges  []Hinge       `json:"hinges,omitempty"` // alternatives under which the verdict is different; missing if there are none
}

// A Hinge is an alternative under which a claim's verdict is different.
type Hinge struct {
	Assumption  string        `json:"assumption"`  // ID of the assumption
	Alternative string        `json:"alternative"` // ID of the alternative
	To          stats.Verdict `json:"to"`          // verdict under the alternative
}

// Multiverse judges every claim under every alternative of the assumptions that the claim depends
// on, one alternative at a time. The verdict of an alternative that no spec runs, or whose records
// are missing, is "not run", never the verdict of the chosen value. Multiverse ignores in.Assume.
func Multiverse(in Input) (*MultiverseReport, error) {
	in.Assume = nil
	chosen, err := Assess(in)
	if err != nil {
		return nil, err
	}
	x := newIndex(in)
	out := new(MultiverseReport)
	for _, c := range chosen.Claims {
		out.Claims = append(out.Claims, ClaimStanding{Claim: c.Claim.ID, Verdict: c.Verdict})
	}
	for _, a := range in.Ledger.Assumptions {
		o := AssumptionOutcome{ID: a.ID, Paper: a.Paper, Chosen: a.Chosen, How: a.How}
		for i := range a.Alternatives {
			x.assumed = alternatives{a.ID: &a.Alternatives[i]}
			o.Alternatives = append(o.Alternatives, x.outcome(a.ID, &a.Alternatives[i], chosen, out.Claims))
		}
		out.Assumptions = append(out.Assumptions, o)
	}
	return out, nil
}

// outcome judges the claims that depend on an assumption under its alternative a, which must be the
// only one assumed, and adds the verdicts to the standings of the claims.
func (x *index) outcome(assumption string, a *ledger.Alternative, chosen *Assessment, standings []ClaimStanding) AlternativeOutcome {
	out := AlternativeOutcome{ID: a.ID, Value: a.Value, Effect: a.Effect, Claims: []Change{}, Specs: x.lacking(a)}
	for i, c := range chosen.Claims {
		if !slices.Contains(c.Claim.Assumptions, assumption) {
			continue
		}
		to := stats.NotRun
		if a.Run() {
			to = x.judge(c.Claim).Verdict
		}
		out.Claims = append(out.Claims, Change{c.Claim.ID, c.Verdict, to})
		s := &standings[i]
		if to == stats.NotRun {
			s.NotRun++
			continue
		}
		s.Run++
		if s.Verdict != stats.NotRun && to != s.Verdict {
			s.Hinges = append(s.Hinges, Hinge{assumption, a.ID, to})
		}
	}
	return out
}

// lacking returns the specs that have runs of an alternative without a record, whether these runs
// are planned or not.
func (x *index) lacking(a *ledger.Alternative) (specs []string) {
	for _, answer := range a.Answers {
		runs := x.planned(answer.Matches)
		done := len(runs) > 0 && !slices.ContainsFunc(runs, func(p spec.Planned) bool { return x.Records[p.ID] == nil })
		if !done && !slices.Contains(specs, answer.Spec) {
			specs = append(specs, answer.Spec)
		}
	}
	return specs
}

// WriteText writes which verdicts hinge on a choice and which do not. command returns the command
// line that runs the given specs.
func (m *MultiverseReport) WriteText(w io.Writer, command func(specs []string) string) error {
	var robust, hinging, untested []string
	for _, c := range m.Claims {
		text := fmt.Sprintf("  %s: %s (%d of %s run)\n", c.Claim, c.Verdict, c.Run, words.Count(c.Run+c.NotRun, "alternative"))
		switch {
		case c.Verdict == stats.NotRun || c.Run == 0:
			untested = append(untested, "  "+c.Claim+"\n")
		case len(c.Hinges) > 0:
			for _, h := range c.Hinges {
				text += fmt.Sprintf("    %s with %s=%s\n", h.To, h.Assumption, h.Alternative)
			}
			hinging = append(hinging, text)
		default: // the same verdict under every alternative that was run
			robust = append(robust, text)
		}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "Each alternative is assumed alone; --joint has their combinations, and --json what every alternative does to each claim.\n")
	fmt.Fprintf(out, "\n%d claims hinge on a choice:\n%s", len(hinging), strings.Join(hinging, ""))
	fmt.Fprintf(out, "\n%d claims have the same verdict under every alternative that was run:\n%s", len(robust), strings.Join(robust, ""))
	fmt.Fprintf(out, "\n%d claims have no verdict, or none under any alternative:\n%s", len(untested), strings.Join(untested, ""))
	var specs []string
	for _, a := range m.Assumptions {
		for _, alternative := range a.Alternatives {
			specs = append(specs, alternative.Specs...)
		}
	}
	if slices.Sort(specs); len(specs) > 0 {
		fmt.Fprintf(out, "\nTo run the alternatives without records: %s\n", command(slices.Compact(specs)))
	}
	return out.Flush()
}
