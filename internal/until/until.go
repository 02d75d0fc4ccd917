// Package until waits, as long as a context lasts, for work that can't be cancelled,
// such as a step of a learner or a read from a pipe. Groups such as errgroup do not
// do this: they wait for all work to end, and a panic in it ends the process.
package until

import (
	"context"
	"fmt"
	"runtime/debug"
)

// A Panic is the value that Done panics with if its work panics.
type Panic struct {
	Value any
	Stack []byte // stack trace of the work
}

// Error returns the panic's value as text.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Done runs work in another goroutine and reports whether it finishes before ctx
// ends. If it does not, work continues with nobody waiting for it: the caller must
// not access anything that work may still change.
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
