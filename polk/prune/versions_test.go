package prune_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
	"polkrepro/polk/prune/prunetest"
)

// TestVersions: the heuristics have the source and the results that versions.json records. While
// this holds, runs that were recorded with them stay valid. A heuristic that versions.json does
// not list is identified by its source alone.
func TestVersions(t *testing.T) {
	recorded := prune.Versions()
	now := make(map[string]prune.Version)
	for _, h := range prune.All() {
		sum := prune.SourceHash(h)
		v, listed := recorded[h.Name]
		if !listed && !*golden.Update {
			continue
		}
		result := scores(t, h)
		same := testutil.SameResult(result, v.Result)
		switch {
		case *golden.Update && !same:
			v.Version++
			v.Result = result
		case !same:
			t.Errorf("%s has other results than version %d: if they are right, run go test ./polk/prune -run TestVersions -update", h.Name, v.Version)
		case v.Source != sum && !*golden.Update:
			t.Errorf("%s has other source and the same results: go test ./polk/prune -run TestVersions -update keeps its recorded runs valid", h.Name)
		}
		v.Source = sum
		now[h.Name] = v
	}
	if *golden.Update {
		testutil.WriteJSON(t, "versions.json", now)
	}
}

// TestRegisteredElsewhere: a heuristic of another package needs an Identity.
func TestRegisteredElsewhere(t *testing.T) {
	testutil.MustPanic(t, func() {
		prune.Register(prune.Heuristic{Name: "elsewhere", About: "for this test", New: func(prune.Params) prune.Pruner { return nil }})
	})
}

// scores returns a learner's order and its scores at eight points after 150 steps. The heuristic
// has the first parameters that keep some 15 elements.
func scores(t *testing.T, h prune.Heuristic) []float64 {
	t.Helper()
	params := prune.Params{}
	budget := polk.Parsimony(1e-3)
	if param, ok := h.SizeParam(); ok && !h.Epsilon {
		params[param.Name] = param.Grid[0]
		if param.Name == prune.Order.Name {
			params[param.Name] = 15
		}
	} else if h.Epsilon {
		budget = polk.Parsimony(0.1)
		if slices.ContainsFunc(h.Params, func(p prune.Param) bool { return p.Name == prune.Order.Name }) {
			params[prune.Order.Name] = 10 // fewer than with this budget alone
		}
	}
	l, err := polk.New(polk.Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.8}, Loss: loss.MultiLogistic{}, Classes: 3, Dim: 2,
		Regularizer: 1e-3, LearningRate: polk.Constant(0.7), Budget: budget, Pruner: find(t, h.Name, params), Seed: 3,
	})
	testutil.NoError(t, err)
	r := rand.New(rand.NewPCG(18, 1))
	for range 150 {
		var x []float32
		var y []float64
		for range 3 {
			c := float64(r.IntN(3))
			x, y = append(x, float32(c+1.5*r.Float64()), float32(2*r.Float64())), append(y, c)
		}
		_, err := l.Step(t.Context(), 3, x, y)
		testutil.NoError(t, err)
	}
	out := []float64{float64(l.Expansion().Order())}
	for i := range 8 {
		out = append(out, l.Expansion().Score([]float32{float32(i) / 2, float32(i%3) / 2})...)
	}
	return out
}

// TestHashIsOfTheCode: the hash ignores comments and white space, and nothing else.
func TestHashIsOfTheCode(t *testing.T) {
	const text = "package a\n\n// f is f.\nfunc f(x int) int {\n\treturn x + 1\n}\n"
	for _, tt := range []struct {
		old, new string
		same     bool
	}{
		{"// f is f.", "// f adds one.", true},
		{"\treturn x + 1\n", " return  x+1 // one more\n", true},
		{"x + 1", "x - 1", false},
		{"x + 1", "x + 2", false},
		{"x + 1", "x1", false},
	} {
		changed := strings.Replace(text, tt.old, tt.new, 1)
		if same := prune.HashTokens([]byte(text)) == prune.HashTokens([]byte(changed)); same != tt.same || changed == text {
			t.Errorf("%q for %q: the same hash is %v", tt.new, tt.old, same)
		}
	}
}

// Every heuristic that registers itself passes the suite, and has a grid if it has a size parameter.
func TestAll(t *testing.T) {
	if !slices.IsSorted(prune.Names()) || len(prune.Names()) != len(prune.All()) {
		t.Errorf("names %v", prune.Names())
	}
	for _, h := range prune.All() {
		if param, ok := h.SizeParam(); ok && len(param.Grid) < 2 {
			t.Errorf("%s has the grid %v", h.Name, param.Grid)
		}
		t.Run(h.Name, func(t *testing.T) { prunetest.Run(t, h) })
	}
}
