package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/internal/words"
	"polkrepro/online"
)

func newEvaluate() *cobra.Command {
	var flags rowFlags
	var asJSON bool
	var metric string
	cmd := &cobra.Command{
		Use:   "evaluate MODEL FILE",
		Short: "Compare a model's predictions with the labels of a file",
		Long: `Compare the predictions of a model with the labels of a file, or of standard
input if FILE is "-": error and mean loss, then recall and precision by class
and the confusion matrix, or for a regression the mean absolute error. With more
than 10 classes the text has no confusion matrix; --json has it.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, src, format, err := flags.open(cmd, args[0], args[1], true)
			if err != nil {
				return err
			}
			e, err := m.Evaluate(cmd.Context(), src, format)
			if err != nil {
				return ofRows(err)
			}
			return show(cmd, asJSON, Evaluation{version, e}, func(w io.Writer) error { return writeEvaluation(w, m, e, metric) })
		},
	}
	flags.add(cmd)
	cmd.Flags().Var(choice(&metric, online.Metrics()), "metric", "`measure` to add to the text: balanced (balanced error, 1 − mean recall) or f1 (mean F1 of the classes); --json has all (default: that of training)")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// An Evaluation is the output of 'runall evaluate --json'. A number that is missing or not
// finite is null.
type Evaluation struct {
	Versioned
	*online.Evaluation
}

// shownClasses is the maximum number of classes in the text's confusion matrix.
const shownClasses = 10

// writeEvaluation writes the text, with a metric or, if it is empty, that of training.
func writeEvaluation(w io.Writer, m *online.Model, e *online.Evaluation, metric string) error {
	fmt.Fprintf(w, "rows         %d\nmodel order  %d\n", e.Rows, e.ModelOrder)
	if l, ok := m.Settings().HeldOut(); ok {
		fmt.Fprintf(w, "held out     %s, %d numbers (when the order was chosen in training)\n", quality(m, l.Error), l.Numbers)
	}
	if m.Regression() {
		fmt.Fprintf(w, "RMSE         %s\nR²           %s\n", finite(float64(e.RMSE), 6), finite(float64(e.R2), 6))
	} else {
		fmt.Fprintf(w, "error        %.2f %%\n", 100*e.Error)
		switch cmp.Or(metric, m.Settings().Metric) {
		case online.MetricBalanced:
			fmt.Fprintf(w, "balanced     %s (1 − mean recall of the classes)\n", percent(e.BalancedError))
		case online.MetricF1:
			fmt.Fprintf(w, "F1           %s (mean of the classes)\n", finite(float64(e.F1), 4))
		}
		writeUnknown(w, e)
	}
	fmt.Fprintf(w, "risk         %s (mean %s loss)\n", finite(float64(e.Risk), 6), m.Settings().Loss)
	if m.Regression() {
		_, err := fmt.Fprintf(w, "MAE          %s\n", finite(float64(e.MAE), 6))
		return err
	}
	fmt.Fprintln(w)
	rows := [][]string{{"class", "rows", "error", "recall", "precision"}}
	for _, c := range e.Classes {
		rows = append(rows, []string{c.Label, fmt.Sprint(c.Rows), percent(1 - c.Recall), percent(c.Recall), percent(c.Precision)})
	}
	labels := m.Settings().Labels
	if err := writeRows(w, rows); err != nil || len(labels) > shownClasses {
		return err
	}
	fmt.Fprintln(w)
	rows = [][]string{append([]string{"label \\ prediction"}, labels...)}
	for i, counts := range e.Confusion {
		row := []string{labels[i]}
		for _, n := range counts {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	return writeRows(w, rows)
}

// writeUnknown writes how many rows have labels that the model does not have, and names such labels.
func writeUnknown(w io.Writer, e *online.Evaluation) {
	var names []string
	rows := 0
	for _, label := range slices.Sorted(maps.Keys(e.Unknown)) {
		rows += e.Unknown[label]
		if len(names) < shownClasses {
			names = append(names, fmt.Sprintf("%.40q %d", label, e.Unknown[label]))
		}
	}
	if rows > 0 {
		fmt.Fprintf(w, "unknown      %d rows have labels that the model does not have, and count as errors: %s\n", rows, strings.Join(names, ", "))
	}
}

// finite formats a result, if it is a number: it has no value, or the squares of numbers of 1e154
// and more, or their sums, are too large for a float64.
func finite(v float64, digits int) string {
	switch {
	case math.IsNaN(v):
		return "none"
	case math.IsInf(v, 0):
		return "none (overflow)"
	}
	return fmt.Sprintf("%.*g", digits, v)
}

// percent formats a fraction as a percentage, or NaN as "none".
func percent(v words.Nullable) string {
	if math.IsNaN(float64(v)) {
		return "none"
	}
	return fmt.Sprintf("%.2f %%", 100*v)
}
