package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"polkrepro/spec"
)

// The wire types define the JSON layout of the lines. They are the exported types
// with a Float for every number that may be non-finite. finalWire ends with the
// sum, because the sum covers all bytes before it.

type headerFields Header

type headerWire struct {
	headerFields
	DataFacts map[string]Float `json:"data_facts,omitempty"`
}

type pointWire struct {
	Type        string `json:"type"`
	Samples     int    `json:"samples"`
	TrainRisk   Float  `json:"train_risk"`
	TestRisk    Float  `json:"test_risk"`
	TestError   Float  `json:"test_error"`
	ModelOrder  int    `json:"model_order"`
	KernelEvals int64  `json:"kernel_evals"`
	Timing      Timing `json:"timing"`

	Measured map[string]Float `json:"measured,omitempty"`
	Diagnostics
}

type finalWire struct {
	Type        string           `json:"type"`
	Samples     int              `json:"samples"`
	TrainRisk   Float            `json:"train_risk"`
	TestRisk    Float            `json:"test_risk"`
	TestError   Float            `json:"test_error"`
	ModelOrder  Float            `json:"model_order"`
	KernelEvals int64            `json:"kernel_evals"`
	Health      map[string]Float `json:"health"`
	Measured    map[string]Float `json:"measured,omitempty"`
	Diagnostics
	Model   *Model  `json:"model,omitempty"`
	Timing  Timing  `json:"timing"`
	Elapsed float64 `json:"elapsed"`
	Digest  string  `json:"digest"`
	Sum     string  `json:"sum"`
}

func (p Point) wire() pointWire {
	return pointWire{
		p.Type, p.Samples, Float(p.TrainRisk), Float(p.TestRisk), Float(p.TestError),
		p.ModelOrder, p.KernelEvals, p.Timing, converted[Float](p.Measured), p.Diagnostics,
	}
}

func (f Final) wire() finalWire {
	return finalWire{
		f.Type, f.Samples, Float(f.TrainRisk), Float(f.TestRisk), Float(f.TestError),
		Float(f.ModelOrder), f.KernelEvals, converted[Float](f.Health), converted[Float](f.Measured), f.Diagnostics, f.Model, f.Timing, f.Elapsed, f.Digest, f.Sum,
	}
}

// MarshalJSON implements json.Marshaler; see [Float].
func (h Header) MarshalJSON() ([]byte, error) {
	return json.Marshal(headerWire{headerFields(h), converted[Float](h.DataFacts)})
}

// UnmarshalJSON implements json.Unmarshaler. An unknown key is an error.
func (h *Header) UnmarshalJSON(b []byte) error {
	var w headerWire
	if err := strict(b, &w); err != nil {
		return err
	}
	*h = Header(w.headerFields)
	h.DataFacts = converted[float64](w.DataFacts)
	return nil
}

// MarshalJSON implements json.Marshaler; see [Float].
func (p Point) MarshalJSON() ([]byte, error) { return json.Marshal(p.wire()) }

// UnmarshalJSON implements json.Unmarshaler. An unknown key is an error.
func (p *Point) UnmarshalJSON(b []byte) error {
	var w pointWire
	if err := strict(b, &w); err != nil {
		return err
	}
	*p = Point{
		w.Type, w.Samples, float64(w.TrainRisk), float64(w.TestRisk), float64(w.TestError),
		w.ModelOrder, w.KernelEvals, w.Timing, converted[float64](w.Measured), w.Diagnostics,
	}
	return nil
}

// MarshalJSON implements json.Marshaler; see [Float].
func (f Final) MarshalJSON() ([]byte, error) { return json.Marshal(f.wire()) }

// UnmarshalJSON implements json.Unmarshaler. An unknown key is an error.
func (f *Final) UnmarshalJSON(b []byte) error {
	var w finalWire
	if err := strict(b, &w); err != nil {
		return err
	}
	*f = Final{
		w.Type, w.Samples, float64(w.TrainRisk), float64(w.TestRisk), float64(w.TestError),
		float64(w.ModelOrder), w.KernelEvals, converted[float64](w.Health), converted[float64](w.Measured), w.Diagnostics, w.Model, w.Timing, w.Elapsed, w.Digest, w.Sum,
	}
	return nil
}

// strict decodes exactly one JSON value without unknown keys.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("empty line")
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the JSON object")
	}
	return nil
}

// absent shadows a field of an embedded struct, so that the JSON omits the field.
type absent *struct{}

type canonicalPoint struct {
	pointWire
	Timing absent `json:"timing,omitempty"`
}

type canonicalFinal struct {
	finalWire
	Timing  absent `json:"timing,omitempty"`
	Elapsed absent `json:"elapsed,omitempty"`
	Digest  absent `json:"digest,omitempty"`
	Sum     absent `json:"sum,omitempty"`
}

// Canonical returns the deterministic contents of a record as canonical JSON: its
// ID, run, data sums and facts, every point and the final figures. It omits timing,
// elapsed time, provenance, start time, digest and sum. Two records of the same run
// made by the same version of the program are equal in this form, byte for byte.
// Canonical panics if a hyper-parameter of the run is not a finite number.
func Canonical(r *Record) []byte {
	points := make([]canonicalPoint, len(r.Points))
	for i, p := range r.Points {
		points[i].pointWire = p.wire()
	}
	b, err := spec.CanonicalJSON(struct {
		ID        string            `json:"id"`
		Run       spec.Run          `json:"run"`
		DataSums  map[string]string `json:"data_sums"`
		DataFacts map[string]Float  `json:"data_facts,omitempty"`
		Points    []canonicalPoint  `json:"points"`
		Final     canonicalFinal    `json:"final"`
	}{
		r.Header.ID, r.Header.Run, r.Header.DataSums, converted[Float](r.Header.DataFacts),
		points, canonicalFinal{finalWire: r.Final.wire()},
	})
	if err != nil {
		panic("record: " + err.Error())
	}
	return b
}
