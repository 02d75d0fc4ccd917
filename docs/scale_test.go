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
	for _, of := range []struct{ set, task, series, runs, samples string }{
		{"mnist", "ksvm", "POLK, K = 0.016", "5 of 5", "240000"},
		{"mnist", "ksvm", "BSGD, B = 1086", "5 of 5", "240000"},
		{"mnist", "klr", "POLK, K = 0.008", "5 of 5", "240000"},
		{"brodatz (raw)", "ksvm", "POLK", "10 of 10", "80000"},
		{"brodatz (raw)", "ksvm", "BSGD", "10 of 10", "80000"},
		{"brodatz (raw)", "klr", "POLK", "10 of 10", "80000"},
	} {
		line := runsLine(t, of.set, of.task, of.series, of.runs, of.samples)
		runs, _, _ := strings.Cut(of.runs, " ")
		order, _, _ := strings.Cut(line["model order"], " ")
		set := map[string]string{"mnist": "MNIST", "brodatz (raw)": "Brodatz"}[of.set]
		loss := map[string]string{"ksvm": "hinge", "klr": "logistic"}[of.task]
		method, _, _ := strings.Cut(of.series, ",")
		if method == "BSGD" {
			method += " by merging"
		}
		hours := number(t, line["µs, second half"]) * 1e9 / 1e6 / 3600
		rows = append(rows, []string{set, loss, method, runs, words.Grouped(int(number(t, order))), line["µs a sample"], line["µs, second half"], duration(hours)})
	}
	return markdown([]string{"data", "loss", "method", "runs", "model order", "processor time of a sample, whole run (µs)", "second half of the run (µs)", "time for 10⁹ samples"}, rows)
}

// secondsOf returns the mean processor time of the training of a line of runs.csv. That of an online learner
// comes from the time of a sample, which has more digits.
func secondsOf(t *testing.T, line map[string]string) float64 {
	t.Helper()
	if of := line["µs a sample"]; of != words.Dash {
		return number(t, of) * number(t, line["samples"]) / 1e6
	}
	mean, _, _ := strings.Cut(line["CPU (s)"], " ")
	return number(t, mean)
}

// cost returns the table of the processor times, errors and sizes of batch methods and online learners.
func cost(t *testing.T) string {
	var rows [][]string
	for _, of := range []struct{ title, loss, method, set, task, series, runs, samples string }{
		{"multidist", "hinge", "C-SVC", "multidist (calibrated)", "ksvm", "C-SVC", "20 of 20", "5000"},
		{"", "", "L-BFGS", "multidist (calibrated)", "ksvm", "L-BFGS", "20 of 20", "5000"},
		{"", "", "BSGD by merging", "multidist (calibrated)", "ksvm", "BSGD, B = 16", "24 of 24", "15000"},
		{"", "", "POLK", "multidist (calibrated)", "ksvm", "POLK, K = 0.04", "24 of 24", "15000"},
		{"multidist", "logistic", "L-BFGS", "multidist (calibrated)", "klr", "L-BFGS", "20 of 20", "5000"},
		{"", "", "POLK", "multidist (calibrated)", "klr", "POLK, K = 0.03", "24 of 24", "15000"},
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
		seconds := line["CPU (s)"]
		if s := secondsOf(t, line); s < 0.1 && line["µs a sample"] != words.Dash {
			seconds = fmt.Sprintf("%.2g", s)
		}
		training := map[string]string{"multidist (calibrated)": "5000", "mnist": "60000", "brodatz (raw)": "10000"}[of.set]
		passes := fmt.Sprint(number(t, of.samples) / number(t, training))
		if line["µs a sample"] == words.Dash { // a batch method
			passes = words.Dash
		}
		runs, _, _ := strings.Cut(of.runs, " ")
		rows = append(rows, []string{of.title, of.loss, of.method, passes, runs, seconds, line["test error (%)"], words.Grouped(int(math.Round(number(t, order))))})
	}
	return markdown([]string{"data", "loss", "method", "passes", "runs", "processor time of training (s)", "test error (%)", "model order"}, rows)
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
	return markdown([]string{"loss", "model order", "samples with a gradient", "time of a step (ms)", "time of a sample (µs)", "share of kernel values in the time", "size of the inverse (MB)"}, rows)
}

