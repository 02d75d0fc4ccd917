package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"polkrepro/internal/words"
	"polkrepro/online"
)

func newEvaluate() *cobra.Command {
	var flags rowFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "evaluate MODEL FILE",
		Short: "Compare a model's predictions with the labels of a file",
		Long: `Compare the predictions of a model with the labels of a file, or of standard
input if FILE is "-": error and mean loss, then recall and precision by class
and the confusion matrix, or for a regression the mean absolute error. With more
than 10 classes the text shows those with the lowest recall and the largest
confusions; --json writes all.`,
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
			return show(cmd, asJSON, Evaluation{version, version.Schema, e}, func(w io.Writer) error { return writeEvaluation(w, m, e) })
		},
	}
	flags.add(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// An Evaluation is the output of 'runall evaluate --json'. A number that is missing or not
// finite is null.
type Evaluation struct {
	Versioned
	Version int `json:"version"` // same number as schema, under its first name
	*online.Evaluation
}

// shownClasses is the maximum number of classes, and of confusions, in the text.
const shownClasses = 10

// writeEvaluation writes the text.
func writeEvaluation(w io.Writer, m *online.Model, e *online.Evaluation) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "rows         %d\nmodel order  %d\n", e.Rows, e.ModelOrder)
	if l, ok := m.Settings().HeldOut(); ok {
		fmt.Fprintf(b, "held out     %s, %d numbers (when the order was chosen in training)\n", quality(m, l.Error), l.Numbers)
	}
	if m.Regression() {
		fmt.Fprintf(b, "RMSE         %.6g\nR²           %.6g\n", e.RMSE, e.R2)
	} else {
		fmt.Fprintf(b, "error        %.2f %%\n", 100*e.Error)
	}
	fmt.Fprintf(b, "risk         %.6g (mean %s loss)\n", e.Risk, m.Settings().Loss)
	if m.Regression() {
		fmt.Fprintf(b, "MAE          %.6g\n", e.MAE)
		return b.Flush()
	}
	fmt.Fprintln(b)
	writeRows(b, classRows(slices.Clone(e.Classes)))
	fmt.Fprintln(b)
	writeRows(b, confusionRows(m.Settings().Labels, e.Confusion))
	return b.Flush() // Flush returns the first error of all writes
}

// classRows returns the table of results by class. Of more than shownClasses classes it has
// those with the lowest recall.
func classRows(classes []online.Class) [][]string {
	title := "class"
	if n := len(classes); n > shownClasses {
		slices.SortStableFunc(classes, func(a, b online.Class) int {
			return cmp.Compare(lowest(a), lowest(b))
		})
		classes = classes[:shownClasses]
		title = fmt.Sprintf("class (%d of %d)", shownClasses, n)
	}
	rows := [][]string{{title, "rows", "error", "recall", "precision"}}
	for _, c := range classes {
		rows = append(rows, []string{c.Label, fmt.Sprint(c.Rows), percent(1 - c.Recall), percent(c.Recall), percent(c.Precision)})
	}
	return rows
}

// lowest returns the recall by which classes are sorted. Classes without rows sort last.
func lowest(c online.Class) float64 {
	if c.Rows == 0 {
		return math.Inf(1)
	}
	return float64(c.Recall)
}

// percent formats a fraction as a percentage, or NaN as "none".
func percent(v words.Nullable) string {
	if math.IsNaN(float64(v)) {
		return "none"
	}
	return fmt.Sprintf("%.2f %%", 100*v)
}

// confusionRows returns the confusion matrix or, with more than shownClasses classes, the
// table of its largest off-diagonal elements.
func confusionRows(labels []string, matrix [][]int) [][]string {
	if len(labels) > shownClasses {
		return largestConfusions(labels, matrix)
	}
	rows := [][]string{append([]string{"label \\ prediction"}, labels...)}
	for i, counts := range matrix {
		row := []string{labels[i]}
		for _, n := range counts {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	return rows
}

// largestConfusions returns the table of the largest off-diagonal elements.
func largestConfusions(labels []string, matrix [][]int) [][]string {
	type confusion struct{ label, given, rows int }
	var all []confusion
	for i, counts := range matrix {
		for j, n := range counts {
			if i != j && n > 0 {
				all = append(all, confusion{i, j, n})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b confusion) int { return b.rows - a.rows })
	rows := [][]string{{fmt.Sprintf("label (%d of %d confusions)", min(shownClasses, len(all)), len(all)), "prediction", "rows"}}
	for _, c := range all[:min(shownClasses, len(all))] {
		rows = append(rows, []string{labels[c.label], labels[c.given], fmt.Sprint(c.rows)})
	}
	return rows
}
