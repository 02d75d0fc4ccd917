package docs

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/words"
)

// runsLine returns the line of runs.csv of a series on a data set with a task, a number of runs and a number
// of samples.
func runsLine(t *testing.T, set, task, series, runs, samples string) map[string]string {
	t.Helper()
	for _, line := range table(t, "tables/runs.csv") {
		if line["data"] == set && line["task"] == task && line["series"] == series && line["runs"] == runs && line["samples"] == samples {
			return line
		}
	}
	t.Fatalf("no runs of %s on %s", series, set)
	return nil
}

// duration writes a number of hours with the unit that suits it.
func duration(hours float64) string {
	switch {
	case hours < 1:
		return fmt.Sprintf("%.0f min", 60*hours)
	case hours >= 48:
		return fmt.Sprintf("%.1f days", hours/24)
	}
	return fmt.Sprintf("%.1f h", hours)
}

// billion returns the table of the time that a sample takes, and a billion samples.
func billion(t *testing.T) string {
	var rows [][]string
	for _, of := range []struct{ set, task, series, samples string }{
		{"brodatz (raw)", "ksvm", "POLK, K = 0.01", "80000"},
		{"brodatz (raw)", "klr", "POLK, K = 0.005", "80000"},
		{"mnist", "ksvm", "POLK, K = 0.016", "240000"},
		{"mnist", "klr", "POLK, K = 0.008", "240000"},
		{"mnist", "ksvm", "BSGD, B = 1086", "240000"},
	} {
		line := runsLine(t, of.set, of.task, of.series, "5 of 5", of.samples)
		order, _, _ := strings.Cut(line["model order"], " ")
		set := map[string]string{"mnist": "MNIST", "brodatz (raw)": "Brodatz"}[of.set]
		loss := map[string]string{"ksvm": "hinge", "klr": "logistic"}[of.task]
		method, _, _ := strings.Cut(of.series, ",")
		if method == "BSGD" {
			method += " by merging"
		}
		hours := number(t, line["µs, second half"]) * 1e9 / 1e6 / 3600
		rows = append(rows, []string{set + ", " + loss, method, words.Grouped(int(number(t, order))), line["µs a sample"], line["µs, second half"], duration(hours)})
	}
	return markdown([]string{"data, loss", "method", "model order", "µs a sample, whole run", "µs a sample, second half", "10⁹ samples"}, rows)
}

// cost returns the table of the processor times, errors and sizes of batch methods and online learners.
func cost(t *testing.T) string {
	var rows [][]string
	for _, of := range []struct{ title, loss, method, set, task, series, runs, samples string }{
		{"MNIST", "hinge", "C-SVC", "mnist", "ksvm", "C-SVC", "1 of 1", "60000"},
		{"", "", "L-BFGS", "mnist", "ksvm", "L-BFGS", "1 of 1", "60000"},
		{"", "", "BSGD by merging", "mnist", "ksvm", "BSGD, B = 1086", "5 of 5", "240000"},
		{"", "", "POLK", "mnist", "ksvm", "POLK, K = 0.016", "5 of 5", "240000"},
		{"MNIST", "logistic", "L-BFGS", "mnist", "klr", "L-BFGS", "1 of 1", "60000"},
		{"", "", "POLK", "mnist", "klr", "POLK, K = 0.008", "5 of 5", "240000"},
		{"Brodatz", "hinge", "C-SVC", "brodatz (raw)", "ksvm", "C-SVC", "10 of 10", "10000"},
		{"", "", "L-BFGS", "brodatz (raw)", "ksvm", "L-BFGS", "10 of 10", "10000"},
		{"", "", "BSGD by merging", "brodatz (raw)", "ksvm", "BSGD", "10 of 10", "80000"},
		{"", "", "POLK", "brodatz (raw)", "ksvm", "POLK", "10 of 10", "80000"},
		{"Brodatz", "logistic", "L-BFGS", "brodatz (raw)", "klr", "L-BFGS", "10 of 10", "10000"},
		{"", "", "POLK", "brodatz (raw)", "klr", "POLK", "10 of 10", "80000"},
	} {
		line := runsLine(t, of.set, of.task, of.series, of.runs, of.samples)
		order, _, _ := strings.Cut(line["model order"], " ")
		rows = append(rows, []string{of.title, of.loss, of.method, line["CPU (s)"], line["test error (%)"], words.Grouped(int(number(t, order)))})
	}
	return markdown([]string{"data", "loss", "method", "CPU s", "error (%)", "elements"}, rows)
}

