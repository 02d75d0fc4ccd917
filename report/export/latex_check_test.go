//go:build check

package export

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// TestCheckLaTeX compiles the paper's tables and their verdicts with pdflatex. They must
// fit the page.
func TestCheckLaTeX(t *testing.T) {
	program, err := exec.LookPath("pdflatex")
	testutil.Need(t, err)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tables.tex"), document(t, true), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-interaction=nonstopmode", "-halt-on-error", "tables.tex")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, complaint := range []string{"Overfull", "too large for page", "undefined"} {
		for line := range strings.SplitSeq(string(out), "\n") {
			if strings.Contains(line, complaint) {
				t.Error(line)
			}
		}
	}
	pdf, err := os.ReadFile(filepath.Join(dir, "tables.pdf"))
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Errorf("no PDF: %v", err)
	}
}
