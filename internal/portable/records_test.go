package portable_test

import (
	"os"
	"path"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// exemptions are the findings that do not or cannot change a recorded bit, given by a pattern
// of path.Match for package and function, and by the beginning of the text.
var exemptions = []struct {
	in, text, reason string
}{
	{"polkrepro/spec DictionaryNumbers", "product", counts},
	{"polkrepro/harness Register", "product", counts},
	{"polkrepro/harness Size.Scores", "product", counts},
	{"polkrepro/harness bytesBSGD", "product", counts},
	{"polkrepro/harness bytesLBFGS", "product", counts},
	{"polkrepro/harness fourierBytes", "product", counts},
	{"polkrepro/harness init", "product", counts},
	{"polkrepro/harness kernelMatrix", "product", counts},
	{"polkrepro/harness nystromNumbers", "product", counts},

	{"polkrepro/internal/gemm *32*", "product", exactly},
	{"polkrepro/internal/gemm sumSquares*", "product", exactly},

	{"polkrepro/internal/portable Pow", "math.Pow", "of arguments for which it is exact"},
	{"polkrepro/polk dictionary.plausible", "rand.NormFloat64", "compared with a bound far above rounding, for any numbers drawn"},
}

const (
	counts  = "counts: whole numbers below 2⁵³, whose products are exact"
	exactly = "float64 products of two float32 are exact"
)

// TestRecordedPackages reports results that depend on the architecture in the packages that
// determine a record's bits.
func TestRecordedPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds, and nothing concurrent")
	}
	roots, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps},
		"polkrepro/harness", "polkrepro/online", "polkrepro/polk/prune/external")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	packages.Visit(roots, nil, func(p *packages.Package) {
		if strings.HasPrefix(p.PkgPath, "polkrepro/") {
			paths = append(paths, p.PkgPath)
			// go test repeats a test if a folder that the test has read has changed.
			if _, err := os.ReadDir(p.Dir); err != nil {
				t.Error(err)
			}
		}
	})
	used := make([]bool, len(exemptions))
findings:
	for _, f := range findings(load(t, paths...)) {
		for i, e := range exemptions {
			if match, err := path.Match(e.in, f.in); err != nil {
				t.Fatal(err)
			} else if match && strings.HasPrefix(f.text, e.text) {
				used[i] = true
				continue findings
			}
		}
		t.Errorf("%s: %s: %s", f.at, f.in, f.text)
	}
	for i, e := range exemptions {
		if !used[i] {
			t.Errorf("exemption of %s, %s: nothing to exempt", e.in, e.text)
		}
	}
}

func load(t *testing.T, paths ...string) []*packages.Package {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(pkgs) > 0 {
		t.Fatal("packages with errors")
	}
	return pkgs
}
