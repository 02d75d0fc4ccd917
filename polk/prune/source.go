package prune

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
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
// comments and white space. For a heuristic from outside this package, Code is its Identity.
func (h Heuristic) Code() string {
	if h.Identity != "" {
		return h.Identity
	}
	sum := sourceHashes()[h.file]
	switch v := versions()[h.Name]; {
	case v.Source != sum:
		return "source " + sum
	case v.Version > 1:
		return fmt.Sprintf("version %d", v.Version)
	}
	return ""
}

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
	uses []string          // names that it does not declare itself
}

// sourceHashes returns, for each file of this package, the hash of the file and of all files
// whose names it uses, directly or indirectly. registry.go and this file are left out, because
// they only determine which heuristics there are. Methods count as part of the file of their type.
var sourceHashes = sync.OnceValue(func() map[string]string {
	files, declaredIn := make(map[string]sourceFile), make(map[string]string)
	for _, e := range must(sources.ReadDir(".")) {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "registry.go" || name == "source.go" {
			continue
		}
		text := must(sources.ReadFile(name))
		syntax := must(parser.ParseFile(token.NewFileSet(), name, text, 0))
		f := sourceFile{hash: hashTokens(text)}
		for _, id := range syntax.Unresolved {
			f.uses = append(f.uses, id.Name)
		}
		for id := range syntax.Scope.Objects {
			declaredIn[id] = name
		}
		files[name] = f
	}
	hashes := make(map[string]string)
	for name := range files {
		reached := map[string]bool{name: true}
		for todo := []string{name}; len(todo) > 0; todo = todo[1:] {
			for _, id := range files[todo[0]].uses {
				if other := declaredIn[id]; other != "" && !reached[other] {
					reached[other] = true
					todo = append(todo, other)
				}
			}
		}
		h := sha256.New()
		for _, other := range slices.Sorted(maps.Keys(reached)) {
			sum := files[other].hash
			h.Write(sum[:])
		}
		hashes[name] = hex.EncodeToString(h.Sum(nil)[:6])
	}
	return hashes
})

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
