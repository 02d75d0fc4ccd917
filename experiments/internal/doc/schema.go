package doc

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"
)

// Schema returns the JSON Schema of Spec, indented. The working folder must be
// that of package experiments: descriptions are taken from this package's
// source.
//
// An editor can check a spec with it as one types. It knows keys, types and
// simple ranges; what depends on the method, the task or the data set only the
// parser checks.
func Schema() ([]byte, error) {
	r := &jsonschema.Reflector{ExpandedStruct: true, Anonymous: true}
	if err := r.AddGoComments("polkrepro/experiments", "internal/doc", jsonschema.WithFullComment()); err != nil {
		return nil, fmt.Errorf("descriptions: %w", err)
	}
	s := r.Reflect(new(Spec))
	s.Title = "polkrepro experiment"
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
