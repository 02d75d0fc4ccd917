//go:build check

package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestCheckCoverage computes the study in full, holds the chosen intervals to their bound,
// and compares the table in doc.go, in which no number may be off by more than a point. With
// -v it prints every distribution.
func TestCheckCoverage(t *testing.T) {
	const samples, resamples = 4000, 299
	var rows []string // of doc.go
	for _, c := range contests(resamples) {
		bySize := make([][]design, len(sizes)) // the same distributions for each size
		for i, n := range sizes {
			bySize[i] = c.all(t, n)
		}
		normals := len(c.designs(shape{}, sizes[0])) // the first
		for k, competitor := range c.competitors {
			var normal, all [4]float64
			for i := range sizes {
				normal[i], all[i] = 1, 1
			}
			for row := range bySize[0] {
				var line strings.Builder
				for i := range sizes {
					rng := rand.New(rand.NewPCG(uint64(row), uint64(100*k+i)))
					d := bySize[i][row]
					got := competitor.coverage(rng, d, c.statistic, samples)
					fmt.Fprintf(&line, " %5.1f", 100*got)
					all[i] = min(all[i], got)
					if row < normals {
						normal[i] = min(normal[i], got)
					}
					if k == 0 && got < least-errors3(least, samples) && !slices.Contains(short, d.name) {
						t.Errorf("%s of %d: %s: %s holds the truth in %.3f of samples", c.name, d.n, d.name, competitor.name, got)
					}
				}
				t.Logf("%s, %s:%s %s", c.name, competitor.name, &line, bySize[0][row].name)
			}
			text := ""
			for _, v := range slices.Concat(normal[:], all[:]) {
				text += fmt.Sprintf(" %.0f", 100*v)
			}
			rows = append(rows, text)
			t.Logf("%s, %s:%s in doc.go", c.name, competitor.name, text)
		}
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?m)^//\t.*?((?: +\d\d){8})$`).FindAllStringSubmatch(string(doc), -1)
	if len(table) != len(rows) {
		t.Fatalf("the table in doc.go has %d rows, want %d", len(table), len(rows))
	}
	for i, row := range rows {
		had := strings.Fields(table[i][1])
		for j, v := range strings.Fields(row) {
			x, _ := strconv.ParseFloat(had[j], 64)
			y, _ := strconv.ParseFloat(v, 64)
			if math.Abs(x-y) > 1 {
				t.Errorf("doc.go has %q where the study has %q", table[i][0], row)
				break
			}
		}
	}
}
