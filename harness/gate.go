package harness

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"polkrepro/internal/words"
	"polkrepro/polk"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

// sameFailures is the number of runs of a heuristic in a process of its own that fail alike before
// the others are not started.
const sameFailures = 3

// TimeOver is why a replicate has not begun: Options.Until.
const TimeOver = "The time of --budget is over; the same command goes on with the next replicates."

// LeftOut says in sentences how many runs were not started, and why.
func (o *Outcome) LeftOut() (out []string) {
	for _, why := range slices.Sorted(maps.Keys(o.Left)) {
		out = append(out, fmt.Sprintf("Not started: %s. %s", words.Count(len(o.Left[why]), "run"), why))
	}
	return out
}

// A gate decides whether a run is started. Its methods may be called concurrently.
type gate struct {
	until time.Time
	began time.Time

	mu    sync.Mutex
	begun map[uint64]bool     // replicates, by seed
	fails map[[2]string]int   // by heuristic and failure
	shut  map[string]string   // why no run of a heuristic is started
	left  map[string][]string // Outcome.Left
}

func newGate(until time.Time) *gate {
	return &gate{until: until, began: time.Now(), begun: make(map[uint64]bool), fails: make(map[[2]string]int), shut: make(map[string]string), left: make(map[string][]string)}
}

// opens reports whether a run is started, and keeps why if not. The first replicate is always
// started, and a replicate that has begun is completed.
func (g *gate) opens(p spec.Planned) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	why, n := g.shut[p.Run.Params.Pruner], len(g.begun)
	if n > 0 && !g.begun[p.Run.Seed] && !g.until.IsZero() && time.Now().Add(time.Since(g.began)/time.Duration(n)).After(g.until) {
		why = TimeOver
	}
	if why != "" {
		g.left[why] = append(g.left[why], p.ID)
		return false
	}
	g.begun[p.Run.Seed] = true
	return true
}

// digits differ between failures that count as the same, such as numbers of samples.
var digits = regexp.MustCompile("[0-9]+")

// failed takes the failure of a run.
func (g *gate) failed(p spec.Planned, err error) {
	name := p.Run.Params.Pruner
	if h, _ := prune.Lookup(name); h.Identity == "" || errors.Is(err, errDiverged) || errors.Is(err, polk.ErrDiverged) {
		return
	}
	if at, ok := errors.AsType[*sampleError](err); ok {
		err = at.err
	}
	key := [2]string{name, digits.ReplaceAllString(err.Error(), "")}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fails[key]++; g.fails[key] == sameFailures {
		g.shut[name] = fmt.Sprintf("%d runs of %s failed alike.", sameFailures, name)
	}
}
