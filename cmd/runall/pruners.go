package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/polk/prune"
	"polkrepro/polk/prune/external"
)

// prunersFlag adds the flag for heuristics that run in a separate process.
func prunersFlag(cmd *cobra.Command, p *[]string) {
	cmd.Flags().StringArrayVar(p, "pruner", nil, "`NAME=COMMAND` of an external pruner that specs can name (docs/adding-a-pruner.md)")
}

// registerPruners registers a flag's heuristics, which run in separate processes, by name.
// It rejects duplicate names itself, because the registry outlives a call in tests.
func registerPruners(flag string, given []string) error {
	commands := make(map[string]string)
	for _, text := range given {
		name, command, ok := strings.Cut(text, "=")
		if !ok || name == "" || command == "" {
			return harness.Usage(fmt.Errorf("--%s %s: want NAME=COMMAND, such as mine=./mine.py", flag, text))
		}
		if first, ok := commands[name]; ok {
			return harness.Usage(fmt.Errorf("--%s: %s is given twice: %s and %s", flag, name, first, command))
		}
		commands[name] = command
		if err := registerPruner(name, command); err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
	}
	return nil
}

// registerPruner registers a command as a heuristic.
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
