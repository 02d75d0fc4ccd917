package external

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"polkrepro/internal/words"
	"polkrepro/polk/prune"
)

// Version is the version of the protocol.
const Version = 1

// A hello is what a process says of its heuristic.
type hello struct {
	prune.Heuristic
	Version int      `json:"version"`
	Inverse bool     `json:"inverse"` // it works on a prune.InverseState
	Wants   []string `json:"wants"`   // quantities that come with each step
	Files   []string `json:"files"`   // what its results depend on, besides the files of the command
}

// An answer is a line of a process: its hello or, in a step, what it does, in this order, and then
// what it asks for, or that the step is done.
type answer struct {
	N      int         `json:"n"` // number of the question
	Hello  *hello      `json:"hello"`
	Do     []action    `json:"do"`
	Get    []string    `json:"get"`    // names of quantities
	Of     []int       `json:"of"`     // elements whose quantities it asks for; all if there are none
	Values [][]float32 `json:"values"` // points whose kernel values it asks for
	Packed bool        `json:"packed"` // it asks for lists of lists as base64
	Done   bool        `json:"done"`
}

// An action has one field.
type action struct {
	Remove  *int     `json:"remove"`
	Drop    *int     `json:"drop"`
	Add     *element `json:"add"`     // a point and weights
	Enter   *element `json:"enter"`   // a point, which gets its weights by a refit
	Weights *element `json:"weights"` // the number of an element and its new weights
}

// An element is a new one, or an old one with new weights.
type element struct {
	Of      int       `json:"of"`
	Point   []float32 `json:"point"`
	Weights []float64 `json:"weights"`
}

// Errors for actions that need, or exclude, the inverse kernel matrix.
var (
	errNoInverse   = errors.New(`remove, enter and columns need the inverse kernel matrix: say "inverse": true in the hello, or drop and add`)
	errWithInverse = errors.New("add and weights need a state without the inverse kernel matrix: use enter, which refits the weights")
)

