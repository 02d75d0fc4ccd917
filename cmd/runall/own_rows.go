package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/online"
)

// rowFlags are the flags of train, predict and evaluate for reading rows.
type rowFlags struct{ format, header, labels string }

// add defines the flags. predict has no --labels: it does not read labels.
func (f *rowFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(choice(&f.format, rows.Formats()), "format", "`format` of the rows: "+strings.Join(rows.Formats(), ", ")+" (default: by the file's name; libsvm if it says nothing)")
	headerFlag(cmd, &f.header)
	if cmd.Name() != "predict" {
		cmd.Flags().StringVar(&f.labels, "labels", "", "`file` of the labels of FILE, for IDX, NPY and NPZ")
	}
}

// headerFlag defines --header.
func headerFlag(cmd *cobra.Command, p *string) {
	*p = rows.HeaderAuto
	cmd.Flags().Var(choice(p, rows.HeaderWords()), "header", "whether the first row of a CSV or TSV file is a header; auto detects it")
}

// source returns the source of a command's rows. If a header is detected, the source prints
// this to standard error.
func (f *rowFlags) source(cmd *cobra.Command, file string) online.Source {
	stderr := cmd.ErrOrStderr()
	return online.Source{Path: file, Stdin: cmd.InOrStdin(), Decided: func(l *rows.Layout) {
		if l.Names != nil {
			fmt.Fprintf(stderr, "line %d is a header\n", l.Line)
		}
	}}
}

// formatOf sets the source's header and labels from the flags and returns its format: that
// of --format, that of the file's name or, for standard input, model, the format on which
// the model was trained. labels tells whether the source must have labels.
func (f *rowFlags) formatOf(src *online.Source, model string, labels bool) (format string, err error) {
	src.Header, src.Labels = f.header, f.labels
	switch {
	case f.format != "":
		format = f.format
	case src.Path == "-":
		format = model
	default:
		format = rows.FormatOf(src.Path)
	}
	switch {
	case format == "":
		err = errors.New("--format is missing: standard input needs one, such as csv or libsvm")
	case f.header == rows.HeaderYes && !rows.IsTable(format):
		err = fmt.Errorf("--header yes: %s has no header; for a CSV file use --format csv", rows.Title(format))
	case rows.IsArray(format) && labels && f.labels == "":
		err = fmt.Errorf("--labels is missing: the labels of %s are in a file of their own", rows.Title(format))
	case !rows.IsArray(format) && f.labels != "":
		err = errors.New("--labels is for IDX, NPY and NPZ files")
	}
	return format, harness.Usage(err)
}

// open reads a model for prediction and returns it with the source of the rows and its format.
func (f *rowFlags) open(cmd *cobra.Command, model, file string, labels bool) (m *online.Model, src online.Source, format string, err error) {
	if m, err = readModel(model, online.ReadForPrediction); err != nil {
		return nil, src, "", err
	}
	src = f.source(cmd, file)
	format, err = f.formatOf(&src, m.Settings().Format, labels)
	return m, src, format, err
}
