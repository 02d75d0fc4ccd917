package main

import (
	"fmt"
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"polkrepro/internal/gemm/_asm/coef"
)

type isa int

const (
	avx2 isa = iota
	avx512
)

// gen emits the routines of one instruction set and one element size. The
// methods named after an instruction pick its packed-single or packed-double
// form.
type gen struct {
	isa   isa
	f32   bool
	size  int // bytes of an element
	width int // bytes of a vector
	lanes int // elements of a vector
	mr    int // rows of a tile
	nv    int // vectors of a tile's row
	goTyp string
	sfx   string
	coef  coef.Exp
}

func newGen(is isa, bits int) *gen {
	g := &gen{isa: is, f32: bits == 32, size: bits / 8, goTyp: fmt.Sprintf("float%d", bits), coef: coef.Float64}
	if g.f32 {
		g.coef = coef.Float32
	}
	name := "AVX2"
	g.width, g.mr, g.nv = 32, 6, 2
	if is == avx512 {
		name = "AVX512"
		g.width, g.mr, g.nv = 64, 8, 3
	}
	g.lanes = g.width / g.size
	g.sfx = fmt.Sprintf("%sF%d", name, bits)
	return g
}

// vec returns a fresh vector register.
func (g *gen) vec() VecVirtual {
	if g.isa == avx512 {
		return ZMM()
	}
	return YMM()
}

func (g *gen) vecs(n int) []VecVirtual {
	v := make([]VecVirtual, n)
	for i := range v {
		v[i] = g.vec()
	}
	return v
}

// zeros returns n vectors that are 0.
func (g *gen) zeros(n int) []VecVirtual {
	v := g.vecs(n)
	for _, x := range v {
		g.zero(x)
	}
	return v
}

type op func(...Op)

// by picks the instruction of the element type.
func (g *gen) by(ps, pd op) op {
	if g.f32 {
		return ps
	}
	return pd
}

func (g *gen) fma231(ops ...Op)  { g.by(VFMADD231PS, VFMADD231PD)(ops...) }
func (g *gen) fnma231(ops ...Op) { g.by(VFNMADD231PS, VFNMADD231PD)(ops...) }
func (g *gen) add(ops ...Op)     { g.by(VADDPS, VADDPD)(ops...) }
func (g *gen) mul(ops ...Op)     { g.by(VMULPS, VMULPD)(ops...) }
func (g *gen) max(ops ...Op)     { g.by(VMAXPS, VMAXPD)(ops...) }
func (g *gen) min(ops ...Op)     { g.by(VMINPS, VMINPD)(ops...) }
func (g *gen) mov(ops ...Op)     { g.by(VMOVUPS, VMOVUPD)(ops...) }

func (g *gen) bcast(m, v Op) {
	if g.f32 {
		VBROADCASTSS(m, v)
	} else {
		VBROADCASTSD(m, v)
	}
}

func (g *gen) zero(v VecVirtual) {
	if g.isa == avx512 {
		VPXORD(v, v, v)
	} else {
		g.by(VXORPS, VXORPD)(v, v, v)
	}
}

// text begins a routine. All routines are NOSPLIT, and their pointer arguments do not escape.
func (g *gen) text(name, sig, doc string) {
	TEXT(name+g.sfx, NOSPLIT, sig)
	Pragma("noescape")
	Doc(strings.Split(name+g.sfx+" "+doc, "\n")...)
}

func ptr(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// ret ends a routine.
func ret() {
	VZEROUPPER()
	RET()
}

// rows addresses up to 8 rows of a matrix with two base registers.
type rows struct {
	base, base4, stride, stride3 GPVirtual
}

func newRows(base, stride GPVirtual, n int) rows {
	r := rows{base: base, stride: stride}
	if n > 3 {
		r.stride3 = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, r.stride3)
	}
	if n > 4 {
		r.base4 = GP64()
		LEAQ(Mem{Base: base, Index: stride, Scale: 4}, r.base4)
	}
	return r
}

