// Command asm generates the assembly of package gemm. Run it through go
// generate in the package's folder.
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64")
	ConstraintExpr("!noasm")
	ConstraintExpr("gc")
	for _, bits := range []int{32, 64} {
		for _, is := range []isa{avx512, avx2} {
			g := newGen(is, bits)
			g.tile()
			g.dots()
			g.exp()
			g.gauss()
		}
	}
	for _, is := range []isa{avx512, avx2} {
		g := newGen(is, 64)
		g.dot()
		g.axpy()
		newGen(is, 32).product()
		g.product()
		g.largest()
		g.sumSquares32()
		newGen(is, 32).pack()
		g.pack()
	}
	Generate()
}
