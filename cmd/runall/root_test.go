package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestOverview: the first screen of help fits a terminal and lists all commands, at most 16.
func TestOverview(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"help"}} {
		code, overview, stderr := call(t, args...)
		lines := strings.Split(strings.TrimSuffix(overview, "\n"), "\n")
		if code != 0 || stderr != "" || len(lines) > 24 {
			t.Errorf("%v: exit %d, %d lines, %s", args, code, len(lines), stderr)
		}
		for _, l := range lines {
			if utf8.RuneCountInString(l) > 80 {
				t.Errorf("a line of more than 80 columns: %s", l)
			}
		}
		listed := 0
		for _, c := range newRoot().Commands() {
			if c.Hidden {
				continue
			}
			listed++
			if !slices.ContainsFunc(lines, func(l string) bool {
				return strings.Contains(l, "  "+c.Name()+" ") && strings.HasSuffix(l, c.Short)
			}) {
				t.Errorf("%s is not listed", c.Name())
			}
		}
		if listed > 16 {
			t.Errorf("%d commands", listed)
		}
	}
}

// TestHelpFits: the help of every command fits 80 columns.
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
			walk(sub)
		}
	}
	walk(newRoot())
}