// benchmark returns the median of each unit of a recorded benchmark.
func benchmark(t *testing.T, name string) map[string]float64 {
	t.Helper()
	values := make(map[string][]float64)
	for line := range strings.Lines(read(t, "results/reference/bench/bench.txt")) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark"+name+"-") {
			continue
		}
		for i := 2; i+1 < len(f); i += 2 {
			values[f[i+1]] = append(values[f[i+1]], number(t, f[i]))
		}
	}
	if len(values) == 0 {
		t.Fatalf("no benchmark %s", name)
	}
	out := make(map[string]float64)
	for unit, of := range values {
		slices.Sort(of)
		out[unit] = of[len(of)/2]
	}
	return out
}

// mnistSteps returns the table of the benchmarks of a step on MNIST.
func mnistSteps(t *testing.T) string {
	var rows [][]string
	for _, of := range [][2]string{{"hinge", "ksvm"}, {"logistic", "klr"}} {
		b := benchmark(t, "MNIST/"+of[1]+"/threads=1")
		rows = append(rows, []string{of[0], words.Grouped(int(math.Round(b["M"]))), fmt.Sprintf("%.1f of 32", b["active/op"]),
			fmt.Sprintf("%.3g", b["ns/op"]/1e6), fmt.Sprintf("%.3g", b["ns/op"]/1e3/32), fmt.Sprintf("%.0f %%", 100*b["floor-ns/op"]/b["ns/op"]), fmt.Sprintf("%.0f", 8*b["M"]*b["M"]/1e6)})
	}
	return markdown([]string{"loss", "model order", "samples with a gradient", "ms a step", "µs a sample", "of that, kernel values", "inverse, MB"}, rows)
}

// steps returns the table of the benchmarks of a step on a stream with noisy labels.
func steps(t *testing.T) string {
	var rows [][]string
	for _, loss := range []string{"hinge", "logistic"} {
		for _, p := range []int{2, 256, 784} {
			row := []string{loss, fmt.Sprint(p)}
			for _, order := range []int{100, 500, 1000} {
				b := benchmark(t, fmt.Sprintf("Step/multi-%s/p=%d/M=%d", loss, p, order))
				row = append(row, fmt.Sprintf("%.2f (%.0f, %.0f %%)", b["ns/op"]/1e6, b["M"], 100*b["floor-ns/op"]/b["ns/op"]))
			}
			rows = append(rows, row)
		}
	}
	return markdown([]string{"loss", "features", "about 100 elements", "about 500", "about 1,000"}, rows)
}

// projections returns the table of the benchmarks of one projection.
func projections(t *testing.T) string {
	var rows [][]string
	for _, order := range []int{100, 500} {
		row := []string{fmt.Sprintf("%d to %d", order+32, order)}
		for _, way := range []string{"literal", "fast"} {
			row = append(row, fmt.Sprintf("%.3g s", benchmark(t, fmt.Sprintf("Project/%s/M=%d", way, order))["s/projection"]))
		}
		rows = append(rows, row)
	}
	return markdown([]string{"elements", "Algorithm 1 as printed", "this program"}, rows)
}

// part returns the lines of the part of scale.txt that begins with a title, each split at wide spaces.
func part(t *testing.T, title string) (lines [][]string) {
	t.Helper()
	_, text, found := strings.Cut(read(t, "results/reference/scale/scale.txt"), title)
	if !found {
		t.Fatalf("scale.txt has no part %q", title)
	}
	_, text, _ = strings.Cut(text, "\n\n")
	text, _, _ = strings.Cut(text, "\n\n")
	wide := regexp.MustCompile(` {2,}`)
	for line := range strings.Lines(text) {
		lines = append(lines, wide.Split(strings.TrimSpace(line), -1))
	}
	return lines[1:]
}