// after returns the n rows that follow the first n rows; n is 2 or 4.
func (r rows) after(n int) rows {
	next := GP64()
	LEAQ(Mem{Base: r.base, Index: r.stride, Scale: uint8(n)}, next)
	return rows{base: next, stride: r.stride, stride3: r.stride3}
}

// at returns the address disp bytes into row i.
func (r rows) at(i, disp int) Mem {
	m := Mem{Base: r.base, Disp: disp}
	if i >= 4 {
		m.Base = r.base4
	}
	switch i % 4 {
	case 1:
		m.Index, m.Scale = r.stride, 1
	case 2:
		m.Index, m.Scale = r.stride, 2
	case 3:
		m.Index, m.Scale = r.stride3, 1
	}
	return m
}

// advance moves all rows by n bytes.
func (r rows) advance(n int) {
	ADDQ(I32(int32(n)), r.base)
	if r.base4 != nil {
		ADDQ(I32(int32(n)), r.base4)
	}
}

// consts are read-only data, one full AVX2 vector each; AVX-512 broadcasts
// their first element.
var consts = map[string]Mem{}

func (g *gen) constant(x float64) Mem {
	bits := math.Float64bits(x)
	if g.f32 {
		bits = uint64(math.Float32bits(float32(x)))
	}
	return g.constBits(bits)
}

func (g *gen) constBits(bits uint64) Mem {
	return static(fmt.Sprintf("c%d_%x", g.size*8, bits), 32, g.size, func(int) uint64 { return bits })
}

// static defines read-only data of n bytes, elements of size bytes, unless it exists.
func static(name string, n, size int, element func(at int) uint64) Mem {
	if m, ok := consts[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < n; i += size {
		if size == 4 {
			DATA(i, U32(element(i)))
		} else {
			DATA(i, U64(element(i)))
		}
	}
	consts[name] = m
	return m
}

// tailMask is a window of set bytes followed by a window of clear ones: read
// 64−n·size bytes in, it masks a vector's first n elements.
func tailMask() Mem {
	return static("tailMask", 128, 8, func(at int) uint64 {
		if at < 64 {
			return math.MaxUint64
		}
		return 0
	})
}

// tail is the mask of a partial vector: an opmask (AVX-512), or vectors
// (AVX2; two of them where a pair of vectors stands for 64 bytes).
type tail struct {
	k Register
	v []VecVirtual
}

// newTail makes the mask of the first n elements of 64 bytes (AVX-512), or of
// nvec vectors of 32 bytes (AVX2).
func (g *gen) newTail(n GPVirtual, nvec int) tail {
	if g.isa == avx512 {
		bits := GP64()
		MOVQ(U64(1), bits)
		SHLXQ(n, bits, bits)
		DECQ(bits)
		k := K()
		KMOVW(bits.As32(), k)
		return tail{k: k}
	}
	at, neg := GP64(), GP64()
	LEAQ(tailMask(), at)
	MOVQ(n, neg)
	NEGQ(neg)
	t := tail{v: g.vecs(nvec)}
	for i, v := range t.v {
		VMOVUPS(Mem{Base: at, Index: neg, Scale: uint8(g.size), Disp: 64 + 32*i}, v)
	}
	return t
}

// load loads vector i of a partial load. Elements beyond the mask become zero, and
// their memory is not read.
func (t tail) load(g *gen, m Mem, v VecVirtual, i int) {
	switch {
	case g.isa == avx512 && g.f32:
		VMOVUPS_Z(m, t.k, v)
	case g.isa == avx512:
		VMOVUPD_Z(m, t.k, v)
	default:
		g.by(asOp(VMASKMOVPS), asOp(VMASKMOVPD))(m, t.v[i], v)
	}
}

func (t tail) store(g *gen, v VecVirtual, m Mem, i int) {
	if g.isa == avx512 {
		g.mov(v, t.k, m)
		return
	}
	g.by(asOp(VMASKMOVPS), asOp(VMASKMOVPD))(v, t.v[i], m)
}

func asOp(f func(a, b, c Op)) op { return func(o ...Op) { f(o[0], o[1], o[2]) } }
