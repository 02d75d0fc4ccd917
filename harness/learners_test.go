package harness

import (
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

// TestEqualMemory: each learner of a table keeps at most as many numbers as the table's description
// says, and at least nine tenths of that; of two entries with random features, one also stores its
// frequencies. FSGD, which has no limit, is exempt, and so is an order that no setting fixes
// (TestLearnersSettings of package spec).
func TestEqualMemory(t *testing.T) {
	limits := map[string]float64{"multidist": 400, "mnist": 200_000, "a9a": 20_000}
	held := 0
	for _, s := range spec.EmbeddedAll() {
		if !strings.HasPrefix(s.Name, "learners-") {
			continue
		}
		plan, err := s.Plan(spec.ProfileQuick, spec.PlanOptions{})
		testutil.NoError(t, err)
		var set data.Info
		for _, info := range data.List() {
			if info.Name == s.Data.Name {
				set = info
			}
		}
		for _, p := range plan {
			m, order, stored := spec.Method(p.Run.Method), float64(p.Run.Params.Budget), 0.0
			switch {
			case p.Run.Method == spec.MethodFSGD || p.Run.Params.Parsimony > 0:
				continue
			case p.Run.Method == spec.MethodPOLK:
				order = p.Run.Params.PrunerParams["order"]
			case p.Label == "fogd" || p.Label == "rff-sgd":
				stored = order * float64(set.Dim)
			}
			limit := limits[set.Name]
			if n := m.Numbers(p.Run.Params, order, float64(set.Dim), float64(set.Classes)) + stored; n > limit || n < 0.9*limit {
				t.Errorf("%s: %s keeps %v numbers, want at most %v", s.Name, p.Series, n, limit)
			}
			held++
		}
	}
	if held == 0 {
		t.Error("no learner was held")
	}
	rank := spec.Params{Own: prune.Params{"rank": 1e9}}
	if n := spec.Method("nogd").Numbers(rank, 10, 2, 3); n != 10*2+10*10+10*3 {
		t.Errorf("NOGD keeps %v numbers of 10 landmarks, of 2 features and 3 classes, at most", n)
	}
}
