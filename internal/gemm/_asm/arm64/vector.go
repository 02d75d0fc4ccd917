package main

import (
	"fmt"

	"polkrepro/internal/gemm/_asm/coef"
)

// per is the number of vectors that make up 64 bytes.
const per = 4

// dots emits the dot-product form of A·Bᵀ on unpacked rows. Accumulators of 64
// bytes are V0 to V23; rows of A are in R8 to R10, of B in R11 and R12.
func (g *gen) dots() {
	shapes := [][2]int{{3, 2}, {3, 1}, {2, 2}, {2, 1}, {1, 2}, {1, 1}}
	g.text("dots", fmt.Sprintf("computes out[4i+j] ← a_i·b_j for ra×rb = %v rows (strides in bytes)\n"+
		"of blocks times 64 bytes. If rest is not nil, it holds 64 bytes more of every row of A and then of B.", shapes),
		"ra int, rb int, blocks int, a *T, lda int, b *T, ldb int, rest *T, out *T")
	g.get(0, "ra", "rb", "blocks")
	g.get(8, "a")
	g.get(3, "lda")
	g.get(11, "b")
	g.get(4, "ldb", "rest", "out")
	g.p("ADD R3, R8, R9")
	g.p("ADD R3, R9, R10")
	g.p("ADD R4, R11, R12")
	g.p("ADD R0<<4, R1, R0")
	last := len(shapes) - 1
	for _, s := range shapes[:last] {
		g.p("CMP $%d, R0", s[0]<<4+s[1])
		g.p("BEQ d%dx%d", s[0], s[1])
	}
	g.dotsRC(shapes[last][0], shapes[last][1])
	for _, s := range shapes[:last] {
		g.p("d%dx%d:", s[0], s[1])
		g.dotsRC(s[0], s[1])
	}
}

func (g *gen) dotsRC(r, c int) {
	acc := func(i, j, h int) int { return (i*c+j)*per + h }
	for i := range r * c * per {
		g.zero(i)
	}
	g.p("CBZ R2, rest%dx%d", r, c)
	g.p("main%dx%d:", r, c)
	for h := range per {
		for j := range c {
			g.loadNext(11+j, 24+j)
		}
		for i := range r {
			a := 26 + i
			g.loadNext(8+i, a)
			for j := range c {
				g.fma(acc(i, j, h), a, 24+j)
			}
		}
	}
	g.p("SUB $1, R2")
	g.p("CBNZ R2, main%dx%d", r, c)
	g.p("rest%dx%d:", r, c)
	g.p("CBZ R5, sum%dx%d", r, c)
	for i := range r {
		g.p("ADD $%d, R5, R%d", 64*i, 8+i)
	}
	for j := range c {
		g.p("ADD $%d, R5, R%d", 64*(r+j), 11+j)
	}
	g.p("MOVD $0, R5")
	g.p("MOVD $1, R2")
	g.p("B main%dx%d", r, c)
	g.p("sum%dx%d:", r, c)
	for i := range r {
		for j := range c {
			g.reduce(acc(i, j, 0), 24)
			g.p("FMOV%s F%d, %d(R6)", g.letter(), acc(i, j, 0), (4*i+j)*g.size)
		}
	}
	g.p("RET")
}

// reduce adds up the lanes of vectors v to v+3 in the order of the other
// backends: halves of 64 bytes, of 32, of 16, of 8. It changes t.
func (g *gen) reduce(v, t int) {
	g.add(v, v, v+2)
	g.add(v+1, v+1, v+3)
	g.add(v, v, v+1)
	if g.f32 {
		g.p("VEXT $8, V%[1]d.B16, V%[1]d.B16, V%[2]d.B16", v, t)
		g.add(v, v, t)
	}
	g.addPair(v, v)
}

