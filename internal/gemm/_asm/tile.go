package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// tile emits the micro-kernel, one code path for every number of rows and
// vectors up to mr × nv. Each element is one chain of fused multiply-adds in
// the order of k, whatever the path.
func (g *gen) tile() {
	g.text("tile", fmt.Sprintf("func(rows, vecs, k int, a *%[1]s, lda int, b *%[1]s, c *%[1]s, ldc int, alpha, beta %[1]s, last int)", g.goTyp),
		fmt.Sprintf("computes C ← α·A·B + β·C for rows ≤ %d rows of A (strides in bytes)\n"+
			"and vecs ≤ %d vectors of a packed panel; the last vector has last valid lanes%s.",
			g.mr, g.nv, map[isa]string{avx512: "", avx2: "\n(all of them here)"}[g.isa]))
	sel := GP64()
	rws := GP64()
	Load(Param("rows"), rws)
	Load(Param("vecs"), sel)
	for v := g.nv; v >= 1; v-- {
		if v > 1 {
			CMPQ(sel, U8(v))
			JNE(LabelRef(fmt.Sprintf("vecs%d", v-1)))
		}
		for r := g.mr; r > 1; r-- {
			CMPQ(rws, U8(r))
			JEQ(LabelRef(fmt.Sprintf("t%dx%d", r, v)))
		}
		g.tileRC(1, v)
		for r := g.mr; r > 1; r-- {
			Label(fmt.Sprintf("t%dx%d", r, v))
			g.tileRC(r, v)
		}
		if v > 1 {
			Label(fmt.Sprintf("vecs%d", v-1))
		}
	}
}

func (g *gen) tileRC(r, v int) {
	id := fmt.Sprintf("%dx%d", r, v)
	a := newRows(ptr("a"), ptr("lda"), r)
	b, k := ptr("b"), ptr("k")
	acc := g.zeros(r * v)
	bv := g.vecs(v)
	av := g.vec()
	Label("k" + id)
	for j := range v {
		g.mov(Mem{Base: b, Disp: j * g.width}, bv[j])
	}
	for i := range r {
		g.bcast(a.at(i, 0), av)
		for j := range v {
			g.fma231(bv[j], av, acc[i*v+j])
		}
	}
	a.advance(g.size)
	ADDQ(I32(int32(g.nv*g.width)), b)
	DECQ(k)
	JNZ(LabelRef("k" + id))

	al := bv[0]
	g.bcast(must(Param("alpha").Resolve()), al)
	c := newRows(ptr("c"), ptr("ldc"), r)
	var last tail
	if g.isa == avx512 {
		last = g.newTail(ptr("last"), 1)
	}
	beta, one := ptr32or64(g, "beta"), GP64()
	MOVQ(U64(g.oneBits()), one)
	CMPQ(beta, one)
	JEQ(LabelRef("add" + id))
	ADDQ(beta, beta) // drops the sign of zero
	JZ(LabelRef("store" + id))

	be := av
	g.bcast(must(Param("beta").Resolve()), be)
	old := g.vec()
	for i := range r {
		for j := range v {
			at := c.at(i, j*g.width)
			partial := g.isa == avx512 && j == v-1
			if partial {
				last.load(g, at, old, 0)
			} else {
				g.mov(at, old)
			}
			g.mul(be, old, old)
			g.fma231(acc[i*v+j], al, old)
			g.put(last, partial, old, at)
		}
	}
	ret()

	Label("add" + id)
	fma213 := g.by(VFMADD213PS, VFMADD213PD)
	for i := range r {
		for j := range v {
			at, x := c.at(i, j*g.width), acc[i*v+j]
			partial := g.isa == avx512 && j == v-1
			if partial {
				fma213(at, al, last.k, x)
			} else {
				fma213(at, al, x)
			}
			g.put(last, partial, x, at)
		}
	}
	ret()

	Label("store" + id)
	for i := range r {
		for j := range v {
			g.mul(al, acc[i*v+j], acc[i*v+j])
			g.put(last, g.isa == avx512 && j == v-1, acc[i*v+j], c.at(i, j*g.width))
		}
	}
	ret()
}
