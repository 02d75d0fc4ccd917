package harness

import (
	"context"
	"errors"
	"math"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/spec"
)

// TestSettings: the error of a setting is that of a run on five sixths of the training data,
// evaluated on the rest. The best setting of each label is marked; a diverging setting is not. A
// batch method is trained on the same rows.
func TestSettings(t *testing.T) {
	plan := func(label string, bandwidth float64) spec.Planned {
		p := tinyRun("bsgd", spec.TaskKSVM, 1)
		p.Run.Params.Kernel.Bandwidth = bandwidth
		p.Run.Evaluation.Tail = 1
		p.Label, p.Group, p.Series = label, label+string(rune('a'+int(bandwidth))), label
		p.ID = spec.ID(p.Run)
		return p
	}
	good, bad, other, diverges := plan("bsgd", 1), plan("bsgd", 20), plan("other", 3), plan("polk", 2)
	diverges.Run.Method, diverges.Run.Params = "polk", tinyRun("polk", spec.TaskKSVM, 1).Run.Params
	diverges.ID = spec.ID(diverges.Run)
	methods := Methods()
	methods["polk"] = fakes(func(f *fake) error {
		for i := range f.f.W {
			f.f.W[i] = math.Inf(1)
		}
		return nil
	})["polk"]
	got, unavailable, err := Settings(t.Context(), []spec.Planned{good, bad, other, diverges, batchRun("csvc", "ksvm")}, Options{Methods: methods})
	if err != nil || len(unavailable) > 0 || len(got) != 5 {
		t.Fatalf("%v, %v, %+v", err, unavailable, got)
	}
	if !got[0].Best || got[1].Best || !got[2].Best || got[3].Best || got[3].Failed != 0 || got[3].Diverged != 1 || got[3].Runs != 0 || !(got[0].Error < got[1].Error) {
		t.Errorf("%+v", got)
	}

	set, err := data.Load(good.Run.Data, data.Finder{})
	testutil.NoError(t, err)
	held := data.Holdout(set, heldOutShare, heldOutSeed)
	run := good.Run
	run.Samples = 833 // 1,000 less a sixth
	run.Evaluation = spec.Evaluation{Every: 833, Tail: 1, TrainLimit: 1}
	tr, err := newTrainer(run, held, methods, newCores(1, 1), nil)
	testutil.NoError(t, err)
	j := heldOutJob{plan: spec.Planned{Run: run}, set: held}
	testutil.NoError(t, j.train(t.Context(), newTracked(j.plan, &recorder{}), methods, tr.cores))
	if want := j.points[len(j.points)-1]; len(j.points) != 1 || got[0].Error != want.TestError || got[0].Order != float64(want.ModelOrder) || got[0].Largest < want.ModelOrder || want.Samples != 833 {
		t.Errorf("%+v, want %+v", got[0], j.points)
	}
}

func TestSettingsErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Settings(ctx, tinyPlan(), Options{}); !errors.Is(err, ErrInterrupted) {
		t.Errorf("interrupted: %v", err)
	}
	p := tinyRun("polk", spec.TaskKSVM, 1)
	p.Run.Data = data.Ref{Name: "mnist"}
	t.Setenv(data.EnvOffline, "1")
	t.Setenv(data.EnvDir, t.TempDir())
	t.Chdir(t.TempDir())
	if _, missing, err := Settings(t.Context(), []spec.Planned{planned(p.Run)}, Options{Finder: data.Finder{Dir: t.TempDir()}}); !errors.Is(err, ErrIncomplete) || len(missing) != 1 {
		t.Errorf("no data: %v, %v", err, missing)
	}
}
