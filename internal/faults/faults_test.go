//go:build check && linux

package faults

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	trials  = flag.Int("trials", 108, "number of trials: all pairs of a fault and a command come by turns, and make faults takes twice as many")
	seed    = flag.Uint64("seed", 1, "seed of the trials")
	only    = flag.Int("trial", -1, "number of the one trial to repeat")
	summary = flag.String("summary", "", "file for the summary")
)

// atOnce is how many trials are under way at a time.
const atOnce = 2

// A kit is what all trials share.
type kit struct {
	tb              *testing.T
	base            string // folder
	binary, jumping string // runall, and one whose clock jumps

	mu     sync.Mutex
	tables summaryTable
	jump   time.Duration // the farthest that a date in a record was off
}

// A scenario is a fault and the command that it meets.
type scenario struct {
	fault fault
	cmd   *command
}

// TestCheckFaults carries out random trials of all faults and commands.
func TestCheckFaults(t *testing.T) {
	k := &kit{tb: t, base: os.Getenv(envBase), tables: make(summaryTable)}
	k.prepare(t)
	scenarios, left := k.scenarios(t)
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			runtime.LockOSThread() // the processes that are started here end with the thread
			defer func() {
				for range numbers { // a fatal error ends this goroutine, and nobody may wait for it
				}
			}()
			for n := range numbers {
				k.carry(n, scenarios[n%len(scenarios)])
			}
		})
	}
	if *only >= 0 {
		numbers <- *only
	} else {
		for n := range *trials {
			numbers <- n
		}
	}
	close(numbers)
	workers.Wait()
	k.conclude(t, scenarios, left)
}

// prepare builds the programs.
func (k *kit) prepare(t *testing.T) {
	k.binary = built(t)
	if k.jumping = os.Getenv(envBinary); k.jumping != "" {
		return
	}
	k.jumping = filepath.Join(k.base, "runall-jumping")
	source := filepath.Join(k.base, "clock")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	buildJumping(t, source, k.jumping)
}

// built returns the path of runall, which it builds once.
func built(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(envBinary); path != "" {
		return path
	}
	path := filepath.Join(os.Getenv(envBase), "runall")
	if _, err := os.Stat(path); err != nil {
		build(t, path)
	}
	return path
}

// scenarios measures the commands, undisturbed, and returns which faults meet
// which of them, and which faults are left out, and why.
func (k *kit) scenarios(t *testing.T) (out []scenario, left []string) {
	dir := filepath.Join(k.base, "shard")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	merge, err := mergeCommand(k.binary, dir)
	if err != nil {
		t.Fatal(err)
	}
	commands := append(newCommands(), merge)
	for _, c := range commands {
		c.measure(t, k.binary, k.base)
		t.Logf("%s, undisturbed: %v, %d files, %d KiB", c.name, c.duration.Round(time.Millisecond), len(c.want), c.size>>10)
	}
	for _, f := range allFaults {
		if f.mounts && os.Getenv(envMounts) == "" {
			left = append(left, f.name+": no right to mount file systems")
			continue
		}
		for _, c := range commands {
			if f.only == nil || f.only(c) {
				out = append(out, scenario{f, c})
			}
		}
	}
	return out, left
}

// carry carries out a trial.
func (k *kit) carry(n int, s scenario) {
	t := &trial{
		tb: k.tb, kit: k, cmd: s.cmd,
		rng: rand.New(rand.NewPCG(*seed, uint64(n))),
		dir: newFolder(k.tb, k.base, fmt.Sprintf("trial-%d", n), s.cmd),
	}
	s.fault.disturb(t)
	outcome := t.conclude()
	if err := t.leave(); err != nil {
		k.tb.Error(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tables.add(s, outcome)
	if outcome == violated {
		k.tb.Errorf("trial %d, %s × %s: %s\nto repeat: make faults SEED=%d TRIAL=%d\n%s",
			n, s.fault.name, s.cmd.name, strings.Join(t.wrong, "; "), *seed, n, strings.Join(t.said, "\n"))
	}
}

// conclude says what came out.
func (k *kit) conclude(t *testing.T, scenarios []scenario, left []string) {
	text := k.tables.text(scenarios, left)
	t.Log("\n" + text)
	if *summary != "" {
		if err := os.WriteFile(*summary, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
	if k.tables.trials("jumping clock", "reproduce") > 1 && k.jump < time.Hour {
		t.Errorf("the clock has jumped by %v only", k.jump)
	}
}