// exponents returns the table of the exponents of a step's time.
func exponents(t *testing.T) string {
	var rows [][]string
	for _, f := range part(t, "A step of POLK") {
		row := []string{strings.TrimPrefix(f[0], "multi-"), f[1]}
		for _, exponent := range f[2:6] {
			mean, _, _ := strings.Cut(exponent, " ")
			row = append(row, strings.Replace(mean, "-", "−", 1))
		}
		rows = append(rows, append(row, f[6]))
	}
	return markdown([]string{"loss", "configurations", "n", "M", "p", "C", "typical error of the fit"}, rows)
}

// trainings returns the table of the times of trainings on multidist.
func trainings(t *testing.T) string {
	titles := map[string]string{"polk": "POLK", "bsgd": "BSGD by merging", "csvc": "C-SVC", "lbfgs": "L-BFGS"}
	var rows [][]string
	for _, f := range part(t, "A training on multidist") {
		loss := map[string]string{"ksvm": "hinge", "klr": "logistic"}[f[1]]
		rows = append(rows, []string{titles[f[0]], loss, f[2], words.Grouped(int(number(t, f[4]))), f[3], f[5], strings.Replace(f[7], "—", words.Dash, 1)})
	}
	return markdown([]string{"method", "loss", "largest N", "model order", "seconds", "exponent of N", "10⁹ samples"}, rows)
}

// streams returns the table of order and memory over the recorded streams.
func streams(t *testing.T) string {
	var rows [][]string
	for _, of := range [][2]string{{"0.04", "stream.csv"}, {"0.0001", "stream-small-k.csv"}} {
		for _, line := range table(t, of[1]) {
			if line["samples"] == "100000" || line["samples"] == "1000000" {
				rows = append(rows, []string{of[0], words.Grouped(int(number(t, line["samples"]))), line["model_order"], fmt.Sprintf("%.0f", number(t, line["resident_bytes"])/(1<<20))})
			}
		}
	}
	return markdown([]string{"K", "samples seen", "model order", "memory of the process, MiB"}, rows)
}

// TestScaleProse: the sentences of scale.md with a number say what the records say.
func TestScaleProse(t *testing.T) {
	ratio := func(column string, a, b map[string]string) float64 {
		of := func(line map[string]string) float64 {
			mean, _, _ := strings.Cut(line[column], " ")
			return number(t, mean)
		}
		return of(a) / of(b)
	}
	mnist, polk := runsLine(t, "mnist", "ksvm", "C-SVC", "1 of 1", "60000"), runsLine(t, "mnist", "ksvm", "POLK, K = 0.016", "5 of 5", "240000")
	brodatz, ours := runsLine(t, "brodatz (raw)", "ksvm", "C-SVC", "10 of 10", "10000"), runsLine(t, "brodatz (raw)", "ksvm", "POLK", "10 of 10", "80000")
	if r := ratio("CPU (s)", mnist, polk); r < 0.8 || r > 1.25 {
		t.Errorf("on MNIST C-SVC takes %.2f times the time of POLK", r)
	}
	var power string
	for _, f := range part(t, "A training on multidist") {
		if f[0] == "csvc" {
			mean, _, _ := strings.Cut(f[5], " ")
			power = fmt.Sprintf("%.1f", number(t, mean))
		}
	}
	saysAll(t, "docs/scale.md",
		fmt.Sprintf("it takes %.0f times as much", ratio("CPU (s)", ours, brodatz)),
		fmt.Sprintf("a factor of %.0f on MNIST and of %.0f on Brodatz", ratio("model order", mnist, polk), ratio("model order", brodatz, ours)),
		fmt.Sprintf("grew with the power %s of that number", power))
}
