package evidence

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"polkrepro/internal/words"
)

// WriteText writes the front of the combinations as a table, and describes the combination that
// reproduces most.
func (j *JointReport) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, line := range j.Words() {
		fmt.Fprintf(out, "%s\n\n", line)
	}
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "by result\tcells\tnumbers\tone run's\tnot run\tcombinations\tassumed otherwise")
	for _, r := range j.Shown() {
		fmt.Fprintf(t, "%d\t%d of %d\t%d of %d\t%d\t%d\t%s\t%s\n", r.ByResult, r.Cells, j.Cells, r.Numbers, j.Numbers, r.OneRun, r.NotRun,
			words.Grouped(r.Combinations), r.Names())
	}
	t.Flush()
	best := j.Front[len(j.Front)-1]
	fmt.Fprintf(out, "\n%s\n\n", j.Sentence())
	for _, a := range best.Assumed {
		i := slices.IndexFunc(j.Assumptions, func(of JointAssumption) bool { return of.ID == a.Assumption })
		fmt.Fprintf(out, "  %s=%s (%s): %s\n    instead of (%s): %s\n", a.Assumption, a.Alternative, a.How, words.OneLine(a.Value), j.Assumptions[i].How, words.OneLine(a.Chosen))
	}
	fmt.Fprintf(out, "\nIts cells:\n")
	for _, c := range j.Best {
		fmt.Fprintf(out, "  %-12s %s\n", c.Verdict, c.Claim.ID)
	}
	if len(best.Assumed) > 0 {
		fmt.Fprintf(out, "\n'runall verify --assume %s' judges all claims so.\n", strings.ReplaceAll(best.Names(), ", ", " --assume "))
	}
	return out.Flush()
}

// Shown returns the combinations of the front, preceded by the chosen values if the front lacks
// them.
func (j *JointReport) Shown() []JointReading {
	if slices.ContainsFunc(j.Front, func(r JointReading) bool { return len(r.Assumed) == 0 }) {
		return j.Front
	}
	return append([]JointReading{j.Chosen}, j.Front...)
}

// Words returns paragraphs that say how combinations are counted.
func (j *JointReport) Words() []string {
	return []string{
		fmt.Sprintf("All %s combinations of alternatives to %d assumptions, for the cells of Tables 2 and 3. A cell without runs for a combination counts as not reproduced. One run's: cells that are not reproduced, but whose printed numbers all lie in the interval of a new run.",
			words.Grouped(j.Combinations), len(j.Assumptions)),
		fmt.Sprintf("A choice is by result if it was made with the paper's numbers in view. So is an alternative that is taken because it reproduces more, unless it is printed or follows from a rule. "+
			"As chosen, %d are by result. The more combinations are tried, the more some reproduce by chance: the best says what the authors may have run, and confirms nothing.", j.Chosen.ByResult),
	}
}

// Sentence says how much the combination that reproduces most reproduces.
func (j *JointReport) Sentence() string {
	best, more := j.Front[len(j.Front)-1], ""
	if best.OneRun > 0 {
		more = fmt.Sprintf("In %d more, all printed numbers lie in the interval of a new run. ", best.OneRun)
	}
	return fmt.Sprintf("The most reproduced: %d of %d cells and %d of %d numbers, with %d choices by result (as chosen: %d cells, %d numbers, %d choices). %sAssumed otherwise: %s.",
		best.Cells, j.Cells, best.Numbers, j.Numbers, best.ByResult, j.Chosen.Cells, j.Chosen.Numbers, j.Chosen.ByResult, more, best.Names())
}

// Names returns the alternatives of a combination as 'runall verify --assume' takes them, separated
// by commas.
func (r *JointReading) Names() string {
	if len(r.Assumed) == 0 {
		return "nothing (as chosen)"
	}
	var names []string
	for _, a := range r.Assumed {
		names = append(names, a.Assumption+"="+a.Alternative)
	}
	return strings.Join(names, ", ")
}
