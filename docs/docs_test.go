// Package docs has only tests, which check the documents of this repository against the
// repository.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml"

	"polkrepro/internal/testutil"
)

// root is the repository; paths in this file are relative to it.
const root = ".."

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	testutil.NoError(t, err)
	return string(b)
}

// documents returns the paths of all Markdown files of the repository. It skips results of runs,
// binaries and data, which are not part of the repository, and testdata, which was written for
// other folders.
func documents(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			generated := filepath.Dir(rel) == "results" && d.Name() != "reference"
			if generated || slices.Contains([]string{".git", "bin", "testdata", "cache", "records"}, d.Name()) {
				return filepath.SkipDir
			}
		} else if filepath.Ext(path) == ".md" {
			paths = append(paths, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d documents, %v", len(paths), err)
	}
	return paths
}

var (
	code    = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]+`")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
)

// anchors returns the anchors of a document's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	out := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, ""), -1) {
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, link.ReplaceAllString(strings.TrimSpace(m[1]), ""))
		id := slug
		for i := 1; out[id]; i++ {
			id = fmt.Sprintf("%s-%d", slug, i)
		}
		out[id] = true
	}
	return out
}

// TestLinks follows every relative link of every document.
func TestLinks(t *testing.T) {
	for _, doc := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, doc), ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			to := doc
			if target != "" {
				to = filepath.Join(filepath.Dir(doc), filepath.FromSlash(target))
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: link to %s: no such file", doc, m[1])
			} else if anchor != "" && !anchors(read(t, to))[anchor] {
				t.Errorf("%s: link to %s: no such heading", doc, m[1])
			}
		}
	}
}

// TestReached: docs/README.md has a link to every page of docs.
func TestReached(t *testing.T) {
	linked := read(t, "docs/README.md")
	for _, doc := range documents(t) {
		if dir, name := filepath.Split(doc); dir == "docs/" && name != "README.md" && !strings.Contains(linked, "("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}

// TestCitation: CITATION.cff has the keys that the Citation File Format 1.2.0 requires, and the
// holder and the licence of LICENSE.
func TestCitation(t *testing.T) {
	var c struct {
		Format  string `yaml:"cff-version"`
		Message string
		Title   string
		License string
		Authors []struct{ Name string }
	}
	testutil.NoError(t, yaml.Unmarshal([]byte(read(t, "CITATION.cff")), &c))
	if c.Format != "1.2.0" || c.Message == "" || c.Title == "" || len(c.Authors) != 1 {
		t.Fatalf("%+v: want cff-version 1.2.0, a message, a title and an author", c)
	}
	licence := read(t, "LICENSE")
	if holder := strings.TrimPrefix(c.Authors[0].Name, "The "); holder == "" || !strings.Contains(licence, "the "+holder+"\n") {
		t.Errorf("author %q: LICENSE names another holder", c.Authors[0].Name)
	}
	if !strings.HasPrefix(licence, c.License+" License\n") {
		t.Errorf("license %q: LICENSE is another", c.License)
	}
}
