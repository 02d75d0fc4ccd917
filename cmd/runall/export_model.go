package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/online"
	"polkrepro/online/export"
)

// A modelExport holds the options of the export-model command.
type modelExport struct {
	to, out string
	int8    bool
	rows    rowFlags
}

func newExportModel() *cobra.Command {
	var e modelExport
	cmd := &cobra.Command{
		Use:   "export-model MODEL [FILE]",
		Short: "Write a model as C, as ONNX, or without what training needs",
		Long: `Write a model from train in another form:

  c        one file of C99 that allocates nothing and needs only expf, for
           microcontrollers, AVR included, and for programs in other languages
  onnx     standard operators of opset 17, with skl2onnx's names: input X,
           outputs label and probabilities (scores, if the loss has no
           probabilities), or variable for a regression
  predict  a model file for predict, evaluate and polk.load, which can't be
           trained further

With --int8 the C file has elements and weights of one byte. That changes some
predictions: the errors with and without it, on the labelled rows of FILE, are
printed. See docs/deploy.md.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0], argument(args, 1)) },
	}
	cmd.Flags().Var(choice(&e.to, []string{"c", "onnx", "predict"}), "to", "`form` to write: c, onnx, predict")
	cmd.Flags().StringVar(&e.out, "out", "", "`file` to write")
	cmd.Flags().BoolVar(&e.int8, "int8", false, "write elements and weights of one byte each (C)")
	e.rows.add(cmd)
	return cmd
}

func (e *modelExport) run(cmd *cobra.Command, model, file string) error {
	switch {
	case e.to == "":
		return harness.Usage(errors.New("--to is missing: c, onnx or predict"))
	case e.out == "":
		return harness.Usage(errors.New("--out is missing: name the file to write"))
	case e.int8 && e.to != "c":
		return harness.Usage(fmt.Errorf("--int8 is for --to c, not for --to %s", e.to))
	case e.int8 && file == "":
		return harness.Usage(errors.New("--int8 changes predictions: name a FILE of labelled rows after MODEL, on which the change is measured"))
	case e.int8 && file == "-":
		return harness.Usage(errors.New("standard input can be read only once, and --int8 predicts its rows twice: name a file"))
	case !e.int8 && file != "":
		return harness.Usage(errors.New("FILE is for --int8: without it, predictions do not change"))
	}
	if err := checkOutput("--out", e.out, model, file, e.rows.labels); err != nil {
		return err
	}
	if err := harness.CheckFile(e.out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	m, err := readModel(model, online.ReadForPrediction)
	if err != nil {
		return err
	}
	measured := ""
	if e.int8 {
		if measured, err = e.measure(cmd, m, file); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	switch e.to {
	case "c":
		err = export.C(&b, m, e.int8)
	case "onnx":
		err = export.ONNX(&b, m)
	default:
		err = m.SaveForPrediction(&b)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", model, err)
	}
	if err := files.WriteBytes(e.out, b.Bytes()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes, model order %d, %s\n%s", e.out, b.Len(), m.Order(), modelText(m), measured)
	return err
}

// measure returns a line with the errors of a model and of the rounded one on labelled rows.
func (e *modelExport) measure(cmd *cobra.Command, m *online.Model, file string) (string, error) {
	rounded, err := export.Round(m)
	if err != nil {
		return "", err
	}
	src := e.rows.source(cmd, file)
	format, err := e.rows.formatOf(&src, "", true)
	if err != nil {
		return "", err
	}
	var said []string
	var rows int
	for _, m := range []*online.Model{m, rounded} {
		result, err := m.Evaluate(cmd.Context(), src, format)
		if err != nil {
			return "", ofRows(err)
		}
		rows = result.Rows
		if m.Regression() {
			said = append(said, quality(m, float64(result.RMSE)))
		} else {
			said = append(said, quality(m, float64(result.Error)))
		}
	}
	return fmt.Sprintf("int8: %s after rounding, %s before, on %d rows of %s\n", said[1], said[0], rows, file), nil
}
