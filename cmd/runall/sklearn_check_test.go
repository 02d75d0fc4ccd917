//go:build check && unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"polkrepro/internal/testutil"
)

// sklearn returns a command of the Python that has Debian's scikit-learn, with the folder python
// in its module path and this program as runall.
func sklearn(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	const interpreter = "/usr/bin/python3"
	if out, err := exec.Command(interpreter, "-c", "import sklearn").CombinedOutput(); err != nil {
		testutil.Need(t, fmt.Errorf("no scikit-learn (Debian: python3-sklearn): %w: %s", err, out))
	}
	client, err := filepath.Abs("../../python")
	testutil.NoError(t, err)
	cmd := exec.Command(interpreter, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PYTHONPATH="+client, "PYTHONDONTWRITEBYTECODE=1", "POLK_RUNALL=runall")
	return cmd
}

// Each part of the contract of python/polk.py is tested in a separate process.
func TestCheckSklearn(t *testing.T) {
	script, err := filepath.Abs("../../python/test_polk.py")
	testutil.NoError(t, err)
	for _, name := range []string{"check_estimator", "stream", "draft", "go_on", "errors", "process", "killed", "fork", "jobs", "sparse", "interrupted", "threads",
		"shared", "refused", "hostile", "features", "load", "labels", "single", "weights", "drift", "rate"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := sklearn(t, "-W", "error::ResourceWarning", script, name).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// The programs of docs/python.md print the output that the page shows. python/polk.py does not
// exceed its maximum size.
func TestCheckSklearnPage(t *testing.T) {
	t.Parallel()
	page := contents(t, "../../docs/python.md")
	program, shown := strings.Join(blocks(page, "python"), ""), strings.Join(blocks(page, "text"), "")
	out, err := sklearn(t, "-c", program).CombinedOutput()
	if err != nil || string(out) != shown {
		t.Errorf("%v: the page shows\n%sand the programs print\n%s", err, shown, out)
	}
	if n := strings.Count(contents(t, "../../python/polk.py"), "\n"); n > 580 {
		t.Errorf("python/polk.py has %d lines", n)
	}
}

// The estimators have a parameter for each flag of train, except the flags for files, output and streams without end.
func TestCheckSklearnParameters(t *testing.T) {
	t.Parallel()
	out, err := sklearn(t, "-c", "import polk; print(*polk.PolkRegressor().get_params())").Output()
	testutil.NoError(t, err)
	params := strings.Fields(string(out))
	files := []string{"json", "labels", "format", "header", "label", "classes", "features", "out", "resume", "save-every", "weight", "on-drift",
		"categories", "decimal", "delimiter", "ignore-columns", "keep-columns", "missing", "zero-based"}
	newTrain().Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(files, f.Name) && !slices.Contains(params, strings.ReplaceAll(f.Name, "-", "_")) {
			t.Errorf("no parameter for --%s in %v", f.Name, params)
		}
	})
}
