//go:build !amd64 || noasm || !gc

package fmapeak

// loops is empty: plain Go has no vector multiply-add.
var loops map[int]loop
