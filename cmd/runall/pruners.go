package main

import (
	"fmt"
	"os"
	"path/filepath"
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

// checkWith returns an error if a word of --with does not name a heuristic. The error shows
// the form of a user's own heuristic. before is the word before it.
func checkWith(word, before string) error {
	if _, ok := prune.Lookup(word); ok {
		return nil
	}
	if isCommand(before) && strings.Contains(before, " ") {
		return fmt.Errorf(`--with %s: unknown pruner %q; a command with a comma needs double quotes: --with '"%s,%s"'`, word, word, before, word)
	}
	if isFile(word) || strings.ContainsAny(word, "/ ") {
		return fmt.Errorf("--with %s: no name: want NAME=COMMAND, such as %s", word, quote("mine="+inFolder(word)))
	}
	hint := ""
	if script := word + ".py"; isFile(script) {
		hint = fmt.Sprintf("; for ./%s, add %s=./%s", script, word, script)
	}
	return fmt.Errorf("--with %s: unknown pruner %q%s ('runall list pruners' lists them; a heuristic of your own: NAME=COMMAND, such as mine=./mine.py)",
		word, word, hint)
}

// isCommand reports whether a word of --with is NAME=COMMAND rather than a name.
func isCommand(word string) bool { return strings.Contains(word, "=") }

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// inFolder returns a command with ./ before the name of a file without a folder, which the
// system would search in $PATH.
func inFolder(command string) string {
	if isFile(command) && filepath.Base(command) == command {
		return "./" + command
	}
	return command
}
