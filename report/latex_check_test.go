//go:build check

package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// TestCheckLaTeX compiles the output of 'runall report --format latex', the paper's tables with
// their verdicts, each table on a separate page. The tables must fit the page.
func TestCheckLaTeX(t *testing.T) {
	program, err := exec.LookPath("pdflatex")
	testutil.Need(t, err)
	in := widestInput(t)
	in.Assessment = judged(t, in)
	// The packages that the tables need, and none that a small TeX installation lacks.
	document := `\documentclass{article}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[margin=12mm]{geometry}
\usepackage{booktabs,graphicx}
\begin{document}
`
	for _, tb := range Build(in).Tables {
		document += tb.LaTeX() + "\\clearpage\n"
	}
	dir := t.TempDir()
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "tables.tex"), []byte(document+"\\end{document}\n"), 0o666))
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
