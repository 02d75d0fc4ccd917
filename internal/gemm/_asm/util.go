package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// must returns the address of a parameter.
func must(b *gotypes.Basic, err error) Mem {
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// ptr32or64 loads the bits of a float parameter. The bits of a float32 go to the
// upper half, so that doubling drops the sign in both cases.
func ptr32or64(g *gen, name string) GPVirtual {
	r := GP64()
	m := must(Param(name).Resolve())
	if !g.f32 {
		MOVQ(m, r)
		return r
	}
	MOVL(m, r.As32())
	SHLQ(U8(32), r)
	return r
}

// put stores a vector, under the mask if it is partial.
func (g *gen) put(t tail, partial bool, v VecVirtual, m Mem) {
	if partial {
		t.store(g, v, m, 0)
		return
	}
	g.mov(v, m)
}

// oneBits returns the bits of 1 as ptr32or64 loads them.
func (g *gen) oneBits() uint64 {
	if g.f32 {
		return uint64(math.Float32bits(1)) << 32
	}
	return math.Float64bits(1)
}
