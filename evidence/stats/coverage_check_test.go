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
	const samples = 4000
	var out bytes.Buffer
	for _, c := range contests {
		fmt.Fprintf(&out, "\n## %s\n\n| distribution | %s, n = %d | %d | %d | %d |\n|---|--:|--:|--:|--:|\n", c.name, c.method, sizes[0], sizes[1], sizes[2], sizes[3])
		bySize := make([][]design, len(sizes)) // the same rows for each size
		for i, n := range sizes {
			bySize[i] = c.all(t, n)
		}
		for row := range bySize[0] {
			fmt.Fprintf(&out, "| %s |", bySize[0][row].name)
			for i := range sizes {
				d := bySize[i][row]
				got := c.coverage(rand.New(rand.NewPCG(uint64(row), uint64(i))), d, samples)
				fmt.Fprintf(&out, " %.1f |", 100*got)
				if got < least-errors3(least, samples) && !slices.Contains(short, d.name) {
					t.Errorf("%s of %d: %s: %s holds the truth in %.3f of samples", c.name, d.n, d.name, c.method, got)
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
	// The first numbers of each row.
	row := regexp.MustCompile(`(?m)^\| [^|]+ \| (\d+\.\d) \| (\d+\.\d) \| (\d+\.\d) \| (\d+\.\d) \|`)
	got, want := row.FindAllSubmatch(out.Bytes(), -1), row.FindAllSubmatch(table, -1)
	if len(got) != len(want) || len(got) < 50 {
		t.Fatalf("%d rows in %s, want %d; write it with -update", len(want), path, len(got))
	}
	for i := range got {
		for k := range sizes {
			x, _ := strconv.ParseFloat(string(got[i][k+1]), 64)
			y, _ := strconv.ParseFloat(string(want[i][k+1]), 64)
			if math.Abs(x-y) > 1 {
				t.Errorf("%s has %v where the study has %v; write it with -update", path, y, x)
			}
		}
	}
}
