package report

import (
	"strings"
	"testing"

	"polkrepro/evidence"
	"polkrepro/internal/testutil"
)

// TestPlaceboFigure checks that each kind of placebo is drawn and named.
func TestPlaceboFigure(t *testing.T) {
	f := PlaceboFigure(&evidence.PlaceboReport{Cells: 3, Most: 2, Kinds: []evidence.PlaceboKind{
		{Name: "exchanged", Draws: 4, Most: []int{1, 2, 1, 0}}, {Name: "perturbed", Draws: 4, Most: []int{0, 0, 3, 1}},
	}})
	svg, err := f.SVG()
	testutil.NoError(t, err)
	for _, name := range []string{"exchanged", "perturbed", "as printed", "of 3"} {
		if !strings.Contains(string(svg), name) {
			t.Errorf("no %q in the picture", name)
		}
	}
}
