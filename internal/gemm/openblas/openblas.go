// Package openblas is A·Bᵀ by OpenBLAS, for package gemm to be measured and
// tested against. It needs cgo, the library and the build tag openblas,
// without which there is nothing here.
//
// The package stands apart from gemm because a package with cgo may not hold
// Go assembly.
package openblas

// Float is the element type of a matrix.
type Float interface{ float32 | float64 }
