package online

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/data/rows"
)

// FuzzTrain trains on arbitrary rows, tuned or not, from a file or a stream, and expects an error
// or a model. A model predicts a line for each of its rows, all of them finite, or names the row
// that it can't predict, and can be saved and read again.
func FuzzTrain(f *testing.F) {
	if testing.Short() {
		f.Skip("-short: TestTuningIsDeterministic has the goroutines")
	}
	losses := []string{"multi-hinge", "multi-logistic", "squared-error", "squared-hinge", "binary-logistic"}
	const tuned, streamed, libsvm, passes = 8, 16, 32, 64 // bits of how
	for i, name := range losses {
		f.Add(uint8(i)|tuned, []byte(strings.Join(table(30, name, 3), "\n")))
		f.Add(uint8(i)|streamed|tuned, []byte(strings.Join(table(28, name, 4), "\n")))
		f.Add(uint8(i)|streamed|tuned, []byte(strings.Join(table(19, name, 4), "\n")))
		f.Add(uint8(i)|passes, []byte(strings.Join(table(25, name, 5), "\n")))
	}
	f.Add(uint8(2), []byte("1e30,1e-30,1e300\n-1e30,1,1e-300\n"))
	f.Add(uint8(0)|libsvm|tuned, []byte(strings.Repeat("+1 1:1 3:1e38\n-1 2:-1e38\n", 12)))
	f.Fuzz(func(t *testing.T, how uint8, text []byte) {
		if len(text) > 640 {
			t.Skip("too long to be tuned quickly")
		}
		src := func() Source { return Source{Path: "-", Stdin: bytes.NewReader(text)} }
		opt := TrainOptions{Source: src(), Tune: how&tuned != 0, Settings: Settings{
			Loss: losses[int(how&7)%len(losses)], Format: rows.FormatCSV, LabelColumn: -1,
		}}
		if how&libsvm != 0 {
			opt.Settings.Format = rows.FormatLIBSVM
		}
		if how&streamed == 0 {
			path := filepath.Join(t.TempDir(), "rows")
			write(t, path, text)
			opt.Source = Source{Path: path}
			if how&passes != 0 {
				opt.Epochs = 3
			}
		}
		m, err := Train(context.Background(), opt)
		if err != nil || m == nil {
			if err == nil {
				t.Error("neither a model nor an error")
			}
			return
		}
		var out bytes.Buffer
		err = m.Predict(context.Background(), src(), opt.Settings.Format, false, &out)
		lines := int64(strings.Count(out.String(), "\n"))
		if err == nil && lines == 0 || errors.Is(err, ErrStopped) {
			t.Errorf("%d predictions for %d rows, %v", lines, m.Rows(), err)
		}
		for _, word := range []string{"NaN", "Inf"} {
			if m.Regression() && strings.Contains(out.String(), word) {
				t.Errorf("predictions %q", out.String())
			}
		}
		if again := reread(t, m); again.Order() > m.Order()+m.settings.Batch || again.Rows() != m.Rows() {
			t.Errorf("read again: order %d for %d, %d rows for %d", again.Order(), m.Order(), again.Rows(), m.Rows())
		}
	})
}
