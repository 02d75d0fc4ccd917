package online

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"

	"polkrepro/data/rows"
)

// A shuffler delivers the rows of a rowReader in blocks, each in a random order. The
// order depends only on the pass and the block's number, so that a training that is
// continued gets the rows in the order of an uninterrupted one. A file that fits one
// block is in a different order in every pass.
type shuffler struct {
	pass, blocks int
	block        []rows.Row
	err          error // error that ended the reader

	kept []rows.Row   // all rows of the file in its order, if one block holds them
	read *fingerprint // fingerprint of the rows read, in the file's order
}

// next returns the next row.
func (s *shuffler) next(ctx context.Context, f *rowReader, size int) (*rows.Row, error) {
	if len(s.block) == 0 && s.err == nil {
		s.fill(ctx, f, size)
	}
	if len(s.block) == 0 {
		return nil, s.err
	}
	row := s.block[0]
	s.block = s.block[1:]
	return &row, nil
}

// fill reads the next block.
func (s *shuffler) fill(ctx context.Context, f *rowReader, size int) {
	if s.kept != nil {
		s.block, s.err = slices.Clone(s.kept), io.EOF
	}
	for s.err == nil && len(s.block) < size {
		var row *rows.Row
		if row, s.err = f.next(ctx); s.err == nil {
			s.read.add(row)
			s.block = append(s.block, *row)
		}
	}
	switch {
	case s.err != nil && s.err != io.EOF:
		s.block = nil
	case s.err == io.EOF && s.blocks == 0 && s.kept == nil:
		s.kept = slices.Clone(s.block)
	}
	rng := rand.New(rand.NewPCG(tuneSeed+1+uint64(s.pass), uint64(s.blocks)))
	rng.Shuffle(len(s.block), func(i, j int) { s.block[i], s.block[j] = s.block[j], s.block[i] })
	s.blocks++
}

// blockRows returns how many rows of dim features are shuffled together. A row
// takes the memory of about 32 values besides its features.
func blockRows(dim int) int { return shuffleSize / (dim + 32) }
