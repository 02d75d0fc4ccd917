package kernel

// A change maps the elements of a dictionary to their indices in the previous dictionary.
type change struct {
	from   []int   // previous index, −1 for a new element
	moved  []int   // elements whose index has changed
	fresh  []int   // new elements
	points *Points // the vectors of fresh, in its order
}

// patchCost is the cost of copying one kernel value to its place in a row, in multiply-adds of a
// kernel value that is computed together with the rest of its row. Measured with 2 to 784 features.
const patchCost = 128

// find sets d to the change from the dictionary with the IDs before to the dictionary
// of e. All elements count as new if keeping values would cost more than it saves.
func (d *change) find(before []uint64, e *Expansion) {
	d.from, d.moved, d.fresh = grow(d.from, e.Order()), d.moved[:0], d.fresh[:0]
	ids, dim := e.Dict.ids, e.Dict.dim
	was := make(map[uint64]int) // previous indices of the IDs that have moved or were removed
	for j, id := range before {
		if j >= len(ids) || ids[j] != id {
			was[id] = j
		}
	}
	for j, id := range ids {
		from, ok := j, j < len(before) && before[j] == id
		if !ok {
			if from, ok = was[id]; ok {
				d.moved = append(d.moved, j)
			} else {
				from = -1
				d.fresh = append(d.fresh, j)
			}
		}
		d.from[j] = from
	}
	if (e.Order()-len(d.fresh))*dim < patchCost*(len(d.fresh)+len(d.moved)) {
		d.moved, d.fresh = d.moved[:0], d.fresh[:0]
		for j := range d.from {
			d.from[j] = -1
			d.fresh = append(d.fresh, j)
		}
	}
	if d.points == nil || d.points.dim != dim {
		d.points = NewPoints(dim)
	}
	d.points.Reset()
	for _, j := range d.fresh {
		d.points.Append(e.Dict.At(j))
	}
}

// order returns the model order after the change.
func (d *change) order() int { return len(d.from) }

// whole reports whether every element is new.
func (d *change) whole() bool { return len(d.fresh) == len(d.from) }
