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

// Every command ends within two seconds after a signal to stop, with exit status 130.
// Graceful commands end by themselves, after they have saved their state. The watchdog
// ends them after the grace period, unless a save is in progress. All other commands
// have nothing to save: the watchdog ends them at once. It removes unfinished files
// and folders.
const (
	grace  = 1200 * time.Millisecond
	saying = 200 * time.Millisecond // more time for a command whose save has just ended
)

// An ending decides who ends the process: the command when it is done, or the watchdog.
type ending struct {
	stderr  io.Writer
	command atomic.Pointer[cobra.Command] // nil until the arguments are parsed
	decided atomic.Bool
	through chan struct{} // closed when the command is done
}

// watch returns a context that ends on a signal to stop; then the watchdog makes sure that
// the process ends. SIGHUP, which a closed terminal sends, is such a signal unless it is
// ignored, as with nohup. A second Ctrl-C or SIGTERM has its usual effect. A second SIGHUP has no
// effect, because shell and terminal may each send one.
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
	if cmd == nil || has(cmd, resumes) { // without a command no work has begun
		fmt.Fprintln(e.stderr, "To resume:", commandLine())
	}
	os.Exit(harness.ExitInterrupted)
}

// within reports whether the command is done within d.
func (e *ending) within(d time.Duration) bool {
	select {
	case <-e.through:
		return true
	case <-time.After(d):
		return false
	}
}

// decide reports whether the caller ends the process: true for the first caller only.
func (e *ending) decide() bool { return e.decided.CompareAndSwap(false, true) }

// report is called after the command's work and before its outcome is printed. It does not
// return if the watchdog is ending the process: then the outcome is not printed.
func (e *ending) report() {
	if e.decided.Load() {
		select {}
	}
}

// conclude is called after all output. It does not return if the watchdog is ending the
// process.
func (e *ending) conclude() {
	if !e.decide() {
		select {}
	}
	close(e.through)
}
