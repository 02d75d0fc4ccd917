// Command benchtables turns the results of make bench, a file in the format of
// go test -bench, into Markdown tables of ratios:
//
//	benchtables -out DIR bench.txt
//
// writes DIR/bench.md.
//
// It reads results itself: golang.org/x/perf/benchfmt would save some thirty lines,
// for two modules without releases, and renames units (ns/op to sec/op) that the
// tables are made of.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", ".", "folder to write to")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: benchtables [-out DIR] bench.txt")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "benchtables:", err)
		os.Exit(1)
	}
}

// run reads results and writes their tables.
func run(path, dir string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	res, err := parse(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(filepath.Join(dir, "bench.md"), markdown(res), 0o644)
}
