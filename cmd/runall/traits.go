package main

import "github.com/spf13/cobra"

// A trait is a property of a command that matters to the handling of signals and standard
// output.
type trait string

const (
	graceful    trait = "graceful"    // saves its state and ends by itself after a signal to stop
	resumes     trait = "resumes"     // resumes after an interruption when it is started again
	streams     trait = "streams"     // its output is needed while it works or is too long to hold
	forPrograms trait = "forPrograms" // programs read its output, which is written unchanged
)

// traits returns the annotations of a command with the given traits.
func traits(list ...trait) map[string]string {
	a := make(map[string]string)
	for _, t := range list {
		a[string(t)] = ""
	}
	return a
}

// has reports whether a command, which may be nil, has a trait.
func has(cmd *cobra.Command, t trait) bool {
	if cmd == nil {
		return false
	}
	_, ok := cmd.Annotations[string(t)]
	return ok
}

// writesForPrograms reports whether a command, with its flags, writes output for programs.
func writesForPrograms(cmd *cobra.Command) bool {
	is := func(flag, value string) bool {
		f := cmd.Flag(flag)
		return f != nil && f.Value.String() == value
	}
	return has(cmd, forPrograms) || is("json", "true") || cmd.Name() == "report" && !is("format", "text")
}
