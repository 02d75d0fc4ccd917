package testutil

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Schema is a JSON Schema.
type Schema map[string]any

// ReadSchema reads a schema from a file. t is a *testing.T.
func ReadSchema(t T, path string) (s Schema) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Validate returns the errors of a value that encoding/json has decoded, or of the schema itself.
func (s Schema) Validate(v any) (problems []string) {
	c := jsonschema.NewCompiler()
	err := c.AddResource("schema", map[string]any(s))
	if err == nil {
		var compiled *jsonschema.Schema
		if compiled, err = c.Compile("schema"); err == nil {
			err = compiled.Validate(v)
		}
	}
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}
