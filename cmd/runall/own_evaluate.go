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
	"polkrepro/record"
)

func newEvaluate() *cobra.Command {
	var flags rowFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "evaluate MODEL FILE",
		Short: "Compare a model's predictions with the labels of a file",
		Long: `Compare the predictions of a model with the labels of a file, or of standard
input if FILE is "-": error and mean loss, then recall and precision by class
and the confusion matrix, or for a regression the mean absolute error. Models
with a logistic loss also have log-loss and calibration. With more than 10
classes the text shows those with the lowest recall and the largest confusions;
--json writes all.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, src, format, err := flags.open(cmd, args[0], args[1], true)
			if err != nil {
				return err
			}
			e, err := m.Evaluate(cmd.Context(), src, format)
			if err != nil {
				return stopped(err)
			}
			return show(cmd, asJSON, describeEvaluation(m, &e), func(w io.Writer) error { return writeEvaluation(w, m, &e) })
		},
	}
	flags.add(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// An Evaluation is what 'runall evaluate --json' writes. A number that is not finite, or
// not there, is null.
type Evaluation struct {
	Versioned
	Version    int             `json:"version"`     // the same as schema, under its first name
	Rows       int             `json:"rows"`        // evaluated
	ModelOrder int             `json:"model_order"` // elements of the model
	Loss       string          `json:"loss"`        // of the model
	Risk       record.Nullable `json:"risk"`        // mean loss, of scaled targets for regression
	TradeOff   []online.Tried  `json:"trade_off"`   // the model orders that were tried in training, on rows held out there; none of a model whose order was given

	*Classification
	*Regression
}

// A Classification is what there is to say of a classification alone.
type Classification struct {
	Error       record.Nullable `json:"error"`                             // classification: fraction of rows predicted wrongly
	Classes     []Class         `json:"classes"`                           // classification: the results by class
	Confusion   [][]int         `json:"confusion"`                         // classification: rows by label, in the order of classes, and by prediction, in the same order
	LogLoss     record.Nullable `json:"log_loss"`                          // classification: mean of −ln p of the true class; null without probabilities
	Calibration *Calibration    `json:"calibration" jsonschema:"nullable"` // classification: confidence and accuracy; null without probabilities
}

// A Class is the results of a class.
type Class struct {
	Label     string          `json:"label"`     // as in the training file
	Rows      int             `json:"rows"`      // of the class
	Predicted int             `json:"predicted"` // rows predicted as the class
	Correct   int             `json:"correct"`   // rows of the class that are predicted correctly
	Recall    record.Nullable `json:"recall"`    // correct/rows
	Precision record.Nullable `json:"precision"` // correct/predicted
}

// A Calibration compares confidence with accuracy.
type Calibration struct {
	Error record.Nullable `json:"error"` // mean of |accuracy − confidence| over the bins, weighted by their rows
	Bins  []Bin           `json:"bins"`  // ten
}

// A Bin is the rows whose confidence is within bounds.
type Bin struct {
	From       float64         `json:"from"`       // least confidence
	To         float64         `json:"to"`         // upper end of confidence, exclusive except for 1
	Rows       int             `json:"rows"`       // with this confidence
	Confidence record.Nullable `json:"confidence"` // mean
	Accuracy   record.Nullable `json:"accuracy"`   // fraction of rows predicted correctly
}

// A Regression is what there is to say of a regression alone.
type Regression struct {
	RMSE record.Nullable `json:"rmse"` // regression: root of the mean squared error
	MAE  record.Nullable `json:"mae"`  // regression: mean absolute error
	R2   record.Nullable `json:"r2"`   // regression: 1 − Σ(prediction − y)²/Σ(y − mean of y)²
}

// describeEvaluation makes what --json writes.
func describeEvaluation(m *online.Model, e *online.Evaluation) Evaluation {
	number := func(v float64) record.Nullable { return record.Nullable(v) }
	info := Evaluation{Versioned: version, Version: version.Schema, Rows: e.Rows, ModelOrder: m.Order(), Loss: m.Settings().Loss, Risk: number(e.Risk), TradeOff: append([]online.Tried{}, m.Settings().TradeOff...)}
	if m.Regression() {
		info.Regression = &Regression{number(e.RMSE), number(e.MAE), number(e.R2)}
		return info
	}
	c := &Classification{Error: number(e.ErrorRate), Confusion: e.Confusion, LogLoss: number(e.LogLoss)}
	for _, r := range e.Classes() {
		c.Classes = append(c.Classes, Class{r.Label, r.Rows, r.Predicted, r.Correct, number(r.Recall()), number(r.Precision())})
	}
	if e.Calibration != nil {
		c.Calibration = &Calibration{Error: number(e.CalibrationError)}
		for _, b := range e.Calibration {
			c.Calibration.Bins = append(c.Calibration.Bins, Bin{b.From, b.To, b.Rows, number(b.Confidence), number(b.Accuracy)})
		}
	}
	info.Classification = c
	return info
}

// shownClasses is the most classes, and the most confusions, that the text shows.
const shownClasses = 10

// writeEvaluation writes the text.
func writeEvaluation(w io.Writer, m *online.Model, e *online.Evaluation) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "rows         %d\nmodel order  %d\n", e.Rows, m.Order())
	if l, ok := m.Settings().HeldOut(); ok {
		fmt.Fprintf(b, "held out     %s, %d numbers (when the order was chosen in training)\n", quality(m, l.Error), l.Numbers)
	}
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
