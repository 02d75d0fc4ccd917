package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	got := string(markdown(mustParse(t, sample)))
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
	if strings.Contains(string(markdown(mustParse(t, ""))), "## ") {
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
	f.Add("BenchmarkStep/n=8-2 1 1e400 ns/op")
	f.Fuzz(func(t *testing.T, text string) {
		if res, err := parse(strings.NewReader(text)); err == nil {
			markdown(res)
		}
	})
}

// TestRun checks the file that a whole run writes.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "bench.txt")
	if err := os.WriteFile(in, []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(in, dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "bench.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := markdown(mustParse(t, sample)); string(got) != string(want) {
		t.Errorf("bench.md holds\n%s\nnot\n%s", got, want)
	}
}

func TestRunErrors(t *testing.T) {
	if err := run(filepath.Join(t.TempDir(), "none"), t.TempDir()); err == nil {
		t.Error("no error for a missing file")
	}
}
