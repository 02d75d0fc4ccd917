package harness

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

// sameFailures is the number of runs of a heuristic in a process of its own that fail alike before
// the others are not started.
const sameFailures = 3

// A LeftRun is a run that was not started.
type LeftRun struct {
	ID    string
	Why   string
	Until bool // because of Options.Until
}

// LeftOut says in sentences how many runs were not started, and why.
func (o *Outcome) LeftOut() (out []string) {
	counts := make(map[string]int)
	for _, l := range o.Left {
		counts[l.Why]++
	}
	for _, l := range o.Left {
		if n := counts[l.Why]; n > 0 {
			out = append(out, fmt.Sprintf("Not started: %s. %s", words.Count(n, "run"), l.Why))
			counts[l.Why] = 0
		}
	}
	return out
}

// A gate decides whether a run is started. Its methods may be called concurrently.
type gate struct {
	until time.Time
	began time.Time

	mu    sync.Mutex
	begun map[uint64]bool   // replicates, by seed
	fails map[[2]string]int // by heuristic and failure
	shut  map[string]string // why no run of a heuristic is started
	left  []LeftRun
}

func newGate(until time.Time) *gate {
	return &gate{until: until, began: time.Now(), begun: make(map[uint64]bool), fails: make(map[[2]string]int), shut: make(map[string]string)}
}

// opens reports whether a run is started, and keeps why if not. The first replicate is always
// started, and a replicate that has begun is completed.
func (g *gate) opens(p experiments.Planned) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if why := g.shut[p.Run.Params.Pruner]; why != "" {
		g.left = append(g.left, LeftRun{ID: p.ID, Why: why})
		return false
	}
	if seed := p.Run.Seed; !g.begun[seed] {
		n := len(g.begun)
		if n > 0 && !g.until.IsZero() && time.Now().Add(time.Since(g.began)/time.Duration(n)).After(g.until) {
			g.left = append(g.left, LeftRun{p.ID, "The time of --budget is over; the same command goes on with the next replicates.", true})
			return false
		}
		g.begun[seed] = true
	}
	return true
}

// failed takes the failure of a run. Two failures are the same if they differ only in digits.
func (g *gate) failed(p experiments.Planned, err error) {
	name := p.Run.Params.Pruner
	if h, _ := prune.Lookup(name); h.Identity == "" || errors.Is(err, errDiverged) || errors.Is(err, polk.ErrDiverged) {
		return
	}
	if at, ok := errors.AsType[*sampleError](err); ok {
		err = at.err
	}
	text := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, err.Error())
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fails[[2]string{name, text}]++; g.fails[[2]string{name, text}] == sameFailures {
		g.shut[name] = fmt.Sprintf("%d runs of %s failed alike.", sameFailures, name)
	}
}
