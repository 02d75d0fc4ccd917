package data

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
)

// numbered returns a split whose example i has features i, i+½ and target i.
func numbered(n int) *Split {
	s := &Split{N: n, Dim: 2}
	for i := range n {
		s.X = append(s.X, float32(i), float32(i)+0.5)
		s.Y = append(s.Y, float64(i))
	}
	return s
}

func TestHoldout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 300).Draw(t, "n")
		held := rapid.IntRange(1, n-1).Draw(t, "held")
		seed := rapid.Uint64().Draw(t, "seed")
		fraction := float64(held) / float64(n)
		test := &Split{N: 1, Dim: 2, X: []float32{-1, -1}, Y: []float64{-1}}
		s := &Set{Name: "s", Classes: n, Train: numbered(n), Test: test, Sums: map[string]string{"a": "b"}}
		h := Holdout(s, fraction, seed)
		if h.Test.N != held || h.Train.N != n-held {
			t.Fatalf("%d and %d examples, want %d and %d", h.Train.N, h.Test.N, n-held, held)
		}
		seen := make([]bool, n)
		for _, part := range []*Split{h.Train, h.Test} {
			if !slices.IsSorted(part.Y) {
				t.Error("not in the old order")
			}
			for i, y := range part.Y {
				if !(y >= 0) || seen[int(y)] {
					t.Fatalf("example %v is duplicated, or in the test part", y)
				}
				seen[int(y)] = true
				if row := part.Row(i); row[0] != float32(y) || row[1] != float32(y)+0.5 {
					t.Fatalf("example %v has features %v", y, row)
				}
			}
		}
		again := Holdout(s, fraction, seed)
		if !slices.Equal(h.Test.Y, again.Test.Y) {
			t.Error("the same seed drew other examples")
		}
		if s.Train.N != n || s.Test != test || len(s.Facts) != 0 {
			t.Error("the data set was changed")
		}
	})
}

// TestHoldoutFixed: the draw is the same on every platform and in every
// version.
func TestHoldoutFixed(t *testing.T) {
	got := Holdout(&Set{Train: numbered(20)}, 0.25, 1).Test.Y
	if want := []float64{2, 7, 13, 14, 16}; !slices.Equal(got, want) {
		t.Errorf("held out %v, want %v", got, want)
	}
	if other := Holdout(&Set{Train: numbered(20)}, 0.25, 2).Test.Y; slices.Equal(got, other) {
		t.Error("another seed drew the same examples")
	}
}

// TestHoldoutLast: the last examples are held out, in the training file as in a set.
func TestHoldoutLast(t *testing.T) {
	set := HoldoutLast(&Set{Train: numbered(20)}, 0.25)
	if want := []float64{15, 16, 17, 18, 19}; !slices.Equal(set.Test.Y, want) || set.Train.N != 15 {
		t.Errorf("held out %v of a set, want %v", set.Test.Y, want)
	}
	held, kept := (&Files{Holdout: 0.25, Ordered: true}).HeldOut(8)
	if !slices.Equal(held, []int{6, 7}) || len(kept) != 6 {
		t.Errorf("held out %v of a file, kept %v", held, kept)
	}
}

func TestHoldoutPanics(t *testing.T) {
	for _, fraction := range []float64{-0.1, 0, 1, 1.5, 0.001, 0.999} {
		testutil.MustPanic(t, func() { Holdout(&Set{Train: numbered(10)}, fraction, 1) })
	}
}
