// Package export writes a model of package online as a program for elsewhere: [C] for compilers of
// C99, [ONNX] for runtimes of that format. Both are the formula of docs/model-format.md.
package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/online"
)

// A program is what a model computes. A feature with the factor 0, which is constant in the
// training data, is left out: it adds 0 to all distances.
type program struct {
	online.Settings
	Used           []int64 // the features that count
	Order, Outputs int
	Probabilistic  bool
	gamma          float64
	shift, factor  []float64 // of the features that count
	elements       []float32 // Order×Used
	weights        []float64 // Order×Outputs
}

// keys are the JSON keys of online.Settings that a program implements, or that only training needs.
var keys = []string{"loss", "labels", "dim", "text_labels", "kernel", "bandwidth", "regularizer", "learning_rate", "decay_steps",
	"fixed_from", "fixed_to", "parsimony", "batch", "pruner", "pruner_params", "scale", "relevances", "class_weights", "weight_factor", "metric", "weights", "exact", "recursive",
	"target_shift", "target_factor", "trade_off", "format", "label_column", "label_name", "columns"}

// checkKeys returns an error if settings have a key that is not known here: the model may compute
// something else than a program would.
func checkKeys(settings any) error {
	var all map[string]any
	text, err := json.Marshal(settings)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("the model's setting %q can't be exported as a program: export the model with --to predict", key)
		}
	}
	return err
}

// coarsest is the largest error of a scaled feature, or of a score, that rounding to float32 may cause.
const coarsest = 1e-3

// newProgram returns the program of a model, or an error if it can't be exported.
func newProgram(m *online.Model) (*program, error) {
	f, scaling := m.Functions()
	p := &program{Settings: m.Settings(), Order: f.Order(), Outputs: f.Outputs, weights: f.W}
	if err := checkKeys(p.Settings); err != nil {
		return nil, err
	}
	if c := p.Columns; c != nil && c.Fitted != nil && (c.Fitted.Levels != nil || c.Fitted.Means != nil) {
		return nil, errors.New("the model has columns of categories or means for missing values, which a program does not compute: export the model with --to predict")
	}
	l, err := loss.ByName(p.Loss)
	if err != nil {
		return nil, err
	}
	_, p.Probabilistic = l.(loss.Probabilistic)
	p.gamma = f.Kernel.(kernel.Gaussian).Gamma() // models have no other kernel
	for q := range p.Dim {
		shift, factor := 0.0, 1.0
		if scaling.Shift != nil {
			shift, factor = scaling.Shift[q], scaling.Factor[q]
		}
		if off := math.Abs(shift*factor) / (1 << 24); off > coarsest {
			return nil, fmt.Errorf("feature %d has values around %.6g, which a float32, the type of x, rounds by %.2g of its scale: subtract %.6g from the column, and train again", q+1, shift, off, shift)
		}
		if factor != 0 {
			p.Used, p.shift, p.factor = append(p.Used, int64(q)), append(p.shift, shift), append(p.factor, factor)
		}
	}
	for j := range p.Order {
		for _, q := range p.Used {
			p.elements = append(p.elements, f.Dict.At(j)[q])
		}
	}
	if len(p.elements) == 0 {
		return nil, fmt.Errorf("the model has %d elements and %d features that are not constant: there is nothing to export", p.Order, len(p.Used))
	}
	return p, nil
}

// A compact has the elements and weights of a program as whole numbers from -127 to 127: those of an
// element times a step for each feature, around the feature's middle, and the weights of an element
// times a step of their own.
type compact struct {
	middle, step []float64 // of each feature
	elements     []int8
	weightStep   []float64 // of each element
	weights      []int8
}

// compact rounds the numbers of a program.
func (p *program) compact() *compact {
	n := len(p.Used)
	c := &compact{middle: make([]float64, n), step: make([]float64, n)}
	for i := range n {
		least, most := math.Inf(1), math.Inf(-1)
		for at := i; at < len(p.elements); at += n {
			least, most = min(least, float64(p.elements[at])), max(most, float64(p.elements[at]))
		}
		c.middle[i], c.step[i] = (least+most)/2, (most-least)/254
	}
	for at, v := range p.elements {
		c.elements = append(c.elements, nearest(float64(v)-c.middle[at%n], c.step[at%n]))
	}
	for w := range slices.Chunk(p.weights, p.Outputs) {
		step := max(slices.Max(w), -slices.Min(w)) / 127
		c.weightStep = append(c.weightStep, step)
		for _, v := range w {
			c.weights = append(c.weights, nearest(v, step))
		}
	}
	return c
}

// nearest returns the number of steps that is nearest to v.
func nearest(v, step float64) int8 {
	if step == 0 {
		return 0
	}
	return int8(max(-127, min(127, math.Round(v/step))))
}

// Round returns a model that predicts as its C file with numbers of one byte.
func Round(m *online.Model) (*online.Model, error) {
	p, err := newProgram(m)
	if err != nil {
		return nil, err
	}
	f, _ := m.Functions()
	out, c := kernel.NewExpansion(f.Kernel, p.Dim, p.Outputs), p.compact()
	for j := range p.Order {
		x, w := slices.Clone(f.Dict.At(j)), make([]float64, p.Outputs)
		for i, q := range p.Used {
			x[q] = float32(c.middle[i] + float64(c.step[i]*float64(c.elements[j*len(p.Used)+i])))
		}
		for k := range w {
			w[k] = c.weightStep[j] * float64(c.weights[j*p.Outputs+k])
		}
		out.Append(x, w)
	}
	return m.WithFunctions(out), nil
}
