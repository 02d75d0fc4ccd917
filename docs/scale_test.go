package docs

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/internal/words"
	"polkrepro/record"
	"polkrepro/spec"
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

// billion returns the table of the time of a sample in the second half of the first pass and of the whole run,
// and of a billion samples at either rate.
func billion(t *testing.T) string {
	var rows [][]string
	for _, of := range []struct{ spec, set, task, series, samples string }{
		{"mnist-ksvm", "mnist", "ksvm", "POLK, K = 0.016", "240000"},
		{"mnist-ksvm", "mnist", "ksvm", "BSGD, B = 1086", "240000"},
		{"mnist-klr", "mnist", "klr", "POLK, K = 0.008", "240000"},
		{"brodatz-ksvm", "brodatz (raw)", "ksvm", "POLK, K = 0.01", "80000"},
		{"brodatz-ksvm", "brodatz (raw)", "ksvm", "BSGD, B = 1171", "80000"},
		{"brodatz-klr", "brodatz (raw)", "klr", "POLK, K = 0.005", "80000"},
	} {
		line := runsLine(t, of.set, of.task, of.series, "5 of 5", of.samples)
		order, _, _ := strings.Cut(line["model order"], " ")
		set, to := "MNIST", 57_600
		if of.set != "mnist" {
			set, to = "Brodatz", 9_600
		}
		loss := map[string]string{"ksvm": "hinge", "klr": "logistic"}[of.task]
		method, _, _ := strings.Cut(of.series, ",")
		if method == "BSGD" {
			method += " by merging"
		}
		first, fresh := firstPass(t, of.spec, of.series, to)
		later := number(t, line["µs, second half"])
		hours := func(micros float64) string { return duration(micros * 1e9 / 1e6 / 3600) }
		rows = append(rows, []string{set, loss, method, words.Grouped(int(math.Round(first))), fmt.Sprintf("%.3g", fresh), hours(fresh),
			words.Grouped(int(number(t, order))), line["µs, second half"], hours(later)})
	}
	return markdown([]string{"data", "loss", "method", "first pass: model order", "first pass: time of a sample (µs)", "10⁹ samples at this rate",
		"later passes: model order", "later passes: time of a sample (µs)", "10⁹ samples at this rate"}, rows)
}

// firstPass returns the mean over five recorded runs of the model order after so many samples, and of the processor
// time of a sample, in µs, from half of them on.
func firstPass(t *testing.T, name, series string, to int) (order, micros float64) {
	t.Helper()
	specs, err := harness.FindSpecs([]string{name})
	testutil.NoError(t, err)
	plan, err := harness.PlanAll(specs, spec.ProfileFull, spec.PlanOptions{})
	testutil.NoError(t, err)
	runs := 0.0
	for _, p := range plan {
		if p.Series != series {
			continue
		}
		r, err := record.Read(filepath.Join(root, "results/reference/records", p.ID+".jsonl.gz"))
		testutil.NoError(t, err)
		seen := 0
		for _, point := range r.Points {
			switch point.Samples {
			case to / 2:
				micros -= 1e6 * point.Timing.CPU / float64(to-to/2)
				seen++
			case to:
				micros += 1e6 * point.Timing.CPU / float64(to-to/2)
				order += float64(point.ModelOrder)
				seen++
			}
		}
		if seen != 2 {
			t.Fatalf("a run of %s has %d of two points", series, seen)
		}
		runs++
	}
	if runs != 5 {
		t.Fatalf("%.0f runs of %s in %s", runs, series, name)
	}
	return order / runs, micros / runs
}

