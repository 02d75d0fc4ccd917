package main

import (
	"fmt"
	"math"
	"strings"

	"polkrepro/internal/gemm/_asm/coef"
)

// assembly collects the text of the two output files.
type assembly struct {
	code, data, stubs strings.Builder
	constants         map[string]bool // symbols in data
}

// gen emits the routines of one element size. Vectors have 16 bytes; four of them
// make up the 64 bytes in which all backends sum.
type gen struct {
	*assembly
	f32   bool
	size  int    // bytes of an element
	lanes int    // elements of a vector
	arr   string // name of such a vector in Go's assembler
	arm   string // its name in Arm's manual
	goTyp string
	sfx   string
	coef  coef.Exp
	args  map[string]string // the routine's arguments, with their offsets
}

func newGen(a *assembly, bits int) *gen {
	g := &gen{assembly: a, f32: bits == 32, size: bits / 8, lanes: 128 / bits,
		arr: "D2", arm: "2D", goTyp: fmt.Sprintf("float%d", bits), sfx: fmt.Sprintf("NEONF%d", bits), coef: coef.Float64}
	if g.f32 {
		g.arr, g.arm, g.coef = "S4", "4S", coef.Float32
	}
	return g
}

// p emits one line: a label, or an instruction in the syntax of Go's assembler.
func (g *gen) p(format string, a ...any) {
	line := fmt.Sprintf(format, a...)
	if !strings.HasSuffix(line, ":") {
		line = "\t" + line
	}
	fmt.Fprintln(&g.code, line)
}

// encodings holds the encodings of instructions that Go's assembler lacks, for vectors of float32
// and of float64, with all registers 0.
var encodings = map[string][2]uint32{
	"FADD":        {0x4E20D400, 0x4E60D400},
	"FMUL":        {0x6E20DC00, 0x6E60DC00},
	"FMAX":        {0x4E20F400, 0x4E60F400},
	"FMIN":        {0x4EA0F400, 0x4EE0F400},
	"FCMGT":       {0x6EA0E400, 0x6EE0E400},
	"FRINTN":      {0x4E218800, 0x4E618800},
	"FCVTZS":      {0x4EA1B800, 0x4EE1B800},
	"SSHR":        {0x4F3F0400, 0x4F7F0400}, // by 1
	"FADDP":       {0x7E30D800, 0x7E70D800}, // of the two lowest elements, to a scalar
	"FMLA by [0]": {0x4F801000, 0x4FC01000},
	"FCVTL":       {0, 0x0E617800},
	"FCVTL2":      {0, 0x4E617800},
}

func (g *gen) word(name string, bits uint32, format string, a ...any) {
	e := encodings[name][1]
	if g.f32 {
		e = encodings[name][0]
	}
	g.p("WORD $0x%08X // %s", e|bits, fmt.Sprintf(format, a...))
}

// op3 emits d ← n op m.
func (g *gen) op3(name string, d, n, m int) {
	g.word(name, uint32(m<<16|n<<5|d), "%s V%d.%s, V%d.%s, V%d.%s", name, d, g.arm, n, g.arm, m, g.arm)
}

// op2 emits d ← op n.
func (g *gen) op2(name string, d, n int) {
	g.word(name, uint32(n<<5|d), "%s V%d.%s, V%d.%s", name, d, g.arm, n, g.arm)
}

func (g *gen) add(d, n, m int) { g.op3("FADD", d, n, m) }
func (g *gen) mul(d, n, m int) { g.op3("FMUL", d, n, m) }

// half emits d ← ⌊n/2⌋ of integers as wide as an element.
func (g *gen) half(d, n int) {
	g.word("SSHR", uint32(n<<5|d), "SSHR V%d.%s, V%d.%s, #1", d, g.arm, n, g.arm)
}

// addPair emits the sum of the two lowest elements, as a scalar.
func (g *gen) addPair(d, n int) {
	scalar, pair := "D", "2D"
	if g.f32 {
		scalar, pair = "S", "2S"
	}
	g.word("FADDP", uint32(n<<5|d), "FADDP %s%d, V%d.%s", scalar, d, n, pair)
}

