package csvc

// chunkFloats bounds how much an arena takes in advance: 4 MiB.
const chunkFloats = 1 << 20

// arena hands out the memory of kernel rows. It belongs to a worker, which
// takes it again for every pair: rows of another length fit as well.
type arena struct {
	chunks [][]float32
	chunk  int // the one in use
	used   int // of it
	total  int // floats of all chunks
}

// reset takes back all memory.
func (a *arena) reset() { a.chunk, a.used = 0, 0 }

// take returns n floats of any value.
func (a *arena) take(n int) []float32 {
	for ; a.chunk < len(a.chunks); a.chunk++ {
		if c := a.chunks[a.chunk]; n <= len(c)-a.used {
			a.used += n
			return c[a.used-n : a.used : a.used]
		}
		a.used = 0
	}
	chunk := make([]float32, max(n, min(a.total, chunkFloats)))
	a.chunks = append(a.chunks, chunk)
	a.total += len(chunk)
	a.used = n
	return a.chunks[a.chunk][:n:n]
}