// untilError returns the table of the processor times of the online learners on MNIST until their test error is first at
// most a level: medians over five recorded runs.
func untilError(t *testing.T) string {
	levels := []float64{0.05, 0.04, 0.03, 0.025}
	header := []string{"loss", "method"}
	for _, level := range levels {
		header = append(header, fmt.Sprintf("until %g %% error (s)", 100*level))
	}
	var rows [][]string
	for _, of := range [][4]string{{"hinge", "BSGD by merging", "mnist-ksvm", "BSGD, B = 1086"}, {"hinge", "POLK", "mnist-ksvm", "POLK, K = 0.016"}, {"logistic", "POLK", "mnist-klr", "POLK, K = 0.008"}} {
		specs, err := harness.FindSpecs([]string{of[2]})
		testutil.NoError(t, err)
		plan, err := harness.PlanAll(specs, spec.ProfileFull, spec.PlanOptions{})
		testutil.NoError(t, err)
		times := make([][]float64, len(levels))
		for _, p := range plan {
			if p.Series != of[3] {
				continue
			}
			r, err := record.Read(filepath.Join(root, "results/reference/records", p.ID+".jsonl.gz"))
			testutil.NoError(t, err)
			for i, level := range levels {
				until := math.Inf(1)
				for _, point := range slices.Backward(r.Points) {
					if point.TestError <= level {
						until = point.Timing.CPU
					}
				}
				times[i] = append(times[i], until)
			}
		}
		row := []string{of[0], of[1]}
		for _, of := range times {
			if len(of) != 5 {
				t.Fatalf("%d runs", len(of))
			}
			slices.Sort(of)
			if math.IsInf(of[2], 1) {
				row = append(row, "not reached")
			} else {
				row = append(row, fmt.Sprintf("%.2g", of[2]))
			}
		}
		rows = append(rows, row)
	}
	return markdown(header, rows)
}

// A trained is a line of runs.csv with its names in scale.md.
type trained struct{ data, loss, method, set, task, series, runs, samples string }

var (
	planeCSVC     = trained{"multidist", "hinge", "C-SVC", "multidist (calibrated)", "ksvm", "C-SVC", "20 of 20", "5000"}
	planeHinge    = trained{"multidist", "hinge", "POLK", "multidist (calibrated)", "ksvm", "POLK, K = 0.04", "24 of 24", "15000"}
	planeLogistic = trained{"multidist", "logistic", "POLK", "multidist (calibrated)", "klr", "POLK, K = 0.03", "24 of 24", "15000"}
	mnistCSVC     = trained{"MNIST", "hinge", "C-SVC", "mnist", "ksvm", "C-SVC", "1 of 1", "60000"}
	mnistBatch    = trained{"MNIST", "hinge", "L-BFGS", "mnist", "ksvm", "L-BFGS", "1 of 1", "60000"}
	mnistBSGD     = trained{"MNIST", "hinge", "BSGD by merging", "mnist", "ksvm", "BSGD, B = 1086", "5 of 5", "240000"}
	mnistHinge    = trained{"MNIST", "hinge", "POLK", "mnist", "ksvm", "POLK, K = 0.016", "5 of 5", "240000"}
	mnistLogistic = trained{"MNIST", "logistic", "POLK", "mnist", "klr", "POLK, K = 0.008", "5 of 5", "240000"}
	brodatzCSVC   = trained{"Brodatz", "hinge", "C-SVC", "brodatz (raw)", "ksvm", "C-SVC", "10 of 10", "10000"}
	brodatzHinge  = trained{"Brodatz", "hinge", "POLK", "brodatz (raw)", "ksvm", "POLK", "10 of 10", "80000"}
	brodatzLogist = trained{"Brodatz", "logistic", "POLK", "brodatz (raw)", "klr", "POLK", "10 of 10", "80000"}
)

// read returns the line, its mean model order, and its time and error as tables have them.
func (of trained) read(t *testing.T) (order float64, seconds, failed string) {
	t.Helper()
	line := of.line(t)
	text, _, _ := strings.Cut(line["model order"], " ")
	seconds = line["CPU (s)"]
	if s := secondsOf(t, line); s < 0.1 && line["µs a sample"] != words.Dash {
		seconds = fmt.Sprintf("%.2g", s)
	}
	return number(t, text), seconds, line["test error (%)"]
}

// advice returns the table that says when to use which method.
func advice(t *testing.T) string {
	var rows [][]string
	for _, of := range []struct {
		need string
		trained
	}{
		{"the least error on images; all rows and 4·N² bytes fit into memory", mnistBatch},
		{"little error soon; all rows fit into memory, and the model may be large", mnistCSVC},
		{"a model of some 1,000 elements for images, hinge loss", mnistBSGD},
		{"probabilities of the classes, and a model smaller than the data", mnistLogistic},
		{"a model of a few elements, for data that need no more", planeHinge},
	} {
		order, seconds, failed := of.read(t)
		rows = append(rows, []string{of.need, of.method, of.data + ", " + of.loss, words.Grouped(int(math.Round(order))), failed, seconds})
	}
	return markdown([]string{"you need", "method", "example: data and loss", "model order", "test error (%)", "processor time of training (s)"}, rows)
}

