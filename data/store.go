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
	loads map[Ref]func() (*Set, error) // each loads once
}

// NewStore returns a store that searches with the finder.
func NewStore(finder Finder) *Store { return &Store{Finder: finder} }

// Get returns the data set a reference names, loading it if no call did so
// before. Calls for a data set that is being loaded wait for it, no longer
// than the context lasts. Errors are those of [Load], shared between the calls
// that waited and remembered, except that a data set which was not available
// is searched again by the next call; or the context's.
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
