package csvc

// chunkFloats bounds the memory that an arena allocates in advance: 4 MiB.
const chunkFloats = 1 << 20

// arena hands out memory for kernel rows. Each worker has an arena and reuses it for every pair.
// The rows of different pairs may differ in length.
type arena struct {
	chunks [][]float32
	chunk  int // index of the chunk in use
	used   int // floats of that chunk in use
	total  int // floats of all chunks
}

// reset makes all memory available again.
func (a *arena) reset() { a.chunk, a.used = 0, 0 }

// take returns n floats with undefined contents.
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
