package spec

import (
	"encoding/json"
	"io/fs"
	"polkrepro/experiments"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/invopop/jsonschema"

	"polkrepro/data/rows"
	"polkrepro/internal/golden"
	"polkrepro/internal/strictyaml"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/spec/internal/doc"
)

func TestSchemaIsCurrent(t *testing.T) {
	golden.Check(t, "schema.json", string(must(json.MarshalIndent(schemaOf(), "", "  ")))+"\n")
}

// schemaOf returns the JSON Schema of specs, with which an editor can check a spec during
// typing. The schema has keys, types and simple ranges. Rules that depend on the method, the
// task or the data set are checked by the parser alone. Descriptions are taken from the
// source of internal/doc and the table of hyper-parameters.
func schemaOf() *jsonschema.Schema {
	r := &jsonschema.Reflector{ExpandedStruct: true, Anonymous: true}
	if err := r.AddGoComments("polkrepro/spec", "internal/doc", jsonschema.WithFullComment()); err != nil {
		panic(err)
	}
	s := r.Reflect(new(doc.Spec))
	s.Title = "polkrepro experiment"
	one := uint64(1)
	seeds := &jsonschema.Schema{
		Type: "array", MinItems: &one, UniqueItems: true,
		Items: &jsonschema.Schema{Type: "integer", Minimum: "0"},
	}
	named := &jsonschema.Schema{Type: "string", Enum: []any{doc.DrawsCalibrated, doc.DrawsFigure}}
	s.Definitions["Draws"] = &jsonschema.Schema{OneOf: []*jsonschema.Schema{named, seeds}}
	s.Definitions["Seeds"] = &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "integer", Minimum: "1"}, seeds}}
	s.Definitions["Column"] = &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "integer"}}}
	for key, words := range map[string][]string{"format": rows.Formats(), "header": rows.HeaderWords(), "missing": rows.MissingWords(), "scale": rows.Scales()} {
		property, _ := s.Definitions["Data"].Properties.Get(key)
		for _, word := range words {
			property.Enum = append(property.Enum, word)
		}
	}
	task, _ := s.Properties.Get("task")
	for _, name := range append(Tasks(), TaskRegression) {
		task.Enum = append(task.Enum, name)
	}
	for _, key := range []string{"task", "data"} {
		single, _ := s.Properties.Get(key)
		item := *single
		item.Description = ""
		s.Properties.Set(key, &jsonschema.Schema{Description: single.Description, OneOf: []*jsonschema.Schema{&item, {Type: "array", Items: &item, MinItems: &one, UniqueItems: true}}})
	}
	repeat := &jsonschema.Schema{Ref: "#/$defs/Repeat"}
	s.Definitions["Repeats"] = &jsonschema.Schema{OneOf: []*jsonschema.Schema{repeat, {Type: "array", Items: repeat, MinItems: &one}}}
	s.Definitions["Variant"] = &jsonschema.Schema{Ref: "#"}
	for _, name := range kernel.Names() {
		kind, _ := s.Definitions["Kernel"].Properties.Get("type")
		kind.Enum = append(kind.Enum, name)
	}
	for definition, before := range map[string]string{"Method": "grid", "Defaults": "series", "Settings": "", "Grid": ""} {
		properties := s.Definitions[definition].Properties
		for _, name := range knownNames() {
			properties.Set(name, describe(known(name), definition == "Grid"))
			if before != "" {
				if err := properties.MoveBefore(name, before); err != nil {
					panic(err)
				}
			}
		}
	}
	return s
}

// describe returns the schema of a hyper-parameter's value, or of a list of values in a grid.
func describe(p *ParamInfo, grid bool) *jsonschema.Schema {
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

// number returns a number as JSON writes it.
func number(x float64) json.Number { return json.Number(setting{number: x}.String()) }

// TestSchemaAcceptsEmbedded validates the embedded specs, the files that they include, and
// the sample spec.
func TestSchemaAcceptsEmbedded(t *testing.T) {
	s := testutil.ReadSchema(t, "schema.json")
	bases := append(must(fs.Glob(experiments.Files, "base/*.yaml")), ComparisonFile)
	for _, name := range slices.AppendSeq(bases, slices.Values(embeddedFiles())) {
		src := must(experiments.Files.ReadFile(name))
		if !strings.HasPrefix(string(src), "# yaml-language-server: $schema="+strings.Repeat("../", 1+strings.Count(name, "/"))+"spec/schema.json\n") {
			t.Errorf("%s does not name its schema for editors", name)
		}
		for _, problem := range check(t, s, string(src)) {
			t.Errorf("%s: %s", name, problem)
		}
	}
	for _, problem := range check(t, s, valid) {
		t.Errorf("sample: %s", problem)
	}
}

// check validates a YAML document.
func check(t *testing.T, s testutil.Schema, src string) []string {
	t.Helper()
	r := new(strictyaml.Reporter)
	n := strictyaml.Parse("x.yaml", []byte(src), r)
	if n == nil {
		t.Fatal(r.Err())
	}
	return s.Validate(value2json(n))
}

// value2json returns a node as encoding/json would decode it.
func value2json(n *strictyaml.Node) any {
	switch n.Kind {
	case strictyaml.Mapping:
		m := make(map[string]any)
		for _, f := range n.Fields {
			m[f.Key] = value2json(f.Value)
		}
		return m
	case strictyaml.Sequence:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, value2json(item))
		}
		return list
	case strictyaml.Integer, strictyaml.Number:
		x, _ := n.Float()
		return x
	case strictyaml.Bool:
		return n.Text == "true"
	case strictyaml.String:
		return n.Text
	}
	return nil
}
