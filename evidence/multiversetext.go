package evidence

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// WriteText writes what each alternative does, and then how each claim stands.
// command words how specs are run.
func (m *MultiverseReport) WriteText(w io.Writer, command func(specs []string) string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "Each alternative is flipped alone; --joint has their combinations.\n")
	for i := range m.Assumptions {
		a := &m.Assumptions[i]
		fmt.Fprintf(out, "\n%s (chosen: %s)\n  %s\n", a.ID, a.How, words.OneLine(a.Chosen))
		for j := range a.Alternatives {
			a.Alternatives[j].write(out, a.ID, command)
		}
	}
	m.summary(out)
	return out.Flush()
}

func (a *AlternativeOutcome) write(out io.Writer, assumption string, command func([]string) string) {
	fmt.Fprintf(out, "\n  %s=%s: %s\n", assumption, a.ID, words.OneLine(a.Value))
	if a.Effect != "" {
		fmt.Fprintf(out, "    noted earlier: %s\n", words.OneLine(a.Effect))
	}
	if len(a.Claims) == 0 {
		fmt.Fprintf(out, "    no claim depends on it\n")
		return
	}
	for _, c := range a.Changed() {
		fmt.Fprintf(out, "    changes      %s: %s → %s\n", c.Claim, c.From, c.To)
	}
	for _, v := range []stats.Verdict{stats.Reproduced, stats.Inconclusive, stats.Deviates, stats.NotRun} {
		if ids := a.unchanged(v); len(ids) > 0 {
			fmt.Fprintf(out, "    %-12s %s\n", v, strings.Join(ids, ", "))
		}
	}
	switch {
	case len(a.Specs) > 0:
		fmt.Fprintf(out, "    to run it:   %s\n", command(a.Specs))
	case len(a.NotRun()) > 0:
		fmt.Fprintf(out, "    no spec runs what is not run\n")
	}
}

// unchanged returns the IDs of the claims that have a verdict under the
// alternative and are not among those that changed.
func (a *AlternativeOutcome) unchanged(v stats.Verdict) (ids []string) {
	if v == stats.NotRun {
		return a.NotRun()
	}
	for _, c := range a.Claims {
		if c.To == v && (c.From == v || c.From == stats.NotRun) {
			ids = append(ids, c.Claim)
		}
	}
	return ids
}

// summary writes which verdicts depend on a choice and which do not.
func (m *MultiverseReport) summary(out io.Writer) {
	var robust, untested []string
	hinging := 0
	for i := range m.Claims {
		c := &m.Claims[i]
		switch {
		case c.Robust():
			robust = append(robust, fmt.Sprintf("  %s: %s (%s)\n", c.Claim, c.Verdict, c.tried()))
		case c.Verdict == stats.NotRun || c.Run == 0:
			untested = append(untested, "  "+c.Claim+"\n")
		default:
			hinging++
		}
	}
	fmt.Fprintf(out, "\n%d claims have the same verdict under every alternative that was run:\n%s", len(robust), strings.Join(robust, ""))
	fmt.Fprintf(out, "\n%d claims hinge on a choice:\n", hinging)
	for i := range m.Claims {
		if c := &m.Claims[i]; len(c.Hinges) > 0 {
			fmt.Fprintf(out, "  %s: %s (%s)\n", c.Claim, c.Verdict, c.tried())
			for _, h := range c.Hinges {
				fmt.Fprintf(out, "    %s with %s=%s\n", h.To, h.Assumption, h.Alternative)
			}
		}
	}
	if len(untested) > 0 {
		fmt.Fprintf(out, "\n%d claims have no verdict, or none under any alternative:\n%s", len(untested), strings.Join(untested, ""))
	}
}

// tried says how many alternatives a standing is from.
func (c *ClaimStanding) tried() string {
	s := fmt.Sprintf("%d of %d alternatives run", c.Run, c.Run+c.NotRun)
	if c.Run+c.NotRun == 1 {
		s = fmt.Sprintf("%d of 1 alternative run", c.Run)
	}
	return s
}
