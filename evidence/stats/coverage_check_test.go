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

	"polkrepro/internal/testutil"
)

// TestCheckCoverage computes the full study, checks the chosen intervals against their bound, and
// compares their rows of the table in doc.go, in which no number may be off by more than a point.
// With -v it prints every distribution.
func TestCheckCoverage(t *testing.T) {
	const samples = 4000
	doc, err := os.ReadFile("doc.go")
	testutil.NoError(t, err)
	for _, c := range situations {
		var normal, all [4]float64 // the lowest coverage of the normal distributions, and of all
		for i, n := range sizes {
			normal[i], all[i] = 1, 1
			for row, d := range c.all(t, n) {
				got := c.coverage(rand.New(rand.NewPCG(uint64(row), uint64(i))), d, samples)
				t.Logf("%s, %s, n = %d: %.1f %s", c.name, c.method, n, 100*got, d.name)
				if !(got >= least-errors3(least, samples)) && !slices.Contains(short, d.name) {
					t.Errorf("%s of %d: %s: %s holds the truth in %.3f of samples", c.name, n, d.name, c.method, got)
				}
				all[i] = min(all[i], got)
				if row < len(c.designs(shape{}, n)) { // the normal ones
					normal[i] = min(normal[i], got)
				}
			}
		}
		row := regexp.MustCompile(`(?m)^//\t` + c.name + ` +` + c.method + `((?: +\d\d){8})$`).FindStringSubmatch(string(doc))
		if row == nil {
			t.Fatalf("doc.go has no row of %s, %s", c.name, c.method)
		}
		for i, text := range strings.Fields(row[1]) {
			had, err := strconv.ParseFloat(text, 64)
			if got := 100 * slices.Concat(normal[:], all[:])[i]; err != nil || !(math.Abs(got-had) <= 1.5) {
				t.Errorf("doc.go has %q of %s, where number %d is %s", row[0], c.name, i+1, fmt.Sprintf("%.1f", got))
			}
		}
	}
}