// factors returns the table of the times of batch methods, divided by those of POLK. A factor of two orders of magnitude
// is bold.
func factors(t *testing.T) string {
	const orders = 2 // it holds from 10·√10 on
	var rows [][]string
	var held []string
	for _, of := range []struct {
		lbfgs, csvc, polk trained
	}{
		{trained{set: "multidist (calibrated)", task: "ksvm", series: "L-BFGS", runs: "20 of 20", samples: "5000"}, planeCSVC, planeHinge},
		{trained{set: "multidist (calibrated)", task: "klr", series: "L-BFGS", runs: "20 of 20", samples: "5000"}, trained{}, planeLogistic},
		{mnistBatch, mnistCSVC, mnistHinge},
		{trained{set: "mnist", task: "klr", series: "L-BFGS", runs: "1 of 1", samples: "60000"}, trained{}, mnistLogistic},
		{trained{set: "brodatz (raw)", task: "ksvm", series: "L-BFGS", runs: "10 of 10", samples: "10000"}, brodatzCSVC, brodatzHinge},
		{trained{set: "brodatz (raw)", task: "klr", series: "L-BFGS", runs: "10 of 10", samples: "10000"}, trained{}, brodatzLogist},
	} {
		row := []string{of.polk.data, of.polk.loss}
		for _, batch := range []trained{of.lbfgs, of.csvc} {
			if batch.set == "" {
				row = append(row, words.Dash)
				continue
			}
			f := secondsOf(t, batch.line(t)) / secondsOf(t, of.polk.line(t))
			text := fmt.Sprintf("%.2g", f)
			if batch == planeCSVC { // its time has one digit
				text = fmt.Sprintf("≈ %.0f", f)
			}
			if f >= 100 {
				text = fmt.Sprintf("%.0f", 10*math.Round(f/10))
			}
			if f >= math.Pow(10, orders-0.5) {
				text = "**" + text + "**"
				held = append(held, of.polk.data+" "+of.polk.loss)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	if got := strings.Join(held, ", "); got != "multidist hinge, multidist logistic, Brodatz hinge" {
		t.Errorf("two orders of magnitude: %s", got)
	}
	return markdown([]string{"data", "loss", "time of L-BFGS / time of POLK", "time of C-SVC / time of POLK"}, rows)
}

// line returns the line of runs.csv.
func (of trained) line(t *testing.T) map[string]string {
	t.Helper()
	return runsLine(t, of.set, of.task, of.series, of.runs, of.samples)
}

// modelSizes returns the table of model orders and sizes of C-SVC and POLK.
func modelSizes(t *testing.T) string {
	var rows [][]string
	for _, of := range []struct {
		features, classes   float64
		csvc, hinge, logist trained
	}{{2, 5, planeCSVC, planeHinge, planeLogistic}, {784, 10, mnistCSVC, mnistHinge, mnistLogistic}, {40, 13, brodatzCSVC, brodatzHinge, brodatzLogist}} {
		largest, _, _ := of.csvc.read(t)
		for _, m := range []trained{of.csvc, of.hinge, of.logist} {
			order, _, _ := m.read(t)
			weights := of.classes
			if m.method == "C-SVC" {
				weights--
			}
			rows = append(rows, []string{m.data, m.method, m.loss, words.Grouped(int(math.Round(order))), fmt.Sprintf("%.2g", order*(4*of.features+8*weights)/1e6), fmt.Sprintf("%.1f", largest/order)})
		}
	}
	return markdown([]string{"data", "method", "loss", "model order", "size of the model (MB, computed)", "model order of C-SVC / this model order"}, rows)
}

// early returns the table of L-BFGS after some iterations beside POLK, on one draw of Brodatz.
func early(t *testing.T) string {
	var rows [][]string
	for _, of := range [][3]string{{"ksvm", "hinge", "POLK, K = 0.01"}, {"klr", "logistic", "POLK, K = 0.005"}} {
		for _, iterations := range []string{"12", "25", "50"} {
			line := runsLine(t, "brodatz (raw)", of[0], "L-BFGS, iterations = "+iterations, "1 of 1", "10000")
			rows = append(rows, []string{of[1], "L-BFGS, " + iterations + " iterations", "1", line["CPU (s)"], line["test error (%)"], words.Grouped(int(number(t, line["model order"])))})
		}
		line := runsLine(t, "brodatz (raw)", of[0], of[2], "5 of 5", "80000")
		order, _, _ := strings.Cut(line["model order"], " ")
		rows = append(rows, []string{of[1], "POLK", "5", line["CPU (s)"], line["test error (%)"], words.Grouped(int(number(t, order)))})
	}
	return markdown([]string{"loss", "method", "runs", "processor time of training (s)", "test error (%)", "model order"}, rows)
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
		rows = append(rows, []string{of[0], words.Grouped(int(math.Round(b["M"]))), fmt.Sprintf("%.1f", b["active/op"]),
			fmt.Sprintf("%.3g", b["ns/op"]/1e6), fmt.Sprintf("%.3g", b["ns/op"]/1e3/32), fmt.Sprintf("%.0f %%", 100*b["floor-ns/op"]/b["ns/op"]), fmt.Sprintf("%.0f", 8*b["M"]*b["M"]/1e6)})
	}
	return markdown([]string{"loss", "model order", "mean number of samples with a gradient, of 32", "time of a step (ms)", "time of a sample (µs)", "kernel values, share of the time", "size of the inverse (MB)"}, rows)
}

// steps returns the table of the benchmarks of a step on a stream with noisy labels.
func steps(t *testing.T) string {
	var rows [][]string
	for _, loss := range []string{"hinge", "logistic"} {
		for _, p := range []int{2, 256, 784} {
			b := benchmark(t, fmt.Sprintf("Step/multi-%s/p=%d/M=1000", loss, p))
			rows = append(rows, []string{loss, fmt.Sprint(p), words.Grouped(int(math.Round(b["M"]))), fmt.Sprintf("%.1f", b["active/op"]),
				fmt.Sprintf("%.2f", b["ns/op"]/1e6), fmt.Sprintf("%.0f %%", 100*b["floor-ns/op"]/b["ns/op"])})
		}
	}
	return markdown([]string{"loss", "features", "model order", "mean number of samples with a gradient, of 32", "time of a step (ms)", "kernel values, share of the time"}, rows)
}

// projections returns the table of the benchmarks of one projection.
func projections(t *testing.T) string {
	var rows [][]string
	for _, order := range []int{100, 500} {
		row := []string{fmt.Sprintf("%d to %d", order+32, order)}
		for _, way := range []string{"literal", "fast"} {
			text := fmt.Sprintf("%.3g", benchmark(t, fmt.Sprintf("Project/%s/M=%d", way, order))["s/projection"])
			if way == "literal" && order == 500 {
				text = "≈ " + text + ", extrapolated"
			}
			row = append(row, text)
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
			row = append(row, strings.Replace(exponent, "-", "−", 1))
		}
		rows = append(rows, append(row, f[6]))
	}
	return markdown([]string{"loss", "steps that were fitted", "number of them", "a (of n)", "b (of M)", "c (of p)", "d (of C)", "typical factor from the fit"}, rows)
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
		sample := 1e6 * number(t, f[3]) / number(t, strings.ReplaceAll(f[2], ",", ""))
		rows = append(rows, []string{titles[f[0]], loss, f[2], words.Grouped(int(number(t, f[4]))), f[3], fmt.Sprintf("%.3g", sample), strings.Replace(f[5], "± 0.00", "± less than 0.01", 1), strings.Replace(f[7], "—", words.Dash, 1)})
	}
	return markdown([]string{"method", "loss", "largest N", "model order at this N", "time at this N (s)", "time of a sample (µs)", "exponent of N ± standard error", "time for 10⁹ samples"}, rows)
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

// ownData returns the table of own-data.txt: features, loss, order, memory after a tenth of the rows and after all,
// its peak, and the rows learned and predicted in a second.
func ownData(t *testing.T) (rows [][]string) {
	t.Helper()
	_, text, found := strings.Cut(read(t, "results/reference/own-data.txt"), "saved and resumed\n")
	if !found {
		t.Fatal("own-data.txt has no table")
	}
	for line := range strings.Lines(text) {
		f := strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(line))
		if len(f) < 9 {
			continue
		}
		rows = append(rows, []string{f[0], f[1], f[2], f[4], f[6], f[7], words.Grouped(int(number(t, f[3]))), words.Grouped(int(number(t, f[8])))})
	}
	return rows
}

// processes returns the table of the memory of 'runall train' on a stream.
func processes(t *testing.T) string {
	var rows [][]string
	for _, r := range ownData(t) {
		rows = append(rows, r[:6])
	}
	return markdown([]string{"features", "loss", "model order", "memory after 100,000 rows (MiB)", "memory after 1,000,000 rows (MiB)", "largest memory until then (MiB)"}, rows)
}

// predictions returns the table of the rows that 'runall train' and 'runall predict' read in a second.
func predictions(t *testing.T) string {
	var rows [][]string
	for _, r := range ownData(t) {
		rows = append(rows, []string{r[0], r[1], r[2], r[6], r[7]})
	}
	return markdown([]string{"features", "loss", "model order", "rows learned in a second", "rows predicted in a second"}, rows)
}

// pointsMore says how much more error POLK has than C-SVC on multidist.
func pointsMore(t *testing.T) string {
	t.Helper()
	for _, line := range table(t, "tables/tableS5.csv") {
		if line["data"] == "multidist, selected draws" && line["difference"] == "POLK − C-SVC" {
			return fmt.Sprintf("%.1f to %.1f points more error", number(t, line["low"]), number(t, line["high"]))
		}
	}
	t.Fatal("Table S5 does not compare POLK and C-SVC on multidist")
	return ""
}

// TestScaleActive: the shares of samples with a gradient that scale.md names.
func TestScaleActive(t *testing.T) {
	var few, many []float64
	for _, line := range table(t, "scale/steps.csv") {
		if share := number(t, line["active"]) / number(t, line["n"]); line["loss"] == "multi-hinge" {
			if line["C"] == "2" {
				few = append(few, share)
			} else {
				many = append(many, share)
			}
		}
	}
	mean := 0.0
	for _, share := range few {
		mean += share / float64(len(few))
	}
	if mean < 0.5 || mean > 0.6 {
		t.Errorf("two classes: %.2f of the samples have a gradient", mean)
	}
	if least := slices.Min(many); least < 0.9 {
		t.Errorf("more classes: %.2f of the samples have a gradient in one step", least)
	}
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
	small := runsLine(t, "multidist (calibrated)", "ksvm", "POLK, K = 0.04", "24 of 24", "15000")
	if r := ratio("CPU (s)", mnist, polk); r < 0.8 || r > 1.25 {
		t.Errorf("on MNIST C-SVC takes %.2f times the time of POLK", r)
	}
	budget := runsLine(t, "multidist (calibrated)", "ksvm", "BSGD, B = 16", "24 of 24", "15000")
	micros := func(line map[string]string) string { return fmt.Sprintf("%.2g", number(t, line["µs a sample"])) }
	_, fresh := firstPass(t, "mnist-ksvm", "POLK, K = 0.016", 57_600)
	_, fixed := firstPass(t, "mnist-ksvm", "BSGD, B = 1086", 57_600)
	if r := fresh / fixed; r < 1.8 || r > 2.3 {
		t.Errorf("in the first pass over MNIST POLK takes %.2f times the time of BSGD", r)
	}
	var power string
	for _, f := range part(t, "A training on multidist") {
		if f[0] == "csvc" {
			mean, _, _ := strings.Cut(f[5], " ")
			power = fmt.Sprintf("%.1f", number(t, mean))
		}
	}
	order := value(polk, "model order")
	saysAll(t, "docs/scale.md",
		fmt.Sprintf("%.0f times as long as C-SVC on Brodatz", ratio("CPU (s)", ours, brodatz)),
		fmt.Sprintf("from 532 to 500 elements takes %.0f ms, while a step of the stream above with two features and 500 elements takes %.1f ms", 1e3*benchmark(t, "Project/fast/M=500")["s/projection"], benchmark(t, "Step/multi-hinge/p=2/M=500")["ns/op"]/1e6),
		fmt.Sprintf("%s µs for POLK and %s µs for BSGD", micros(small), micros(budget)),
		fmt.Sprintf("%.0f GB on MNIST", 4*60_000*60_000/1e9),
		pointsMore(t),
		fmt.Sprintf("grew with the power %s of the number of samples", power),
		fmt.Sprintf("%.0f MB with the %s elements of POLK on MNIST", (16*order*order+order*(16*784+8*10))/1e6, words.Grouped(int(order))))
}
