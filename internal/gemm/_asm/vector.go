package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"polkrepro/internal/gemm/_asm/coef"
)

// per returns the number of vectors that make up 64 bytes. All dot products sum in
// lanes of 64 bytes, so that both instruction sets give the same bits.
func (g *gen) per() int { return 64 / g.width }

// dots emits the dot-product form of A·Bᵀ on unpacked rows. While it works on some
// rows of B, it prefetches the following rows to the second-level cache: each row is
// too short for the hardware to prefetch ahead.
func (g *gen) dots() {
	shapes := [][2]int{{6, 4}, {6, 1}, {5, 4}, {5, 1}, {4, 4}, {4, 1}, {3, 4}, {3, 1}, {2, 4}, {2, 1}, {1, 4}, {1, 1}}
	if g.isa == avx2 {
		shapes = [][2]int{{2, 2}, {2, 1}, {1, 2}, {1, 1}}
	}
	g.text("dots", fmt.Sprintf("func(ra, rb, k int, a *%[1]s, lda int, b *%[1]s, ldb int, out *%[1]s)", g.goTyp),
		fmt.Sprintf("computes out[4i+j] ← a_i·b_j for ra×rb = %v rows (strides in bytes).", shapes))
	ra, rb := ptr("ra"), ptr("rb")
	SHLQ(U8(4), ra)
	ADDQ(rb, ra)
	for _, s := range shapes[:len(shapes)-1] {
		CMPQ(ra, U8(s[0]<<4+s[1]))
		JEQ(LabelRef(fmt.Sprintf("d%dx%d", s[0], s[1])))
	}
	for i := range shapes {
		s := shapes[(i+len(shapes)-1)%len(shapes)]
		Label(fmt.Sprintf("d%dx%d", s[0], s[1]))
		g.dotsRC(s[0], s[1])
	}
}

func (g *gen) dotsRC(r, c int) {
	id := fmt.Sprintf("%dx%d", r, c)
	a := newRows(ptr("a"), ptr("lda"), r)
	b := newRows(ptr("b"), ptr("ldb"), c)
	k := ptr("k")
	var next rows
	if c > 1 {
		next = b.after(c)
	}
	p := g.per()
	acc := g.zeros(r * c * p)
	step := func(load func(m Mem, v VecVirtual, i int)) {
		bv := g.vecs(c)
		av := g.vec()
		for h := range p {
			for j := range c {
				load(b.at(j, h*g.width), bv[j], h)
			}
			for i := range r {
				load(a.at(i, h*g.width), av, h)
				for j := range c {
					g.fma231(bv[j], av, acc[(i*c+j)*p+h])
				}
			}
		}
	}
	SUBQ(U8(g.lanes*p), k)
	JL(LabelRef("rest" + id))
	Label("main" + id)
	if c > 1 {
		for j := range c {
			PREFETCHT1(next.at(j, 0))
		}
		next.advance(64)
	}
	step(func(m Mem, v VecVirtual, _ int) { g.mov(m, v) })
	a.advance(64)
	b.advance(64)
	SUBQ(U8(g.lanes*p), k)
	JGE(LabelRef("main" + id))
	Label("rest" + id)
	ADDQ(U8(g.lanes*p), k)
	JZ(LabelRef("sum" + id))
	t := g.newTail(k, 1)
	if g.isa == avx2 {
		// One mask register at a time: the accumulators leave no room for two.
		at, neg := GP64(), GP64()
		LEAQ(tailMask(), at)
		MOVQ(k, neg)
		NEGQ(neg)
		step(func(m Mem, v VecVirtual, h int) {
			VMOVUPS(Mem{Base: at, Index: neg, Scale: uint8(g.size), Disp: 64 + 32*h}, t.v[0])
			t.load(g, m, v, 0)
		})
	} else {
		step(func(m Mem, v VecVirtual, h int) { t.load(g, m, v, h) })
	}
	Label("sum" + id)
	out := ptr("out")
	for i := range r {
		for j := range c {
			s := g.reduce(acc[(i*c+j)*p : (i*c+j+1)*p])
			g.by(VMOVSS, VMOVSD)(s, Mem{Base: out, Disp: (4*i + j) * g.size})
		}
	}
	ret()
}