// each emits a loop over R0 vectors, n elements of the caller.
func (g *gen) each(body func()) {
	g.p("LSR $%d, R0", map[int]int{2: 1, 4: 2}[g.lanes])
	g.p("loop:")
	body()
	g.p("SUB $1, R0")
	g.p("CBNZ R0, loop")
	g.p("RET")
}

// The registers of exp's constants.
const (
	log2e = 16 + iota
	ln2hi
	ln2lo
	bias
	least
	most
)

// expConstants loads the constants, and the address of the coefficients to R7.
func (g *gen) expConstants() {
	g.number(coef.Log2E, log2e)
	g.number(g.coef.Ln2[0], ln2hi)
	g.number(g.coef.Ln2[1], ln2lo)
	g.constant(g.coef.Bias, bias)
	g.number(g.coef.Least, least)
	g.number(g.coef.Most, most)
	var elements []uint64
	for _, c := range g.coef.Poly {
		elements = append(elements, g.bits(c))
	}
	g.p("MOVD $%s(SB), R7", g.symbol(fmt.Sprintf("poly%d", 8*g.size), elements...))
}

// expOf replaces x, in V0, with exp(x), using V1 to V4. x ≤ 0 is known unless clamped. NaN stays NaN.
func (g *gen) expOf(clamped bool) {
	g.op3("FMAX", 0, 0, least)
	if clamped {
		g.op3("FMIN", 0, 0, most)
	}
	const n = 1
	g.mul(n, 0, log2e)
	g.op2("FRINTN", n, n)
	g.fms(0, n, ln2hi)
	g.fms(0, n, ln2lo)
	p, next := 2, 3
	g.load("(R7)", p)
	for i := range len(g.coef.Poly) - 1 {
		g.load(fmt.Sprintf("%d(R7)", 16*(i+1)), next)
		g.fma(next, p, 0)
		p, next = next, p
	}
	// 2ⁿ as two powers of about n/2, so that the only rounding is that of a
	// subnormal result.
	g.op2("FCVTZS", n, n)
	g.half(4, n)
	g.p("VSUB V4.%[1]s, V%[2]d.%[1]s, V%[2]d.%[1]s", g.arr, n)
	shift := map[bool]int{true: 23, false: 52}[g.f32]
	for _, e := range []int{n, 4} {
		g.p("VADD V%d.%[3]s, V%[2]d.%[3]s, V%[2]d.%[3]s", bias, e, g.arr)
		g.p("VSHL $%d, V%[2]d.%[3]s, V%[2]d.%[3]s", shift, e, g.arr)
	}
	g.mul(p, p, n)
	g.mul(0, p, 4)
}

func (g *gen) exp() {
	g.text("exp", fmt.Sprintf("computes dst[i] ← exp(src[i]) for n > 0, a multiple of %d.", g.lanes),
		"n int, dst *T, src *T")
	g.expConstants()
	g.get(0, "n", "dst", "src")
	g.each(func() {
		g.loadNext(2, 0)
		g.expOf(true)
		g.storeNext(0, 1)
	})
}

func (g *gen) gauss() {
	g.text("gauss", fmt.Sprintf("computes c[j] ← exp(negGamma·max(0, na + nb[j] − 2c[j])) for n > 0,\na multiple of %d.", g.lanes),
		"n int, c *T, nb *T, na T, negGamma T")
	const na, gamma, two, zero = 22, 23, 24, 25
	g.expConstants()
	g.spread("na", na)
	g.spread("negGamma", gamma)
	g.number(2, two)
	g.zero(zero)
	g.get(0, "n", "c", "nb")
	g.each(func() {
		g.loadNext(2, 0)
		g.load("(R1)", 1)
		g.add(0, 0, na)
		g.fms(0, 1, two)
		g.op3("FMAX", 0, 0, zero)
		g.mul(0, 0, gamma)
		g.expOf(false)
		g.storeNext(0, 1)
	})
}