// fma emits d ← n·m + d, fms d ← d − n·m, fma0 d ← n·m[0] + d, each with one rounding.
func (g *gen) fma(d, n, m int) { g.p("VFMLA V%d.%[4]s, V%[2]d.%[4]s, V%[3]d.%[4]s", m, n, d, g.arr) }
func (g *gen) fms(d, n, m int) { g.p("VFMLS V%d.%[4]s, V%[2]d.%[4]s, V%[3]d.%[4]s", m, n, d, g.arr) }
func (g *gen) fma0(d, n, m int) {
	g.word("FMLA by [0]", uint32(m<<16|n<<5|d), "FMLA V%d.%s, V%d.%s, V%d.%s[0]", d, g.arm, n, g.arm, m, g.arm[1:])
}

// load1 loads one element. load and store move a vector. loadNext loads the vector at
// register r, storeNext stores a vector there, and both advance r.
func (g *gen) load1(addr string, v int) { g.p("FMOV%s %s, F%d", g.letter(), addr, v) }
func (g *gen) load(addr string, v int)  { g.p("FMOVQ %s, F%d", addr, v) }
func (g *gen) store(v int, addr string) { g.p("FMOVQ F%d, %s", v, addr) }
func (g *gen) loadNext(r, v int)        { g.p("FMOVQ.P 16(R%d), F%d", r, v) }
func (g *gen) storeNext(v, r int)       { g.p("FMOVQ.P F%d, 16(R%d)", v, r) }
func (g *gen) zero(v int)               { g.p("VMOVI $0, V%d.B16", v) }

func (g *gen) letter() string {
	if g.f32 {
		return "S"
	}
	return "D"
}

// spread fills a vector with an argument.
func (g *gen) spread(arg string, v int) {
	g.load1(g.args[arg], v)
	g.p("VDUP V%d.%s[0], V%d.%s", v, g.letter(), v, g.arr)
}

// text begins a routine, without a stack frame and with its arguments in the caller's
// frame, and declares it. In sig, T is the type of an element; a result is named ret and
// comes last.
func (g *gen) text(name, doc, sig string) {
	name += g.sfx
	g.args = make(map[string]string)
	sig = strings.ReplaceAll(sig, "T", g.goTyp)
	size := 0
	for _, p := range strings.Split(sig, ", ") {
		arg, typ, _ := strings.Cut(p, " ")
		width := 8
		if typ == "float32" {
			width = 4
		}
		size = (size + width - 1) / width * width
		g.args[arg] = fmt.Sprintf("%s+%d(FP)", arg, size)
		size += width
	}
	params, result, _ := strings.Cut(sig, ", ret ")
	decl := strings.TrimSpace(fmt.Sprintf("func %s(%s) %s", name, params, result))
	fmt.Fprintf(&g.stubs, "\n// %s\n//\n//go:noescape\n%s\n", strings.ReplaceAll(name+" "+doc, "\n", "\n// "), decl)
	fmt.Fprintf(&g.code, "\n// %s\nTEXT ·%s(SB), NOSPLIT, $0-%d\n", decl, name, size)
}

// get loads integers and pointers to registers from r on.
func (g *gen) get(r int, args ...string) {
	for i, arg := range args {
		g.p("MOVD %s, R%d", g.args[arg], r+i)
	}
}

// constant fills a vector with an element's bits. It changes R0.
func (g *gen) constant(bits uint64, v int) {
	g.p("MOVD $%s(SB), R0", g.symbol(fmt.Sprintf("c%d_%x", g.size*8, bits), bits))
	g.load("(R0)", v)
}

// symbol defines read-only vectors, one for each element given, and returns
// their name.
func (g *gen) symbol(name string, elements ...uint64) string {
	name += "<>"
	if g.constants[name] {
		return name
	}
	g.constants[name] = true
	fmt.Fprintln(&g.data)
	for i, e := range elements {
		if g.f32 {
			e |= e << 32
		}
		fmt.Fprintf(&g.data, "DATA %s+%d(SB)/8, $0x%016x\nDATA %s+%d(SB)/8, $0x%016x\n", name, 16*i, e, name, 16*i+8, e)
	}
	fmt.Fprintf(&g.data, "GLOBL %s(SB), RODATA|NOPTR, $%d\n", name, 16*len(elements))
	return name
}

// bits returns the bits of an element.
func (g *gen) bits(x float64) uint64 {
	if g.f32 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

func (g *gen) number(x float64, v int) { g.constant(g.bits(x), v) }
