package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/harness"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version of the program and what it runs on",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := harness.Provenance()
			revision := cmp.Or(p.Revision, "unknown")
			if p.Dirty {
				revision += " (with local changes)"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\nrevision  %s\ngo        %s %s/%s %s\ncpu       %s, %d cores (%s)\nalgebra   %s\n",
				p.Module, p.Version, revision, p.Go, p.GOOS, p.GOARCH, p.GOAMD64,
				p.CPU, p.Cores, strings.Join(p.Features, " "), p.Backend)
			return err
		},
	}
}
