package stats

import (
	"fmt"
	"math"
	"slices"
)

// A Verdict is the judgement of records on a claim.
type Verdict int

// The verdicts, from the best to the worst.
const (
	Reproduced Verdict = iota
	Inconclusive
	NotRun
	Deviates
)

var verdictNames = [...]string{"reproduced", "inconclusive", "not run", "deviates"}

// String returns the verdict in words.
func (v Verdict) String() string { return verdictNames[v] }

var verdictMarks = [...]string{"✓", "?", "–", "≠"}

// Mark returns the verdict as a mark, where colour does not show it.
func (v Verdict) Mark() string { return verdictMarks[v] }

// MarshalText implements encoding.TextMarshaler.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Verdict) UnmarshalText(b []byte) error {
	i := slices.Index(verdictNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown verdict %q", b)
	}
	*v = Verdict(i)
	return nil
}

// Judge compares an estimate with its target, the interval from low to high. It never returns
// NotRun.
func Judge(e Estimate, low, high float64) Verdict {
	switch {
	case math.IsNaN(e.Low) || math.IsNaN(e.High):
		return Inconclusive
	case math.IsInf(e.High, 1) && math.IsInf(high, 1), math.IsInf(e.Low, -1) && math.IsInf(low, -1):
		return Inconclusive // a diverged run proves no bound
	case low <= e.Low && e.High <= high:
		return Reproduced
	case e.High < low || e.Low > high:
		return Deviates
	}
	return Inconclusive
}
