//go:build amd64 && !noasm && gc

package fmapeak

import "golang.org/x/sys/cpu"

//go:generate go run -C ../_asm ./peak -out ../fmapeak/asm_amd64.s -stubs ../fmapeak/asm_amd64.go -pkg fmapeak

// loops maps an element size in bits to the routine for it.
var loops = detect()

func detect() map[int]loop {
	x32, x64 := float32(0.5), 0.5
	switch {
	case cpu.X86.HasAVX512F:
		return map[int]loop{
			32: {16, func(n int) { loopAVX512F32(n, &x32) }},
			64: {8, func(n int) { loopAVX512F64(n, &x64) }},
		}
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return map[int]loop{
			32: {8, func(n int) { loopAVX2F32(n, &x32) }},
			64: {4, func(n int) { loopAVX2F64(n, &x64) }},
		}
	}
	return nil
}
