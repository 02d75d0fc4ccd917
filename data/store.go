package data

import (
	"context"
	"errors"
	"sync"
)

// A Store loads each data set once and shares it between any number of
// concurrent workers. The zero value works and searches with the zero Finder.
// It must not be copied after first use.
type Store struct {
	Finder Finder

	mu      sync.Mutex
	entries map[Ref]*storeEntry
}

// A storeEntry is a data set that is being loaded, until done is closed.
type storeEntry struct {
	done chan struct{}
	set  *Set
	err  error
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
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	e, ok := s.entries[ref]
	if !ok {
		e = &storeEntry{done: make(chan struct{})}
		if s.entries == nil {
			s.entries = make(map[Ref]*storeEntry)
		}
		s.entries[ref] = e
		go s.load(ref, e)
	}
	s.mu.Unlock()
	select {
	case <-e.done:
		return e.set, e.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// load fills an entry.
func (s *Store) load(ref Ref, e *storeEntry) {
	defer close(e.done)
	e.set, e.err = Load(ref, s.Finder)
	if errors.Is(e.err, ErrNotAvailable) {
		s.mu.Lock()
		delete(s.entries, ref)
		s.mu.Unlock()
	}
}
