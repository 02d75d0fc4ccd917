package main

import "github.com/spf13/cobra"

// A trait is what has to be known of a command by those who handle signals and standard
// output for all of them.
type trait string

const (
	graceful    trait = "graceful"    // ends by itself when it is told to stop, after saving what is worth it
	resumes     trait = "resumes"     // resumes where it stopped when it is started again
	streams     trait = "streams"     // its output is wanted while it works, or too long to be kept
	forPrograms trait = "forPrograms" // programs read its output: no byte of it is changed
)

// traits are the annotations of a command that has these traits.
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

// writesForPrograms reports whether programs read the output of a command with its flags.
func writesForPrograms(cmd *cobra.Command) bool {
	is := func(flag, value string) bool {
		f := cmd.Flag(flag)
		return f != nil && f.Value.String() == value
	}
	return has(cmd, forPrograms) || is("json", "true") || is("csv", "true") || cmd.Name() == "report" && !is("format", "text")
}
