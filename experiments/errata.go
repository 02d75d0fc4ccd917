package experiments

import (
	_ "embed"
	"slices"

	"polkrepro/internal/strictyaml"
)

//go:embed ledgers/errata.yaml
var errataSource []byte

// What may be wrong in print; see ledgers/errata.yaml.
var errataKinds = []string{"misprint", "contradiction", "gap", "reference"}

// An Erratum is a place where what the paper prints is wrong.
type Erratum struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Line       int      `json:"line"` // of the paper's LaTeX source
	Place      string   `json:"place"`
	Printed    string   `json:"printed"`
	Right      string   `json:"right"`
	How        string   `json:"how"`                  // it is known to be wrong
	Tests      []string `json:"tests,omitempty"`      // Go tests that settle it, PACKAGE.TEST
	Claims     []string `json:"claims,omitempty"`     // claims whose records settle it
	Assumption string   `json:"assumption,omitempty"` // that was made because of it
}

// Settled reports whether a test decides what is right.
func (e *Erratum) Settled() bool { return len(e.Tests)+len(e.Claims) > 0 }

// Erratum returns the erratum of an ID, nil if there is none.
func (l *Ledger) Erratum(id string) *Erratum {
	return find(l.Errata, func(e *Erratum) bool { return e.ID == id })
}

// readErrata adds the errata to a ledger, whose claims and assumptions they name. What is
// wrong is returned as Errors.
func (l *Ledger) readErrata(name string, source []byte) error {
	r := new(strictyaml.Reporter)
	root := strictyaml.Parse(name, source, r)
	if root == nil {
		return r.Err()
	}
	var d struct {
		Errata []Erratum `json:"errata"`
	}
	strictyaml.Decode(root, &d, r)
	c := checks{Reporter: r}
	c.ids(root.At("errata"), nameText)
	for i, e := range d.Errata {
		n := root.At("errata", i)
		c.oneOf(n, "kind", e.Kind, errataKinds)
		c.texts(n, "place", "printed", "right", "how")
		if e.Line < 1 || i > 0 && e.Line < d.Errata[i-1].Line {
			c.Errorf(n.At("line"), "line %d: must be at least 1 and not before that of the erratum above", e.Line)
		}
		if j := slices.IndexFunc(e.Claims, func(id string) bool { return l.Claim(id) == nil }); j >= 0 {
			c.Errorf(n.At("claims", j), "unknown claim %q", e.Claims[j])
		}
		if e.Assumption != "" && l.Assumption(e.Assumption) == nil {
			c.Errorf(n.At("assumption"), "unknown assumption %q", e.Assumption)
		}
		l.Errata = append(l.Errata, e)
	}
	return r.Err()
}
