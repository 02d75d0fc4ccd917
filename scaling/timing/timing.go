// Package timing takes the times that package scaling makes tables of: of a step
// of POLK, of whole trainings, and of starting a program. Reports, which read
// results only, import scaling and so link no learner.
package timing

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"polkrepro/scaling"
)

// Costs measures the steps and trainings of a profile, and says now and then how
// far it is.
func Costs(ctx context.Context, profile string, progress func(string)) (*scaling.Costs, error) {
	c := &scaling.Costs{}
	grid := scaling.Grid(profile)
	for i, at := range grid {
		step, err := Step(ctx, at)
		if err != nil {
			return nil, err
		}
		c.Steps = append(c.Steps, step)
		if (i+1)%(max(1, len(grid)/8)) == 0 {
			progress(fmt.Sprintf("%d of %d configurations measured", i+1, len(grid)))
		}
	}
	for _, measure := range []func(context.Context, string) ([]scaling.Growth, error){Streams, Batches} {
		growths, err := measure(ctx, profile)
		if err != nil {
			return nil, err
		}
		c.Growths = append(c.Growths, growths...)
		progress(fmt.Sprintf("%d of 5 methods trained by N", len(c.Growths)))
	}
	return c, nil
}

// Start returns the median of the seconds that a program takes to begin and end.
func Start(ctx context.Context, program string, args ...string) (float64, error) {
	var times []float64
	for range 5 {
		began := time.Now()
		if err := exec.CommandContext(ctx, program, args...).Run(); err != nil {
			return 0, fmt.Errorf("start %s: %w", program, err)
		}
		times = append(times, time.Since(began).Seconds())
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
