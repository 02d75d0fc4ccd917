package bsgd

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
