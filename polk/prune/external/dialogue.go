package external

import (
	"bytes"
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
	begun   bool     // the process has been told what the learner is
	state   []byte   // saved state to load at the start; JSON
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

// Close ends the process. The pruner can't be used afterwards. Close returns an error if the
// process has sent more lines than it was asked for: steps may have used the wrong answers.
func (d *dialogue) Close() (err error) {
	if d.process != nil && d.over == nil {
		err = d.process.close()
	}
	d.over = errors.New("the pruner is closed")
	return err
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
	if err := d.begin(v.Step()); err != nil {
		return d.fail("start", err)
	}
	message, err := d.describe(v)
	if err != nil {
		return d.fail("step", err)
	}
	for {
		line, err := d.ask(message)
		if err != nil {
			return d.fail("step", err)
		}
		a, err := parseAnswer(line)
		if err == nil {
			message, err = v.answer(a)
		}
		if err != nil {
			return d.fail("step: "+excerpt(line), err)
		}
		if a.Done {
			return nil
		}
	}
}

// answer carries out the actions of an answer and returns the data that it asks for.
func (v *view) answer(a *answer) ([]byte, error) {
	v.entered = v.entered[:0]
	for _, action := range a.Do {
		if err := v.do(action); err != nil {
			return nil, err
		}
	}
	return v.appendAsked(nil, a)
}

// describe returns the message that begins a step.
func (d *dialogue) describe(v *view) ([]byte, error) {
	step := v.Step()
	b := fmt.Appendf(nil, `{"step":{"t":%d,"old":%d,"total":%d,"rate":`, step.T, v.Old(), v.Total())
	b = append(appendNumber(b, step.Rate), `,"epsilon":`...)
	b = fmt.Appendf(appendNumber(b, step.Epsilon), `,"seed":%d},"given":`, step.Rand.Uint64()>>11) // 53 bits: a whole number in every language
	b, err := v.appendAsked(b, &answer{Get: d.program.hello.Wants})
	return append(b, '}'), err
}

// ask sends a message and returns the process's answer.
func (d *dialogue) ask(message []byte) ([]byte, error) {
	began := time.Now()
	defer func() { d.seconds += time.Since(began).Seconds() }()
	return d.process.ask(message)
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

// begin tells the process what the learner is, before the first step.
func (d *dialogue) begin(step prune.Step) error {
	if d.begun {
		return nil
	}
	d.begun = true
	kernel, err := json.Marshal(step.Kernel)
	if err != nil { // a kernel of another package may have no JSON form
		kernel = []byte("null")
	}
	begin, err := json.Marshal(map[string]any{"start": map[string]any{
		"params": d.params, "loss": step.Loss.Name(), "outputs": step.Outputs, "dim": len(step.X) / step.N,
		"kernel": map[string]any{"name": step.Kernel.Name(), "params": json.RawMessage(kernel)},
	}})
	if err == nil {
		err = d.process.send(begin)
	}
	if err == nil && d.state != nil {
		err = d.process.send(fmt.Appendf(nil, `{"load":%s}`, d.state))
	}
	return err
}

// MarshalBinary returns the process's own state, empty if it has none.
func (d *dialogue) MarshalBinary() ([]byte, error) {
	if d.over != nil {
		return nil, d.over
	}
	if !d.begun || !d.program.hello.State {
		return d.state, nil
	}
	defer d.process.within(context.Background(), patience)()
	line, err := d.ask([]byte(`{"save":true}`))
	if err != nil {
		return nil, d.fail("save", err)
	}
	var saved struct {
		State json.RawMessage `json:"state"`
	}
	if err := parse(line, &saved); err != nil || saved.State == nil {
		return nil, d.fail("save: "+excerpt(line), errors.Join(errors.New(`want {"state": …}`), err))
	}
	return saved.State, nil
}

// UnmarshalBinary takes a state that MarshalBinary returned, for the process to load at the
// start.
func (d *dialogue) UnmarshalBinary(b []byte) error {
	if d.begun {
		return errors.New("saved state: the process has already started")
	}
	if len(b) == 0 {
		return nil
	}
	var line bytes.Buffer
	if err := json.Compact(&line, b); err != nil {
		return fmt.Errorf("saved state of a process: %w", err)
	}
	d.state = line.Bytes()
	return nil
}
