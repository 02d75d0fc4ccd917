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
	NoError(t, err)
	NoError(t, json.Unmarshal(b, &s))
	return s
}

// Validate returns the errors of a value that encoding/json has decoded. It panics if the schema is invalid.
func (s Schema) Validate(v any) []string {
	c := jsonschema.NewCompiler()
	c.AddResource("schema", map[string]any(s)) // an error of the resource is one of MustCompile
	if err := c.MustCompile("schema").Validate(v); err != nil {
		return strings.Split(err.Error(), "\n")
	}
	return nil
}
