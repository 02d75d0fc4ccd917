package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
)

// readers makes kernels of other packages from what was saved of them, by name.
var readers sync.Map // string → func(json.RawMessage) (Kernel, error)

// Register makes models with kernels of type K known to [Expansion.Write] and
// [ReadExpansion], under the Name of K's zero value; call it in init. What is
// saved is the kernel's JSON, its exported fields unless it says otherwise;
// what is read is checked by Validate. K is not to be a pointer. It panics if
// there is a kernel of that name.
func Register[K Kernel]() {
	var zero K
	name := zero.Name()
	read := func(params json.RawMessage) (Kernel, error) {
		var k K
		d := json.NewDecoder(bytes.NewReader(params))
		d.DisallowUnknownFields()
		err := d.Decode(&k)
		return k, err
	}
	_, err := Spec{Type: name}.Kernel()
	known := err == nil
	if !known {
		_, known = readers.LoadOrStore(name, read)
	}
	if known {
		panic("kernel: there is a kernel " + name + " already")
	}
}

// registered returns what is saved of a kernel of another package. It is tried
// whether that can be read back: a field that is not exported would be lost.
func registered(k Kernel) (saved, error) {
	s := saved{Spec: Spec{Type: k.Name()}}
	var err error
	if s.Params, err = json.Marshal(k); err != nil {
		return s, fmt.Errorf("kernel: kernel %s: %w", s.Type, err)
	}
	again, err := s.registered()
	if err != nil {
		return s, fmt.Errorf("kernel: a model with kernel %s has no saved form: %v", s.Type, err)
	}
	if !reflect.DeepEqual(again, k) {
		return s, fmt.Errorf("kernel: kernel %s is not what can be read from its JSON %s", s.Type, s.Params)
	}
	return s, nil
}

// registered makes the kernel of another package that a header describes.
func (s saved) registered() (Kernel, error) {
	read, ok := readers.Load(s.Type)
	if !ok {
		return nil, fmt.Errorf("%w: unknown kernel %q", ErrFormat, s.Type)
	}
	k, err := read.(func(json.RawMessage) (Kernel, error))(s.Params)
	if err != nil {
		return nil, fmt.Errorf("%w: kernel %q: %v", ErrFormat, s.Type, err)
	}
	return k, nil
}
