package polk

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"polkrepro/internal/testutil"
)

// TestPreview: Preview returns the functions that Step leaves, bit for bit, and changes nothing in
// the learner, whether K_DD⁻¹ is needed after the step, is repaired in it, or not.
func TestPreview(t *testing.T) {
	kinds := stateKinds(t)
	kinds["fixed"] = func() Config { c := testConfig(logistic); c.FixedFrom, c.FixedTo = 20, 40; return c }
	owned, borrowed, repairs := 0, 0, 0
	for name, config := range kinds {
		m := newMixture(rand.New(rand.NewPCG(52, 0)), config().Dim, 3)
		l, never := mustNew(t, config()), mustNew(t, config())
		for step := range 80 {
			x, y := m.batch(8)
			if step == 28 && l.cfg.inverse() && l.f.Order() > 0 { // far from the inverse: to be repaired
				for _, each := range []*Learner{l, never} {
					each.komp.dict.inverse.base.Row(0)[0] *= 2
					each.komp.dict.wait = 0
				}
			}
			if step%7 == 0 { // rows that arrive one after the other
				for n := range 7 {
					_, err := l.Preview(t.Context(), 1+n, x, y, nil)
					testutil.NoError(t, err)
				}
			}
			f, err := l.Preview(t.Context(), 8, x, y, nil)
			testutil.NoError(t, err)
			want := modelBytes(t, f)
			if l.ahead.komp.dict.borrowed {
				borrowed++
			} else {
				owned++
			}
			mustStep(t, l, 8, x, y)
			mustStep(t, never, 8, x, y)
			sameState(t, name, l, never)
			if !bytes.Equal(modelBytes(t, l.f), want) || !bytes.Equal(stateBytes(t, l), stateBytes(t, never)) {
				t.Fatalf("%s, step %d: the preview is another model, or it changed the state", name, step)
			}
		}
		repairs += l.komp.dict.health.Repairs
	}
	if owned < 20 || borrowed < 20 || repairs < 3 {
		t.Errorf("%d previews with a copy of K_DD⁻¹, %d without, %d repairs: not all cases", owned, borrowed, repairs)
	}
}
