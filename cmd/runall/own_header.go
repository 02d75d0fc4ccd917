package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/online"
)

// headerFlag defines --header.
func headerFlag(cmd *cobra.Command, p *string) {
	*p = data.HeaderAuto
	cmd.Flags().Var(choice{p, data.HeaderWords()}, "header", "whether the first row of a CSV file is a header; auto detects it")
}

// withHeader has a source of a format begin with a header or not, as the flag
// says, and says what was found out.
func withHeader(src *online.Source, header, format string, stderr io.Writer) error {
	if header == data.HeaderYes && format == data.FormatLIBSVM {
		return harness.Usage(errors.New("--header yes: a LIBSVM file has no header; for a CSV file use --format csv"))
	}
	src.Header = header
	src.Decided = func(f data.FirstRow) {
		switch {
		case f.Header:
			fmt.Fprintf(stderr, "line %d is a header: %s\n", f.Line, f.Why)
		case f.Why != "":
			fmt.Fprintf(stderr, "line %d is read as data, although %s; if it is a header, use --header yes\n", f.Line, f.Why)
		}
	}
	return nil
}
