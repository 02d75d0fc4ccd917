package main

import "github.com/spf13/cobra"

func newMeasure() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "measure cost|stream|epochs|settings",
		Short: "Measure cost, a long stream, epochs or settings",
		Args:  cobra.NoArgs,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(newCost(), newStream(), newEpochs(), newSettings())
	return cmd
}
