package external

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"polkrepro/polk/prune"
)

// Version is the version of the protocol.
const Version = 1

// A hello is what a process says of its heuristic. The fields are those of
// prune.Heuristic, except:
type hello struct {
	Version  int           `json:"version"`
	About    string        `json:"about"`
	Source   string        `json:"source"`
	Params   []prune.Param `json:"params"`
	Epsilon  bool          `json:"epsilon"`
	Gaussian bool          `json:"gaussian"`
	Inverse  bool          `json:"inverse"` // it works on a prune.InverseState
	Wants    []string      `json:"wants"`   // quantities that come with each step
	State    bool          `json:"state"`   // it keeps something from step to step, which can be saved
	Files    []string      `json:"files"`   // what its results depend on, besides the files of the command
}

// An answer is a line of a process in a step: what it does, in this order, and then
// what it asks for, or that the step is done.
type answer struct {
	Do      []action    `json:"do"`
	Get     []string    `json:"get"`     // names of quantities
	Rows    []int       `json:"rows"`    // elements whose row of the kernel matrix it asks for
	Columns []int       `json:"columns"` // elements whose column of K⁻¹ it asks for
	Points  []int       `json:"points"`  // elements whose point it asks for
	Values  [][]float64 `json:"values"`  // points whose kernel values it asks for
	Done    bool        `json:"done"`
}

// An action has one field.
type action struct {
	Remove  *int      `json:"remove"`
	Least   *removals `json:"remove_least"`
	Drop    *int      `json:"drop"`
	Add     *element  `json:"add"`
	Enter   *entering `json:"enter"`
	Weights *weights  `json:"weights"`
}

// removals are those of the element j of the least cost + Plus[j], until Leave are
// left. They save a question each.
type removals struct {
	Leave int       `json:"leave"`
	Plus  []float64 `json:"plus"` // none: 0
}

// An element is a new one.
type element struct {
	Point   []float64 `json:"point"`
	Weights []float64 `json:"weights"`
}

// An entering element gets its weights by a refit.
type entering struct {
	Point []float64 `json:"point"`
}

// weights are new ones of an element.
type weights struct {
	Of int       `json:"of"`
	To []float64 `json:"to"`
}

// Errors for actions that need, or exclude, the inverse kernel matrix.
var (
	errNoInverse   = errors.New(`remove, remove_least, enter and columns need the inverse kernel matrix: say "inverse": true in the hello, or drop and add`)
	errWithInverse = errors.New("add and weights need a state without the inverse kernel matrix: use enter, which refits the weights")
)

var errNotObject = errors.New("this line is not a JSON object (a print? write to standard error)")

// parse reads a line into v, strictly: an unknown field is an error.
func parse(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
			return errNotObject
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value on a line")
	}
	return nil
}

// parseAnswer reads an answer and checks what can be checked without a state.
func parseAnswer(line []byte) (*answer, error) {
	var a answer
	if err := parse(line, &a); err != nil {
		return nil, err
	}
	asks := len(a.Get)+len(a.Rows)+len(a.Columns)+len(a.Points)+len(a.Values) > 0
	if asks == a.Done {
		return nil, errors.New(`want either something to get or "done": true`)
	}
	for i, do := range a.Do {
		n := 0
		for _, given := range []bool{do.Remove != nil, do.Least != nil, do.Drop != nil, do.Add != nil, do.Enter != nil, do.Weights != nil} {
			if given {
				n++
			}
		}
		if n != 1 {
			return nil, fmt.Errorf("action %d is not one of remove, remove_least, drop, add, enter and weights", i)
		}
	}
	return &a, nil
}

// A view is the state of a step, with the data that the protocol needs in addition.
type view struct {
	prune.Elements
	inverse prune.InverseState // nil if there is none
	oldGone bool               // an old element has been removed
	entered []int              // numbers of the elements that the last answer entered
}

// A quantity is a value that a process can ask for by name.
type quantity struct {
	inverse bool // only with the inverse kernel matrix
	fixed   bool // constant throughout the step, and known for removed elements too

	each func(b []byte, v *view, j int) []byte // appends the value of element j
	one  func(b []byte, v *view) []byte        // set in place of each: appends the value
}

