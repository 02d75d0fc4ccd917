package convergence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"polkrepro/experiments"
)

// A Study is what the records in a results folder say of Table 1.
type Study struct {
	Profile string   // whose plan it is about
	Series  []Series // in the plan's order
	Problem Problem  // of the records; zero if there are none
	Claims  []Assessed
	Damaged []error // files that are not whole records
	Stray   int     // whole records of runs that are not in the plan
}

// A Series is the runs of one method with the same parameters over seeds.
type Series struct {
	Name    string
	Run     Run       // of the first seed
	Planned int       // runs
	Records []*Record // of those that are finished, by seed
}

// Read reads the records that a study left in a results folder and judges the
// paper's claims by them. Nothing is trained. The profile is that whose plan
// the records fulfil best, the larger one of equals; a study without records is
// that of the smoke profile, all of whose claims are not run.
func Read(results string) (*Study, error) {
	records, damaged, err := readAll(Dir(results))
	if err != nil {
		return nil, err
	}
	best, share := experiments.ProfileSmoke, 0.0
	for _, profile := range []string{experiments.ProfileSmoke, experiments.ProfileQuick, experiments.ProfileFull} {
		plan, err := Plan(profile)
		if err != nil {
			return nil, err
		}
		have := 0
		for _, run := range plan {
			if records[run.ID()] != nil {
				have++
			}
		}
		if s := float64(have) / float64(len(plan)); s > 0 && s >= share {
			best, share = profile, s
		}
	}
	s, err := newStudy(best, records)
	if err != nil {
		return nil, err
	}
	s.Damaged = damaged
	return s, nil
}

// ReadProfile is Read for the plan of a profile.
func ReadProfile(results, profile string) (*Study, error) {
	records, damaged, err := readAll(Dir(results))
	if err != nil {
		return nil, err
	}
	s, err := newStudy(profile, records)
	if err != nil {
		return nil, err
	}
	s.Damaged = damaged
	return s, nil
}

// readAll reads the records in a folder by ID; a folder that is not there has
// none.
func readAll(dir string) (map[string]*Record, []error, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("convergence: %w", err)
	}
	records := make(map[string]*Record)
	var damaged []error
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), suffix) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		r, err := ReadRecord(filepath.Join(dir, e.Name()))
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		records[r.Header.ID] = r
	}
	return records, damaged, nil
}

// newStudy sorts records into the series of a profile and judges the claims.
func newStudy(profile string, records map[string]*Record) (*Study, error) {
	plan, err := Plan(profile)
	if err != nil {
		return nil, err
	}
	s := &Study{Profile: profile, Stray: len(records)}
	for _, run := range plan {
		i := slices.IndexFunc(s.Series, func(x Series) bool { return x.Name == run.Series() })
		if i < 0 {
			i = len(s.Series)
			s.Series = append(s.Series, Series{Name: run.Series(), Run: run})
		}
		s.Series[i].Planned++
		if r := records[run.ID()]; r != nil {
			s.Series[i].Records = append(s.Series[i].Records, r)
			s.Problem = r.Header.Problem
			s.Stray--
		}
	}
	s.Claims = assess(s)
	return s, nil
}

// Empty reports whether there is no record at all.
func (s *Study) Empty() bool {
	return !slices.ContainsFunc(s.Series, func(x Series) bool { return len(x.Records) > 0 })
}

// Missing returns the number of planned runs without a record.
func (s *Study) Missing() int {
	n := 0
	for _, x := range s.Series {
		n += x.Planned - len(x.Records)
	}
	return n
}

// Seconds returns how long the recorded runs took, one after another.
func (s *Study) Seconds() float64 {
	var sum float64
	for _, x := range s.Series {
		for _, r := range x.Records {
			sum += r.Summary.Seconds
		}
	}
	return sum
}

// Values returns a statistic of every record of the series.
func (x Series) Values(of func(*Record) float64) []float64 {
	var out []float64
	for _, r := range x.Records {
		out = append(out, of(r))
	}
	return out
}
