package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"polkrepro/data"
	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/record"
)

// An input is a file that a command reads.
type input struct {
	what string // "FILE", "--labels"
	path string // "-" for standard input; empty for no file
}

// checkOutput returns an error if an output is one of the files that a command reads, by
// its path or by a symbolic or hard link: writing would destroy that file. Call it before
// reading. The output need not exist.
func checkOutput(what, path string, inputs ...input) error {
	out, err := os.Stat(path)
	if err != nil {
		return nil // path does not exist, or CheckFile returns the error
	}
	return checkInfo(what+" "+path, out, inputs)
}

// checkStdout is checkOutput for a standard output that is redirected to a file.
func checkStdout(stdout io.Writer, inputs ...input) error {
	if o, ok := stdout.(*output); ok {
		stdout = o.to
	}
	f, ok := stdout.(*os.File)
	if !ok {
		return nil
	}
	out, err := f.Stat()
	if err != nil || !out.Mode().IsRegular() {
		return nil
	}
	return checkInfo("standard output", out, inputs)
}

func checkInfo(name string, out os.FileInfo, inputs []input) error {
	for _, in := range inputs {
		if in.is(out) {
			return harness.Usage(fmt.Errorf("%s is the same file as %s %s, which would be overwritten: name another file", name, in.what, in.path))
		}
	}
	return nil
}

// is reports whether the input is the given file.
func (in input) is(file os.FileInfo) bool {
	var info os.FileInfo
	var err error
	switch in.path {
	case "":
		return false
	case "-":
		info, err = os.Stdin.Stat()
	default:
		path, _ := rows.SplitArray(in.path)
		info, err = os.Stat(path)
	}
	return err == nil && os.SameFile(file, info)
}

// resultsInputs returns the files of a results folder that commands read.
func resultsInputs(results string) []input {
	inputs := []input{{"the manifest", filepath.Join(results, record.ManifestName)}}
	entries, _ := os.ReadDir(harness.RecordsDir(results)) // reading the records returns the error
	for _, e := range entries {
		inputs = append(inputs, input{"the record", filepath.Join(harness.RecordsDir(results), e.Name())})
	}
	return inputs
}

// specInputs returns the spec files among a command's arguments and the data files that its
// runs may read.
func specInputs(names []string, finder data.Finder) []input {
	var inputs []input
	for _, name := range names {
		inputs = append(inputs, input{"the spec", name})
	}
	for _, path := range finder.Files() {
		inputs = append(inputs, input{"the data file", path})
	}
	return inputs
}

// pathFlags are the flags that name a file or folder and must not be empty: an empty path
// would mean the working folder or an unrequested default.
var pathFlags = map[string]bool{"results": true, "out": true, "with": true, "from": true, "resume": true}

// checkPaths returns an error if one of a command's pathFlags is empty.
func checkPaths(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if pathFlags[f.Name] && v == "" && err == nil {
				err = fmt.Errorf("--%s is empty: name a file or folder", f.Name)
			}
		}
	})
	return err
}

// checkOutputs returns an error if an output of a command is in a sealed results folder or
// beside records. The outputs are standard output, the path of --out, and a model that is
// trained further. harness.OpenResults checks a folder of --results that a command writes.
func checkOutputs(cmd *cobra.Command, stdout io.Writer) (err error) {
	check := func(path string) {
		if path != "" && err == nil {
			err = record.CheckOutput(path)
		}
	}
	if f, ok := stdout.(*os.File); ok {
		check(f.Name())
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "out" || f.Name == "resume" && !cmd.Flags().Changed("out") {
			check(f.Value.String())
		}
	})
	return err
}
