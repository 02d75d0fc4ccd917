package online

import (
	"slices"

	"polkrepro/internal/words"
)

// Metrics by which the candidates of a classification can be compared.
const (
	MetricError    = "error"    // fraction of the rows that are predicted wrongly
	MetricBalanced = "balanced" // balanced error: the mean of the classes' fractions, 1 − mean recall
	MetricF1       = "f1"       // 1 − the mean of the classes' F1, each 2·correct/(rows + predicted)
)

// Metrics returns all metrics.
func Metrics() []string { return []string{MetricError, MetricBalanced, MetricF1} }

// costs returns what each of the first n rows adds to the measure by which candidates are compared, which
// is their mean. A row predicted wrongly adds to a balanced error by the number of rows of its class, and
// to 1 − F1 of its own class and of that predicted. Rows count by their weights; those of the classes count
// only without a metric.
func (t *tuner) costs(h *heldOut, n int) []float64 {
	if !t.byErrors() {
		return h.each[:n]
	}
	all := make(map[int32]float64) // by class, or of all: weight of its rows and, for F1, of those predicted as it
	of, second := func(i int) int32 { return 0 }, t.set.Metric == MetricF1
	if second || t.set.Metric == MetricBalanced {
		of = func(i int) int32 { return h.class[i] }
	}
	for i := range n {
		all[of(i)] += h.weight[i]
		if second && h.called[i] >= 0 {
			all[h.called[i]] += h.weight[i]
		}
	}
	costs := make([]float64, n)
	for i, e := range h.each[:n] {
		share := float64(n) / all[of(i)]
		if second && h.called[i] >= 0 {
			share += float64(n) / all[h.called[i]]
		}
		costs[i] = e * share / float64(len(all))
	}
	return costs
}

// measureName returns the heading of the measure in a trade-off, or "" if it is the error or the risk.
func (t *tuner) measureName() string {
	weights := t.samples[0].w
	if t.set.Metric != "" {
		weights = t.samples[0].own
	}
	switch {
	case !t.byErrors():
		return ""
	case t.set.Metric == MetricBalanced:
		return "balanced %"
	case t.set.Metric == MetricF1:
		return "1-F1 %"
	case slices.ContainsFunc(weights, func(w float64) bool { return w != 1 }):
		return "weighted %"
	}
	return ""
}

// measure sets the balanced error and the F1. A label that the model does not have is a class without a
// correct prediction.
func (c *Classification) measure() {
	recall, f1, present, counted := 0.0, 0.0, len(c.Unknown), len(c.Unknown)
	for _, k := range c.Classes {
		if k.Rows > 0 {
			recall += float64(k.Recall)
			present++
		}
		if n := k.Rows + k.Predicted; n > 0 {
			f1 += float64(2*k.Correct) / float64(n)
			counted++
		}
	}
	c.BalancedError, c.F1 = words.Nullable(1-recall/float64(present)), words.Nullable(f1/float64(counted))
}
