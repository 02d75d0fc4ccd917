package prune

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"polkrepro/internal/charset"
)

// KOMP is the name of the paper's heuristic, the default of a learner.
const KOMP = "komp"

// A Heuristic describes a way to prune. Its form in JSON is what a process says of its heuristic
// (package external).
type Heuristic struct {
	Name   string `json:"-"`      // lower-case letters, digits and single hyphens
	About  string `json:"about"`  // what it does, in a line
	Source string `json:"source"` // where it is from, in a line; empty if it is this project's own

	// Params are the parameters of the heuristic. Unless Epsilon is set, the first one is its
	// size parameter: the parameter that trades model order for accuracy and that a comparison sweeps.
	Params []Param `json:"params"`

	// Epsilon says that the heuristic keeps to the learner's budget ε = K·η^{3/2}, unless it has
	// reached its largest order. Its size parameter is then the method's parsimony constant K.
	Epsilon bool `json:"epsilon"`

	// Ridge, unless nil, returns the number that is added to the diagonal of K throughout
	// InverseState. It requires NewInverse.
	Ridge func(Params) float64 `json:"-"`

	// Gaussian says that the heuristic is defined for the Gaussian kernel only.
	Gaussian bool `json:"gaussian"`

	// New returns a pruner for parameters that are complete and in range. NewInverse, set in
	// place of New, returns a pruner that uses the inverse kernel matrix, at O(M²) per step.
	New        func(Params) Pruner        `json:"-"`
	NewInverse func(Params) InversePruner `json:"-"`

	// Identity is the result of Code for a heuristic whose code is not in this package.
	Identity string `json:"-"`

	file string // file of this package that registers the heuristic; empty if another package does
}

// Inverse reports whether the heuristic uses the inverse kernel matrix.
func (h Heuristic) Inverse() bool { return h.NewInverse != nil }

