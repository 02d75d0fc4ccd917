//go:build !openblas || !cgo

package openblas

// Available reports whether the library is linked.
const Available = false

const notBuilt = "openblas: not built in (build tag openblas, with cgo)"

// SetThreads panics: the library is not linked.
func SetThreads(int) { panic(notBuilt) }

// MulABT panics: the library is not linked.
func MulABT[T Float](_, _, _ int, _ T, _ []T, _ int, _ []T, _ int, _ T, _ []T, _ int) {
	panic(notBuilt)
}
