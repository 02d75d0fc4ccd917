package bsgd

import (
	"fmt"

	"polkrepro/kernel"
)

// A maintainer keeps the model order within the budget. The degradations it
// returns are ‖f − f'‖² = Σ_c ‖f_c − f'_c‖², f before and f' after, for the
// unscaled weights of the model.
type maintainer interface {
	// added follows the model's append: the newest element is the last.
	added(m *model) float64

	// maintain lowers the model order by one.
	maintain(m *model) float64

	// health adds the strategy's own counters to h.
	health(h map[string]float64)
}

// An expecter prepares for the samples of a block that will probably be added.
type expecter interface {
	maintainer

	// expect precedes the samples of a block, row-major in x.
	expect(m *model, likely []bool, x []float32)
}

func newMaintainer(c Config) (maintainer, error) {
	switch c.Maintenance {
	case Removal:
		return removal{}, nil
	case Projection:
		return newProjection(c.Budget, 0), nil
	case KeepNewest:
		return newProjection(c.Budget, 1), nil
	case Merging:
		if _, ok := c.Kernel.(kernel.Gaussian); !ok {
			return nil, fmt.Errorf("bsgd: merging needs the gaussian kernel, not %s: "+
				"only there does the best merged point lie on a known line", c.Kernel.Name())
		}
		return newMerging(c.Classes), nil
	}
	return nil, fmt.Errorf("bsgd: unknown maintenance %q (have %s, %s, %s, %s)",
		c.Maintenance, Removal, Projection, Merging, KeepNewest)
}
