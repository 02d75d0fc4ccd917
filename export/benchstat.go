package export

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"polkrepro/experiments"
	"polkrepro/record"
)

// Benchstat writes a line for each record in the format of Go's benchmarks
// (golang.org/design/14313-benchmark-format). An operation is a whole training,
// so ns/op is its time without evaluations; further units are the final figures:
//
//	%error      test error in per cent
//	train-risk  R(f) on the training data
//	test-risk   R(f) on the test set
//	elements    model order
//	kernels/op  kernel evaluations
//
// A benchmark is named by data set, task, method and parameters, so that draws
// and seeds are its samples. Figures that are not finite are left out, as are the
// risks of a method without scores. Where runs differ only in their code, the code is part
// of the name: they are samples of different benchmarks.
func Benchstat(w io.Writer, records map[string]*record.Record) error {
	var b bytes.Buffer
	b.WriteString("Unit %error better=lower\nUnit train-risk better=lower\nUnit test-risk better=lower\nUnit elements better=lower\nUnit kernels/op better=lower\n")
	config := ""
	codes := codesOf(records)
	for _, r := range sorted(records) {
		v := r.Header.Provenance
		if c := fmt.Sprintf("goos: %s\ngoarch: %s\npkg: %s\ncpu: %s\nrevision: %s\n", v.GOOS, v.GOARCH, v.Module, v.CPU, v.Revision); c != config {
			b.WriteString(c)
			config = c
		}
		name := benchmarkName(r)
		if run := r.Header.Run; len(codes[experiments.CodelessID(run)]) > 1 {
			name += "/code=" + oneWord(experiments.CodeName(run.Code))
		}
		fmt.Fprintf(&b, "Benchmark%s-%d\t1", name, v.Cores)
		f := r.Final
		measure(&b, "ns/op", math.Round(1e9*f.Timing.Wall))
		measure(&b, "%error", 100*f.TestError)
		if r.Header.Run.HasRisk() {
			measure(&b, "train-risk", f.TrainRisk)
			measure(&b, "test-risk", f.TestRisk)
		}
		measure(&b, "elements", f.ModelOrder)
		measure(&b, "kernels/op", float64(f.KernelEvals))
		b.WriteByte('\n')
	}
	_, err := b.WriteTo(w)
	return err
}

// measure appends a value and its unit.
func measure(b *bytes.Buffer, unit string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	fmt.Fprintf(b, "\t%s %s", strconv.FormatFloat(v, 'f', -1, 64), unit)
}

// benchmarkName returns Multidist/task=ksvm/method=polk/batch_size=32/…, without what has no
// bearing on a comparison: the draw, and the parameters that all methods of a
// task share.
func benchmarkName(r *record.Record) string {
	run := r.Header.Run
	name := strings.ToUpper(run.Data.Name[:1]) + run.Data.Name[1:]
	if run.Data.Variant != "" {
		name += "/variant=" + run.Data.Variant
	}
	name += "/task=" + run.Task + "/method=" + run.Method
	for _, f := range namesOf(run).solverParams {
		if f.value != nil {
			name += "/" + f.name + "=" + text(f.value)
		}
	}
	return oneWord(name)
}

// oneWord replaces white space, which ends a benchmark's name.
func oneWord(name string) string { return strings.Join(strings.Fields(name), "_") }
