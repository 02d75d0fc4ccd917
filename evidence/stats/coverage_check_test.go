//go:build check

package stats

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false, "write coverage.md")

// TestCheckCoverage computes the whole table of the study and compares it with
// coverage.md, in which no number may be off by more than a point. To write it:
//
//	go test -tags check ./evidence/stats -run TestCheckCoverage -update
func TestCheckCoverage(t *testing.T) {
	const samples, resamples = 4000, 299
	var out bytes.Buffer
	for _, c := range contests(resamples) {
		fmt.Fprintf(&out, "\n## %s\n\n| distribution |", c.name)
		for _, k := range c.competitors {
			for i, n := range sizes {
				if i == 0 {
					fmt.Fprintf(&out, " %s, n = %d |", k.name, n)
				} else {
					fmt.Fprintf(&out, " %d |", n)
				}
			}
		}
		out.WriteString("\n|---|")
		for range c.competitors {
			out.WriteString("--:|--:|--:|--:|")
		}
		out.WriteString("\n")
		bySize := make([][]design, len(sizes)) // the same rows for each size
		for i, n := range sizes {
			bySize[i] = c.all(t, n)
		}
		for row := range bySize[0] {
			fmt.Fprintf(&out, "| %s |", bySize[0][row].name)
			for k, competitor := range c.competitors {
				for i := range sizes {
					rng := rand.New(rand.NewPCG(uint64(row), uint64(100*k+i)))
					d := bySize[i][row]
					got := competitor.coverage(rng, d, c.statistic, samples)
					fmt.Fprintf(&out, " %.1f |", 100*got)
					if k == 0 && got < least-errors3(least, samples) && !slices.Contains(short, d.name) {
						t.Errorf("%s of %d: %s: %s holds the truth in %.3f of samples", c.name, d.n, d.name, competitor.name, got)
					}
				}
			}
			out.WriteString("\n")
		}
	}
	t.Log(out.String())
	const path = "coverage.md"
	had, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, table, _ := bytes.Cut(had, []byte("\n## "))
	if *update {
		if err := os.WriteFile(path, append(head, out.Bytes()...), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	number := regexp.MustCompile(` \d+\.\d `)
	got, want := number.FindAll(out.Bytes(), -1), number.FindAll(table, -1)
	if len(got) != len(want) {
		t.Fatalf("%d numbers in %s, want %d; write it with -update", len(want), path, len(got))
	}
	for i := range got {
		x, _ := strconv.ParseFloat(string(bytes.TrimSpace(got[i])), 64)
		y, _ := strconv.ParseFloat(string(bytes.TrimSpace(want[i])), 64)
		if math.Abs(x-y) > 1 {
			t.Errorf("%s has %v where the study has %v; write it with -update", path, y, x)
		}
	}
}
