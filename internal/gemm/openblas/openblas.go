// Package openblas computes A·Bᵀ with OpenBLAS, as a reference for tests and benchmarks of package
// gemm. It needs cgo, the library and the build tag openblas; without the tag it has no functions.
//
// It is separate from gemm because a package that uses cgo can't contain Go assembly.
package openblas

// Float is the element type of a matrix.
type Float interface{ float32 | float64 }