// steps returns the table of the benchmarks of a step on a stream with noisy labels.
func steps(t *testing.T) string {
	var rows [][]string
	for _, loss := range []string{"hinge", "logistic"} {
		for _, p := range []int{2, 256, 784} {
			for _, order := range []int{100, 500, 1000} {
				b := benchmark(t, fmt.Sprintf("Step/multi-%s/p=%d/M=%d", loss, p, order))
				rows = append(rows, []string{loss, fmt.Sprint(p), fmt.Sprintf("%.0f", b["M"]), fmt.Sprintf("%.1f of 32", b["active/op"]),
					fmt.Sprintf("%.2f", b["ns/op"]/1e6), fmt.Sprintf("%.0f %%", 100*b["floor-ns/op"]/b["ns/op"])})
			}
		}
	}
	return markdown([]string{"loss", "features", "model order", "samples with a gradient", "time of a step (ms)", "share of kernel values in the time"}, rows)
}

// projections returns the table of the benchmarks of one projection.
func projections(t *testing.T) string {
	var rows [][]string
	for _, order := range []int{100, 500} {
		row := []string{fmt.Sprintf("%d to %d", order+32, order)}
		for _, way := range []string{"literal", "fast"} {
			row = append(row, fmt.Sprintf("%.3g", benchmark(t, fmt.Sprintf("Project/%s/M=%d", way, order))["s/projection"]))
		}
		rows = append(rows, row)
	}
	return markdown([]string{"model order before and after", "Algorithm 1 as printed (s)", "this program (s)"}, rows)
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
		row := []string{strings.TrimPrefix(f[0], "multi-"), f[1], fmt.Sprint(configurations(t, f[0], f[1] == "all"))}
		for _, exponent := range f[2:6] {
			mean, _, _ := strings.Cut(exponent, " ")
			row = append(row, strings.Replace(mean, "-", "−", 1))
		}
		rows = append(rows, append(row, f[6]))
	}
	return markdown([]string{"loss", "configurations", "their number", "a (of n)", "b (of M)", "c (of p)", "d (of C)", "typical error of the fit"}, rows)
}

// configurations counts the measured steps of a loss: all of them, or those with M ≥ 512 and p ≥ 256.
func configurations(t *testing.T, loss string, all bool) (n int) {
	t.Helper()
	for _, line := range table(t, "scale/steps.csv") {
		if line["loss"] == loss && (all || number(t, line["order"]) >= 512 && number(t, line["p"]) >= 256) {
			n++
		}
	}
	return n
}

// trainings returns the table of the times of trainings on multidist.
func trainings(t *testing.T) string {
	titles := map[string]string{"polk": "POLK", "bsgd": "BSGD by merging", "csvc": "C-SVC", "lbfgs": "L-BFGS"}
	var rows [][]string
	for _, f := range part(t, "A training on multidist") {
		loss := map[string]string{"ksvm": "hinge", "klr": "logistic"}[f[1]]
		rows = append(rows, []string{titles[f[0]], loss, f[2], words.Grouped(int(number(t, f[4]))), f[3], f[5], strings.Replace(f[7], "—", words.Dash, 1)})
	}
	return markdown([]string{"method", "loss", "largest N", "model order there", "time there (s)", "exponent of N ± standard error", "time for 10⁹ samples"}, rows)
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

// processes returns the table of the memory of 'runall train' on a stream.
func processes(t *testing.T) string {
	_, text, found := strings.Cut(read(t, "results/reference/own-data.txt"), "saved and resumed\n")
	if !found {
		t.Fatal("own-data.txt has no table")
	}
	var rows [][]string
	for line := range strings.Lines(text) {
		f := strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(line))
		if len(f) < 8 {
			continue
		}
		rows = append(rows, []string{f[0], f[1], f[2], f[4], f[6], f[7]})
	}
	return markdown([]string{"features", "loss", "model order", "memory after 100,000 rows (MiB)", "after 1,000,000 rows (MiB)", "peak (MiB)"}, rows)
}

