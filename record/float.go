package record

import (
	"encoding/json"
	"errors"
	"strconv"
)

// A Float is a float64 whose JSON can say what is not finite: "NaN", "+Inf"
// and "-Inf", as strings. Every NaN is the same.
type Float float64

// MarshalJSON implements json.Marshaler.
func (f Float) MarshalJSON() ([]byte, error) {
	if x := float64(f); x-x != 0 { // NaN and ±Inf alone
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
