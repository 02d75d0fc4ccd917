package cluster

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"polkrepro/harness"
)

// WriteText says what became of the runs of the plan in a folder, and how those that
// are not finished are run again.
func (c *Collection) WriteText(w io.Writer, dir string, plan *Plan) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d runs finished, %d of their records new in %s\n", c.Finished, c.Runs, c.Copied, c.Results)
	for _, state := range []string{StateFailed, StateMissing, StateDamaged, StateDisagree} {
		if indexes := c.indexes(state); len(indexes) > 0 {
			fmt.Fprintf(&b, "%s: %d runs: %s\n", state, len(indexes), ranges(indexes))
		}
	}
	for _, l := range c.Left {
		if l.Why != "" {
			fmt.Fprintf(&b, "  %d %s: %s\n", l.Index, l.State, l.Why)
		}
	}
	if c.Attempts > 0 {
		fmt.Fprintf(&b, "attempts that were killed, or are still under way: %d\n", c.Attempts)
	}
	b.WriteString(again(dir, plan, c.Again))
	_, err := io.WriteString(w, b.String())
	return err
}

// again returns the commands that run tasks again.
func again(dir string, plan *Plan, tasks []int) string {
	if len(tasks) == 0 {
		return ""
	}
	var b strings.Builder
	var ordinary, large []int
	for _, k := range tasks {
		if k < plan.Ordinary() {
			ordinary = append(ordinary, k)
		} else {
			large = append(large, k)
		}
	}
	fmt.Fprintln(&b, "to run these again:")
	if len(ordinary) > 0 {
		fmt.Fprintf(&b, "  sbatch --array=%s %s\n", ranges(ordinary), Quote(filepath.Join(dir, SlurmName)))
	}
	if len(large) > 0 {
		fmt.Fprintf(&b, "  sbatch --array=%s %s\n", ranges(large), Quote(filepath.Join(dir, SlurmLargeName)))
	}
	fmt.Fprintf(&b, "or, here: bash %s", Quote(filepath.Join(dir, ParallelName)))
	for _, k := range tasks {
		fmt.Fprintf(&b, " %d", k)
	}
	b.WriteByte('\n')
	return b.String()
}

// indexes returns the runs in a state.
func (c *Collection) indexes(state string) []int {
	var indexes []int
	for _, l := range c.Left {
		if l.State == state {
			indexes = append(indexes, l.Index)
		}
	}
	return indexes
}

// ranges writes ascending numbers as 0,2-5, as sbatch reads them.
func ranges(numbers []int) string {
	var words []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		word := strconv.Itoa(numbers[i])
		if j > i {
			word += "-" + strconv.Itoa(numbers[j])
		}
		words = append(words, word)
		i = j + 1
	}
	return strings.Join(words, ",")
}

// Err is the error of a plan some of whose runs are not finished, nil if all are. It
// wraps harness.ErrIncomplete or harness.ErrRunsFailed.
func (c *Collection) Err() error {
	missing := c.Count(StateMissing) + c.Count(StateDamaged)
	failed := c.Count(StateFailed)
	disagree := c.Count(StateDisagree)
	switch {
	case missing > 0:
		return harness.Incomplete(fmt.Errorf("%d of %d runs have no complete record", missing, c.Runs))
	case failed+disagree > 0:
		return fmt.Errorf("%w: %d of %d; of %d there are different records", harness.ErrRunsFailed, failed, c.Runs, disagree)
	}
	return nil
}