var quantities = map[string]quantity{
	"ids": {fixed: true, each: func(b []byte, v *view, j int) []byte { return strconv.AppendUint(b, v.ID(j), 10) }},
	"ages": {fixed: true, each: func(b []byte, v *view, j int) []byte {
		return strconv.AppendInt(b, int64(v.Age(j)), 10)
	}},
	"samples": {fixed: true, each: func(b []byte, v *view, j int) []byte {
		return strconv.AppendInt(b, int64(v.Sample(j)), 10)
	}},
	"self":      {fixed: true, each: func(b []byte, v *view, j int) []byte { return appendNumber(b, v.Self(j)) }},
	"weights":   {each: func(b []byte, v *view, j int) []byte { return appendNumbers(b, v.Weights(j)) }},
	"norms":     {each: func(b []byte, v *view, j int) []byte { return appendNumber(b, v.Norm2(j)) }},
	"costs":     {inverse: true, each: func(b []byte, v *view, j int) []byte { return appendNumber(b, v.inverse.Cost(j)) }},
	"distances": {inverse: true, each: func(b []byte, v *view, j int) []byte { return appendNumber(b, v.inverse.Distance(j)) }},
	"distances_before": {inverse: true, each: func(b []byte, v *view, j int) []byte {
		if j < v.Old() {
			return append(b, "null"...)
		}
		return appendNumber(b, v.inverse.DistanceBefore(j))
	}},
	"entered": {inverse: true, one: func(b []byte, v *view) []byte {
		return appendList(b, len(v.entered), func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(v.entered[i]), 10) })
	}},
	"spent": {inverse: true, one: func(b []byte, v *view) []byte { return appendNumber(b, v.inverse.Spent()) }},
	"x": {one: func(b []byte, v *view) []byte {
		step := v.Step()
		dim := len(step.X) / step.N
		return appendList(b, step.N, func(b []byte, i int) []byte { return appendNumbers(b, step.X[i*dim:(i+1)*dim]) })
	}},
	"y": {one: func(b []byte, v *view) []byte { return appendNumbers(b, v.Step().Y) }},
}

// appendQuantity appends the quantity of that name, which must exist.
func (v *view) appendQuantity(b []byte, name string) ([]byte, error) {
	q := quantities[name]
	switch {
	case q.inverse && v.inverse == nil:
		return b, fmt.Errorf("%s needs the inverse kernel matrix: say \"inverse\": true in the hello", name)
	case name == "distances_before" && v.oldGone:
		return b, errors.New("distances_before is not known once an old element has been removed")
	case q.one != nil:
		return q.one(b, v), nil
	}
	return appendList(b, v.Total(), func(b []byte, j int) []byte {
		if !q.fixed && !v.Present(j) {
			return append(b, "null"...)
		}
		return q.each(b, v, j)
	}), nil
}

// appendAsked appends a JSON object with the data that an answer asks for.
func (v *view) appendAsked(b []byte, a *answer) (_ []byte, err error) {
	b = append(b, '{')
	key := func(name string) {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, name), ':')
	}
	if len(a.Get) > len(quantities) || max(len(a.Rows), len(a.Columns), len(a.Points), len(a.Values)) > v.Total() {
		return b, errors.New("more requested than there are quantities or elements")
	}
	if len(a.Columns) > 0 && v.inverse == nil {
		return b, errNoInverse
	}
	for _, name := range a.Get {
		if _, ok := quantities[name]; !ok {
			return b, fmt.Errorf("unknown quantity %.40q", name)
		}
		key(name)
		if b, err = v.appendQuantity(b, name); err != nil {
			return b, err
		}
	}
	for _, of := range []struct {
		name     string
		elements []int
		values   func(b []byte, j int) []byte
	}{
		{"rows", a.Rows, func(b []byte, j int) []byte { return appendNumbers(b, v.Row(j)) }},
		{"columns", a.Columns, func(b []byte, j int) []byte {
			column := make([]float64, v.Total())
			v.inverse.Column(column, j)
			return appendNumbers(b, column)
		}},
		{"points", a.Points, func(b []byte, j int) []byte { return appendNumbers(b, v.Point(j)) }},
	} {
		if len(of.elements) == 0 {
			continue
		}
		for _, j := range of.elements {
			if err := v.check(j); err != nil {
				return b, fmt.Errorf("%s: %w", of.name, err)
			}
		}
		key(of.name)
		b = appendList(b, len(of.elements), func(b []byte, i int) []byte { return of.values(b, of.elements[i]) })
	}
	if len(a.Values) == 0 {
		return append(b, '}'), nil
	}
	points := make([][]float32, len(a.Values))
	for i, p := range a.Values {
		if points[i], err = v.point(p); err != nil {
			return b, fmt.Errorf("values: %w", err)
		}
	}
	key("values")
	b = appendList(b, len(points), func(b []byte, i int) []byte { return appendNumbers(b, v.Elements.Values(points[i])) })
	return append(b, '}'), nil
}