var (
	registered = make(map[string]Heuristic)
	nameText   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	paramText  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// Register makes a heuristic known by its name. It panics if h is invalid (see Check), if the name
// is taken, or if another package registers it without an Identity. However, a heuristic with an
// Identity replaces another one with an Identity.
func Register(h Heuristic) {
	if err := h.Check(); err != nil {
		panic(err.Error())
	}
	if old, ok := registered[h.Name]; ok && (h.Identity == "" || old.Identity == "") {
		panic("prune: two heuristics are named " + h.Name)
	}
	h.file = registeringFile()
	if h.file == "" && h.Identity == "" {
		panic("prune: heuristic " + h.Name + " is of another package: give it an Identity, which says of which code its results are")
	}
	registered[h.Name] = h
}

// Limits of a heuristic, whose description may come from another program.
const (
	maxParams = 100
	maxGrid   = 1000
)

// Check reports missing and contradictory fields of h.
func (h Heuristic) Check() error {
	fail := func(why string) error { return fmt.Errorf("prune: heuristic %q %s", h.Name, why) }
	switch {
	case !nameText.MatchString(h.Name):
		return fail("has a name other than lower-case letters, digits and single hyphens")
	case (h.New == nil) == (h.NewInverse == nil):
		return fail("has both New and NewInverse or neither: want one")
	case h.About == "" || !charset.Printable(h.About+h.Source):
		return fail("has no description, or a description or source of more than one line")
	case h.Ridge != nil && !h.Inverse():
		return fail("has a ridge and no inverse to add it to")
	case len(h.Params) > maxParams:
		return fail(fmt.Sprintf("has %d parameters: want at most %d", len(h.Params), maxParams))
	}
	for i, p := range h.Params {
		if !paramText.MatchString(p.Name) || p.About == "" || !charset.Printable(p.About) {
			return fail(fmt.Sprintf("has the parameter %q: want a name of lower-case letters, digits and underscores, and a description in one line", p.Name))
		}
		if slices.ContainsFunc(h.Params[:i], func(q Param) bool { return q.Name == p.Name }) {
			return fail("has two parameters named " + p.Name)
		}
		if len(p.Grid) > maxGrid {
			return fail(fmt.Sprintf("has %d values in the grid of %s: want at most %d", len(p.Grid), p.Name, maxGrid))
		}
	}
	if param, ok := h.SizeParam(); ok && !h.Epsilon {
		for _, x := range param.Grid {
			if _, err := h.Complete(Params{param.Name: x}); err != nil {
				return fail("has an invalid grid: " + err.Error())
			}
		}
	}
	return nil
}

// All returns the registered heuristics, sorted by name.
func All() []Heuristic {
	var out []Heuristic
	for _, name := range slices.Sorted(maps.Keys(registered)) {
		out = append(out, registered[name])
	}
	return out
}

// Names returns the names of All.
func Names() []string { return slices.Sorted(maps.Keys(registered)) }

// Lookup returns the heuristic of that name.
func Lookup(name string) (Heuristic, bool) {
	h, ok := registered[name]
	return h, ok
}

// CheckValue returns "" if x is a valid value of p, and otherwise a description of the valid
// values. It is not a method, because the file of Param is part of every heuristic's Code.
func CheckValue(p Param, x float64) string { return p.check(x) }

// SizeParam returns the parameter that trades model order for accuracy, and whether
// there is one. For heuristics with Epsilon it is the method's parsimony.
func (h Heuristic) SizeParam() (Param, bool) {
	if h.Epsilon {
		return parsimony, true
	}
	if len(h.Params) == 0 {
		return Param{}, false
	}
	return h.Params[0], true
}

// Complete returns the given parameters, with defaults for missing ones. It fails if a parameter
// is missing and has no default, is unknown, or is out of range.
func (h Heuristic) Complete(given Params) (Params, error) {
	out := make(Params)
	var names []string
	for _, p := range h.Params {
		names = append(names, p.Name)
		x, ok := given[p.Name]
		if !ok && p.Default == nil {
			return nil, fmt.Errorf("pruner %s needs the parameter %s, %s", h.Name, p.Name, p.About)
		}
		if !ok {
			x = *p.Default
		}
		if want := p.check(x); want != "" {
			return nil, fmt.Errorf("%s of pruner %s is %s, want %s", p.Name, h.Name, format(x), want)
		}
		out[p.Name] = x
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("pruner %s takes no parameter %s (it takes %s)", h.Name, name, cmp.Or(strings.Join(names, ", "), "none"))
		}
	}
	return out, nil
}

// An Instance is a pruner for one learner, with its heuristic and parameters. [New] and [Find] make it.
type Instance struct {
	pruner    any
	heuristic Heuristic
	params    Params
}

// Pruner returns a Pruner, or if Heuristic().Inverse an InversePruner. It is nil if neither New nor
// Find has made the instance.
func (i *Instance) Pruner() any { return i.pruner }

// Heuristic returns the heuristic that made the pruner.
func (i *Instance) Heuristic() Heuristic { return i.heuristic }

// Params returns the complete parameters, which must not be changed.
func (i *Instance) Params() Params { return i.params }

// New returns a pruner of h, which need not be registered. It fails if [Heuristic.Check] or
// [Heuristic.Complete] does.
func New(h Heuristic, given Params) (*Instance, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	p, err := h.Complete(given)
	if err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	if h.Inverse() {
		return &Instance{h.NewInverse(p), h, p}, nil
	}
	return &Instance{h.New(p), h, p}, nil
}

// Find returns a pruner of the registered heuristic of that name.
func Find(name string, given Params) (*Instance, error) {
	h, ok := Lookup(name)
	if !ok {
		return nil, fmt.Errorf("prune: unknown pruner %q (known: %s)", name, strings.Join(Names(), ", "))
	}
	return New(h, given)
}

// Ridge returns the number that is added to the diagonal of K.
func (i *Instance) Ridge() float64 {
	if i.heuristic.Ridge == nil {
		return 0
	}
	return i.heuristic.Ridge(i.params)
}
