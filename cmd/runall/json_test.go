package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"polkrepro/data"
	"polkrepro/evidence/stats"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/internal/words"
	"polkrepro/record"
)

// schemas is the folder of the schemas of --json. The path is absolute because tests change the
// working directory.
var schemas, _ = filepath.Abs("../../docs/schemas")

// documents are the values that --json writes, by the name of their schema: the name of the
// command, with hyphens.
var documents = map[string]any{
	"compare":                   Comparisons{},
	"data-status":               []data.StatusRow{},
	"evaluate":                  Evaluation{},
	"plan":                      Plan{},
	"report":                    Report{},
	"train":                     Training{},
	"verify":                    Verification{},
	"verify-multiverse":         Multiverse{},
	"verify-multiverse-joint":   Joint{},
	"verify-multiverse-placebo": Placebo{},
	"verify-records":            Agreement{},
}

// TestSchemasAreCurrent: docs/schemas has the schema of every document, and no other
// file; every key has a description.
func TestSchemasAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one goroutine")
	}
	var want []string
	for name, v := range documents {
		want = append(want, name+".json")
		path := filepath.Join(schemas, name+".json")
		text := schemaOf(t, name, v)
		golden.Check(t, path, string(text))
	}
	slices.Sort(want)
	if got := testutil.Names(t, schemas); !slices.Equal(got, want) {
		t.Errorf("docs/schemas has %v, want %v", got, want)
	}
}

// schemaOf returns the JSON Schema of a document, indented.
func schemaOf(t *testing.T, name string, v any) []byte {
	t.Helper()
	r := &jsonschema.Reflector{ExpandedStruct: true, Anonymous: true, Mapper: numbers}
	for _, dir := range []string{".", "../../compare", "../../evidence", "../../report", "../../data", "../../harness", "../../online", "../../record"} {
		testutil.NoError(t, r.AddGoComments("polkrepro/cmd/runall", dir, jsonschema.WithFullComment()))
	}
	s := r.Reflect(v)
	s.Title = "runall " + strings.Replace(strings.ReplaceAll(name, "-", " "), " joint", " --joint", 1) + " --json"
	if name == "evaluate" { // the later keys belong to one task each
		s.Required = s.Required[:slices.Index(s.Required, "error")]
	}
	objects := maps.Clone(s.Definitions)
	if objects == nil {
		objects = make(jsonschema.Definitions)
	}
	objects["document"] = s
	for object, o := range objects {
		for p := o.Properties.Oldest(); p != nil; p = p.Next() {
			if p.Value.Description == "" && (len(p.Value.OneOf) == 0 || p.Value.OneOf[0].Description == "") {
				t.Errorf("%s: %s.%s has no description", name, object, p.Key)
			}
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	testutil.NoError(t, err)
	return append(text, '\n')
}

// numbers returns the schemas of the types that implement their JSON encoding.
func numbers(t reflect.Type) *jsonschema.Schema {
	number := &jsonschema.Schema{Type: "number"}
	switch t {
	case reflect.TypeFor[words.Nullable]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{number, {Type: "null"}}}
	case reflect.TypeFor[record.Float]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{number, {Type: "string", Enum: []any{"NaN", "+Inf", "-Inf"}}}}
	case reflect.TypeFor[stats.Verdict]():
		return &jsonschema.Schema{Type: "string", Enum: []any{"reproduced", "inconclusive", "not run", "deviates"}}
	}
	return nil
}

// readJSON parses a document and validates it by the schema of that name. The name - stands for
// no schema.
func readJSON(name, text string) (v any, err error) {
	if err := json.Unmarshal([]byte(text), &v); err != nil || name == "-" {
		return v, err
	}
	var schema testutil.Schema
	b, err := os.ReadFile(filepath.Join(schemas, name+".json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		return nil, err
	}
	if problems := schema.Validate(v); len(problems) > 0 {
		return nil, fmt.Errorf("%s: %s", name, strings.Join(problems, "\n"))
	}
	if object, ok := v.(map[string]any); ok && name != "verify" && object["schema"] != 1.0 {
		return nil, fmt.Errorf("%s: schema %v, want 1", name, object["schema"])
	}
	return v, nil
}
