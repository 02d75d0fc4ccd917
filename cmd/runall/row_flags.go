package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/online"
)

// columnFlags are the flags for the columns of tables, the same in all commands that read rows.
type columnFlags struct {
	label                    string
	ignore, keep, categories []string
	given                    rows.Columns
}

// add defines the flags. The commands with a model have the defaults of its training.
func (f *columnFlags) add(fs *pflag.FlagSet, model bool) {
	fs.StringVar(&f.label, "label", "", "`column` of the label in tables: first, last, its number or its name in the header")
	fs.StringSliceVar(&f.ignore, "ignore-columns", nil, "comma-separated `columns` to leave out, by number or name")
	fs.StringSliceVar(&f.keep, "keep-columns", nil, "comma-separated `columns` to use although they seem to number the rows")
	fs.StringSliceVar(&f.categories, "categories", nil, "comma-separated `columns` of words or codes, each level of which becomes a feature")
	fs.Var(value[string]{&f.given.Delimiter, "character", delimiterOf}, "delimiter", "`character` between the columns of a CSV file, or tab or space (default: a comma, or a semicolon if all lines agree)")
	fs.Var(choice(&f.given.Decimal, []string{".", ","}), "decimal", "decimal `sign` in tables: . or , (default: a point, or a comma between semicolons)")
	fs.Var(choice(&f.given.Missing, rows.MissingWords()), "missing", "what is done with `rows` in which a value is missing: refuse, drop, or fill in the mean of the column (mean)")
	fs.BoolVar(&f.given.ZeroBased, "zero-based", false, "the indices of LIBSVM files start at 0")
	fs.Lookup("label").DefValue, fs.Lookup("missing").DefValue = "first", rows.MissingRefuse
	if model {
		for _, name := range []string{"label", "missing"} {
			flag := fs.Lookup(name)
			flag.DefValue, flag.Usage = "", flag.Usage+" (default: as in training)"
		}
	}
}

// delimiterOf returns the character that a word stands for.
func delimiterOf(word string) (string, error) {
	switch word {
	case "tab", `\t`:
		return "\t", nil
	case "space":
		return " ", nil
	}
	if utf8.RuneCountInString(word) != 1 {
		return "", errors.New("must be one character, tab or space")
	}
	return word, nil
}

// columns returns what the flags say of the columns.
func (f *columnFlags) columns() rows.Columns {
	c := f.given
	for _, list := range []struct {
		words []string
		to    *[]rows.Column
	}{{f.ignore, &c.Ignore}, {f.keep, &c.Keep}, {f.categories, &c.Categories}} {
		for _, word := range list.words {
			*list.to = append(*list.to, columnOf(word))
		}
	}
	return c
}

// columnOf returns the column for a word: first, last, a number or a name.
func columnOf(word string) rows.Column {
	switch word {
	case "first":
		return rows.Column{Number: 1}
	case "last":
		return rows.Column{Number: -1}
	}
	if n, err := strconv.Atoi(word); err == nil && n != 0 && math.Abs(float64(n)) < 1e9 {
		return rows.Column{Number: n}
	}
	return rows.Column{Name: word}
}

// rowFlags are the flags of train, predict and evaluate for reading rows.
type rowFlags struct {
	format, header, labels string
	table                  columnFlags
}

// add defines the flags. predict has no --labels: it does not read labels.
func (f *rowFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(choice(&f.format, rows.Formats()), "format", "`format` of the rows: "+strings.Join(rows.Formats(), ", ")+" (default: by the file's name; libsvm if it says nothing)")
	headerFlag(cmd, &f.header)
	f.table.add(cmd.Flags(), cmd.Name() != "train")
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
	say := func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	return online.Source{Path: file, Stdin: cmd.InOrStdin(), Say: say, Decided: func(l *rows.Layout) {
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
	if err == nil {
		columns := f.table.columns()
		err = columns.Suits(format)
	}
	return format, harness.Usage(err)
}

// errNoTable is the error of --label for other rows than those of a table.
var errNoTable = errors.New("--label is for CSV and TSV files: the label of a LIBSVM row comes first, and those of arrays are in the file of --labels")

// open reads a model for prediction and returns it with the source of the rows and its format.
func (f *rowFlags) open(cmd *cobra.Command, model, file string, labels bool) (m *online.Model, src online.Source, format string, err error) {
	if m, err = readModel(model, online.ReadForPrediction); err != nil {
		return nil, src, "", err
	}
	src = f.source(cmd, file)
	src.Columns = f.table.columns()
	if f.table.label != "" {
		src.Label = columnOf(f.table.label)
	}
	if format, err = f.formatOf(&src, m.Settings().Format, labels); err == nil && f.table.label != "" && !rows.IsTable(format) {
		err = harness.Usage(errNoTable)
	}
	return m, src, format, err
}
