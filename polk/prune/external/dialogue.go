package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"polkrepro/polk/prune"
)

// A dialogue is the exchange between a learner and its process, for pruners of both kinds. The
// process starts when it is first needed.
type dialogue struct {
	program *program
	params  prune.Params
	process *process // nil before Start
	over    error    // why the process can no longer be used; nil if it can
	seconds float64
}

// A pruner is a prune.Pruner, an inversePruner a prune.InversePruner.
type (
	pruner        struct{ *dialogue }
	inversePruner struct{ *dialogue }
)

var _ prune.Stateful = (*dialogue)(nil)

func (p pruner) Prune(ctx context.Context, s prune.State) error {
	return p.step(ctx, &view{Elements: s})
}

func (p inversePruner) Prune(ctx context.Context, s prune.InverseState) error {
	return p.step(ctx, &view{Elements: s, inverse: s})
}

// Seconds returns how long steps have waited for the process, without its start.
func (d *dialogue) Seconds() float64 { return d.seconds }

// Close ends the process. The pruner can't be used afterwards. Close returns nil.
func (d *dialogue) Close() error {
	if d.process != nil && d.over == nil {
		d.process.end()
	}
	d.over = errors.New("the pruner is closed")
	return nil
}

// step lets the process prune.
func (d *dialogue) step(ctx context.Context, v *view) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.Start(ctx); err != nil {
		return err
	}
	defer d.process.within(ctx, stepPatience)()
	message, err := d.describe(v)
	if err != nil {
		return d.fail("step", err)
	}
	for {
		var a answer
		if err = d.ask(message, &a); err == nil {
			err = a.check()
		}
		if err == nil {
			message, err = v.answer(&a)
		}
		if err != nil {
			return d.fail("step", err)
		}
		if a.Done {
			return nil
		}
	}
}

// answer carries out the actions of an answer and returns the data that it asks for.
func (v *view) answer(a *answer) ([]byte, error) {
	v.entered = []int{}
	for _, action := range a.Do {
		if err := v.do(action); err != nil {
			return nil, err
		}
	}
	asked, err := v.asked(a)
	if err != nil {
		return nil, err
	}
	return json.Marshal(asked)
}

// describe returns the message that begins a step.
func (d *dialogue) describe(v *view) ([]byte, error) {
	step := v.Step()
	given, err := v.asked(&answer{Get: d.program.hello.Wants})
	if err != nil {
		return nil, err
	}
	kernel, err := json.Marshal(step.Kernel)
	if err != nil { // a kernel of another package may have no JSON form
		kernel = []byte("null")
	}
	return json.Marshal(map[string]any{"given": given, "step": map[string]any{
		"t": step.T, "old": v.Old(), "total": v.Total(), "rate": number(step.Rate), "epsilon": number(step.Epsilon),
		"seed":   step.Rand.Uint64() >> 11, // 53 bits: a whole number in every language
		"params": d.params, "loss": step.Loss.Name(), "outputs": step.Outputs, "dim": v.dim(),
		"kernel": map[string]any{"name": step.Kernel.Name(), "params": json.RawMessage(kernel)},
	}})
}

// ask sends a message and reads the process's answer.
func (d *dialogue) ask(message []byte, answer numbered) error {
	began := time.Now()
	defer func() { d.seconds += time.Since(began).Seconds() }()
	return d.process.ask(message, answer)
}

// fail ends the process and returns the error of this and all later steps.
func (d *dialogue) fail(doing string, err error) error {
	d.over = d.process.failed(doing, err)
	return d.over
}

// Start starts the process. If it is not called, the first step starts the process.
func (d *dialogue) Start(ctx context.Context) error {
	if d.process != nil || d.over != nil {
		return d.over
	}
	p, said, err := d.program.meet(ctx)
	if err != nil {
		d.over = err
		return err
	}
	d.process = p
	code, err := d.program.hash(said)
	if err == nil && code != d.program.code {
		err = errors.New("its files have changed since runall was started: start it again")
	}
	if err != nil {
		return d.fail("start", err)
	}
	return nil
}

// errSaved is the error of saving a learner with a pruner in another process: no command does it.
var errSaved = fmt.Errorf("a learner with a pruner in another process can't be saved: %w", errors.ErrUnsupported)

// MarshalBinary fails.
func (d *dialogue) MarshalBinary() ([]byte, error) { return nil, errSaved }

// UnmarshalBinary fails.
func (d *dialogue) UnmarshalBinary([]byte) error { return errSaved }
