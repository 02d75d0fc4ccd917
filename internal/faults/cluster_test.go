//go:build check && linux

package faults

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// clusterCommands returns the commands that spread runs over a cluster, with a
// plan and its records made in a folder.
func clusterCommands(binary, dir string) ([]*command, error) {
	if err := lay(dir); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"cluster", "plan", "margin.yaml", "logistic.yaml", "--tasks", "1", "--out", "plan"},
		{"cluster", "exec", "plan", "--task", "0", "--results", "done", "--progress", "quiet"},
	} {
		cmd := exec.Command(binary, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, errors.Join(err, errors.New(string(out)))
		}
	}
	copied := func(names ...string) func(string) error {
		return func(to string) error {
			var errs []error
			for _, name := range names {
				errs = append(errs, os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(dir, name))))
			}
			return errors.Join(errs...)
		}
	}
	return []*command{
		{
			// What a killed process has left is hidden, beside the plan.
			name: "plan", restarts: true, fixed: true, prepare: makeResults, leaves: func(name string) bool { return strings.HasPrefix(name, ".plan-") },
			args: []string{"cluster", "plan", "margin.yaml", "logistic.yaml", "--tasks", "3", "--out", resultsDir + "/plan"},
		},
		{
			// What a killed process has left is collect's to tell.
			name: "exec", prepare: copied("plan"), leaves: func(name string) bool { return strings.HasPrefix(name, "attempts/") },
			args: []string{"cluster", "exec", "plan", "--task", "0", "--workers", "2", "--progress", "plain", "--results", resultsDir},
		},
		{
			name: "collect", locks: true, prepare: copied("plan", "done"),
			args: []string{"cluster", "collect", "plan", "--from", "done", "--results", resultsDir},
		},
	}, nil
}
