package export

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"polkrepro/online"
)

//go:embed c.c.tmpl
var cText string

var cTemplate = template.Must(template.New("c").Funcs(template.FuncMap{"float": float, "literal": literal}).Parse(cText))

// A cFile is what the template of a C file shows.
type cFile struct {
	*program
	tables
	Exponent               float64
	Shift, Factor, Compact bool
	Label                  int // bytes of the longest label, with its end
}

// C writes a model as one file of C99, with constants of float32, or of one byte if small is set.
func C(w io.Writer, m *online.Model, small bool) error {
	p, err := newProgram(m)
	if err != nil {
		return err
	}
	if err := p.checkFloat32(); err != nil {
		return err
	}
	c := &cFile{program: p, Exponent: -p.gamma, Compact: small}
	shift, of := slices.Clone(p.shift), p.compact()
	for i := range shift {
		if small {
			shift[i] += of.middle[i] / p.factor[i]
		}
		c.Shift, c.Factor = c.Shift || shift[i] != 0, c.Factor || p.factor[i] != 1
	}
	if len(p.Used) < p.Dim {
		table(&c.tables, "unsigned short used", 2, 0, p.Used)
	}
	if c.Shift {
		table(&c.tables, "float shift", 4, 0, shift)
	}
	if c.Factor {
		table(&c.tables, "float factor", 4, 0, p.factor)
	}
	if small {
		table(&c.tables, "float step", 4, 0, of.step)
		table(&c.tables, "float weight_step", 4, 0, of.weightStep)
		table(&c.tables, "signed char elements", 1, len(p.Used), of.elements)
		table(&c.tables, "signed char weights", 1, p.Outputs, of.weights)
	} else {
		table(&c.tables, "float elements", 4, len(p.Used), p.elements)
		table(&c.tables, "float weights", 4, p.Outputs, p.weights)
	}
	for _, l := range p.Labels {
		c.Label = max(c.Label, len(l)+1)
	}
	c.add(len(p.Labels) * c.Label)
	return cTemplate.Execute(w, c)
}

// Stack estimates the bytes of the stack that a call takes.
func (c *cFile) Stack() int { return 4*(len(c.Used)+c.Outputs) + 100 }

// mostWeights bounds the sum of a function's absolute weights: beyond it, float32 may change a score
// by more than coarsest.
const mostWeights = coarsest * (1 << 24)

// checkFloat32 returns an error if a number leaves the range of float32, or if the weights are so large
// that its precision does not suffice where they cancel.
func (p *program) checkFloat32() error {
	sums := make([]float64, p.Outputs)
	for i, v := range p.weights {
		sums[i%p.Outputs] += math.Abs(v)
	}
	if sum := slices.Max(sums); !(sum <= mostWeights) {
		return fmt.Errorf("the absolute weights of a function add up to %.3g, and float32 keeps three decimals of its scores only up to %.3g: export with --to onnx, which computes in float64, or --to predict", sum, float64(mostWeights))
	}
	large := append([]float64{p.gamma, 1 / p.gamma, p.TargetFactor, 1 / p.TargetFactor, p.TargetShift, -p.TargetShift}, p.factor...)
	for _, v := range p.shift {
		large = append(large, math.Abs(v))
	}
	if v := slices.Max(large); !(v < 1e30) {
		return fmt.Errorf("%.3g, of the bandwidth or the scale of the features or targets, leaves the range of float32: divide columns by a power of ten and train again, or export with --to predict", v)
	}
	return nil
}

// tables are the constants of a C file.
type tables struct {
	Text           strings.Builder
	Flash, Largest int // bytes
}

func (t *tables) add(bytes int) { t.Flash, t.Largest = t.Flash+bytes, max(t.Largest, bytes) }

// TooLarge reports whether an AVR can't read them: its compiler limits an array, and near pointers
// reach the first 64 kB.
func (t *tables) TooLarge() bool { return t.Largest > math.MaxInt16 || t.Flash > 60_000 }

// table adds an array of values of the given bytes, or of rows of them if columns is not 0.
func table[T int8 | int64 | float32 | float64](t *tables, name string, bytes, columns int, values []T) {
	fmt.Fprintf(&t.Text, "static const %s[%d]", name, len(values)/max(1, columns))
	if columns > 0 {
		fmt.Fprintf(&t.Text, "[%d]", columns)
	}
	t.Text.WriteString(" POLK_FLASH = {\n")
	begin, end := "\t", "\n"
	if columns > 0 {
		begin, end = "\t{", "},\n"
	}
	for row := range slices.Chunk(values, max(1, columns)) {
		t.Text.WriteString(begin)
		for _, v := range row {
			if bytes == 4 {
				t.Text.WriteString(float(float64(v)) + ",")
			} else {
				fmt.Fprintf(&t.Text, "%v,", v)
			}
		}
		t.Text.WriteString(end)
	}
	t.Text.WriteString("};\n")
	t.add(bytes * len(values))
}

// float returns a C constant of type float.
func float(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 32)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s + "f"
}

// literal returns the text of a string constant: octal what another character set or a trigraph
// could change.
func literal(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(" _.,;:+-/()", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "\\%03o", c)
		}
	}
	return b.String()
}
