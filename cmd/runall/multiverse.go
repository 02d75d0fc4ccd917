package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/cluster"
	"polkrepro/evidence"
	"polkrepro/experiments"
)

func newMultiverse() *cobra.Command {
	var results, profile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "multiverse",
		Short: "List the verdicts that depend on a choice left open by the paper",
		Long: `List the verdicts that depend on a choice that the paper leaves open, without
training. Each alternative in experiments/ledgers/assumptions.yaml is assumed,
one at a time, and the claims that depend on it are judged by its runs. The
specs multiverse-* run the alternatives in profile full. For an alternative
without records, the command that runs it is printed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, used, err := readEvidence(cmd, results, profile)
			if err != nil {
				return err
			}
			m, err := evidence.Multiverse(in)
			if err != nil {
				return err
			}
			m.Profile = used
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), Multiverse{version, m})
			}
			return m.WriteText(cmd.OutOrStdout(), func(specs []string) string {
				return fmt.Sprintf("runall reproduce %s --profile %s --results %s", strings.Join(specs, " "), experiments.ProfileFull, cluster.Quote(results))
			})
		},
	}
	resultsFlag(cmd, &results)
	profileFlag(cmd, &profile, "")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// A Multiverse is what 'runall verify multiverse --json' writes.
type Multiverse struct {
	Versioned
	*evidence.MultiverseReport
}
