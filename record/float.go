package record

import (
	"encoding/json"
	"errors"
	"strconv"
)

// A Float is a float64 whose non-finite values are the strings "NaN", "+Inf" and
// "-Inf" in JSON. All NaNs are written alike.
type Float float64

// MarshalJSON implements json.Marshaler.
func (f Float) MarshalJSON() ([]byte, error) {
	if x := float64(f); x-x != 0 { // true only for NaN and ±Inf
		return json.Marshal(strconv.FormatFloat(x, 'g', -1, 64))
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Float) UnmarshalJSON(b []byte) error {
	text := string(b)
	switch text {
	case `"NaN"`, `"+Inf"`, `"-Inf"`:
		text = text[1 : len(text)-1]
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return errors.New(`want a number, "NaN", "+Inf" or "-Inf"`)
	}
	*f = Float(x)
	return nil
}

var (
	_ json.Marshaler   = Float(0)
	_ json.Unmarshaler = (*Float)(nil)
)

// converted returns a map with its values converted to To, or nil if m is nil.
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
