package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"polkrepro/online"
)

func newEvaluate() *cobra.Command {
	var format, header string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "evaluate MODEL FILE",
		Short: "Compare a model's predictions with the labels of a file",
		Long: `Compare the predictions of a model with the labels of a file, or of standard
input if FILE is "-": error and mean loss, then recall and precision by class
and the confusion matrix, or for a regression the mean absolute error. Models
with a logistic loss also have log-loss and calibration. With more than 10
classes the text shows those with the lowest recall and the largest confusions;
--json writes all. docs/own-data.md lists its keys.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkStdout(cmd.OutOrStdout(), input{"MODEL", args[0]}, input{"FILE", args[1]}); err != nil {
				return err
			}
			m, err := openModel(cmd.Context(), args[0], online.ReadForPrediction)
			if err != nil {
				return err
			}
			src := online.Source{Path: args[1], Stdin: cmd.InOrStdin()}
			format := formatOf(format, args[1], m.Settings().Format)
			if err := withHeader(&src, header, format, cmd.ErrOrStderr()); err != nil {
				return err
			}
			e, err := m.Evaluate(cmd.Context(), src, format)
			if err != nil {
				return stopped(err)
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), describeEvaluation(m, &e))
			}
			return writeEvaluation(cmd.OutOrStdout(), m, &e)
		},
	}
	formatFlag(cmd, &format)
	headerFlag(cmd, &header)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// An evaluationInfo is what evaluate --json writes. docs/own-data.md says what its
// keys mean. Pointers are nil where there is no number: null.
type evaluationInfo struct {
	Version    int     `json:"version"` // of this schema
	Rows       int     `json:"rows"`
	ModelOrder int     `json:"model_order"`
	Loss       string  `json:"loss"`
	Risk       float64 `json:"risk"`

	*ClassificationInfo
	*RegressionInfo
}

// A ClassificationInfo is what there is to say of a classification alone.
type ClassificationInfo struct {
	Error       float64          `json:"error"`
	Classes     []classInfo      `json:"classes"`
	Confusion   [][]int          `json:"confusion"`
	LogLoss     *float64         `json:"log_loss"`
	Calibration *calibrationInfo `json:"calibration"`
}

type classInfo struct {
	Label     string   `json:"label"`
	Rows      int      `json:"rows"`
	Predicted int      `json:"predicted"`
	Correct   int      `json:"correct"`
	Recall    *float64 `json:"recall"`
	Precision *float64 `json:"precision"`
}

type calibrationInfo struct {
	Error float64   `json:"error"`
	Bins  []binInfo `json:"bins"`
}

type binInfo struct {
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	Rows       int      `json:"rows"`
	Confidence *float64 `json:"confidence"`
	Accuracy   *float64 `json:"accuracy"`
}

// A RegressionInfo is what there is to say of a regression alone.
type RegressionInfo struct {
	RMSE float64  `json:"rmse"`
	MAE  float64  `json:"mae"`
	R2   *float64 `json:"r2"`
}

// finite returns nil for what is not a number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// describeEvaluation makes what --json writes.
func describeEvaluation(m *online.Model, e *online.Evaluation) evaluationInfo {
	info := evaluationInfo{Version: 1, Rows: e.Rows, ModelOrder: m.Order(), Loss: m.Settings().Loss, Risk: e.Risk}
	if m.Regression() {
		info.RegressionInfo = &RegressionInfo{e.RMSE, e.MAE, finite(e.R2)}
		return info
	}
	c := &ClassificationInfo{Error: e.ErrorRate, Confusion: e.Confusion, LogLoss: finite(e.LogLoss)}
	for _, r := range e.Classes() {
		c.Classes = append(c.Classes, classInfo{r.Label, r.Rows, r.Predicted, r.Correct, finite(r.Recall()), finite(r.Precision())})
	}
	if e.Calibration != nil {
		c.Calibration = &calibrationInfo{Error: e.CalibrationError}
		for _, b := range e.Calibration {
			c.Calibration.Bins = append(c.Calibration.Bins, binInfo{b.From, b.To, b.Rows, finite(b.Confidence), finite(b.Accuracy)})
		}
	}
	info.ClassificationInfo = c
	return info
}

// shownClasses is the most classes, and the most confusions, that the text shows.
const shownClasses = 10

// writeEvaluation writes the text.
func writeEvaluation(w io.Writer, m *online.Model, e *online.Evaluation) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "rows         %d\nmodel order  %d\n", e.Rows, m.Order())
	if m.Regression() {
		fmt.Fprintf(b, "RMSE         %.6g\nR²           %.6g\n", e.RMSE, e.R2)
	} else {
		fmt.Fprintf(b, "error        %.2f %%\n", 100*e.ErrorRate)
	}
	fmt.Fprintf(b, "risk         %.6g (mean %s loss)\n", e.Risk, m.Settings().Loss)
	if m.Regression() {
		fmt.Fprintf(b, "MAE          %.6g\n", e.MAE)
		return b.Flush()
	}
	if e.Calibration != nil {
		fmt.Fprintf(b, "log-loss     %.6g\n", e.LogLoss)
		fmt.Fprintf(b, "calibration  %.2f %% (expected error over %d bins of confidence)\n", 100*e.CalibrationError, len(e.Calibration))
	}
	fmt.Fprintln(b)
	if err := writeClasses(b, e.Classes()); err != nil {
		return err
	}
	if err := writeConfusion(b, e); err != nil {
		return err
	}
	return b.Flush()
}

// writeClasses writes the results by class, of many those with the lowest recall.
func writeClasses(w io.Writer, classes []online.ClassResult) error {
	title := "class"
	if n := len(classes); n > shownClasses {
		slices.SortStableFunc(classes, func(a, b online.ClassResult) int {
			return cmp.Compare(lowest(a), lowest(b))
		})
		classes = classes[:shownClasses]
		title = fmt.Sprintf("class (%d of %d)", shownClasses, n)
	}
	rows := [][]string{{title, "rows", "error", "recall", "precision"}}
	for _, c := range classes {
		rows = append(rows, []string{c.Label, fmt.Sprint(c.Rows), percent(1 - c.Recall()), percent(c.Recall()), percent(c.Precision())})
	}
	return writeRows(w, rows)
}

// lowest is the recall by which classes are sorted: those without rows are last.
func lowest(c online.ClassResult) float64 {
	if c.Rows == 0 {
		return math.Inf(1)
	}
	return c.Recall()
}

// percent puts a fraction into words.
func percent(v float64) string {
	if math.IsNaN(v) {
		return "none"
	}
	return fmt.Sprintf("%.2f %%", 100*v)
}

// writeConfusion writes the confusion matrix, of many classes its largest elements
// off the diagonal.
func writeConfusion(w io.Writer, e *online.Evaluation) error {
	if len(e.Labels) > shownClasses {
		return writeConfusions(w, e)
	}
	rows := [][]string{append([]string{"label \\ prediction"}, e.Labels...)}
	for i, counts := range e.Confusion {
		row := []string{e.Labels[i]}
		for _, n := range counts {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(w)
	return writeRows(w, rows)
}

// writeConfusions writes the largest confusions.
func writeConfusions(w io.Writer, e *online.Evaluation) error {
	type confusion struct{ label, given, rows int }
	var all []confusion
	for i, counts := range e.Confusion {
		for j, n := range counts {
			if i != j && n > 0 {
				all = append(all, confusion{i, j, n})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b confusion) int { return b.rows - a.rows })
	rows := [][]string{{fmt.Sprintf("label (%d of %d confusions)", min(shownClasses, len(all)), len(all)), "prediction", "rows"}}
	for _, c := range all[:min(shownClasses, len(all))] {
		rows = append(rows, []string{e.Labels[c.label], e.Labels[c.given], fmt.Sprint(c.rows)})
	}
	fmt.Fprintln(w)
	return writeRows(w, rows)
}
