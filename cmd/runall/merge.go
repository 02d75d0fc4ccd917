package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/harness"
)

// mostShards is the maximum N of --shard K/N, far above the array sizes of schedulers.
const mostShards = 1_000_000

// A shard is the value K/N of --shard; n is 0 if there is no shard.
type shard struct{ k, n int }

func (s shard) String() string {
	if s.n == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.k, s.n)
}

// parseShard reads a shard.
func parseShard(text string) (shard, error) {
	before, after, _ := strings.Cut(text, "/")
	k, err := strconv.Atoi(before)
	n, also := strconv.Atoi(after)
	if err != nil || also != nil || k < 0 || k > n || n < 1 || n > mostShards {
		return shard{}, fmt.Errorf("must be K/N with 1 ≤ K ≤ N ≤ %d, such as 1/20", mostShards)
	}
	if k == 0 { // schedulers that count from 0 have 0 in place of N
		k = n
	}
	return shard{k, n}, nil
}

func newMerge() *cobra.Command {
	var results string
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Copy the records of shards into one results folder",
		Long: `Copy the records in the results folders of 'runall reproduce --shard K/N' into
another one, which may have records already. The folders are not changed.
'runall reproduce' of the merged folder then runs what is missing and reports.

Nothing is copied if a shard's record is damaged (exit status 4) or two folders
have different records of one run (exit status 3); both are named. The exit
status is also 4 if a run is unfinished, and 1 if one failed.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if slices.Contains(dirs, "") {
				return harness.Usage(errors.New("DIR is empty: name a results folder"))
			}
			m, err := harness.Merge(dirs, results, warning(cmd))
			if m != nil {
				_, printed := fmt.Fprintf(cmd.OutOrStdout(), "%d runs with a record in %s, %d of them new\n", m.Finished, results, m.New)
				err = errors.Join(err, printed)
			}
			return err
		},
	}
	resultsFlag(cmd, &results)
	return cmd
}
