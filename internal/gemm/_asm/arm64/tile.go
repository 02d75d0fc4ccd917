package main

import "fmt"

// A tile is mr rows of nv vectors: 24 accumulators in 32 registers, with as few loads
// per multiply-add as possible (4 of B, 1 of A), and the panel width of AVX2. One
// more row or column would spill accumulators.
const (
	mr = 6
	nv = 4
)

// tile emits the micro-kernel, one code path for every number of rows and
// vectors up to mr × nv. Each element is one chain of fused multiply-adds in
// the order of k, whatever the path.
func (g *gen) tile() {
	g.text("tile", fmt.Sprintf("computes C ← α·A·B + β·C for rows ≤ %d rows of A (strides in bytes)\n"+
		"and vecs ≤ %d vectors of a packed panel; last, the valid lanes of the last vector,\nis ignored.", mr, nv),
		"rows int, vecs int, k int, a *T, lda int, b *T, c *T, ldc int, alpha T, beta T, last int")
	g.get(0, "rows", "vecs", "k")
	g.get(8, "a")
	g.get(3, "lda", "b", "c", "ldc")
	for i := 1; i < mr; i++ {
		g.p("ADD R3, R%d, R%d", 7+i, 8+i) // rows of A in R8 to R13; those beyond rows are not read
	}
	for v := nv; v >= 1; v-- {
		if v > 1 {
			g.p("CMP $%d, R1", v)
			g.p("BNE vecs%d", v-1)
		}
		for r := mr; r > 1; r-- {
			g.p("CMP $%d, R0", r)
			g.p("BEQ t%dx%d", r, v)
		}
		for r := 1; r <= mr; r++ {
			if r > 1 {
				g.p("t%dx%d:", r, v)
			}
			g.tileRC(r, v)
		}
		if v > 1 {
			g.p("vecs%d:", v-1)
		}
	}
}

// tileRC keeps C in V0 to V23, a row of the panel in V24 to V27, an element of A
// in V28 or V29.
func (g *gen) tileRC(r, v int) {
	acc := func(i, j int) int { return i*v + j }
	for i := range r * v {
		g.zero(i)
	}
	g.p("k%dx%d:", r, v)
	j := 0
	for ; j+1 < v; j += 2 {
		g.p("FLDPQ %d(R4), (F%d, F%d)", 16*j, 24+j, 25+j)
	}
	if j < v {
		g.load(fmt.Sprintf("%d(R4)", 16*j), 24+j)
	}
	g.p("ADD $%d, R4", 16*nv)
	for i := range r {
		a := 28 + i%2
		g.p("FMOV%s.P %d(R%d), F%d", g.letter(), g.size, 8+i, a)
		for j := range v {
			g.fma0(acc(i, j), 24+j, a)
		}
	}
	g.p("SUB $1, R2")
	g.p("CBNZ R2, k%dx%d", r, v)

	const alpha, beta, old = 24, 25, 26
	g.spread("alpha", alpha)
	g.spread("beta", beta)
	g.p("FCMP%s $(0.0), F%d", g.letter(), beta)
	g.p("BEQ store%dx%d", r, v)
	// With β = 1 the multiplication changes nothing, and the other backends omit it.
	for i := range r {
		for j := range v {
			at := fmt.Sprintf("%d(R5)", 16*j)
			g.load(at, old)
			g.mul(old, old, beta)
			g.fma(old, acc(i, j), alpha)
			g.store(old, at)
		}
		g.p("ADD R6, R5")
	}
	g.p("RET")
	g.p("store%dx%d:", r, v)
	for i := range r {
		for j := range v {
			g.mul(acc(i, j), acc(i, j), alpha)
			g.store(acc(i, j), fmt.Sprintf("%d(R5)", 16*j))
		}
		g.p("ADD R6, R5")
	}
	g.p("RET")
}

// pack emits the transposition of 16-byte blocks: 4×4 float32 or 2×2 float64.
func (g *gen) pack() {
	n := g.lanes
	g.text("pack", fmt.Sprintf("writes the transpose of %d rows (stride lds bytes) of %d·blocks columns to\nlanes 0 to %d of a panel.", n, n, n-1),
		"blocks int, src *T, lds int, dst *T")
	g.get(0, "blocks")
	g.get(8, "src")
	g.get(1, "lds", "dst")
	for i := 1; i < n; i++ {
		g.p("ADD R1, R%d, R%d", 7+i, 8+i)
	}
	g.p("loop:")
	for i := range n {
		g.loadNext(8+i, i)
	}
	zip := func(arr string, n, m, d int) {
		for half := range 2 {
			g.p("VZIP%d V%d.%[5]s, V%[3]d.%[5]s, V%[4]d.%[5]s", half+1, m, n, d+half, arr)
		}
	}
	first := 2
	if g.f32 {
		// Pairs of elements of rows 0 and 1, of 2 and 3; then pairs of pairs.
		zip("S4", 0, 1, 4)
		zip("S4", 2, 3, 6)
		first = 8
		zip("D2", 4, 6, 8)
		zip("D2", 5, 7, 10)
	} else {
		zip("D2", 0, 1, 2)
	}
	for i := range n {
		g.store(first+i, fmt.Sprintf("%d(R2)", i*16*nv))
	}
	g.p("ADD $%d, R2", n*16*nv)
	g.p("SUB $1, R0")
	g.p("CBNZ R0, loop")
	g.p("RET")
}
