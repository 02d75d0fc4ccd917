package external

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
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
	Files    []string      `json:"files"`   // what its results depend on, besides the files of the command
}

// An answer is a line of a process in a step: what it does, in this order, and then
// what it asks for, or that the step is done.
type answer struct {
	reply
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
	Drop    *int      `json:"drop"`
	Add     *element  `json:"add"`
	Enter   *entering `json:"enter"`
	Weights *weights  `json:"weights"`
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
	errNoInverse   = errors.New(`remove, enter and columns need the inverse kernel matrix: say "inverse": true in the hello, or drop and add`)
	errWithInverse = errors.New("add and weights need a state without the inverse kernel matrix: use enter, which refits the weights")
)

// check checks what can be checked without a state.
func (a *answer) check() error {
	asks := len(a.Get)+len(a.Rows)+len(a.Columns)+len(a.Points)+len(a.Values) > 0
	if asks == a.Done {
		return errors.New(`want either something to get or "done": true`)
	}
	for i, do := range a.Do {
		n := 0
		for _, given := range []bool{do.Remove != nil, do.Drop != nil, do.Add != nil, do.Enter != nil, do.Weights != nil} {
			if given {
				n++
			}
		}
		if n != 1 {
			return fmt.Errorf("action %d is not one of remove, drop, add, enter and weights", i)
		}
	}
	return nil
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

	each func(v *view, j int) any // returns the value of element j
	one  func(v *view) any        // set in place of each: returns the value
}

var quantities = map[string]quantity{
	"ids":       {fixed: true, each: func(v *view, j int) any { return v.ID(j) }},
	"ages":      {fixed: true, each: func(v *view, j int) any { return v.Age(j) }},
	"samples":   {fixed: true, each: func(v *view, j int) any { return v.Sample(j) }},
	"self":      {fixed: true, each: func(v *view, j int) any { return number(v.Self(j)) }},
	"weights":   {each: func(v *view, j int) any { return numbers(v.Weights(j)) }},
	"norms":     {each: func(v *view, j int) any { return number(v.Norm2(j)) }},
	"costs":     {inverse: true, each: func(v *view, j int) any { return number(v.inverse.Cost(j)) }},
	"distances": {inverse: true, each: func(v *view, j int) any { return number(v.inverse.Distance(j)) }},
	"distances_before": {inverse: true, each: func(v *view, j int) any {
		if j < v.Old() {
			return nil
		}
		return number(v.inverse.DistanceBefore(j))
	}},
	"entered": {inverse: true, one: func(v *view) any { return v.entered }},
	"spent":   {inverse: true, one: func(v *view) any { return number(v.inverse.Spent()) }},
	"x": {one: func(v *view) any {
		var rows [][]number
		for x := range slices.Chunk(v.Step().X, v.dim()) {
			rows = append(rows, numbers(x))
		}
		return rows
	}},
	"y": {one: func(v *view) any { return numbers(v.Step().Y) }},
}

// quantity returns the quantity of that name.
func (v *view) quantity(name string) (any, error) {
	q, ok := quantities[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("unknown quantity %.40q", name)
	case q.inverse && v.inverse == nil:
		return nil, fmt.Errorf("%s needs the inverse kernel matrix: say \"inverse\": true in the hello", name)
	case name == "distances_before" && v.oldGone:
		return nil, errors.New("distances_before is not known once an old element has been removed")
	case q.one != nil:
		return q.one(v), nil
	}
	all := make([]any, v.Total())
	for j := range all {
		if q.fixed || v.Present(j) {
			all[j] = q.each(v, j)
		}
	}
	return all, nil
}

// asked returns the data that an answer asks for.
func (v *view) asked(a *answer) (out map[string]any, err error) {
	if len(a.Get) > len(quantities) || max(len(a.Rows), len(a.Columns), len(a.Points), len(a.Values)) > v.Total() {
		return nil, errors.New("more requested than there are quantities or elements")
	}
	if len(a.Columns) > 0 && v.inverse == nil {
		return nil, errNoInverse
	}
	out = make(map[string]any)
	for _, name := range a.Get {
		if out[name], err = v.quantity(name); err != nil {
			return nil, err
		}
	}
	list := func(name string, elements []int, value func(j int) []number) {
		var all [][]number
		for _, j := range elements {
			if err = cmp.Or(err, v.check(j)); err == nil {
				all = append(all, value(j))
			}
		}
		if len(all) > 0 {
			out[name] = all
		}
	}
	list("rows", a.Rows, func(j int) []number { return numbers(v.Row(j)) })
	list("columns", a.Columns, func(j int) []number {
		column := make([]float64, v.Total())
		v.inverse.Column(column, j)
		return numbers(column)
	})
	list("points", a.Points, func(j int) []number { return numbers(v.Point(j)) })
	var values [][]number
	for _, p := range a.Values {
		x, err := v.point(p)
		if err != nil {
			return nil, err
		}
		values = append(values, numbers(v.Elements.Values(x)))
	}
	if len(values) > 0 {
		out["values"] = values
	}
	return out, err
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
	case v.inverse == nil && (a.Remove != nil || a.Enter != nil):
		return errNoInverse
	case v.inverse != nil && (a.Add != nil || a.Weights != nil):
		return errWithInverse
	case a.Remove != nil:
		return v.take(*a.Remove, v.inverse.Remove)
	case a.Drop != nil:
		return v.take(*a.Drop, v.Drop)
	case a.Add != nil:
		x, err := v.point(a.Add.Point)
		if err = cmp.Or(err, v.checkWeights(a.Add.Weights)); err != nil {
			return err
		}
		v.Elements.(prune.State).Add(x, a.Add.Weights)
	case a.Enter != nil:
		x, err := v.point(a.Enter.Point)
		if err != nil {
			return err
		}
		v.entered = append(v.entered, v.inverse.Enter(x)...)
	case a.Weights != nil:
		if err := cmp.Or(v.check(a.Weights.Of), v.checkWeights(a.Weights.To)); err != nil {
			return err
		}
		copy(v.Weights(a.Weights.Of), a.Weights.To)
	}
	return nil
}

// take removes element j with out, a method of the state.
func (v *view) take(j int, out func(j int)) error {
	if err := v.check(j); err != nil {
		return err
	}
	out(j)
	v.oldGone = v.oldGone || j < v.Old()
	return nil
}

// dim returns the number of features of a point.
func (v *view) dim() int { return len(v.Step().X) / v.Step().N }

// point rounds a point's features to float32.
func (v *view) point(p []float64) ([]float32, error) {
	if len(p) != v.dim() {
		return nil, fmt.Errorf("point of %d features, want %d", len(p), v.dim())
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

// A number is written in the shortest form that reads back as the same float64, and as a string
// if it is not finite.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	switch x := float64(n); {
	case math.IsNaN(x):
		return []byte(`"NaN"`), nil
	case math.IsInf(x, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(x, -1):
		return []byte(`"-Infinity"`), nil
	case x == 0 && math.Signbit(x):
		return []byte("-0.0"), nil // many JSON readers take -0 for an integer
	default:
		return strconv.AppendFloat(nil, x, 'g', -1, 64), nil
	}
}

// numbers returns numbers, with a float32 as the equal float64.
func numbers[T float32 | float64](x []T) []number {
	out := make([]number, len(x))
	for i, v := range x {
		out[i] = number(v)
	}
	return out
}
