package harness

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"polkrepro/data"
	"polkrepro/record"
)

// TestExecute: every attempt begins with its folder and ends with its failure,
// if it has one; an error of Begin or End ends the others, and the end of the
// context is no failure of a run.
func TestExecute(t *testing.T) {
	broken, stuck := errors.New("broken"), errors.New("stuck")
	for _, tt := range []struct {
		name   string
		begin  error // of the second attempt
		end    error
		cancel bool // in the first run
		after  int  // the attempt, from 1, at whose end the context ends; 0 for none
		want   error
		ended  []int
	}{
		{"all", nil, nil, false, 0, nil, []int{0, 1, 2, 3}},
		{"begin", stuck, nil, false, 0, stuck, []int{0}},
		{"end", nil, stuck, false, 0, stuck, []int{0, 1}},
		{"interrupted", nil, nil, true, 0, ErrInterrupted, nil},
		{"interrupted between two", nil, nil, false, 2, ErrInterrupted, []int{0, 1}},
		{"interrupted after the last", nil, nil, false, 4, nil, []int{0, 1, 2, 3}},
		{"interrupted after an error", nil, stuck, false, 2, stuck, []int{0, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			methods := fakes(func(f *fake) error {
				if tt.cancel {
					cancel()
				}
				return nil
			})
			methods["bsgd"] = Method{New: func(Problem) (Learner, error) { return nil, broken }}
			dir := t.TempDir()
			sets, lacking, err := LoadData(t.Context(), data.Finder{}, tinyPlan())
			if err != nil || len(lacking) > 0 {
				t.Fatal(lacking, err)
			}
			var attempts []Attempt
			var ended []int
			for i, p := range tinyPlan() {
				records := filepath.Join(dir, p.ID)
				attempts = append(attempts, Attempt{
					Run: p, Set: sets[p.Run.Data],
					Begin: func() (string, error) {
						if i == 1 && tt.begin != nil {
							return "", tt.begin
						}
						return records, nil
					},
					End: func(failure error) error {
						if ended = append(ended, i); len(ended) == tt.after {
							cancel()
						}
						c, err := record.ReadDir(records)
						if err != nil || (p.Run.Method == "bsgd") != errors.Is(failure, broken) || (failure == nil) != (c.Records[p.ID] != nil) {
							t.Errorf("attempt %d: failure %v, %d records, %v", i, failure, len(c.Records), err)
						}
						if i == 1 {
							return tt.end
						}
						return nil
					},
				})
			}
			if err := Execute(ctx, attempts, Options{Workers: 1, Methods: methods}); !errors.Is(err, tt.want) || !slices.Equal(ended, tt.ended) {
				t.Errorf("%v, ended %v", err, ended)
			}
		})
	}
}
