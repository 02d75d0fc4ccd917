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
		Short: "List the verdicts that hinge on a choice that the paper leaves open",
		Long: `Say which verdicts hinge on a choice that the paper leaves open, without training
anything: every alternative of experiments/ledgers/assumptions.yaml is flipped,
each alone, and the claims that depend on it are judged by its runs. The specs
multiverse-* run the alternatives, in the profile full. An alternative without
records is not run, and the command that runs it is given.`,
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
				return writeJSON(cmd.OutOrStdout(), m)
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
