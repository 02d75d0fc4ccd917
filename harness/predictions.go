package harness

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"polkrepro/data"
	"polkrepro/internal/files"
	"polkrepro/loss"
	"polkrepro/spec"
)

// predictionsFile returns the file of a run's predictions in a results folder.
func predictionsFile(results, id string) string {
	return filepath.Join(results, "predictions", id+".csv")
}

// predictions returns the predictions of the most recently evaluated model for all test
// examples: classes or, for a regression, targets.
func (o *Objective) predictions() []float64 {
	out := make([]float64, o.test.N)
	for i := range out {
		f := o.latest[i*o.outputs : (i+1)*o.outputs]
		if out[i] = f[0]; o.loss != (loss.SquaredError{}) {
			out[i] = loss.Decide(f)
		}
	}
	return out
}

// writePredictions writes a run's predictions: for each test row its number in the file,
// from 1, its label and its prediction.
func (x *executor) writePredictions(id string, run spec.Run, set *data.Set, predicted []float64) error {
	if err := os.MkdirAll(filepath.Dir(predictionsFile(x.Results, id)), 0o777); err != nil {
		return err
	}
	word := func(y float64) string {
		switch {
		case run.Task == spec.TaskRegression:
			return strconv.FormatFloat(set.Facts["target_mean"]+float64(set.Facts["target_deviation"]*y), 'g', 12, 64)
		case set.Labels != nil:
			return set.Labels[int(y)]
		}
		return strconv.Itoa(int(y))
	}
	var rows []int // the test rows in the training file, if they are held out from it
	if run.Data.Files.Holdout > 0 {
		rows, _ = run.Data.Files.HeldOut(set.Train.N + set.Test.N)
	}
	table := [][]string{{"row", "label", "prediction"}}
	for i, y := range predicted {
		row := i
		if rows != nil {
			row = rows[i]
		}
		table = append(table, []string{strconv.Itoa(row + 1), word(set.Test.Y[i]), word(y)})
	}
	return files.Write(predictionsFile(x.Results, id), func(w io.Writer) error { return csv.NewWriter(w).WriteAll(table) })
}

// Predictions joins the predictions of a plan's finished runs: a row for each test row of
// each replicate (a split of the file, or a seed if there is only one split), and a column
// for each series. A method without a seed has the same predictions at all seeds.
func Predictions(results string, plan []spec.Planned) ([][]string, error) {
	var series []string
	for _, p := range plan {
		if !slices.Contains(series, p.Series) {
			series = append(series, p.Series)
		}
	}
	table := [][]string{append([]string{"replicate", "row", "label"}, series...)}
	index := make(map[[2]string]int) // index in table by replicate and row
	replicates, _ := spec.Replicates(plan)
	for n, p := range plan {
		f, err := os.Open(predictionsFile(results, p.ID))
		if err != nil {
			return nil, err
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		column := 3 + slices.Index(series, p.Series)
		for _, replicate := range replicates[n] {
			for _, row := range rows[1:] {
				key := [2]string{strconv.FormatUint(replicate, 10), row[0]}
				i, ok := index[key]
				if !ok {
					i = len(table)
					index[key], table = i, append(table, append([]string{key[0], row[0], row[1]}, make([]string, len(series))...))
				}
				table[i][column] = row[2]
			}
		}
	}
	return table, nil
}
