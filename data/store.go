package data

import (
	"context"
	"errors"
	"sync"

	"polkrepro/internal/until"
)

// A Store loads each data set once and shares it between any number of
// concurrent workers. The zero value works and searches with the zero Finder.
// It must not be copied after first use.
type Store struct {
	Finder Finder

	mu    sync.Mutex
	loads map[Ref]func() (*Set, error) // each loads its data set once
}

// NewStore returns a store that searches with the finder.
func NewStore(finder Finder) *Store { return &Store{Finder: finder} }

// Get returns the data set a reference names. The first call loads it. Calls
// during the load wait for it, but not beyond the end of the context. The error
// is the context's or that of [Load]. The store shares and remembers Load's
// errors, except those that wrap ErrNotAvailable: the next call searches again.
func (s *Store) Get(ctx context.Context, ref Ref) (*Set, error) {
	ref, err := ref.Resolve()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	load, ok := s.loads[ref]
	if !ok {
		load = sync.OnceValues(func() (*Set, error) {
			set, err := Load(ref, s.Finder)
			if errors.Is(err, ErrNotAvailable) {
				s.mu.Lock()
				delete(s.loads, ref)
				s.mu.Unlock()
			}
			return set, err
		})
		if s.loads == nil {
			s.loads = make(map[Ref]func() (*Set, error))
		}
		s.loads[ref] = load
	}
	s.mu.Unlock()
	var set *Set
	if !until.Done(ctx, func() { set, err = load() }) {
		return nil, context.Cause(ctx)
	}
	return set, err
}
