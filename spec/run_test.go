package spec

import (
	"math"
	"testing"
)

// TestMixedCode checks that runs of other code are counted by their code.
func TestMixedCode(t *testing.T) {
	present := Planned{Run: Run{Task: "ksvm", Method: "fsgd"}}
	present.Run.Code = present.Run.PresentCode()
	other := present
	other.Run.Code = "pruner twin: source 0dd1f09ac7b2"
	if got := MixedCode([]Planned{present}); got != "" {
		t.Errorf("of this code alone: %q", got)
	}
	if got := MixedCode([]Planned{other, present, other}); got != "2 runs are of other code: 2 of pruner twin: source 0dd1f09ac7b2." {
		t.Error(got)
	}
	if got := CodeNote([]Run{{}, {Code: "x"}, {}}); got != "2 of the recorded versions; 1 of x" {
		t.Error(got)
	}
}

// TestNumbers checks that a POLK run keeps the dictionary, the weights and the inverse. On a
// user's files, the number of values follows from the files' facts. The number that a batch
// method keeps is unknown.
func TestNumbers(t *testing.T) {
	run := Run{Method: MethodPOLK}
	run.Data.Name = "multidist"
	if got := run.Numbers(16, nil); got != 16*(2+5)+16*16 {
		t.Errorf("POLK on multidist: %v", got)
	}
	if got := run.Numbers(16, map[string]float64{"features": 10, "classes": 3}); got != 16*(10+3)+16*16 {
		t.Errorf("POLK on files: %v", got)
	}
	for _, change := range []func(*Run){
		func(r *Run) { r.Data.Name = "mine" }, func(r *Run) { r.Method = "lbfgs" }, func(r *Run) { r.Method = "nonsense" },
	} {
		r := run
		if change(&r); !math.IsNaN(r.Numbers(16, nil)) {
			t.Errorf("%s on %s: %v", r.Method, r.Data.Name, r.Numbers(16, nil))
		}
	}
}
