package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// pack emits the transposition of 32-byte blocks: 8×8 float32 or 4×4 float64.
func (g *gen) pack() {
	n := 32 / g.size
	g.text("pack", fmt.Sprintf("func(blocks int, src *%[1]s, lds int, dst *%[1]s)", g.goTyp),
		fmt.Sprintf("writes the transpose of %d rows (stride lds bytes) of %d·blocks columns to\nlanes 0 to %d of a panel.", n, n, n-1))
	blocks, dst := ptr("blocks"), ptr("dst")
	src := newRows(ptr("src"), ptr("lds"), n)
	nr := g.nv * g.width
	Label("loop")
	v := make([]VecVirtual, n)
	for i := range v {
		v[i] = YMM()
		VMOVUPS(src.at(i, 0), v[i])
	}
	if g.f32 {
		v = transpose8(v)
	} else {
		v = transpose4(v)
	}
	for i := range v {
		VMOVUPS(v[i], Mem{Base: dst, Disp: i * nr})
	}
	src.advance(32)
	ADDQ(I32(int32(n*nr)), dst)
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	ret()
}

func y2(f func(...Op), a, b VecVirtual) VecVirtual {
	d := YMM()
	f(b, a, d)
	return d
}

func halves(a, b VecVirtual, sel int) VecVirtual {
	d := YMM()
	VPERM2F128(U8(sel), b, a, d)
	return d
}

func transpose4(r []VecVirtual) []VecVirtual {
	a, b := y2(VUNPCKLPD, r[0], r[1]), y2(VUNPCKHPD, r[0], r[1])
	c, d := y2(VUNPCKLPD, r[2], r[3]), y2(VUNPCKHPD, r[2], r[3])
	return []VecVirtual{halves(a, c, 0x20), halves(b, d, 0x20), halves(a, c, 0x31), halves(b, d, 0x31)}
}

// transpose8 transposes 2×2 blocks of floats within pairs, then of pairs, then
// of halves.
func transpose8(r []VecVirtual) []VecVirtual {
	var q [8]VecVirtual
	for h := 0; h < 8; h += 4 {
		a, b := y2(VUNPCKLPS, r[h], r[h+1]), y2(VUNPCKHPS, r[h], r[h+1])
		c, d := y2(VUNPCKLPS, r[h+2], r[h+3]), y2(VUNPCKHPS, r[h+2], r[h+3])
		q[h], q[h+1] = y2(VUNPCKLPD, a, c), y2(VUNPCKHPD, a, c)
		q[h+2], q[h+3] = y2(VUNPCKLPD, b, d), y2(VUNPCKHPD, b, d)
	}
	out := make([]VecVirtual, 8)
	for i := range 4 {
		out[i] = halves(q[i], q[i+4], 0x20)
		out[i+4] = halves(q[i], q[i+4], 0x31)
	}
	return out
}
