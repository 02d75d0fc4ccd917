// Package docs has no code: its tests hold the documents of this repository to
// the repository.
package docs

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml"
)

// root is the repository; paths in this file are relative to it.
const root = ".."

// named are the documents in which everything between backticks is checked.
var named = []string{"docs/architecture.md", "CONTRIBUTING.md"}

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path)))
	return err == nil
}

// split returns the prose and the code of a document: fenced blocks by line,
// and what is between backticks.
func split(text string) (prose string, code []string) {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case fenced:
			code = append(code, strings.TrimSpace(line))
		default:
			b.WriteString(line)
		}
	}
	prose = span.ReplaceAllStringFunc(b.String(), func(s string) string {
		code = append(code, strings.Trim(s, "`"))
		return "" // a link in it is none
	})
	return prose, code
}

var (
	span    = regexp.MustCompile("`[^`]+`")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
)

// anchors returns the anchors of a document's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	out := make(map[string]bool)
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		m := heading.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if fenced || m == nil {
			continue
		}
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
	checked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			// Results of runs, binaries and data are not the repository's; what
			// is in testdata was written for another folder.
			generated := filepath.Dir(rel) == "results" && d.Name() != "reference"
			if generated || slices.Contains([]string{".git", "bin", "testdata", "cache", "records"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text := read(t, rel)
		prose, _ := split(text)
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			checked++
			to := rel
			if target != "" {
				to = filepath.Join(filepath.Dir(rel), filepath.FromSlash(target))
			}
			if !exists(to) {
				t.Errorf("%s: link to %s: no such file", rel, m[1])
			} else if anchor != "" && !anchors(read(t, to))[anchor] {
				t.Errorf("%s: link to %s: no such heading", rel, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked == 0 {
		t.Error("no links found")
	}
}

var (
	makeTarget = regexp.MustCompile(`^(?:[A-Z_]+=\S* )*make ([a-z-]+)`)
	subcommand = regexp.MustCompile(`^(?:[A-Z_]+=\S* )*bin/runall ([a-z0-9]+)`)
	goTest     = regexp.MustCompile(`^(?:[A-Z_]+=\S* )*go test .*?\./(\S+)(?:.* -run (\w+))?`)
	exported   = regexp.MustCompile(`^([a-z0-9]+)\.([A-Z]\w*(?:\.\w+)?)$`)
	file       = regexp.MustCompile(`^[\w.*-]+(/[\w.*-]+)*/?$`)
	row        = regexp.MustCompile("(?m)^\\| `([\\w/]+\\.go)` \\| ([^|]*) \\|")
)

// TestNames: the files, functions, make targets, subcommands and tests that the
// documents name exist.
func TestNames(t *testing.T) {
	packages := goPackages(t)
	makefile := read(t, "Makefile")
	for _, doc := range named {
		text := read(t, doc)
		for _, m := range row.FindAllStringSubmatch(text, -1) {
			declared := declarations(t, m[1])
			for _, name := range span.FindAllString(m[2], -1) {
				if name = strings.Trim(name, "`"); !declared[name] {
					t.Errorf("%s: %s is not declared in %s", doc, name, m[1])
				}
			}
		}
		_, code := split(text)
		for _, c := range code {
			if m := makeTarget.FindStringSubmatch(c); m != nil {
				if !regexp.MustCompile(`(?m)^([a-z-]+ )*` + m[1] + `( [a-z-]+)*:`).MatchString(makefile) {
					t.Errorf("%s: make %s: no such target", doc, m[1])
				}
			} else if m := subcommand.FindStringSubmatch(c); m != nil {
				if !declaresCommand(t, m[1]) {
					t.Errorf("%s: runall %s: no such command", doc, m[1])
				}
			} else if m := goTest.FindStringSubmatch(c); m != nil {
				if !exists(m[1]) {
					t.Errorf("%s: %s: no package %s", doc, c, m[1])
				} else if m[2] != "" && !hasTest(t, m[1], m[2]) {
					t.Errorf("%s: %s: no test %s", doc, c, m[2])
				}
			} else if m := exported.FindStringSubmatch(c); m != nil {
				dir, ok := packages[m[1]]
				if !ok {
					t.Errorf("%s: %s: no package %s", doc, c, m[1])
				} else if !declarations(t, filesOf(t, dir)...)[m[2]] {
					t.Errorf("%s: %s is not declared in %s", doc, m[2], dir)
				}
			} else if isPath(c) {
				if found, err := filepath.Glob(filepath.Join(root, c)); err != nil || len(found) == 0 {
					t.Errorf("%s: %s: no such file", doc, c)
				}
			}
		}
	}
}

// isPath reports whether code is meant as a path of the repository. Folders
// that commands write to are there only after them.
func isPath(code string) bool {
	if !file.MatchString(code) || strings.HasPrefix(code, "data/cache") || strings.HasPrefix(code, "bin/") ||
		strings.HasPrefix(code, "results/") && !strings.HasPrefix(code, "results/reference") {
		return false
	}
	known := []string{".go", ".md", ".yaml", ".json", ".cff", ".csv", ".mod"}
	return strings.Contains(code, "/") || slices.Contains(known, filepath.Ext(code))
}

// goPackages returns the folders of the module's packages by their name.
func goPackages(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, dir := range goFolders(t) {
		out[filepath.Base(dir)] = dir
	}
	return out
}

// goFolders returns the module's folders that have Go code other than tests.
func goFolders(t *testing.T) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if rel != "." && (strings.ContainsAny(d.Name()[:1], "._") || slices.Contains([]string{"testdata", "results", "bin", "cache"}, d.Name())) {
			return filepath.SkipDir
		}
		if len(filesOf(t, rel)) > 0 {
			dirs = append(dirs, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// filesOf returns the Go files of a folder, without tests.
func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if !strings.HasSuffix(path, "_test.go") {
			rel, _ := filepath.Rel(root, path)
			files = append(files, rel)
		}
	}
	return files
}

// declarations returns the functions and types that files declare; methods as
// Type.Method.
func declarations(t *testing.T, files ...string) map[string]bool {
	t.Helper()
	out := make(map[string]bool)
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				out[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						out[s.Name.Name] = true
					}
				}
			}
		}
	}
	return out
}