// dot emits a single dot product over four accumulators of 64 bytes, V0 to V15.
func (g *gen) dot() {
	g.text("dot", "computes Σ x[i]·y[i] for n a multiple of 8. If rest is not nil, it holds 8\nelements more of x and then of y.",
		"n int, x *float64, y *float64, rest *float64, ret float64")
	g.get(0, "n", "x", "y")
	g.get(5, "rest")
	for i := range 4 * per {
		g.zero(i)
	}
	step := func(vectors int) {
		for i := range vectors {
			x := 16 + i%4
			g.loadNext(1, x)
			g.loadNext(2, x+4)
			g.fma(i, x, x+4)
		}
	}
	g.p("SUBS $32, R0")
	g.p("BLT eights")
	g.p("loop:")
	step(4 * per)
	g.p("SUBS $32, R0")
	g.p("BGE loop")
	g.p("eights:")
	g.p("ADDS $24, R0")
	g.p("BLT rest")
	g.p("eight:")
	step(per)
	g.p("SUBS $8, R0")
	g.p("BGE eight")
	g.p("rest:")
	g.p("CBZ R5, sum")
	g.p("MOVD R5, R1")
	g.p("ADD $64, R5, R2")
	g.p("MOVD $0, R5")
	g.p("MOVD $0, R0")
	g.p("B eight")
	g.p("sum:")
	for i := range per {
		g.add(i, i, per+i)
		g.add(2*per+i, 2*per+i, 3*per+i)
		g.add(i, i, 2*per+i)
	}
	g.reduce(0, 16)
	g.p("FMOVD F0, %s", g.args["ret"])
	g.p("RET")
}

func (g *gen) axpy() {
	g.text("axpy", "computes y[i] ← α·x[i] + y[i] for n > 0, a multiple of 2.",
		"n int, alpha float64, x *float64, y *float64")
	g.spread("alpha", 2)
	g.get(0, "n", "x", "y")
	g.each(func() {
		g.loadNext(1, 0)
		g.load("(R2)", 1)
		g.fma(1, 0, 2)
		g.storeNext(1, 2)
	})
}

func (g *gen) product() {
	g.text("product", fmt.Sprintf("computes dst[i] ← x[i]·y[i] for n > 0, a multiple of %d.", g.lanes),
		"n int, x *T, y *T, dst *T")
	g.get(0, "n", "x", "y", "dst")
	g.each(func() {
		g.loadNext(1, 0)
		g.loadNext(2, 1)
		g.mul(0, 0, 1)
		g.storeNext(0, 3)
	})
}

func (g *gen) largest() {
	g.text("largest", "computes y[i] ← x[i] if that is greater than y[i], for n > 0, a multiple of 2.",
		"n int, x *float64, y *float64")
	g.get(0, "n", "x", "y")
	g.each(func() {
		g.loadNext(1, 0)
		g.load("(R2)", 1)
		g.op3("FCMGT", 2, 0, 1) // FMAX would take a NaN
		g.p("VBIT V2.B16, V0.B16, V1.B16")
		g.storeNext(1, 2)
	})
}

// sumSquares32 emits Σ x² of float32 in float64; the caller adds the rest.
func (g *gen) sumSquares32() {
	g.text("sumSquares32", "computes Σ float64(x[i])² for n > 0, a multiple of 8.",
		"n int, x *float32, ret float64")
	g.get(0, "n", "x")
	for i := range per {
		g.zero(i)
	}
	g.p("LSR $3, R0")
	g.p("loop:")
	for i := 0; i < per; i += 2 {
		g.loadNext(1, 4)
		g.word("FCVTL", 4<<5|5, "FCVTL V5.2D, V4.2S")
		g.word("FCVTL2", 4<<5|6, "FCVTL2 V6.2D, V4.4S")
		g.fma(i, 5, 5)
		g.fma(i+1, 6, 6)
	}
	g.p("SUB $1, R0")
	g.p("CBNZ R0, loop")
	g.reduce(0, 16)
	g.p("FMOVD F0, %s", g.args["ret"])
	g.p("RET")
}
