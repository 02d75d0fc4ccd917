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
		want   error
		ended  []int
	}{
		{"all", nil, nil, false, nil, []int{0, 1, 2, 3}},
		{"begin", stuck, nil, false, stuck, []int{0}},
		{"end", nil, stuck, false, stuck, []int{0, 1}},
		{"interrupted", nil, nil, true, ErrInterrupted, nil},
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
			methods["bsgd"] = func(Problem) (Learner, error) { return nil, broken }
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
					Run: p, Set: sets[DataRef(p.Run)],
					Begin: func() (string, error) {
						if i == 1 && tt.begin != nil {
							return "", tt.begin
						}
						return records, nil
					},
					End: func(failure error) error {
						ended = append(ended, i)
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
