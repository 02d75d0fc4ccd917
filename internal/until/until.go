// Package until waits for work that can't be told to stop: a step of a learner, or
// a read of a pipe. Groups such as errgroup wait for all work to end, and leave a
// panic of it to end the process, so none of them serves.
package until

import (
	"context"
	"fmt"
	"runtime/debug"
)

// A Panic is what Done panics with when its work has.
type Panic struct {
	Value any
	Stack []byte // of the work
}

// Error returns the panic's value in words.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Done has work done by another goroutine and reports whether it is through
// before ctx ends. If it is not, nobody waits for it any more: the caller must
// not look at anything that it may still change.
func Done(ctx context.Context, work func()) bool {
	if ctx.Err() != nil {
		return false
	}
	through := make(chan *Panic, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				through <- &Panic{v, debug.Stack()}
			}
		}()
		work()
		through <- nil
	}()
	select {
	case p := <-through:
		if p != nil {
			panic(p)
		}
		return true
	case <-ctx.Done():
		return false
	}
}
