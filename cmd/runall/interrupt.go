package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"polkrepro/internal/files"
)

// Every command ends within two seconds after a signal to stop, with exit status 130. A
// command that can be resumed ends by itself, after it has saved its state. If a command has
// not ended after the grace period, the process ends without it, after any save that is in
// progress.
const (
	grace  = 1200 * time.Millisecond
	saying = 200 * time.Millisecond // more time for a command whose save has just ended
)

// untilSignal returns a context that ends on a signal to stop. SIGHUP, which a closed terminal
// sends, is such a signal unless it is ignored, as with nohup. A second Ctrl-C or SIGTERM has
// its usual effect. A second SIGHUP has no effect, because shell and terminal may each send
// one.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	stop = restore
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	context.AfterFunc(ctx, restore)
	return ctx, stop
}

// await returns the error of a command when it is done. It reports false if ctx ends and the
// command does not end soon afterwards. Then the process must end: the command can't save
// anything any more, and its unfinished files and folders are removed.
func await(ctx context.Context, done <-chan error) (ended bool, err error) {
	select {
	case err = <-done:
		return true, err
	case <-ctx.Done():
	}
	select {
	case err = <-done:
		return true, err
	case <-time.After(grace):
	}
	files.Freeze()
	select {
	case err = <-done:
		return true, err
	case <-time.After(saying):
	}
	files.RemoveUnfinished()
	return false, nil
}
