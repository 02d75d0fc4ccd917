package until

import (
	"context"
	"strings"
	"testing"
)

func TestDone(t *testing.T) {
	n := 0
	if !Done(t.Context(), func() { n++ }) || n != 1 {
		t.Errorf("not done, or %d times", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	forever := make(chan struct{})
	defer close(forever)
	if Done(ctx, func() { cancel(); <-forever }) {
		t.Error("done before its end")
	}
	if Done(ctx, func() { n++ }) || n != 1 {
		t.Error("begun after the end of its context")
	}
}

func TestPanic(t *testing.T) {
	defer func() {
		p, ok := recover().(*Panic)
		if !ok || p.Value != "broken" || !strings.Contains(string(p.Stack), "breaks") {
			t.Errorf("panic %v with the stack\n%s", p, p.Stack)
		}
	}()
	Done(t.Context(), breaks)
}

func breaks() { panic("broken") }
