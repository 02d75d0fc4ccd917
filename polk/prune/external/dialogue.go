package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"polkrepro/polk/prune"
)

// A dialogue is the exchange between a learner and its process, for pruners of both kinds. The
// process starts when it is first needed.
type dialogue struct {
	program *program
	params  prune.Params
	process *process    // nil before Start
	over    error       // why the process can no longer be used; nil if it can
	forget  func() bool // ends the watch on the context of Start; nil before
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

// Start starts the process, which the end of ctx kills. If Start is not called, the first step
// starts the process.
func (d *dialogue) Start(ctx context.Context) error {
	err := d.start(ctx)
	if err == nil {
		d.forget = context.AfterFunc(ctx, func() { d.process.kill(ctx.Err()) })
	}
	return err
}

// start starts the process unless it is there.
func (d *dialogue) start(ctx context.Context) error {
	if d.process != nil || d.over != nil {
		return d.over
	}
	var said *hello
	d.process, said, d.over = d.program.meet(ctx)
	if d.over != nil {
		return d.over
	}
	code, err := d.program.hash(said)
	if err == nil && code != d.program.code {
		err = errors.New("its files have changed since this program was started: start it again")
	}
	if err != nil {
		d.over = d.process.failed("start", err)
	}
	return d.over
}

// step lets the process prune.
func (d *dialogue) step(ctx context.Context, v *view) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	defer d.process.within(ctx, stepPatience)()
	message, err := d.describe(v)
	for err == nil {
		var a *answer
		if a, err = d.process.ask(message); err != nil {
			break
		}
		if message, err = v.answer(a); err == nil && a.Done {
			return nil
		}
	}
	d.over = d.process.failed("step", err)
	return d.over
}

// describe returns the message that begins a step.
func (d *dialogue) describe(v *view) (map[string]any, error) {
	step := v.Step()
	given, err := v.asked(&answer{Get: d.program.hello.Wants})
	if err != nil {
		return nil, err
	}
	kernel, err := json.Marshal(step.Kernel)
	if err != nil { // a kernel of another package may have no JSON form
		kernel = []byte("null")
	}
	return map[string]any{"given": given, "step": map[string]any{
		"t": step.T, "old": v.Old(), "total": v.Total(), "rate": number(step.Rate), "epsilon": number(step.Epsilon),
		"seed":   step.Rand.Uint64() >> 11, // 53 bits: a whole number in every language
		"params": d.params, "loss": step.Loss.Name(), "outputs": step.Outputs, "dim": v.dim(),
		"kernel": map[string]any{"name": step.Kernel.Name(), "params": json.RawMessage(kernel)},
	}}, nil
}

// Seconds returns how long steps have waited for the process, without its start.
func (d *dialogue) Seconds() float64 {
	if d.process == nil {
		return 0
	}
	return d.process.seconds
}

// Close ends the process. The pruner can't be used afterwards. Close returns an error if the process
// has answered more than it was asked, or ends with another exit status than 0. After an error of a
// step it returns nil.
func (d *dialogue) Close() (err error) {
	if d.forget != nil {
		d.forget()
	}
	if d.process != nil && d.over == nil {
		err = d.process.close()
	}
	d.over = errors.New("the pruner is closed")
	return err
}

// errSaved is the error of saving a learner with a pruner in another process: no command does it.
var errSaved = fmt.Errorf("a learner with a pruner in another process can't be saved: %w", errors.ErrUnsupported)

// Kept returns what can't be saved.
func (d *dialogue) Kept() any { return unsaved{} }

type unsaved struct{}

func (unsaved) MarshalJSON() ([]byte, error) { return nil, errSaved }