// reduce adds up 64 bytes of lanes, halves first.
func (g *gen) reduce(v []VecVirtual) Register {
	lo := v[0].AsY()
	if g.isa == avx512 {
		hi := YMM()
		VEXTRACTF64X4(U8(1), v[0], hi)
		g.add(hi, lo, lo)
	} else {
		g.add(v[1], lo, lo)
	}
	hi := XMM()
	if g.isa == avx512 {
		VEXTRACTF32X4(U8(1), lo, hi) // reaches registers above 15
	} else {
		VEXTRACTF128(U8(1), lo, hi)
	}
	x := v[0].AsX()
	g.add(hi, x, x)
	if g.f32 {
		VMOVHLPS(x, x, hi)
		g.add(hi, x, x)
		VMOVSHDUP(x, hi)
		VADDSS(hi, x, x)
		return x
	}
	VUNPCKHPD(x, x, hi)
	VADDSD(hi, x, x)
	return x
}

// each emits a loop over n elements, body once for whole vectors and once for
// the masked rest. regs are the pointers to advance.
func (g *gen) each(n GPVirtual, regs []GPVirtual, body func(load func(Mem, VecVirtual), store func(VecVirtual, Mem))) {
	SUBQ(U8(g.lanes), n)
	JL(LabelRef("rest"))
	Label("loop")
	body(func(m Mem, v VecVirtual) { g.mov(m, v) }, func(v VecVirtual, m Mem) { g.mov(v, m) })
	for _, r := range regs {
		ADDQ(U8(g.width), r)
	}
	SUBQ(U8(g.lanes), n)
	JGE(LabelRef("loop"))
	Label("rest")
	ADDQ(U8(g.lanes), n)
	JZ(LabelRef("done"))
	t := g.newTail(n, 1)
	body(func(m Mem, v VecVirtual) { t.load(g, m, v, 0) }, func(v VecVirtual, m Mem) { t.store(g, v, m, 0) })
	Label("done")
	ret()
}

// combine emits a loop (see each) over two vectors, u at the first pointer and v at
// the second. do leaves its result in v, which is stored at the last pointer.
func (g *gen) combine(n GPVirtual, do func(u, v VecVirtual), at ...GPVirtual) {
	g.each(n, at, func(load func(Mem, VecVirtual), store func(VecVirtual, Mem)) {
		u, v := g.vec(), g.vec()
		load(Mem{Base: at[0]}, u)
		load(Mem{Base: at[1]}, v)
		do(u, v)
		store(v, Mem{Base: at[len(at)-1]})
	})
}

// byConst is by for an instruction whose first operand is a constant, which AVX-512
// broadcasts.
func (g *gen) byConst(ps, pd, psBcast, pdBcast op) op {
	if g.isa == avx512 {
		return g.by(psBcast, pdBcast)
	}
	return g.by(ps, pd)
}

// expOf replaces x by exp(x). lo and hi hold the clamps, beyond which the
// result is 0 or +Inf anyway; hi may be nil if x ≤ 0 is known. NaN stays NaN.
func (g *gen) expOf(x, lo, hi VecVirtual) {
	g.max(x, lo, x)
	if hi != nil {
		g.min(x, hi, x)
	}
	n, p := g.vec(), g.vec()
	g.byConst(VMULPS, VMULPD, VMULPS_BCST, VMULPD_BCST)(g.constant(coef.Log2E), x, n)
	if g.isa == avx512 {
		g.by(VRNDSCALEPS, VRNDSCALEPD)(U8(8), n, n)
	} else {
		g.by(asOp(VROUNDPS), asOp(VROUNDPD))(U8(8), n, n)
	}
	fnma := g.byConst(VFNMADD231PS, VFNMADD231PD, VFNMADD231PS_BCST, VFNMADD231PD_BCST)
	fnma(g.constant(g.coef.Ln2[0]), n, x)
	fnma(g.constant(g.coef.Ln2[1]), n, x)
	fma := g.byConst(VFMADD213PS, VFMADD213PD, VFMADD213PS_BCST, VFMADD213PD_BCST)
	g.bcastConst(g.coef.Poly[0], p)
	for _, c := range g.coef.Poly[1:] {
		fma(g.constant(c), x, p) // p ← p·x + c
	}
	g.scale(p, n, x)
}

