//go:build check

package learnertest_test

import (
	"testing"

	"polkrepro/data"
)

// TestCheckMultidist checks the goldens of a second draw.
func TestCheckMultidist(t *testing.T) { holdGoldens(t, data.CalibratedDraws()[0]) }
