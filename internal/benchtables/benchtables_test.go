package main

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const sample = `revision: abc
go: go1.26
goos: linux
pkg: polkrepro/internal/gemm
cpu: Some CPU
BenchmarkProduct/type=f32/shape=32x784x1000/threads=2/impl=mulabt-2     	     100	 100 ns/op	 90 GFLOP/s
BenchmarkProduct/type=f32/shape=32x784x1000/threads=2/impl=mulabt-2     	     100	 100 ns/op	 120 GFLOP/s
BenchmarkProduct/type=f32/shape=32x784x1000/threads=2/impl=mulabt-2     	     100	 100 ns/op	 100 GFLOP/s
BenchmarkProduct/type=f32/shape=32x784x1000/threads=2/impl=openblas-2   	     100	 100 ns/op	 80 GFLOP/s
BenchmarkProduct/type=f32/shape=32x784x1000/threads=2/impl=panels-2     	     100	 100 ns/op	 160 GFLOP/s
BenchmarkSkinny/M=1000/m=4/threads=1/impl=mulabt-2 10 100 ns/op 40 GB/s 39 GFLOP/s
BenchmarkExp/type=f32/impl=exp-2 10 100 ns/op 0.5 ns/element
BenchmarkExp/type=f32/impl=math.Exp-2 10 100 ns/op 10 ns/element
PASS
ok  	polkrepro/internal/gemm	1.0s
goos: linux
pkg: polkrepro/polk
BenchmarkStep/multi-hinge/p=2/M=100-2 20 2000000 ns/op 101.5 M 31.75 active/op 500000 floor-ns/op 7.45 rank/op 4.0 x-floor
BenchmarkProject/fast/M=500-2 20 40 ns/op 0.04 s/projection
BenchmarkProject/literal/M=500-2 20 59 ns/op 32 candidates/op 288 s/projection
BenchmarkPeakMemory/M=1000-2 1 100 ns/op 3.136 dictionary-MB 153.7 maxrss-MB
pkg: polkrepro/baselines/bsgd
BenchmarkStep/merging-2 1 15.51 floor-µs/sample 0.2031 violations/sample 2.809 x-floor 43.56 µs/sample
`

func mustParse(t testing.TB, text string) *results {
	t.Helper()
	res, err := parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestMarkdown(t *testing.T) {
	got := string(markdown(mustParse(t, sample), nil))
	for _, want := range []string{
		"- revision: abc\n- go: go1.26\n- goos: linux\n- cpu: Some CPU\n",
		"| f32 | 32x784x1000 | 2 | 100 | 160 | — | 80.0 | — | — | 1.25 | 2.00 | — | — |\n",
		"| 1000 | 4 | 1 | 40.0 | 39.0 | — | — |\n",
		"| f32 | 0.5 | 10.0 | 20.0 |\n",
		"| Step/multi-hinge/p=2/M=100 | 2.00 | 0.5 | 4.00 | 102 | 31.8 | 7.45 |\n",
		"| 500 | 0.04 | 288 | 7200 | 32.0 |\n",
		"| merging | 43.6 | 15.5 | 2.81 | 0.203 |\n",
		"| 1000 | 154 | 3.14 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "Scaling") {
		t.Error("a table without rows is written")
	}
}

func TestParseErrors(t *testing.T) {
	_, err := parse(strings.NewReader("goos: linux\nBenchmarkX-2 10 ten ns/op\n"))
	if err == nil || err.Error() != `line 2: X: "ten" is not a number` {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("BenchmarkScaling/loss=a/vary=n/n=8-2 1 1e400 ns/op")
	f.Fuzz(func(t *testing.T, text string) {
		if res, err := parse(strings.NewReader(text)); err == nil {
			markdown(res, scalingPanels(res))
		}
	})
}

// scalingText is results whose times are exact powers of the size.
func scalingText(step, floor float64) string {
	var s strings.Builder
	s.WriteString("pkg: polkrepro/polk\n")
	for _, name := range []string{"n", "M", "p", "C"} {
		for _, loss := range []string{"hinge", "logistic"} {
			for _, x := range []float64{64, 8, 16, 32} {
				fmt.Fprintf(&s, "BenchmarkScaling/loss=%s/vary=%s/%s=%g-2 10 %g ns/op %g floor-ns/op %g M\n",
					loss, name, name, x, 1e5*math.Pow(x, step), 1e4*math.Pow(x, floor), x)
			}
		}
	}
	return s.String()
}

func TestSlopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-2, 3).Draw(t, "step"), rapid.Float64Range(-2, 3).Draw(t, "floor")
		res, err := parse(strings.NewReader(scalingText(a, b)))
		if err != nil {
			t.Fatal(err)
		}
		panels := scalingPanels(res)
		if len(panels) != 4 {
			t.Fatalf("%d panels", len(panels))
		}
		for _, p := range panels {
			for _, s := range p.series {
				// %g keeps six digits.
				if math.Abs(s.slope(step)-a) > 1e-4 || math.Abs(s.slope(floor)-b) > 1e-4 {
					t.Fatalf("%s %s: slopes %v %v, want %v %v", p.name, s.loss, s.slope(step), s.slope(floor), a, b)
				}
			}
		}
	})
}

// TestRun checks the files of a whole run.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "bench.txt")
	if err := os.WriteFile(in, []byte(sample+scalingText(1.5, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(in, dir); err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if md := read("bench.md"); !bytes.Contains(md, []byte("| M | 8 to 64 | hinge | 1.50 | 1.00 |\n")) {
		t.Errorf("no slopes in\n%s", md)
	}
	if lines := bytes.Count(read("scaling.csv"), []byte("\n")); lines != 1+4*2*4 {
		t.Errorf("%d lines of CSV", lines)
	}
	img, err := png.Decode(bytes.NewReader(read("scaling.png")))
	if err != nil || img.Bounds().Dx() < 1000 {
		t.Errorf("picture: %v, %v", img.Bounds(), err)
	}
	svg := string(read("scaling.svg"))
	for _, want := range []string{"hinge: slope 1.50", "model order M (dictionary elements)", "time of a step (ms)"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the SVG", want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	if err := run(filepath.Join(t.TempDir(), "none"), t.TempDir()); err == nil {
		t.Error("no error for a missing file")
	}
}
