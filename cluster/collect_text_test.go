package cluster

import (
	"errors"
	"strings"
	"testing"

	"polkrepro/harness"
)

// TestCollectionText: the text counts runs by state, says why each failed and how many
// attempts were killed; the error says whether records are missing or runs failed.
func TestCollectionText(t *testing.T) {
	c := &Collection{
		Results: "out", Runs: 9, Finished: 4, Copied: 2, Attempts: 1,
		Left: []Left{
			{Index: 1, State: StateMissing}, {Index: 2, State: StateMissing}, {Index: 3, State: StateMissing},
			{Index: 5, State: StateFailed, Why: "diverged"}, {Index: 8, State: StateDisagree, Why: "a and b"},
		},
	}
	var b strings.Builder
	if err := c.WriteText(&b, "plan", new(Plan)); err != nil {
		t.Fatal(err)
	}
	const want = `4 of 9 runs finished, 2 of their records new in out
failed: 1 runs: 5
missing: 3 runs: 1-3
disagree: 1 runs: 8
  5 failed: diverged
  8 disagree: a and b
attempts that were killed, or are still under way: 1
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	if err := c.Err(); !errors.Is(err, harness.ErrIncomplete) || err.Error() != "3 of 9 runs have no complete record" {
		t.Error(err)
	}
	c.Left = c.Left[3:]
	if err := c.Err(); !errors.Is(err, harness.ErrRunsFailed) || !strings.Contains(err.Error(), "1 of 9; of 1 there are different records") {
		t.Error(err)
	}
	b.Reset()
	c.Again = []int{0, 1, 2}
	if err := c.WriteText(&b, "my plan", &Plan{Tasks: []Task{{}, {}, {Memory: largeMemory + 1}}}); err != nil {
		t.Fatal(err)
	}
	if _, again, _ := strings.Cut(b.String(), "to run these again:\n"); again != "  sbatch --array=0-1 'my plan/slurm.sh'\n  sbatch --array=2 'my plan/slurm-large.sh'\nor, here: bash 'my plan/parallel.sh' 0 1 2\n" {
		t.Errorf("again: %q", again)
	}
	c.Left = nil
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}
