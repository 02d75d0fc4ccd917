package bsgd

// A maintainer keeps the model order within the budget. added and maintain return the degradation
// ‖f − f'‖² = Σ_c ‖f_c − f'_c‖², where f is the model before the change and f' the model after
// it, both with unscaled weights.
type maintainer interface {
	// added is called after the model's append; the newest element is the last.
	added(m *model) float64

	// maintain lowers the model order by one.
	maintain(m *model) float64

	// health adds the strategy's own counters to h.
	health(h map[string]float64)
}

// newMaintainer returns the strategy of a valid configuration.
func newMaintainer(c Config) maintainer {
	switch c.Maintenance {
	case Removal:
		return removal{}
	case Projection:
		return newProjection(c.Budget, 0)
	case KeepNewest:
		return newProjection(c.Budget, 1)
	}
	return newMerging(c.Classes)
}

// removal drops the element of least norm.
type removal struct{}

var _ maintainer = removal{}

func (removal) added(*model) float64 { return 0 }

func (removal) maintain(m *model) float64 {
	p := m.weakest(m.births)
	cost := m.norm[p] * m.self[p]
	m.remove(p)
	return cost
}

func (removal) health(map[string]float64) {}
