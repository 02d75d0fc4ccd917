package docs

import (
	"fmt"
	"strings"
	"testing"

	"polkrepro/internal/words"
)

// deployed returns the fields of the lines of a table in results/reference/deploy.txt: ways of
// predicting is the second, sizes the third.
func deployed(t *testing.T, table int) (rows [][]string) {
	t.Helper()
	parts := strings.Split(strings.TrimSpace(read(t, "results/reference/deploy.txt")), "\n\n")
	if len(parts) != 4 {
		t.Fatalf("deploy.txt has %d parts", len(parts))
	}
	for _, line := range strings.Split(parts[table], "\n")[1:] {
		rows = append(rows, strings.Fields(line))
	}
	return rows
}

// TestDeployInText checks what own-data.md says of a9a.
func TestDeployInText(t *testing.T) {
	for _, f := range deployed(t, 1) {
		if f[0] != "a9a" {
			continue
		}
		page := words.OneLine(read(t, "docs/own-data.md"))
		for _, want := range []string{"`train` keeps " + f[1] + " elements", "model order " + f[1] + ", multi-hinge loss, 123 features", "error " + f[2] + " %"} {
			if !strings.Contains(page, want) {
				t.Errorf("own-data.md does not say %q", want)
			}
		}
		if share := number(t, f[3]) / 32561; share < 0.3 || share > 0.37 {
			t.Errorf("an SVM keeps %v of the rows, not a third", share)
		}
	}
}

// kilobytes formats a number of bytes.
func kilobytes(t *testing.T, bytes string) string {
	v := number(t, bytes) / 1000
	if v < 10 {
		return fmt.Sprintf("%.1f kB", v)
	}
	return fmt.Sprintf("%.0f kB", v)
}

// deployWays returns the sizes and times of the four ways of predicting.
func deployWays(t *testing.T) string {
	figures := make(map[string][]string)
	for _, f := range deployed(t, 1) {
		figures[f[0]] = f
	}
	var rows [][]string
	for _, f := range deployed(t, 2) {
		of := figures[f[0]]
		rows = append(rows, []string{f[0], f[1], kilobytes(t, f[2]), f[3], f[4] + " of " + f[6], kilobytes(t, f[7]), f[8], of[1], of[3], of[2]})
	}
	return markdown([]string{"data set", "way", "size", "µs a row", "labels that differ from `predict`", "size of the SVC", "its µs a row", "elements", "support vectors", "error (%)"}, rows)
}

// deploySizes returns the models for a microcontroller's memory.
func deploySizes(t *testing.T) string {
	var rows [][]string
	for _, f := range deployed(t, 3) {
		if f[3] == "none" {
			f = append(f, "–", "–", "–", "–")
		}
		for i := 5; i < 7; i++ {
			if f[i] != "–" && f[i] != "none" {
				f[i] = kilobytes(t, f[i])
			}
		}
		rows = append(rows, []string{f[0], f[1] + " kB", f[2], f[3], f[5], f[6], f[7]})
	}
	return markdown([]string{"data set", "for", "numbers", "elements", "code and constants, Cortex-M4", "ATmega2560", "error (%)"}, rows)
}
