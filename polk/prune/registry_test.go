package prune

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMalformed(t *testing.T) {
	sound := Heuristic{Name: "sound", About: "for tests", New: func(Params) Pruner { return none{} }}
	for why, change := range map[string]func(*Heuristic){
		"has a name other than":                  func(h *Heuristic) { h.Name = "Mine!" },
		"has both New and NewInverse or neither": func(h *Heuristic) { h.New = nil },
		"or neither: want one":                   func(h *Heuristic) { h.NewInverse = func(Params) InversePruner { return komp{} } },
		"has no description":                     func(h *Heuristic) { h.About = "" },
		"has a ridge and no inverse":             func(h *Heuristic) { h.Ridge = func(Params) float64 { return 1 } },
		`has the parameter "a=b": want a name`:   func(h *Heuristic) { h.Params = []Param{Order, {Name: "a=b", About: "b"}} },
		"source of more than one line":           func(h *Heuristic) { h.Source = "two\nlines" },
		"is 1, want at least 2": func(h *Heuristic) {
			h.Params = []Param{{Name: "order", About: "M", Grid: []float64{1}, Least: Bound(2)}}
		},
		"has an invalid grid: pruner sound needs the parameter grace, steps": func(h *Heuristic) { h.Params = []Param{Order, {Name: "grace", About: "steps"}} },
		"has two parameters named order":                                     func(h *Heuristic) { h.Params = []Param{Order, Order} },
		`has the parameter "x": want a name`:                                 func(h *Heuristic) { h.Params = []Param{{Name: "x"}} },
	} {
		h := sound
		change(&h)
		if err := h.Check(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want one that it %s", err, why)
		}
	}
	if err := sound.Check(); err != nil {
		t.Error(err)
	}
	panics(t, "prune: two heuristics are named komp", func() { Register(Heuristic{Name: KOMP, About: "again", New: sound.New}) })
}

// panics fails unless f panics with a message.
func panics(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if v := recover(); v != want {
			t.Errorf("panic %v, want %s", v, want)
		}
	}()
	f()
}

func TestComplete(t *testing.T) {
	h, _ := Lookup("komp-age")
	got, err := h.Complete(Params{"order": 1e6}) // the largest
	if want := (Params{"order": 1e6, "memory": 200}); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for want, p := range map[string]Params{
		"pruner komp-age needs the parameter order, the largest model order M": {"memory": 3},
		"order of pruner komp-age is 0, want at least 1":                       {"order": 0},
		"order of pruner komp-age is 8.5, want a whole number":                 {"order": 8.5},
		"order of pruner komp-age is NaN, want a finite number":                {"order": math.NaN()},
		"order of pruner komp-age is 2000000, want at most 1000000":            {"order": 2e6},
		"memory of pruner komp-age is 0, want more than 0":                     {"order": 8, "memory": 0},
		"pruner komp-age takes no parameter size (it takes order, memory)":     {"order": 8, "size": 1},
	} {
		if _, err := h.Complete(p); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", p, err, want)
		}
	}
	panics(t, "prune: undeclared parameter size", func() { got.Int("size") })
	if _, err := Find("kimp", nil); err == nil || !strings.Contains(err.Error(), "unknown pruner \"kimp\" (known: ") {
		t.Error(err)
	}
}

// String writes all digits of the parameters, and ParseParams reads them back.
func TestParseParams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Params(rapid.MapOfN(rapid.StringMatching(`[a-z]{1,8}`), rapid.Float64(), 0, 5).Draw(t, "params"))
		got, err := ParseParams(p.String())
		if err != nil || !maps.Equal(got, p) {
			t.Fatalf("%v became %q and %v, %v", p, p.String(), got, err)
		}
	})
	if got := (Params{"a": 1e15, "b": 1e15 - 1}).String(); got != "a=1e+15, b=999999999999999" {
		t.Errorf("large numbers are written %q", got)
	}
	for _, s := range []string{"order", "order=", "order=8,width=1", "=8 ", "order=eight"} {
		if p, err := ParseParams(s); err == nil {
			t.Errorf("%q is read as %v", s, p)
		}
	}
}

// elements implements Total and Present alone, for len(gone) elements.
type elements struct {
	Elements
	gone []bool
}

func (e elements) Total() int         { return len(e.gone) }
func (e elements) Present(j int) bool { return !e.gone[j] }

func TestLeast(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		scores []float64
		gone   []bool
		want   int
		list   []int
	}{
		{[]float64{3, 1, 2, 1}, make([]bool, 4), 1, []int{1, 3}},
		{[]float64{3, 1, 2, 1}, []bool{false, true, false, true}, 2, []int{2, 0}},
		{[]float64{nan, 5, nan}, make([]bool, 3), 1, nil},
		{[]float64{nan, nan}, []bool{true, false}, 1, []int{1}},
		{[]float64{inf, nan, -inf}, make([]bool, 3), 2, nil},
		{[]float64{1}, []bool{true}, -1, nil},
		{nil, nil, -1, nil},
	} {
		s, score := elements{gone: c.gone}, func(j int) float64 { return c.scores[j] }
		if got := Least(s, score); got != c.want {
			t.Errorf("least of %v without %v: %d, want %d", c.scores, c.gone, got, c.want)
		}
		if got := shortlist(s, 2, score); c.list != nil && !slices.Equal(got, c.list) {
			t.Errorf("shortlist of %v without %v: %v, want %v", c.scores, c.gone, got, c.list)
		}
	}
}

// twoElements is the InverseState of two elements with weights 1 and 1.
type twoElements struct {
	InverseState
	diag float64 // of K⁻¹
}

func (twoElements) Weights(int) []float64  { return []float64{1} }
func (twoElements) Norm2(int) float64      { return 1 }
func (s twoElements) Distance(int) float64 { return 1 / s.diag }

// The cost of a pair is infinite if rounding dominates its joint distance, at any scale of the
// kernel.
func TestJointCostOfDuplicates(t *testing.T) {
	for _, diag := range []float64{1e-3, 1, 1e3} {
		s := twoElements{diag: diag}
		if got := jointCost(s, 0, 1, diag*(1-1e-13)); !math.IsInf(got, 1) {
			t.Errorf("diagonal %v: two that are alike cost %v", diag, got)
		}
		// (2 − 2ρ)/(1 − ρ²)/diag = 2/(1 + ρ)/diag
		if got, want := jointCost(s, 0, 1, diag*(1-1e-9)), 1/diag; !(math.Abs(got-want) <= 1e-5*want) {
			t.Errorf("diagonal %v: two that can be told apart cost %v, want %v", diag, got, want)
		}
	}
}

// TestShortlist: the least scores in their order. As for Least, NaN counts as +Inf.
func TestShortlist(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		scores []float64
		want   []int
	}{
		{[]float64{3, 1, 2, 1, 0}, []int{4, 1, 3}},
		{[]float64{nan, 3, 2, nan, 1}, []int{4, 2, 1}},
		{[]float64{3, nan, nan, nan, 2, 1}, []int{5, 4, 0}},
		{[]float64{nan, math.Inf(1), 5, nan}, []int{2, 0, 1}},
	} {
		got := shortlist(elements{gone: make([]bool, len(tt.scores))}, 3, func(j int) float64 { return tt.scores[j] })
		if !slices.Equal(got, tt.want) {
			t.Errorf("of %v: %v, want %v", tt.scores, got, tt.want)
		}
	}
}
