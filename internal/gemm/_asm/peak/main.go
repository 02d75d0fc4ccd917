// Command peak generates the assembly of package fmapeak. Run it through go
// generate in that package's folder.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// chains is enough to hide the latency of a multiply-add and fits the 16
// registers of AVX2.
const chains = 12

func main() {
	ConstraintExpr("amd64")
	ConstraintExpr("!noasm")
	ConstraintExpr("gc")
	loop("AVX512F32", "float32", ZMM)
	loop("AVX512F64", "float64", ZMM)
	loop("AVX2F32", "float32", YMM)
	loop("AVX2F64", "float64", YMM)
	Generate()
}

// loop emits n rounds of chains independent multiply-adds.
func loop(sfx, typ string, vec func() VecVirtual) {
	TEXT("loop"+sfx, NOSPLIT, fmt.Sprintf("func(n int, x *%s)", typ))
	Pragma("noescape")
	Doc(fmt.Sprintf("loop%s performs n > 0 rounds of %d vector multiply-adds v ← x·x + v.", sfx, chains))
	n, at, x := Load(Param("n"), GP64()), Load(Param("x"), GP64()), vec()
	fma := VFMADD231PD
	if typ == "float32" {
		VBROADCASTSS(Mem{Base: at}, x)
		fma = VFMADD231PS
	} else {
		VBROADCASTSD(Mem{Base: at}, x)
	}
	acc := make([]VecVirtual, chains)
	for i := range acc {
		acc[i] = vec()
		VPXOR(acc[i].AsX(), acc[i].AsX(), acc[i].AsX()) // clears the whole register
	}
	Label("rounds")
	for _, a := range acc {
		fma(x, x, a)
	}
	DECQ(n)
	JNZ(LabelRef("rounds"))
	VZEROUPPER()
	RET()
}
