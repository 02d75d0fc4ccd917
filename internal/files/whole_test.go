package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
		if got := testutil.Names(t, dir); len(got) != 2 || !strings.HasPrefix(got[0], ".runall-") {
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
