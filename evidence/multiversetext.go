package evidence

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// WriteText writes the effect of each alternative, and then the standing of each claim. command
// returns the command line that runs the given specs.
func (m *MultiverseReport) WriteText(w io.Writer, command func(specs []string) string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "Each alternative is flipped alone; --joint has their combinations.\n")
	for _, a := range m.Assumptions {
		fmt.Fprintf(out, "\n%s (chosen: %s)\n  %s\n", a.ID, a.How, words.OneLine(a.Chosen))
		for _, alternative := range a.Alternatives {
			alternative.write(out, a.ID, command)
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
		fmt.Fprintf(out, "    no spec has these runs\n")
	}
}

// summary writes which verdicts depend on a choice and which do not.
func (m *MultiverseReport) summary(out io.Writer) {
	var robust, hinging, untested []string
	for _, c := range m.Claims {
		text := fmt.Sprintf("  %s: %s (%d of %s run)\n", c.Claim, c.Verdict, c.Run, words.Count(c.Run+c.NotRun, "alternative"))
		switch {
		case c.Robust():
			robust = append(robust, text)
		case len(c.Hinges) > 0:
			for _, h := range c.Hinges {
				text += fmt.Sprintf("    %s with %s=%s\n", h.To, h.Assumption, h.Alternative)
			}
			hinging = append(hinging, text)
		default:
			untested = append(untested, "  "+c.Claim+"\n")
		}
	}
	fmt.Fprintf(out, "\n%d claims have the same verdict under every alternative that was run:\n%s", len(robust), strings.Join(robust, ""))
	fmt.Fprintf(out, "\n%d claims hinge on a choice:\n%s", len(hinging), strings.Join(hinging, ""))
	if len(untested) > 0 {
		fmt.Fprintf(out, "\n%d claims have no verdict, or none under any alternative:\n%s", len(untested), strings.Join(untested, ""))
	}
}
