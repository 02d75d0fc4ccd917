package csvc

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/kernel"
)

// TestRows gets rows in random order, computed together with random other rows. Every row is
// correct to the bit and stays so during the next two calls, and no more rows are kept than
// allowed.
func TestRows(t *testing.T) {
	var a arena // shared by all runs, as by the pairs of a worker
	rapid.Check(t, func(t *rapid.T) {
		p := blobs(1, rapid.IntRange(40, 120).Draw(t, "n"), 3, 2)
		k := kernel.Gaussian{Bandwidth: 0.5}
		r := rowsOf(p, k, int64(rapid.IntRange(1, 60*4*p.n).Draw(t, "bytes")), &a)
		alone := rowsOf(p, k, 1<<20, &arena{})
		want := make([][]float32, p.n)
		for i := range want {
			want[i] = alone.get(i, func(int) []int { return nil })
		}
		var held [3][]float32
		var point [3]int
		for call := range 60 {
			i := rapid.IntRange(0, p.n-1).Draw(t, "i")
			row := r.get(i, func(i int) []int {
				start := rapid.IntRange(0, p.n-1).Draw(t, "start")
				var more []int
				for o := 0; o < p.n && len(more) < rowBatch-1; o++ {
					if at := (start + o) % p.n; at != i && !r.has(at) {
						more = append(more, at)
					}
				}
				return more
			})
			held[call%3], point[call%3] = row, i
			for h, row := range held {
				if row != nil && !slices.Equal(row, want[point[h]]) {
					t.Fatalf("call %d: row %d is wrong", call, point[h])
				}
			}
			if r.recent.Len() > r.limit || r.bytes() != int64(4*p.n*r.recent.Len()) {
				t.Fatalf("%d rows kept, %d bytes, limit %d", r.recent.Len(), r.bytes(), r.limit)
			}
		}
	})
}

// TestArena: blocks taken from an arena do not overlap, and a reset makes their memory available
// again.
func TestArena(t *testing.T) {
	var a arena
	fill := func(size, count int) {
		var taken [][]float32
		for i := range count {
			b := a.take(size)
			if len(b) != size {
				t.Fatalf("asked for %d floats, got %d", size, len(b))
			}
			for q := range b {
				b[q] = float32(i)
			}
			taken = append(taken, b)
		}
		for i, b := range taken {
			if b[0] != float32(i) || b[size-1] != float32(i) {
				t.Fatalf("block %d of %d was overwritten", i, size)
			}
		}
	}
	for _, size := range []int{1000, chunkFloats, 1, chunkFloats + 1, 3000} {
		a.reset()
		fill(size, 3)
	}
	chunks := len(a.chunks)
	for range 5 {
		a.reset()
		fill(chunkFloats*2/3, len(a.chunks)/2)
	}
	if len(a.chunks) != chunks {
		t.Errorf("%d chunks became %d", chunks, len(a.chunks))
	}
}