func (g *gen) bcastConst(x float64, v VecVirtual) {
	m := g.constant(x)
	if g.isa == avx512 {
		g.bcast(m, v)
		return
	}
	g.mov(m, v)
}

// scale computes dst ← p·2ⁿ. AVX2 multiplies by two powers of two of about
// n/2, so that the only rounding is that of a subnormal result.
func (g *gen) scale(p, n, dst VecVirtual) {
	if g.isa == avx512 {
		g.by(VSCALEFPS, VSCALEFPD)(n, p, dst)
		return
	}
	if g.f32 {
		i, h := YMM(), YMM()
		VCVTPS2DQ(n, i)
		VPSRAD(U8(1), i, h)
		VPSUBD(h, i, i)
		for _, e := range []VecVirtual{i, h} {
			VPADDD(g.constBits(127), e, e)
			VPSLLD(U8(23), e, e)
			VMULPS(e, p, p)
		}
		VMOVAPS(p, dst)
		return
	}
	i, h := XMM(), XMM()
	e := YMM()
	VCVTPD2DQY(n, i)
	VPSRAD(U8(1), i, h)
	VPSUBD(h, i, i)
	for _, x := range []VecVirtual{i, h} {
		VPMOVSXDQ(x, e)
		VPADDQ(g.constBits(1023), e, e)
		VPSLLQ(U8(52), e, e)
		VMULPD(e, p, p)
	}
	VMOVAPD(p, dst)
}

// clamps returns the arguments beyond which exp is 0 and +Inf.
func (g *gen) clamps() (lo, hi VecVirtual) {
	lo, hi = g.vec(), g.vec()
	g.bcastConst(g.coef.Least, lo)
	g.bcastConst(g.coef.Most, hi)
	return lo, hi
}

func (g *gen) exp() {
	g.text("exp", fmt.Sprintf("func(n int, dst, src *%s)", g.goTyp), "computes dst[i] ← exp(src[i]).")
	n, dst, src := ptr("n"), ptr("dst"), ptr("src")
	lo, hi := g.clamps()
	g.each(n, []GPVirtual{dst, src}, func(load func(Mem, VecVirtual), store func(VecVirtual, Mem)) {
		x := g.vec()
		load(Mem{Base: src}, x)
		g.expOf(x, lo, hi)
		store(x, Mem{Base: dst})
	})
}

func (g *gen) gauss() {
	g.text("gauss", fmt.Sprintf("func(n int, c, nb *%[1]s, na, negGamma %[1]s)", g.goTyp),
		"computes c[j] ← exp(negGamma·max(0, na + nb[j] − 2c[j])).")
	n, c, nb := ptr("n"), ptr("c"), ptr("nb")
	na, ng, two, zero := g.vec(), g.vec(), g.vec(), g.vec()
	g.bcast(must(Param("na").Resolve()), na)
	g.bcast(must(Param("negGamma").Resolve()), ng)
	g.bcastConst(2, two)
	g.zero(zero)
	lo, _ := g.clamps()
	g.each(n, []GPVirtual{c, nb}, func(load func(Mem, VecVirtual), store func(VecVirtual, Mem)) {
		x, d := g.vec(), g.vec()
		load(Mem{Base: nb}, d)
		g.add(d, na, d)
		load(Mem{Base: c}, x)
		g.fnma231(x, two, d)
		g.max(d, zero, d)
		g.mul(d, ng, x)
		g.expOf(x, lo, nil)
		store(x, Mem{Base: c})
	})
}

