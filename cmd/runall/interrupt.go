package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"polkrepro/harness"
	"polkrepro/internal/files"
)

// Every command ends within two seconds of the signal that tells it to stop, with
// the exit status 130. Those that are graceful end by themselves, after they have
// saved what is worth it; after the grace they are ended, unless a save is under
// way. All others have nothing to save and are ended at once. Files and folders
// that are being written then are removed.
const (
	grace  = 1200 * time.Millisecond
	saying = 200 * time.Millisecond // for a command whose save has just ended
)

// An ending decides who ends the process: the command that is through, or the
// watchdog.
type ending struct {
	stderr  io.Writer
	command atomic.Pointer[cobra.Command] // nil until the arguments are understood
	decided atomic.Bool
	through chan struct{} // closed when the command is through
}

// watch returns a context that ends when the process is told to stop, and then
// sees to it that the process ends. SIGHUP, of a terminal that is closed, counts
// unless nohup has it ignored. The second Ctrl-C or SIGTERM has its usual effect,
// but not a second SIGHUP: shell and terminal may each send one.
func (e *ending) watch() (ctx context.Context, stop func()) {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	forget := restore
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, forget = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	context.AfterFunc(ctx, restore)
	asleep := context.AfterFunc(ctx, e.watchdog)
	return ctx, func() {
		asleep()
		forget()
	}
}

// watchdog ends the process if the command does not.
func (e *ending) watchdog() {
	cmd := e.command.Load()
	if has(cmd, graceful) {
		if e.within(grace) {
			return
		}
		files.Freeze()
		if e.within(saying) || !e.decide() {
			return
		}
	} else if !e.decide() {
		return
	}
	files.Freeze()
	files.RemoveUnfinished()
	fmt.Fprintln(e.stderr, "runall: interrupted")
	if cmd == nil || has(cmd, resumes) { // without a command nothing has begun
		fmt.Fprintln(e.stderr, "To resume:", commandLine())
	}
	os.Exit(harness.ExitInterrupted)
}

// within reports whether the command is through before the time is up.
func (e *ending) within(d time.Duration) bool {
	select {
	case <-e.through:
		return true
	case <-time.After(d):
		return false
	}
}

// decide reports whether the caller is the one to end the process.
func (e *ending) decide() bool { return e.decided.CompareAndSwap(false, true) }

// report is called when the command is through and before it says what came out.
// It does not return if the watchdog is ending the process: then what came out is
// of no account.
func (e *ending) report() {
	if e.decided.Load() {
		select {}
	}
}

// conclude is called when all is said. It does not return if the watchdog is
// ending the process.
func (e *ending) conclude() {
	if !e.decide() {
		select {}
	}
	close(e.through)
}
