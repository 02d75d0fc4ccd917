package experiments

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/invopop/jsonschema"

	"polkrepro/experiments/internal/doc"
	"polkrepro/kernel"
)

// Schema returns the JSON Schema of specs. The working folder must be that of
// this package: descriptions are taken from the source of internal/doc.
//
// An editor can check a spec with it as one types. It knows keys, types and
// simple ranges; what depends on the method, the task or the data set only the
// parser checks.
func Schema() ([]byte, error) {
	return doc.Schema(doc.Names{
		Tasks: Tasks(), Kernels: kernel.Names(), Settings: knownNames(),
		Setting: func(name string, grid bool) *jsonschema.Schema { return known(name).schema(grid) },
	})
}

// schema describes a value of the hyper-parameter, or the list of those in a grid.
func (p *ParamInfo) schema(grid bool) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	switch p.Kind {
	case KindNumber, KindInteger:
		s.Type = string(p.Kind)
	case KindPrunerParams:
		s.Type, s.AdditionalProperties = "object", &jsonschema.Schema{Type: "number"}
	}
	if grid {
		one := uint64(1)
		return &jsonschema.Schema{Type: "array", Items: s, MinItems: &one, UniqueItems: true, Description: "Values to combine: " + p.About + "."}
	}
	s.Description = p.About + "."
	if first, size := utf8.DecodeRuneInString(p.About); p.Symbol == "" || !strings.HasPrefix(p.About, p.Symbol) {
		s.Description = string(unicode.ToUpper(first)) + p.About[size:] + "."
	}
	for _, c := range p.Choices {
		s.Enum = append(s.Enum, c)
	}
	if p.Above != nil {
		s.ExclusiveMinimum = number(*p.Above)
	}
	if p.Least != nil {
		s.Minimum = number(*p.Least)
	}
	return s
}

// number returns a number as JSON has it.
func number(x float64) json.Number { return json.Number(setting{number: x}.String()) }
