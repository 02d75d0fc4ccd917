//go:build !openblas || !cgo

package gemm

const openBLAS = false

func setOpenBLASThreads(int) {}

func (p *product[T]) openBLAS() {}
