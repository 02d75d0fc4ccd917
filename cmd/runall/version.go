package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/harness"
)

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the version of the program and what it runs on",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := harness.Provenance()
			out := cmd.OutOrStdout()
			if asJSON {
				return writeJSON(out, p)
			}
			revision := p.Revision
			if revision == "" {
				revision = "unknown"
			}
			if p.Dirty {
				revision += " (with local changes)"
			}
			_, err := fmt.Fprintf(out, "%s %s\nrevision  %s\ngo        %s %s/%s %s\ncpu       %s, %d cores (%s)\nalgebra   %s\n",
				p.Module, p.Version, revision, p.Go, p.GOOS, p.GOARCH, p.GOAMD64,
				p.CPU, p.Cores, strings.Join(p.Features, " "), p.Backend)
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
