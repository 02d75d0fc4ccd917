package data

import (
	"fmt"
	"slices"
)

// A Ref names a data set. It is comparable. A zero Variant or Draw means the default.
type Ref struct {
	Name string `json:"name"`
	// Variant is, for multidist, Calibrated (default), AsPrinted or another number of modes; for
	// brodatz and weaves, one of the eight that [List] names, raw by default.
	Variant string `json:"variant,omitempty"`

	// Draw seeds multidist's and drift's means and points (0 means FigureDraw's), brodatz's
	// dictionary and patches, and also the textures of weaves (0 means 1).
	Draw uint64 `json:"draw,omitempty"`

	// Files are a user's own data, for which Name is only a label; see [Source.Open]. They are
	// zero for the data sets that [List] names.
	Files Files `json:"files,omitzero"`
}

// String returns the reference as name[/variant[/draw]].
func (r Ref) String() string {
	s := r.Name
	if r.Variant != "" {
		s += "/" + r.Variant
	}
	if r.Draw != 0 {
		s += fmt.Sprintf("/%d", r.Draw)
	}
	return s
}

// Resolve returns the reference with its defaults filled in, so that two
// references to the same data are equal. The error wraps ErrUnknown if there
// is no such data set, or no such variant or draw of it.
func (r Ref) Resolve() (Ref, error) {
	if r.Own() {
		return r, r.resolveFiles()
	}
	m, err := lookup(r.Name)
	if err != nil {
		return r, err
	}
	switch {
	case r.Variant == "" && m.Variants != nil:
		r.Variant = m.Variants[0]
	case r.Variant != "" && m.Variants == nil:
		return r, fmt.Errorf("%s: data set %s has no variants: %w", r, r.Name, ErrUnknown)
	case m.Variants != nil && !slices.Contains(m.Variants, r.Variant):
		return r, fmt.Errorf("%s has no variant %q (known: %s): %w", r.Name, r.Variant, join(m.Variants), ErrUnknown)
	}
	switch {
	case m.draw == nil && r.Draw != 0:
		return r, fmt.Errorf("%s: data set %s has no draws: %w", r, r.Name, ErrUnknown)
	case m.draw != nil && r.Draw == 0:
		r.Draw = m.draw()
	}
	return r, nil
}

// Load returns the data set a reference names: generated, or read from files
// found by the finder and verified against the manifest. The error wraps
// ErrUnknown if the reference is unknown, ErrNotAvailable if files are missing,
// and ErrCorrupt if files do not match the manifest or, for a user's files, the
// reference.
func Load(ref Ref, finder Finder) (*Set, error) {
	ref, err := ref.Resolve()
	if err != nil {
		return nil, err
	}
	if ref.Own() {
		t, err := tableOf(&ref.Files, ref.Files.options(), ref.Files.TestHeader, nil, false)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ref.Name, err)
		}
		set, err := ref.set(&t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ref.Name, err)
		}
		return set, nil
	}
	m, _ := lookup(ref.Name) // Resolve has found it
	return m.load(m, ref, finder)
}

// Available returns nil if all files of a data set exist on the finder's search
// path. It does not read the files. Generated data sets are always available. The
// error is that of [Ref.Resolve] or of [Load]'s search; it wraps ErrNotAvailable
// if files are missing.
func (f Finder) Available(ref Ref) error {
	ref, err := ref.Resolve()
	if err != nil {
		return err
	}
	if ref.Own() {
		_, err := ref.Files.locate()
		return err
	}
	m, _ := lookup(ref.Name)
	if m.Kind == KindGenerated {
		return nil
	}
	_, err = f.locate(m)
	return err
}
