package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"polkrepro/internal/testutil"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// TestWrite checks that a file is replaced by a complete file, and that a failure leaves the
// file unchanged.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	testutil.NoError(t, Write(path, text("one")))
	failure := errors.New("no more")
	err := Write(path, func(w io.Writer) error {
		io.WriteString(w, "half")
		if got := testutil.Names(t, dir); len(got) != 2 || !strings.HasPrefix(got[0], ".model-") {
			t.Errorf("while it is written: %v", got)
		}
		return failure
	})
	b, readErr := os.ReadFile(path)
	if err != failure || readErr != nil || string(b) != "one" || len(testutil.Names(t, dir)) != 1 {
		t.Errorf("error %v, contents %q, files %v", err, b, testutil.Names(t, dir))
	}
	if err := Probe(path); err != nil || len(testutil.Names(t, dir)) != 1 {
		t.Errorf("probe: %v, files %v", err, testutil.Names(t, dir))
	}
	if err := Probe(filepath.Join(dir, "none", "model")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("probe of no folder: %v", err)
	}
}

// TestDead checks that temporary files of killed processes are removed, and that those of
// living processes and files with similar names are not.
func TestDead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("dead processes' files are left")
	}
	dir := t.TempDir()
	others := []string{".model-2-3.tmp", ".model-7.tmp.old", ".model-x.tmp", ".modell-8.tmp", "model-9.tmp"}
	for _, name := range append([]string{".model-123.tmp", ".model-4.tmp", ".probe-5.tmp"}, others...) {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	living, err := os.Open(filepath.Join(dir, ".model-4.tmp"))
	testutil.NoError(t, err)
	defer living.Close()
	if ok, err := TryLock(living); !ok || err != nil {
		t.Fatal(ok, err)
	}
	testutil.NoError(t, Write(filepath.Join(dir, "model"), text("two")))
	testutil.NoError(t, Probe(filepath.Join(dir, "probe")))
	want := slices.Sorted(slices.Values(append([]string{".model-4.tmp", "model"}, others...)))
	if got := testutil.Names(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

// TestTogether checks that no concurrent write of one file fails, and that the file always
// has the contents of one write.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	long := strings.Repeat("abcdefgh", 1000)
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for range 20 {
				if err := Write(path, text(fmt.Sprint(i)+long)); err != nil {
					t.Error(err)
				}
				if b, err := os.ReadFile(path); err != nil || len(b) != 1+len(long) || string(b[1:]) != long {
					t.Errorf("%d bytes, %v", len(b), err)
				}
			}
		})
	}
	writers.Wait()
	if got := testutil.Names(t, dir); len(got) != 1 {
		t.Errorf("files %v", got)
	}
}
