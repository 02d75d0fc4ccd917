package harness

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/record"
)

// TestReplace checks that sealed files are replaced, and that a comparison and files outside the
// seal stay.
func TestReplace(t *testing.T) {
	dir, stage := t.TempDir(), t.TempDir()
	part := record.Parts()[0]
	for path, text := range map[string]string{
		filepath.Join(dir, record.ManifestName): "old", filepath.Join(dir, part): "old", filepath.Join(dir, record.Parts()[1]): "old",
		filepath.Join(dir, "README.md"): "kept", filepath.Join(stage, part): "new",
		filepath.Join(dir, record.Comparison): "kept",
	} {
		testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	testutil.NoError(t, replace(stage, dir))
	want := []string{"README.md", part, record.Comparison}
	slices.Sort(want)
	text, err := os.ReadFile(filepath.Join(dir, part))
	if got := testutil.Names(t, dir); !slices.Equal(got, want) || string(text) != "new" || err != nil {
		t.Errorf("%v, %s is %q, want %v", got, part, text, want)
	}
}
