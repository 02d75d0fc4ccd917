package prune_test

import (
	"bytes"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
)

// TestPerElement: values follow their elements through removals, saving and loading, and corrupt
// bytes are an error.
func TestPerElement(t *testing.T) {
	s := draw(1, 3, 1).state(find(t, "random", prune.Params{"order": 3}))
	var v prune.PerElement[int32]
	for j := range s.Total() {
		v.SetValue(s, j, int32(10*j))
	}
	s.Drop(1)
	v.Sync(s)
	saved, err := v.MarshalBinary()
	testutil.NoError(t, err)
	var loaded prune.PerElement[int32]
	testutil.NoError(t, loaded.UnmarshalBinary(saved))
	for j, want := range []int32{0, 0, 20, 30} {
		if v.Value(s, j) != want || loaded.Value(s, j) != want {
			t.Errorf("element %d: %d, loaded %d, want %d", j, v.Value(s, j), loaded.Value(s, j), want)
		}
	}
	if again, err := loaded.MarshalBinary(); err != nil || !bytes.Equal(again, saved) {
		t.Errorf("saved again: %v, %v, was %v", again, err, saved)
	}
	for _, damaged := range [][]byte{saved[:len(saved)-1], append(bytes.Clone(saved), saved[:12]...)} {
		if err := new(prune.PerElement[int32]).UnmarshalBinary(damaged); err == nil {
			t.Errorf("%v: no error", damaged)
		}
	}
	var unsized prune.PerElement[string]
	unsized.SetValue(s, 0, "a")
	if _, err := unsized.MarshalBinary(); err == nil {
		t.Error("strings were saved, which can't be loaded")
	}
	if err := unsized.UnmarshalBinary(saved); err == nil {
		t.Error("strings were loaded")
	}
}
