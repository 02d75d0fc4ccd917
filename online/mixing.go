package online

// mixing tells whether the rows of a source come sorted by their labels.
type mixing struct {
	last    string
	changes int            // from a row to the next
	rows    map[string]int // by label
	n       int
}

// add takes the next row's label.
func (m *mixing) add(label string) {
	if m.rows == nil {
		m.rows = make(map[string]int)
	}
	if m.n > 0 && label != m.last {
		m.changes++
	}
	if len(m.rows) <= MaxClasses {
		m.rows[label]++
	}
	m.last = label
	m.n++
}

// sorted reports whether the label changes less than a quarter as often as in
// rows in a random order, n·(1 − Σp²).
func (m *mixing) sorted() bool {
	var same float64
	for _, k := range m.rows {
		p := float64(k) / float64(m.n)
		same += p * p
	}
	return m.n >= 20 && float64(m.changes) < float64(m.n)*(1-same)/4
}
func (m *mixing) warn(t *trainer) {}
