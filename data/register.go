package data

import (
	"fmt"
	"math"
)

// A Registration is a data set that a program adds to those that specs can name.
type Registration struct {
	// Info describes the data set. Name (lower-case letters, digits and single hyphens),
	// Title, Classes, Dim, Train and Test are required, Variants if there are any.
	// Register sets Kind to KindGenerated, because the program provides the data.
	Info

	// Code identifies the contents of the data set. It is part of the identity of runs on
	// the data set and must change with the contents: use the SHA-256 of the bytes or of
	// the source that generates them, or a version.
	Code string

	// Load returns the data set, or the variant of it that ref names, with class indices
	// as targets. An error that wraps ErrNotAvailable says that the data set is not
	// available on this machine.
	Load func(ref Ref) (*Set, error)
}

// Register makes a data set available by its name, like the package's own; call it in
// init. It panics if the registration is incomplete or the name is taken.
func Register(r Registration) {
	if !goodName.MatchString(r.Name) || r.Title == "" || r.Code == "" || r.Load == nil || min(r.Classes-1, r.Dim, r.Train, r.Test) < 1 {
		panic(fmt.Sprintf("data: Register %q: want a name of lower-case letters, digits and single hyphens, a title, code, Load, two classes or more, features and examples", r.Name))
	}
	r.Kind = KindGenerated
	register(r.Name, code{
		entry: &manifestSet{Info: r.Info}, variants: r.Variants, identity: r.Code,
		load: func(_ *manifestSet, ref Ref, _ Finder) (*Set, error) {
			set, err := r.Load(ref)
			if err == nil {
				set, err = r.complete(set)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", ref, err)
			}
			return set, nil
		},
	})
}

// RegisteredCode returns the Code of a data set that [Register] added; it is empty for
// all others.
func RegisteredCode(name string) string {
	listed.Lock()
	defer listed.Unlock()
	return registered[name].identity
}

// complete checks a set and fills in its name and sums.
func (r *Registration) complete(set *Set) (*Set, error) {
	if set == nil || set.Train == nil || set.Test == nil {
		return nil, fmt.Errorf("%w: it lacks a training or a test part", ErrCorrupt)
	}
	for _, p := range []struct {
		name string
		*Split
		n int
	}{{"training", set.Train, r.Train}, {"test", set.Test, r.Test}} {
		part, s, n := p.name, p.Split, p.n
		if s.N != n || s.Dim != r.Dim || len(s.X) != n*r.Dim || len(s.Y) != n {
			return nil, fmt.Errorf("%w: %d %s examples of %d features, with %d values and %d targets: want %d of %d", ErrCorrupt, s.N, part, s.Dim, len(s.X), len(s.Y), n, r.Dim)
		}
		for i, v := range s.X {
			if v-v != 0 {
				return nil, fmt.Errorf("%w: feature %d of %s example %d is %v", ErrCorrupt, i%s.Dim, part, i/s.Dim, v)
			}
		}
		for i, y := range s.Y {
			if !(y >= 0 && y < float64(r.Classes)) || y != math.Trunc(y) {
				return nil, fmt.Errorf("%w: the target of %s example %d is %v, want a class from 0 to %d", ErrCorrupt, part, i, y, r.Classes-1)
			}
		}
	}
	out := *set
	out.Name, out.Classes = r.Name, r.Classes
	if out.Sums == nil {
		out.Sums = map[string]string{r.Name: SumSplits(set.Train, set.Test)}
	}
	return &out, nil
}
