//go:build !(amd64 || arm64) || noasm || !gc

package gemm

// backends returns the backends that this machine can run, fastest first.
func backends() []backend { return []backend{genericBackend()} }
