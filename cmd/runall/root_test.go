package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelpFits: the help of every command fits 80 columns and lists its subcommands.
func TestHelpFits(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		_, help, _ := call(t, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		if !strings.Contains(help, "Usage:") {
			t.Errorf("%s has no help: %s", c.CommandPath(), help)
		}
		for line := range strings.Lines(help) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%s: a line of more than 80 columns: %s", c.CommandPath(), line)
			}
		}
		for _, sub := range c.Commands() {
			if !sub.Hidden && !strings.Contains(help, sub.Short+"\n") {
				t.Errorf("%s: %s is not listed", c.CommandPath(), sub.Name())
			}
			walk(sub)
		}
	}
	walk(newRoot())
}
