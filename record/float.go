package record

import (
	"encoding/json"
	"fmt"
	"math"
)

// A Float is a float64 whose JSON can say what is not finite: "NaN", "+Inf"
// and "-Inf", as strings. Every NaN is the same.
type Float float64

// MarshalJSON implements json.Marshaler.
func (f Float) MarshalJSON() ([]byte, error) {
	switch x := float64(f); {
	case math.IsNaN(x):
		return []byte(`"NaN"`), nil
	case math.IsInf(x, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(x, -1):
		return []byte(`"-Inf"`), nil
	default:
		return json.Marshal(x)
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Float) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`:
		*f = Float(math.NaN())
	case `"+Inf"`:
		*f = Float(math.Inf(1))
	case `"-Inf"`:
		*f = Float(math.Inf(-1))
	case "null":
		return fmt.Errorf("null is not a number")
	default:
		var x float64
		if err := json.Unmarshal(b, &x); err != nil {
			return err
		}
		*f = Float(x)
	}
	return nil
}

var (
	_ json.Marshaler   = Float(0)
	_ json.Unmarshaler = (*Float)(nil)
)

// converted returns a map with the values in another form of a float64; nil of nil.
func converted[To, From ~float64](m map[string]From) map[string]To {
	if m == nil {
		return nil
	}
	out := make(map[string]To, len(m))
	for k, v := range m {
		out[k] = To(v)
	}
	return out
}
