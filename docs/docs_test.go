// Package docs has only tests, which check the documents of this repository against the
// repository.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"polkrepro/evidence/ledger"
	_ "polkrepro/harness" // registers the methods that specs name
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

// documents returns the paths of the Markdown files that people write.
func documents(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "results/*.md", "results/reference/*.md"} {
		found, err := fs.Glob(os.DirFS(root), pattern)
		testutil.NoError(t, err)
		paths = append(paths, found...)
	}
	return paths
}

var (
	block   = regexp.MustCompile("(?ms)^```.*?^```")
	code    = regexp.MustCompile("`[^`\n]+`")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)

	punctuation = regexp.MustCompile(`[^\pL\p{Nd}_ -]`) // which anchors lack
)

// anchors returns the anchors of a document's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	out := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(block.ReplaceAllString(text, ""), -1) {
		title := link.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), "")
		out[strings.ReplaceAll(punctuation.ReplaceAllString(title, ""), " ", "-")] = true
	}
	return out
}

// TestLinks follows every relative link of every document.
func TestLinks(t *testing.T) {
	for _, doc := range documents(t) {
		prose := code.ReplaceAllString(block.ReplaceAllString(read(t, doc), ""), "")
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
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

// TestErrata: the tests that settle errata exist.
func TestErrata(t *testing.T) {
	for _, e := range ledger.Embedded().Errata {
		for _, name := range e.Tests {
			dot := strings.LastIndexByte(name, '.')
			files, _ := filepath.Glob(filepath.Join(root, name[:dot], "*_test.go"))
			if !slices.ContainsFunc(files, func(path string) bool {
				text, err := os.ReadFile(path)
				return err == nil && strings.Contains(string(text), "\nfunc "+name[dot+1:]+"(t *testing.T)")
			}) {
				t.Errorf("%s: there is no test %s", e.ID, name)
			}
		}
	}
}
