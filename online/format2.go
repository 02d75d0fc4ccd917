package online

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"polkrepro/internal/modelfile"
	"polkrepro/kernel"
	"polkrepro/polk"
)

// Files of versions 1 and 2 hold no inverse kernel matrix but the learner as it
// was at the last anchor, a row after which every run computed the inverse afresh,
// and the rows since, which are learned again. After the scaling they have:
//
//	float32   tail×dimension features of the rows since the last anchor, scaled
//	float64   their targets
//	8 bytes   length of the learner
//	learner   as it was at the last anchor, in the format of polk.Learner.Save
//	32 bytes  SHA-256 of all that precedes
//
// Version 1 had the Gaussian kernel only, and a model order where version 2 has a
// pruner. A model that was begun with anchors keeps them, so that it becomes bit
// for bit what the program that began it would have made of it.

// anchorBatches returns the number of mini-batches between two anchors: about 4096
// rows, less if they are long.
func (s *Settings) anchorBatches() int {
	return max(1, min(4096, maxValues/s.Dim)/s.Batch)
}

// readOld reads what follows the scaling.
func (m *Model) readOld(d *modelfile.Reader, h *header, train bool) error {
	if err := m.readTail(d, h); err != nil {
		return err
	}
	n, err := d.Uint64()
	if err != nil {
		return err
	}
	if n > maxState {
		return fmt.Errorf("%w: a learner of %d bytes", ErrFormat, n)
	}
	var anchor bytes.Buffer
	if err := d.Copy(&anchor, int64(n)); err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	if err := m.replay(anchor.Bytes()); err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	if train {
		return nil
	}
	return m.Finish()
}

// replay loads the learner at the anchor and learns the rows since, but for those
// that wait for their mini-batch.
func (m *Model) replay(anchor []byte) error {
	cfg, err := m.settings.config()
	if err != nil {
		return err
	}
	e, err := kernel.ReadExpansion(bytes.NewReader(anchor), nil)
	if err != nil {
		return err
	}
	if e.Order() > MaxOrder {
		return fmt.Errorf("%d elements, more than %d", e.Order(), MaxOrder)
	}
	if m.learner, err = polk.Load(bytes.NewReader(anchor), cfg); err != nil {
		return err
	}
	m.f, m.sinceAnchor = m.learner.Expansion(), new(int)
	x, y, b, dim := m.x, m.y, m.settings.Batch, m.settings.Dim
	for ; len(y) >= b; x, y = x[b*dim:], y[b:] {
		m.x, m.y = x[:b*dim], y[:b]
		if err := m.step(); err != nil {
			return fmt.Errorf("its rows can't be learned: %v", err)
		}
		*m.sinceAnchor += b
	}
	m.x, m.y, m.seen = x, y, Prequential{}
	return nil
}

// passAnchor computes the inverse afresh where the program that began the model
// would have.
func (m *Model) passAnchor() error {
	if m.sinceAnchor == nil {
		return nil
	}
	*m.sinceAnchor += m.settings.Batch
	if *m.sinceAnchor < m.settings.anchorBatches()*m.settings.Batch {
		return nil
	}
	*m.sinceAnchor = 0
	return m.learner.Save(io.Discard)
}

// Models that were begun before version 3 of the format were made by programs that
// computed the inverse kernel matrix afresh at anchors, that rounded
// features to float32 before they scaled them, and to which labels that
// are the same number were the same class, written as short as can be: 1e+06 for
// 1000000. Such a model keeps to that, for its rows and classes were read so: it
// predicts what it predicted and goes on bit for bit.

// old reports whether the model is one of these. It is one whichever version of the
// format has held it since: it has anchors.
func (m *Model) old() bool { return m.sinceAnchor != nil }

// oldLabel returns the label of those programs.
func oldLabel(label string) string {
	if v, err := strconv.ParseFloat(label, 64); err == nil {
		return strconv.FormatFloat(v+0, 'g', -1, 64)
	}
	return label
}
