package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/harness"
)

func newPredict() *cobra.Command {
	var flags rowFlags
	var probability bool
	cmd := &cobra.Command{
		Use:   "predict MODEL FILE",
		Short: "Predict the rows of a file or stream with a model",
		Long: `Predict the rows of a file, or of standard input if FILE is "-", with a model
from train, and write one prediction on each line. Labels in the rows are
ignored.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, src, format, err := flags.open(cmd, args[0], args[1], false)
			if err != nil {
				return err
			}
			if probability && !strings.HasSuffix(m.Settings().Loss, "logistic") {
				return harness.Usage(fmt.Errorf("--probability: a model with the %s loss has none: train with --loss logistic", m.Settings().Loss))
			}
			return ofRows(m.Predict(cmd.Context(), src, format, probability, raw(cmd.OutOrStdout())))
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&probability, "probability", false, "write a CSV table with the probabilities of all classes")
	return cmd
}
