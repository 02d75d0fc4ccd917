package prune

import (
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

//go:embed *.go versions.json
var sources embed.FS

// A version is the code of a heuristic of which results are recorded.
type version struct {
	Version int       `json:"version"`
	Source  string    `json:"source"` // its hash
	Result  []float64 `json:"result"` // of the run that TestVersions repeats
}

// versions returns the recorded versions by the heuristics' names.
var versions = sync.OnceValue(func() map[string]version {
	var all map[string]version
	if err := json.Unmarshal(must(sources.ReadFile("versions.json")), &all); err != nil {
		panic("prune: versions.json: " + err.Error())
	}
	return all
})

// must panics on an error, which the embedded files of this package don't have.
func must[T any](v T, err error) T {
	if err != nil {
		panic("prune: its own source: " + err.Error())
	}
	return v
}

// Code tells results of the heuristic from results of other code under its name. If versions.json
// records its source, Code is empty for version 1 and the number of any later version. For other
// source it is the hash of the source, so editing a heuristic changes its Code. The hash covers
// the file that registers the heuristic and the files of this package that it uses, without
// comments and white space. For a heuristic from outside this package, Code is its Identity or,
// without one, the hash of the running program.
func (h Heuristic) Code() string {
	if h.Identity != "" {
		return h.Identity
	}
	if h.file == "" {
		return "program " + programHash()
	}
	sum := sourceHashes()[h.file]
	switch v := versions()[h.Base()]; {
	case v.Source != sum:
		return "source " + sum
	case v.Version > 1:
		return fmt.Sprintf("version %d", v.Version)
	}
	return ""
}

// programHash returns the hash of the running program's file. If the file can't be read the hash
// is random, so that no result is taken for one of another process.
var programHash = sync.OnceValue(func() string {
	name, _ := os.Executable()
	program, err := os.ReadFile(name)
	if err != nil {
		return rand.Text()
	}
	sum := sha256.Sum256(program)
	return short(sum[:])
})

func short(sum []byte) string { return hex.EncodeToString(sum[:6]) }

// registeringFile returns the name of the file of this package that calls Register, or "" if
// another package calls it. It must be called by Register itself.
func registeringFile() string {
	pc, file, _, ok := runtime.Caller(2)
	if !ok {
		return ""
	}
	own, _, _ := strings.Cut(path.Base(runtime.FuncForPC(pc).Name()), ".")
	if _, err := sources.Open(path.Base(file)); err != nil || own != "prune" {
		return ""
	}
	return path.Base(file)
}

// A sourceFile is a file of this package.
type sourceFile struct {
	hash [sha256.Size]byte // of its tokens
	uses []string          // identifiers
}

// sourceHashes returns, for each file of this package, the hash of the file and of all files
// whose names it uses, directly or indirectly. registry.go and this file are left out, because
// they only determine which heuristics there are.
var sourceHashes = sync.OnceValue(func() map[string]string {
	files, declared := make(map[string]*sourceFile), make(map[string][]string)
	for _, e := range must(sources.ReadDir(".")) {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "registry.go" || name == "source.go" {
			continue
		}
		text := must(sources.ReadFile(name))
		syntax := must(parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution))
		f := &sourceFile{hash: hashTokens(text)}
		ast.Inspect(syntax, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				f.uses = append(f.uses, id.Name)
			}
			return true
		})
		files[name] = f
		for _, id := range declarations(syntax) {
			declared[id] = append(declared[id], name)
		}
	}
	hashes := make(map[string]string)
	for name := range files {
		h := sha256.New()
		for _, used := range reached(name, files, declared) {
			h.Write(files[used].hash[:])
		}
		hashes[name] = short(h.Sum(nil))
	}
	return hashes
})

// reached returns a file and all files whose names it uses, directly or indirectly, sorted.
func reached(name string, files map[string]*sourceFile, declared map[string][]string) []string {
	seen := map[string]bool{name: true}
	for todo := []string{name}; len(todo) > 0; todo = todo[1:] {
		for _, id := range files[todo[0]].uses {
			for _, other := range declared[id] {
				if !seen[other] {
					seen[other] = true
					todo = append(todo, other)
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// declarations returns the names that a file declares. It leaves out methods, which are in the
// file of their type.
func declarations(f *ast.File) []string {
	var out []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" {
				out = append(out, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out = append(out, s.Name.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						out = append(out, id.Name)
					}
				}
			}
		}
	}
	return out
}

// hashTokens returns the hash of a file's tokens, without comments and white space.
func hashTokens(text []byte) (sum [sha256.Size]byte) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, text, nil, 0)
	h := sha256.New()
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			h.Sum(sum[:0])
			return sum
		}
		if tok != token.SEMICOLON { // the scanner also inserts semicolons at line ends
			fmt.Fprintf(h, "%d %q\n", tok, literal)
		}
	}
}
