package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Spec names a registered kernel and has its parameters, as specs of
// experiments, settings and saved models do.
type Spec struct {
	Type      string  `json:"type"`                // what Name returns
	Bandwidth float64 `json:"bandwidth,omitempty"` // c of exp(−‖x−x'‖²/(2c²))
	Offset    float64 `json:"offset,omitempty"`    // b of (xᵀx'+b)^c
	Degree    int     `json:"degree,omitempty"`    // c of (xᵀx'+b)^c

	// Params is the JSON of a kernel whose fields are not all among the above.
	Params json.RawMessage `json:"params,omitempty"`
}

// A form describes how a registered kernel is read from a Spec and written to one.
type form struct {
	typ    reflect.Type
	fields []string // names of the kernel's fields, used only if flat
	flat   bool     // Spec has all fields of the kernel, by name and type
}

// forms holds the registered kernels by name.
var forms = make(map[string]form)

// Register registers kernels of type K under the Name of K's zero value, for specs and
// saved models ([Expansion.Write], [ReadExpansion]). Call it in init. If [Spec] has
// all fields of K by name and type (Bandwidth, Offset and Degree), they are stored
// there. Otherwise the kernel is stored as JSON in Spec.Params: its exported fields,
// unless K defines its own encoding. Kernels that are read are checked with Validate.
// K must not be a pointer type. Register panics if the name is already registered.
func Register[K Kernel]() {
	var zero K
	f := form{typ: reflect.TypeFor[K]()}
	f.flat = f.typ.Kind() == reflect.Struct
	if f.flat {
		for _, field := range reflect.VisibleFields(f.typ) {
			in, ok := reflect.TypeFor[Spec]().FieldByName(field.Name)
			f.flat = f.flat && ok && in.Type == field.Type
			f.fields = append(f.fields, field.Name)
		}
	}
	if _, known := forms[zero.Name()]; known {
		panic("kernel: kernel " + zero.Name() + " is already registered")
	}
	forms[zero.Name()] = f
}

// Names returns the names of the registered kernels, sorted.
func Names() []string { return slices.Sorted(maps.Keys(forms)) }

// Takes returns the JSON names of the parameters of the named kernel's [Spec],
// besides its type, or nil if no kernel has that name.
func Takes(name string) []string {
	f, ok := forms[name]
	switch {
	case !ok:
		return nil
	case !f.flat:
		return []string{"params"}
	}
	takes := []string{}
	for _, field := range f.fields {
		takes = append(takes, strings.ToLower(field))
	}
	return takes
}

// Kernel returns the kernel that s describes, without validating its parameters. It returns
// an error if no kernel of that name is registered or if Params can't be decoded into it.
func (s Spec) Kernel() (Kernel, error) {
	f, ok := forms[s.Type]
	if !ok {
		return nil, fmt.Errorf("kernel: unknown kernel %q (have %s)", s.Type, strings.Join(Names(), ", "))
	}
	k := reflect.New(f.typ)
	if f.flat && s.Params == nil {
		for _, name := range f.fields {
			k.Elem().FieldByName(name).Set(reflect.ValueOf(s).FieldByName(name))
		}
		return k.Elem().Interface().(Kernel), nil
	}
	d := json.NewDecoder(bytes.NewReader(s.Params))
	d.DisallowUnknownFields()
	if err := d.Decode(k.Interface()); err != nil {
		return nil, fmt.Errorf("kernel: kernel %q: %w", s.Type, err)
	}
	return k.Elem().Interface().(Kernel), nil
}

// specOf is the inverse of Spec.Kernel. If the kernel is stored as JSON, specOf decodes it
// again and compares, because an unexported field would be lost.
func specOf(k Kernel) (Spec, error) {
	s := Spec{Type: k.Name()}
	if f := forms[s.Type]; f.flat && f.typ == reflect.TypeOf(k) {
		for _, name := range f.fields {
			reflect.ValueOf(&s).Elem().FieldByName(name).Set(reflect.ValueOf(k).FieldByName(name))
		}
		return s, nil
	}
	var err error
	if s.Params, err = json.Marshal(k); err != nil {
		return s, fmt.Errorf("kernel: kernel %s: %w", s.Type, err)
	}
	again, err := s.Kernel()
	if err != nil {
		return s, fmt.Errorf("kernel: can't save a model with kernel %s: %w", s.Type, err)
	}
	if !reflect.DeepEqual(again, k) {
		return s, fmt.Errorf("kernel: kernel %s changes when it is decoded from its JSON %s: export all its fields", s.Type, s.Params)
	}
	return s, nil
}