// receiver returns the type of a method and a dot, nothing of a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}

// declaresCommand reports whether runall has a command.
func declaresCommand(t *testing.T, name string) bool {
	t.Helper()
	use := regexp.MustCompile(`Use:\s+"` + name + `[ "]`)
	return slices.ContainsFunc(filesOf(t, "cmd/runall"), func(f string) bool { return use.MatchString(read(t, f)) })
}

// hasTest reports whether a pattern of -run, without build tags, finds a test.
func hasTest(t *testing.T, dir, pattern string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	decl := regexp.MustCompile(`(?m)^func Test\w*` + strings.TrimPrefix(pattern, "Test") + `\w*\(`)
	return slices.ContainsFunc(files, func(path string) bool {
		b, err := os.ReadFile(path)
		return err == nil && decl.Match(b)
	})
}

// TestDiagram: the arrows of docs/architecture.md are the imports between the
// top-level folders, without those that a chain of others implies.
func TestDiagram(t *testing.T) {
	imports := reduced(topImports(t))
	arrow := regexp.MustCompile(`(?m)^    (\w+) --> (\w+(?: & \w+)*)$`)
	drawn := make(map[string][]string)
	text := read(t, "docs/architecture.md")
	for _, m := range arrow.FindAllStringSubmatch(text, -1) {
		drawn[m[1]] = append(drawn[m[1]], strings.Split(m[2], " & ")...)
	}
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		if !strings.Contains(text, "\n    "+from+`["<b>`) {
			t.Errorf("folder %s is not in the diagram", from)
		}
		want, got := imports[from], slices.Sorted(slices.Values(drawn[from]))
		if !slices.Equal(got, want) {
			t.Errorf("the diagram has %s --> %s; the imports are\n    %s --> %s", from, strings.Join(got, " & "), from, strings.Join(want, " & "))
		}
		delete(drawn, from)
	}
	for from := range drawn {
		t.Errorf("the diagram has arrows from %s, which is no folder of packages", from)
	}
}

// topImports returns, for each top-level folder of packages but internal, which
// others its packages import.
func topImports(t *testing.T) map[string][]string {
	t.Helper()
	set := make(map[string]map[string]bool)
	for _, dir := range goFolders(t) {
		from, _, _ := strings.Cut(filepath.ToSlash(dir), "/")
		if from == "internal" {
			continue
		}
		if set[from] == nil {
			set[from] = make(map[string]bool)
		}
		p, err := build.ImportDir(filepath.Join(root, dir), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range p.Imports {
			own, ok := strings.CutPrefix(path, "polkrepro/")
			to, _, _ := strings.Cut(own, "/")
			if ok && to != from && to != "internal" {
				set[from][to] = true
			}
		}
	}
	out := make(map[string][]string)
	for from, tos := range set {
		out[from] = slices.Sorted(maps.Keys(tos))
	}
	return out
}

// reduced leaves out of an acyclic graph the edges that longer paths imply.
func reduced(graph map[string][]string) map[string][]string {
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return slices.ContainsFunc(graph[from], func(next string) bool { return next == to || reaches(next, to) })
	}
	out := make(map[string][]string)
	for from, tos := range graph {
		out[from] = slices.DeleteFunc(slices.Clone(tos), func(to string) bool {
			return slices.ContainsFunc(tos, func(other string) bool { return other != to && reaches(other, to) })
		})
	}
	return out
}

// TestCitation: CITATION.cff has what the Citation File Format 1.2.0 requires,
// and the holder and the licence that LICENSE has.
func TestCitation(t *testing.T) {
	var c struct {
		Format  string `yaml:"cff-version"`
		Message string
		Title   string
		License string
		Authors []struct{ Name string }
	}
	if err := yaml.Unmarshal([]byte(read(t, "CITATION.cff")), &c); err != nil {
		t.Fatal(err)
	}
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