// TestScaleProse: the sentences of scale.md with a number say what the records say.
func TestScaleProse(t *testing.T) {
	value := func(line map[string]string, column string) float64 {
		mean, _, _ := strings.Cut(line[column], " ")
		return number(t, mean)
	}
	ratio := func(column string, a, b map[string]string) float64 { return value(a, column) / value(b, column) }
	mnist, polk := runsLine(t, "mnist", "ksvm", "C-SVC", "1 of 1", "60000"), runsLine(t, "mnist", "ksvm", "POLK, K = 0.016", "5 of 5", "240000")
	brodatz, ours := runsLine(t, "brodatz (raw)", "ksvm", "C-SVC", "10 of 10", "10000"), runsLine(t, "brodatz (raw)", "ksvm", "POLK", "10 of 10", "80000")
	plane, small := runsLine(t, "multidist (calibrated)", "ksvm", "C-SVC", "20 of 20", "5000"), runsLine(t, "multidist (calibrated)", "ksvm", "POLK, K = 0.04", "24 of 24", "15000")
	if r := ratio("CPU (s)", mnist, polk); r < 0.8 || r > 1.25 {
		t.Errorf("on MNIST C-SVC takes %.2f times the time of POLK", r)
	}
	if r := secondsOf(t, plane) / secondsOf(t, small); r < 3 || r > 6 {
		t.Errorf("on multidist C-SVC takes %.2f times the time of POLK", r)
	}
	var power string
	for _, f := range part(t, "A training on multidist") {
		if f[0] == "csvc" {
			mean, _, _ := strings.Cut(f[5], " ")
			power = fmt.Sprintf("%.1f", number(t, mean))
		}
	}
	full, fullBrodatz := runsLine(t, "mnist", "ksvm", "L-BFGS", "1 of 1", "60000"), runsLine(t, "brodatz (raw)", "ksvm", "L-BFGS", "10 of 10", "10000")
	order := value(polk, "model order")
	saysAll(t, "docs/scale.md",
		fmt.Sprintf("%.0f times as long as C-SVC on Brodatz", ratio("CPU (s)", ours, brodatz)),
		fmt.Sprintf("a factor of %.0f on multidist, %.0f on MNIST and %.0f on Brodatz", ratio("model order", plane, small), ratio("model order", mnist, polk), ratio("model order", brodatz, ours)),
		fmt.Sprintf("%.0f times as long as POLK on MNIST and %.0f times on Brodatz", ratio("CPU (s)", full, polk), ratio("CPU (s)", fullBrodatz, ours)),
		fmt.Sprintf("multidist, where L-BFGS takes %.0f times as long", secondsOf(t, runsLine(t, "multidist (calibrated)", "klr", "L-BFGS", "20 of 20", "5000"))/secondsOf(t, runsLine(t, "multidist (calibrated)", "klr", "POLK, K = 0.03", "24 of 24", "15000"))),
		fmt.Sprintf("On MNIST the factor is %.0f", value(runsLine(t, "mnist", "klr", "L-BFGS", "1 of 1", "60000"), "CPU (s)")/value(runsLine(t, "mnist", "klr", "POLK, K = 0.008", "5 of 5", "240000"), "CPU (s)")),
		fmt.Sprintf("grew with the power %s of that number", power),
		fmt.Sprintf("%.0f MB with the %s elements of POLK on MNIST", (16*order*order+order*(16*784+8*10))/1e6, words.Grouped(int(order))))
}
