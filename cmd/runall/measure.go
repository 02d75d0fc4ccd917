package main

import "github.com/spf13/cobra"

func newMeasure() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "measure cost|stream|epochs",
		Short: "Measure cost, a long stream, or the number of epochs",
		Args:  cobra.NoArgs,
		RunE:  needSubcommand,
	}
	cmd.AddCommand(newCost(), newStream(), newEpochs())
	return cmd
}
