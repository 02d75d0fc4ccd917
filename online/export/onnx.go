package export

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"polkrepro/online"
)

// Types of tensors in ONNX.
const (
	onnxFloat, onnxInt64, onnxString, onnxDouble = 1, 7, 8, 11
)

// onnxText has a line for each operator: its output, the operator, its inputs and attributes.
//
//go:embed onnx.tmpl
var onnxText string

var onnxTemplate = template.Must(template.New("onnx").Parse(onnxText))

// ONNX writes a model as a graph of the standard operators, version 17, with the names that skl2onnx
// gives to inputs and outputs: X, then label and probabilities, or variable. A loss without
// probabilities has scores in their place; one function f has the scores −f and f. The arithmetic
// is in float64: weights may be large and cancel.
func ONNX(w io.Writer, m *online.Model) error {
	p, err := newProgram(m)
	if err != nil {
		return err
	}
	var graph, opset, model message
	var lines bytes.Buffer
	if err := onnxTemplate.Execute(&lines, p); err != nil {
		return err
	}
	for line := range strings.Lines(lines.String()) {
		text(&graph, 1, node(line))
	}
	text(&graph, 2, "polk")
	text(&graph, 5, p.tensors()...)
	text(&graph, 11, port("X", onnxFloat, p.Dim))
	if p.Labels == nil {
		text(&graph, 12, port("variable", onnxFloat, 1))
	} else {
		text(&graph, 12, port("label", p.labelKind()), port("probabilities", onnxFloat, len(p.Labels)))
	}
	text(&opset, 1, "")
	opset.number(2, 17)
	model.number(1, 8) // version of the format
	text(&model, 2, "runall")
	text(&model, 7, graph)
	text(&model, 8, opset)
	_, err = w.Write(model)
	return err
}

// tensors returns the constants.
func (p *program) tensors() []message {
	squares := make([]float64, p.Order)
	for i, v := range p.elements {
		squares[i/len(p.Used)] += float64(v) * float64(v)
	}
	all := []message{
		tensor("shift", p.shift), tensor("factor", p.factor), tensor("elements", p.elements, p.Order, len(p.Used)), tensor("d_squares", squares),
		tensor("zero", []float64{0}), tensor("exponent", []float64{-p.gamma}), tensor("weights", p.weights, p.Order, p.Outputs),
	}
	if len(p.Used) < p.Dim {
		all = append(all, tensor("used", p.Used))
	}
	switch {
	case p.Labels == nil:
		return append(all, tensor("target_factor", []float64{p.TargetFactor}), tensor("target_shift", []float64{p.TargetShift}))
	case p.labelKind() == onnxString:
		all = append(all, tensor("labels", p.Labels))
	default:
		numbers := make([]int64, len(p.Labels))
		for i, l := range p.Labels {
			numbers[i], _ = strconv.ParseInt(l, 10, 64)
		}
		all = append(all, tensor("labels", numbers))
	}
	if p.Outputs == 1 {
		all = append(all, tensor("rows", []int64{-1}))
	}
	return all
}

// wholeNumber matches labels that are numbers for polk.load.
var wholeNumber = regexp.MustCompile(`^(0|-?[1-9]\d{0,17})$`)

// labelKind returns the type of the labels: whole numbers, or text.
func (p *program) labelKind() int {
	if p.TextLabels || slices.ContainsFunc(p.Labels, func(l string) bool { return !wholeNumber.MatchString(l) }) {
		return onnxString
	}
	return onnxInt64
}

var operator = regexp.MustCompile(`^(\w+) = (\w+)\((.*)\)(.*)`)

// node returns the operator of a line.
func node(line string) (n message) {
	part := operator.FindStringSubmatch(line)
	text(&n, 1, strings.Fields(part[3])...)
	text(&n, 2, part[1])
	text(&n, 4, part[2])
	for _, word := range strings.Fields(part[4]) {
		var a message
		name, value, _ := strings.Cut(word, "=")
		number, err := strconv.ParseFloat(strings.Trim(value, "[]"), 32)
		if err != nil {
			panic(err)
		}
		text(&a, 1, name)
		switch {
		case value[0] == '[':
			a.number(8, int64(number))
			a.number(20, 7)
		case strings.Contains(value, "."):
			a.float(2, float32(number))
			a.number(20, 1)
		default:
			a.number(3, int64(number))
			a.number(20, 2)
		}
		text(&n, 5, a)
	}
	return n
}

// tensor returns a constant; without dims it is a vector.
func tensor[T float32 | float64 | int64 | string](name string, values []T, dims ...int) (t message) {
	if dims == nil {
		dims = []int{len(values)}
	}
	for _, n := range dims {
		t.number(1, int64(n))
	}
	text(&t, 8, name)
	switch v := any(values).(type) {
	case []string:
		t.number(2, onnxString)
		for _, label := range v {
			text(&t, 6, label)
		}
		return t
	case []float32:
		t.number(2, onnxFloat)
	case []float64:
		t.number(2, onnxDouble)
	default:
		t.number(2, onnxInt64)
	}
	var raw bytes.Buffer
	binary.Write(&raw, binary.LittleEndian, values)
	text(&t, 9, raw.Bytes())
	return t
}

// port returns an input or output: for each row a value, or columns.
func port(name string, kind int, columns ...int) (v message) {
	var shape, rows, tensor, of message
	text(&rows, 2, "N")
	text(&shape, 1, rows)
	for _, n := range columns {
		var d message
		d.number(1, int64(n))
		text(&shape, 1, d)
	}
	tensor.number(1, int64(kind))
	text(&tensor, 2, shape)
	text(&of, 1, tensor)
	text(&v, 1, name)
	text(&v, 2, of)
	return v
}
