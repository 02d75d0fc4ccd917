//go:build !(amd64 || arm64) || noasm || !gc

package gemm

// backends lists what this machine can run, the fastest first.
func backends() []backend { return []backend{genericBackend()} }
