package kernel

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// modelled is an Expansion, or the Points in it, with the plain slices that it must equal.
type modelled struct {
	e    *Expansion
	x    [][]float32
	w    [][]float64
	ids  []uint64
	seen map[uint64]bool // all IDs ever given out, to this set and its clones

	reused bool // an ID was given out twice
}

func (m *modelled) append(x []float32, w []float64) {
	m.e.Append(x, w)
	m.x, m.w = append(m.x, slices.Clone(x)), append(m.w, slices.Clone(w))
	id := m.e.Dict.ID(len(m.x) - 1)
	m.ids = append(m.ids, id)
	m.reused = m.reused || m.seen[id]
	m.seen[id] = true
	for i := range x {
		x[i] = -99 // the set holds a copy
	}
	for i := range w {
		w[i] = -99
	}
}

func (m *modelled) remove(i int) {
	m.e.Remove(i)
	last := len(m.x) - 1
	m.x[i], m.w[i] = m.x[last], m.w[last]
	m.ids[i] = m.ids[last]
	m.x, m.w, m.ids = m.x[:last], m.w[:last], m.ids[:last]
}

func (m *modelled) clone() *modelled {
	return &modelled{e: m.e.Clone(), x: slices.Clone(m.x), w: slices.Clone(m.w), ids: slices.Clone(m.ids), seen: m.seen}
}

// check compares vectors and weights, and both kernel blocks, which use the packed copies of the
// vectors.
func (m *modelled) check(t *rapid.T, k Kernel, query []float32) {
	if m.e.Order() != len(m.x) || m.e.Dict.Len() != len(m.x) || len(m.e.W) != len(m.x)*m.e.Outputs {
		t.Fatalf("order %d, %d points and %d weights, want %d with %d outputs", m.e.Order(), m.e.Dict.Len(), len(m.e.W), len(m.x), m.e.Outputs)
	}
	if m.reused {
		t.Fatal("an ID was given out twice")
	}
	for i, x := range m.x {
		if m.e.Dict.ID(i) != m.ids[i] {
			t.Fatalf("point %d has ID %d, want %d", i, m.e.Dict.ID(i), m.ids[i])
		}
		if !slices.Equal(m.e.Dict.At(i), x) {
			t.Fatalf("point %d is %v, want %v", i, m.e.Dict.At(i), x)
		}
		if !slices.Equal(m.e.Weights(i), m.w[i]) {
			t.Fatalf("weights %d are %v, want %v", i, m.e.Weights(i), m.w[i])
		}
	}
	b64, b32 := blocks(m.e.Dict, k, query, len(m.x), 1)
	for i, x := range m.x {
		want := k.Eval(query, x)
		if !(math.Abs(b64[i]-want) <= 1e-13) || !(math.Abs(float64(b32[i])-want) <= 1e-5) {
			t.Fatalf("κ(query, %d) is %v and %v, want %v", i, b64[i], b32[i], want)
		}
	}
}

// TestPointsAndExpansionAgainstSlices runs random sequences of Append, Remove,
// Clone and Reset on an expansion and on plain slices.
func TestPointsAndExpansionAgainstSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim, outputs := rapid.IntRange(1, 20).Draw(t, "dim"), rapid.IntRange(1, 4).Draw(t, "outputs")
		k := Gaussian{Bandwidth: math.Sqrt(float64(dim))}
		vector := rapid.SliceOfN(rapid.Float32Range(-1, 1), dim, dim)
		weights := rapid.SliceOfN(rapid.Float64Range(-1, 1), outputs, outputs)
		m := &modelled{e: NewExpansion(k, dim, outputs), seen: map[uint64]bool{}}
		var others []*modelled // originals of clones, which changes of m must not reach
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) { m.append(vector.Draw(t, "x"), weights.Draw(t, "w")) },
			"appendMany": func(t *rapid.T) {
				for range rapid.IntRange(2, 20).Draw(t, "count") {
					m.append(vector.Draw(t, "x"), weights.Draw(t, "w"))
				}
			},
			"remove": func(t *rapid.T) {
				if len(m.x) == 0 {
					t.Skip("nothing to remove")
				}
				m.remove(rapid.IntRange(0, len(m.x)-1).Draw(t, "i"))
			},
			"clone": func(t *rapid.T) {
				if len(others) == 2 {
					others = others[1:]
				}
				c := m.clone()
				others = append(others, m)
				m = c
			},
			"reset": func(t *rapid.T) {
				m.e.Dict.Reset()
				m.e.W = m.e.W[:0]
				m.x, m.w, m.ids = nil, nil, nil
			},
			"": func(t *rapid.T) {
				query := vector.Draw(t, "query")
				m.check(t, k, query)
				for _, o := range others {
					o.check(t, k, query)
				}
			},
		})
	})
}

// TestReserve: there is room for vectors, so that they are not copied again.
func TestReserve(t *testing.T) {
	p := NewPoints(3)
	p.Reserve(100)
	if cap(p.raw) < 300 || cap(p.ids) < 100 {
		t.Errorf("room for %d values and %d IDs, want 300 and 100", cap(p.raw), cap(p.ids))
	}
}

func TestAppendPanicsOnLengths(t *testing.T) {
	e := NewExpansion(Gaussian{1}, 2, 3)
	mustPanic(t, func() { e.Append([]float32{1, 2}, []float64{1, 2}) })
	mustPanic(t, func() { e.Append([]float32{1}, []float64{1, 2, 3}) })
	mustPanic(t, func() { e.Dict.Append([]float32{1, 2, 3}) })
	if e.Order() != 0 || len(e.W) != 0 {
		t.Errorf("a refused element stayed: order %d, weights %v", e.Order(), e.W)
	}
}