// check reports an element that is not present.
func (v *view) check(j int) error {
	if j < 0 || j >= v.Total() || !v.Present(j) {
		return fmt.Errorf("element %d is not present: want one of 0 to %d that has not been removed", j, v.Total()-1)
	}
	return nil
}

// do carries out an action.
func (v *view) do(a action) error {
	switch {
	case v.inverse == nil && (a.Remove != nil || a.Least != nil || a.Enter != nil):
		return errNoInverse
	case v.inverse != nil && (a.Add != nil || a.Weights != nil):
		return errWithInverse
	case a.Remove != nil:
		return v.take("remove", *a.Remove, v.inverse.Remove)
	case a.Least != nil:
		return v.removeLeast(a.Least)
	case a.Drop != nil:
		return v.take("drop", *a.Drop, v.Drop)
	case a.Add != nil:
		x, err := v.point(a.Add.Point)
		if err == nil {
			err = v.checkWeights(a.Add.Weights)
		}
		if err != nil {
			return fmt.Errorf("add: %w", err)
		}
		v.Elements.(prune.State).Add(x, a.Add.Weights)
	case a.Enter != nil:
		x, err := v.point(a.Enter.Point)
		if err != nil {
			return fmt.Errorf("enter: %w", err)
		}
		v.entered = append(v.entered, v.inverse.Enter(x)...)
	case a.Weights != nil:
		if err := errors.Join(v.check(a.Weights.Of), v.checkWeights(a.Weights.To)); err != nil {
			return fmt.Errorf("weights: %w", err)
		}
		copy(v.Weights(a.Weights.Of), a.Weights.To)
	}
	return nil
}

// take removes element j with out, a method of the state.
func (v *view) take(name string, j int, out func(j int)) error {
	if err := v.check(j); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	out(j)
	v.oldGone = v.oldGone || j < v.Old()
	return nil
}

// removeLeast removes the elements of least score until r.Leave elements are left.
func (v *view) removeLeast(r *removals) error {
	switch {
	case r.Leave < 0:
		return fmt.Errorf("remove_least: leave %d, want at least 0", r.Leave)
	case len(r.Plus) > 0 && len(r.Plus) != v.Total():
		return fmt.Errorf("remove_least: %d numbers in plus, want %d or none", len(r.Plus), v.Total())
	}
	least := v.inverse.Cheapest
	if len(r.Plus) > 0 {
		least = func() int {
			return prune.Least(v, func(j int) float64 { return v.inverse.Cost(j) + r.Plus[j] })
		}
	}
	for v.Len() > r.Leave {
		j := least()
		v.inverse.Remove(j)
		v.oldGone = v.oldGone || j < v.Old()
	}
	return nil
}

// point rounds a point's features to float32.
func (v *view) point(p []float64) ([]float32, error) {
	step := v.Step()
	if dim := len(step.X) / step.N; len(p) != dim {
		return nil, fmt.Errorf("point of %d features, want %d", len(p), dim)
	}
	x := make([]float32, len(p))
	for i, f := range p {
		if x[i] = float32(f); math.IsInf(float64(x[i]), 0) {
			return nil, fmt.Errorf("feature %v is out of the range of float32", f)
		}
	}
	return x, nil
}

// checkWeights reports weights of the wrong length.
func (v *view) checkWeights(w []float64) error {
	if want := v.Step().Outputs; len(w) != want {
		return fmt.Errorf("%d weights, want %d", len(w), want)
	}
	return nil
}

// appendList appends a list of n values.
func appendList(b []byte, n int, value func(b []byte, i int) []byte) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = value(b, i)
	}
	return append(b, ']')
}

// appendNumbers appends a list of numbers. It writes a float32 as the equal float64.
func appendNumbers[T float32 | float64](b []byte, x []T) []byte {
	return appendList(b, len(x), func(b []byte, i int) []byte { return appendNumber(b, float64(x[i])) })
}

// appendNumber appends a number in the shortest form that reads back as the same float64. It
// appends a number that is not finite as a string.
func appendNumber(b []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(b, `"-Infinity"`...)
	case x == 0 && math.Signbit(x):
		return append(b, "-0.0"...) // many JSON readers take -0 for an integer
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}
