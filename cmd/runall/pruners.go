package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/polk/prune"
	"polkrepro/polk/prune/external"
)

// prunersFlag adds a flag of heuristics in processes of their own.
func prunersFlag(cmd *cobra.Command, p *[]string) {
	cmd.Flags().StringArrayVar(p, "pruner", nil, "`NAME=COMMAND` of a pruner in a process of its own, which specs can name (docs/adding-a-pruner.md)")
}

// registerPruners makes heuristics in processes of their own known by name.
func registerPruners(given []string) error {
	for _, text := range given {
		name, command, ok := strings.Cut(text, "=")
		if !ok {
			return harness.Usage(fmt.Errorf("--pruner %s: want NAME=COMMAND, such as mine=./mine.py", text))
		}
		if err := registerPruner(name, command); err != nil {
			return err
		}
	}
	return nil
}

// registerPruner makes a command known as a heuristic.
func registerPruner(name, command string) error {
	if h, ok := prune.Lookup(name); ok && h.Identity == "" {
		return harness.Usage(fmt.Errorf("pruner %s: there is one of that name already ('runall list pruners'): choose another name", name))
	}
	h, err := external.New(name, command)
	if err != nil {
		return harness.Usage(err)
	}
	prune.Register(h)
	return nil
}