// check checks what can be checked without a state.
func (a *answer) check() error {
	if a.Hello != nil {
		return errors.New("a hello in a step")
	}
	if asks := len(a.Get)+len(a.Values) > 0; asks == a.Done {
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
		if do.Add != nil && do.Add.Of != 0 || do.Enter != nil && (do.Enter.Of != 0 || do.Enter.Weights != nil) || do.Weights != nil && do.Weights.Point != nil {
			return fmt.Errorf("action %d has a field that belongs to another one", i)
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
	inverse bool                     // only with the inverse kernel matrix
	fixed   bool                     // constant throughout the step, and known for removed elements too
	each    func(v *view, j int) any // returns the value of element j
	one     func(v *view) any        // set in place of each: returns the value
}

var quantities = map[string]quantity{
	"ids":       {fixed: true, each: func(v *view, j int) any { return v.ID(j) }},
	"ages":      {fixed: true, each: func(v *view, j int) any { return v.Age(j) }},
	"samples":   {fixed: true, each: func(v *view, j int) any { return v.Sample(j) }},
	"self":      {fixed: true, each: func(v *view, j int) any { return number(v.Self(j)) }},
	"points":    {each: func(v *view, j int) any { return numbers(v.Point(j)) }},
	"rows":      {each: func(v *view, j int) any { return numbers(v.Row(j)) }},
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
	"columns": {inverse: true, each: func(v *view, j int) any {
		column := make([]float64, v.Total())
		v.inverse.Column(column, j)
		return numbers(column)
	}},
	"entered": {inverse: true, one: func(v *view) any { return v.entered }},
	"spent":   {inverse: true, one: func(v *view) any { return number(v.inverse.Spent()) }},
	"x": {one: func(v *view) any {
		var rows [][]any
		for x := range slices.Chunk(v.Step().X, v.dim()) {
			rows = append(rows, numbers(x))
		}
		return rows
	}},
	"y": {one: func(v *view) any { return numbers(v.Step().Y) }},
}

// quantity returns the quantity of that name, of these elements or, if there are none, of all.
func (v *view) quantity(name string, of []int) (any, error) {
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
	all := []any{}
	for _, j := range of {
		if err := v.check(j); err != nil {
			return nil, err
		}
		all = append(all, q.each(v, j))
	}
	for j := 0; len(of) == 0 && j < v.Total(); j++ {
		all = append(all, nil)
		if q.fixed || v.Present(j) {
			all[j] = q.each(v, j)
		}
	}
	return all, nil
}

// asked returns the data that an answer asks for.
func (v *view) asked(a *answer) (out map[string]any, err error) {
	if len(a.Get) > len(quantities) || max(len(a.Of), len(a.Values)) > v.Total() {
		return nil, errors.New("more requested than there are quantities or elements")
	}
	out = make(map[string]any)
	for _, name := range a.Get {
		if out[name], err = v.quantity(name, a.Of); err != nil {
			return nil, err
		}
		if rows, ok := out[name].([]any); ok && a.Packed {
			out[name] = packed(rows)
		}
	}
	var values [][]any
	for _, x := range a.Values {
		if err := v.checkPoint(x); err != nil {
			return nil, err
		}
		values = append(values, numbers(v.Elements.Values(x)))
	}
	if len(values) > 0 {
		out["values"] = values
	}
	return out, nil
}

// answer carries out the actions of an answer and returns the data that it asks for.
func (v *view) answer(a *answer) (map[string]any, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	v.entered = []int{}
	for _, action := range a.Do {
		if err := v.do(action); err != nil {
			return nil, err
		}
	}
	return v.asked(a)
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
		if err := cmp.Or(v.checkPoint(a.Add.Point), v.checkWeights(a.Add.Weights)); err != nil {
			return err
		}
		v.Elements.(prune.State).Add(a.Add.Point, a.Add.Weights)
	case a.Enter != nil:
		if err := v.checkPoint(a.Enter.Point); err != nil {
			return err
		}
		v.entered = append(v.entered, v.inverse.Enter(a.Enter.Point)...)
	case a.Weights != nil:
		if err := cmp.Or(v.check(a.Weights.Of), v.checkWeights(a.Weights.Weights)); err != nil {
			return err
		}
		copy(v.Weights(a.Weights.Of), a.Weights.Weights)
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

// check reports an element that is not present.
func (v *view) check(j int) error {
	if j < 0 || j >= v.Total() || !v.Present(j) {
		return fmt.Errorf("element %d is not present: want one of 0 to %d that has not been removed", j, v.Total()-1)
	}
	return nil
}

// dim returns the number of features of a point.
func (v *view) dim() int { return len(v.Step().X) / v.Step().N }

// checkPoint reports a point of the wrong length.
func (v *view) checkPoint(x []float32) error {
	if len(x) != v.dim() {
		return fmt.Errorf("point of %d features, want %d", len(x), v.dim())
	}
	return nil
}

// checkWeights reports weights of the wrong length.
func (v *view) checkWeights(w []float64) error {
	if want := v.Step().Outputs; len(w) != want {
		return fmt.Errorf("%d weights, want %d", len(w), want)
	}
	return nil
}

// packed returns rows of numbers as float64s in little-endian order and base64, row after row, with
// NaN for what is null. It returns a list of anything else as it is.
func packed(rows []any) any {
	width := 0
	for _, row := range rows {
		if numbers, ok := row.([]any); ok {
			width = len(numbers)
		} else if row != nil {
			return rows
		}
	}
	b := make([]byte, 0, 8*width*len(rows))
	for _, row := range rows {
		numbers, _ := row.([]any)
		for i := range width {
			v := math.NaN()
			if i < len(numbers) && numbers[i] != nil {
				v = numbers[i].(float64)
			}
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return base64.StdEncoding.EncodeToString(b)
}

// number returns a number for JSON, in the shortest form that reads back as the same float64, or
// null if it is not finite.
func number(x float64) any {
	if words.Finite(x) {
		return x
	}
	return nil
}

// numbers returns numbers, with a float32 as the equal float64.
func numbers[T float32 | float64](x []T) []any {
	out := make([]any, len(x))
	for i, v := range x {
		out[i] = number(float64(v))
	}
	return out
}
