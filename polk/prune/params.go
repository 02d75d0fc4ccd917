package prune

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Param is a parameter that a heuristic takes: a number.
type Param struct {
	Name    string   `json:"name"` // as in specs
	About   string   `json:"about"`
	Integer bool     `json:"integer,omitempty"` // it is a whole number
	Above   *float64 `json:"above,omitempty"`   // values are greater than this
	Least   *float64 `json:"least,omitempty"`   // values are at least this
	Most    *float64 `json:"most,omitempty"`    // values are at most this
	Default *float64 `json:"default,omitempty"` // nil: it must be given

	// Grid holds values to compare where a comparison gives none for its data,
	// from the smallest dictionary to the largest. Only the size parameter needs one.
	Grid []float64 `json:"grid,omitempty"`
}

// Bound returns a pointer to x, for the fields of Param.
func Bound(x float64) *float64 { return &x }

// Order is the size parameter of the heuristics that keep a fixed model order.
var Order = Param{
	Name: "order", About: "the largest model order M", Integer: true, Least: Bound(1), Most: Bound(1e6),
	Grid: []float64{16, 32, 64, 128, 256},
}

// parsimony is the size parameter of the heuristics that keep to the learner's budget ε.
var parsimony = Param{
	Name: "parsimony", About: "K of the approximation budget ε = K·η^{3/2}", Above: Bound(0),
	Grid: []float64{0.04, 0.02, 0.01, 0.005, 0.0025},
}

// check returns "" if x is a valid value, and otherwise a description of the valid values.
func (p *Param) check(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "a finite number"
	case p.Integer && x != math.Trunc(x):
		return "a whole number"
	case p.Above != nil && !(x > *p.Above):
		return "more than " + format(*p.Above)
	case p.Least != nil && !(x >= *p.Least):
		return "at least " + format(*p.Least)
	case p.Most != nil && !(x <= *p.Most):
		return "at most " + format(*p.Most)
	}
	return ""
}

// Params are the values of a heuristic's parameters by name.
type Params map[string]float64

// Float returns a parameter. It panics if the heuristic did not declare it.
func (p Params) Float(name string) float64 {
	x, ok := p[name]
	if !ok {
		panic("prune: undeclared parameter " + name)
	}
	return x
}

// Int returns a parameter that is a whole number. It panics if the heuristic
// did not declare it.
func (p Params) Int(name string) int { return int(p.Float(name)) }

// String returns the parameters as ParseParams reads them, in the order of
// their names: "order=16, window=64".
func (p Params) String() string {
	var words []string
	for name, x := range p {
		words = append(words, name+"="+format(x))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// ParseParams parses the result of String.
func ParseParams(s string) (Params, error) {
	if s == "" {
		return nil, nil
	}
	p := make(Params)
	for word := range strings.SplitSeq(s, ", ") {
		name, text, _ := strings.Cut(word, "=")
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("prune: parameters %q are not of the form \"name=number, …\"", s)
		}
		p[name] = x
	}
	return p, nil
}

// format returns the shortest form of a number; whole numbers have no exponent.
func format(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