// dot emits a single dot product over four accumulators of 64 bytes.
func (g *gen) dot() {
	g.text("dot", "func(n int, x, y *float64) float64", "computes Σ x[i]·y[i].")
	n, x, y := ptr("n"), ptr("x"), ptr("y")
	p := g.per()
	acc := g.zeros(4 * p)
	v := g.vec()
	SUBQ(U8(32), n)
	JL(LabelRef("eights"))
	Label("loop")
	for i, a := range acc {
		g.mov(Mem{Base: x, Disp: i * g.width}, v)
		g.fma231(Mem{Base: y, Disp: i * g.width}, v, a)
	}
	ADDQ(I32(256), x)
	ADDQ(I32(256), y)
	SUBQ(U8(32), n)
	JGE(LabelRef("loop"))
	Label("eights")
	ADDQ(U8(24), n)
	JL(LabelRef("rest"))
	Label("eight")
	for i := range p {
		g.mov(Mem{Base: x, Disp: i * g.width}, v)
		g.fma231(Mem{Base: y, Disp: i * g.width}, v, acc[i])
	}
	ADDQ(U8(64), x)
	ADDQ(U8(64), y)
	SUBQ(U8(8), n)
	JGE(LabelRef("eight"))
	Label("rest")
	ADDQ(U8(8), n)
	JZ(LabelRef("sum"))
	t := g.newTail(n, p)
	w := g.vec()
	for i := range p {
		t.load(g, Mem{Base: x, Disp: i * g.width}, v, i)
		t.load(g, Mem{Base: y, Disp: i * g.width}, w, i)
		g.fma231(w, v, acc[i])
	}
	Label("sum")
	for i := range p {
		g.add(acc[p+i], acc[i], acc[i])
		g.add(acc[3*p+i], acc[2*p+i], acc[2*p+i])
		g.add(acc[2*p+i], acc[i], acc[i])
	}
	Store(g.reduce(acc[:p]), ReturnIndex(0))
	ret()
}

func (g *gen) axpy() {
	g.text("axpy", "func(n int, alpha float64, x, y *float64)", "computes y[i] ← α·x[i] + y[i].")
	n, x, y := ptr("n"), ptr("x"), ptr("y")
	al := g.vec()
	g.bcast(must(Param("alpha").Resolve()), al)
	g.combine(n, func(u, v VecVirtual) { g.fma231(u, al, v) }, x, y)
}

func (g *gen) product() {
	g.text("product", fmt.Sprintf("func(n int, x, y, dst *%s)", g.goTyp), "computes dst[i] ← x[i]·y[i].")
	n, x, y, dst := ptr("n"), ptr("x"), ptr("y"), ptr("dst")
	g.combine(n, func(u, v VecVirtual) { g.mul(u, v, v) }, x, y, dst)
}

func (g *gen) largest() {
	g.text("largest", "func(n int, x, y *float64)", "computes y[i] ← x[i] if that is greater than y[i].")
	n, x, y := ptr("n"), ptr("x"), ptr("y")
	// VMAXPD returns its second source if the sources are unordered or both zero. In Go's order,
	// the reverse of Intel's, that is the first operand, v: y stays unless x is greater.
	g.combine(n, func(u, v VecVirtual) { g.max(v, u, v) }, x, y)
}

// sumSquares32 emits Σ x² of float32 in float64; n is a multiple of 8, the
// caller adds the rest.
func (g *gen) sumSquares32() {
	g.text("sumSquares32", "func(n int, x *float32) float64", "computes Σ float64(x[i])² for n a multiple of 8.")
	n, x := ptr("n"), ptr("x")
	p := g.per()
	acc := g.zeros(p)
	v := g.vec()
	SHRQ(U8(3), n)
	JZ(LabelRef("sum"))
	Label("loop")
	for i := range p {
		VCVTPS2PD(Mem{Base: x, Disp: i * g.width / 2}, v)
		g.fma231(v, v, acc[i])
	}
	ADDQ(U8(32), x)
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("sum")
	Store(g.reduce(acc), ReturnIndex(0))
	ret()
}
