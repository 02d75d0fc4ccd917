package doc

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"
)

// Names are what a spec can name, which others than this package know.
type Names struct {
	Tasks, Kernels []string
	Settings       []string // hyper-parameters
	Setting        func(name string, grid bool) *jsonschema.Schema
}

// Schema returns the JSON Schema of Spec, indented. The working folder must be
// that of package experiments: descriptions are taken from this package's
// source.
func Schema(names Names) ([]byte, error) {
	r := &jsonschema.Reflector{ExpandedStruct: true, Anonymous: true}
	if err := r.AddGoComments("polkrepro/experiments", "internal/doc", jsonschema.WithFullComment()); err != nil {
		return nil, fmt.Errorf("descriptions: %w", err)
	}
	s := r.Reflect(new(Spec))
	s.Title = "polkrepro experiment"
	for _, name := range names.Tasks {
		task, _ := s.Properties.Get("task")
		task.Enum = append(task.Enum, name)
	}
	for _, name := range names.Kernels {
		kind, _ := s.Definitions["Kernel"].Properties.Get("type")
		kind.Enum = append(kind.Enum, name)
	}
	for definition, before := range map[string]string{"Method": "grid", "Defaults": "series", "Settings": "", "Grid": ""} {
		properties := s.Definitions[definition].Properties
		for _, name := range names.Settings {
			properties.Set(name, names.Setting(name, definition == "Grid"))
			if before != "" {
				if err := properties.MoveBefore(name, before); err != nil {
					return nil, err
				}
			}
		}
	}
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
