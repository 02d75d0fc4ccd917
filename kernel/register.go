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

// A form is how a registered kernel is read from a Spec and written to one.
type form struct {
	typ    reflect.Type
	fields []string // names of the kernel's fields if Spec has all of them by name and type
	flat   bool     // it has
}

// forms holds the registered kernels by name.
var forms = make(map[string]form)

// Register makes kernels of type K known by the Name of K's zero value, to specs
// and to saved models ([Expansion.Write], [ReadExpansion]); call it in init. Fields
// that are called Bandwidth, Offset and Degree and have their types in [Spec] are
// given and saved there. A kernel that has others is given and saved as its JSON,
// the exported fields unless it says otherwise. What is read is checked by Validate.
// K is not to be a pointer. It panics if there is a kernel of that name.
func Register[K Kernel]() {
	var zero K
	f := form{typ: reflect.TypeFor[K]()}
	if f.flat = f.typ.Kind() == reflect.Struct; f.flat {
		for _, field := range reflect.VisibleFields(f.typ) {
			in, ok := reflect.TypeFor[Spec]().FieldByName(field.Name)
			f.flat = f.flat && ok && in.Type == field.Type
			f.fields = append(f.fields, field.Name)
		}
	}
	if _, known := forms[zero.Name()]; known {
		panic("kernel: there is a kernel " + zero.Name() + " already")
	}
	forms[zero.Name()] = f
}

// Names returns the names of the registered kernels, sorted.
func Names() []string { return slices.Sorted(maps.Keys(forms)) }

// Takes returns what a [Spec] of a kernel has beside its type, by the names in
// JSON; nil if there is no kernel of that name.
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

// Kernel returns the kernel, whose parameters may be invalid. It fails if none of
// that name is registered, or if Params are not its JSON.
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

// specOf is the inverse of Spec.Kernel. Of a kernel that is saved as its JSON it
// is tried whether that can be read back: a field that is not exported would be lost.
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
		return s, fmt.Errorf("kernel: a model with kernel %s has no saved form: %w", s.Type, err)
	}
	if !reflect.DeepEqual(again, k) {
		return s, fmt.Errorf("kernel: kernel %s is not what can be read from its JSON %s", s.Type, s.Params)
	}
	return s, nil
}
