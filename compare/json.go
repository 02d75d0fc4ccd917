package compare

import (
	"encoding/json"
	"math"

	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// A HeuristicDocument holds the results of a heuristic on a field.
type HeuristicDocument struct {
	Name        string               `json:"name"`           // name of the heuristic
	Knob        string               `json:"knob,omitempty"` // parameter that trades model order for accuracy; missing if there is none
	Comparisons []ComparisonDocument `json:"comparisons"`    // comparisons with the reference, one for each measure; empty for the reference itself
	Means       []MeansDocument      `json:"means"`          // means over replicates, one for each value of the knob that has runs
	Runs        []TrialDocument      `json:"runs"`           // runs, one for each value of the knob and replicate
}

// A ComparisonDocument is the comparison of a heuristic with the reference by one measure. Less
// is better for every measure. All but the verdict refers to the mean over the levels, and is
// null or empty if the two have no level in common.
type ComparisonDocument struct {
	Measure            string         `json:"measure"`             // error_at_order, error_at_time or mean_error_at_order, in points of the error rate; or log_time_at_order, the natural logarithm of the ratio of times
	Verdict            Verdict        `json:"verdict"`             // verdict, worded as in the tables
	Reason             string         `json:"reason,omitempty"`    // reason why the two are not comparable or have too few replicates, or why there is no verdict although the interval excludes 0; otherwise missing
	Difference         words.Nullable `json:"difference"`          // heuristic minus reference
	Low                words.Nullable `json:"low"`                 // lower end of the 95 % interval of the difference; null if there are too few replicates
	High               words.Nullable `json:"high"`                // upper end of the 95 % interval of the difference; null if there are too few replicates
	P                  words.Nullable `json:"p"`                   // two-sided p-value of no difference beyond the interpolation error, corrected by Holm's method
	PExact             words.Nullable `json:"p_exact"`             // two-sided p-value of no difference at all, corrected by Holm's method
	InterpolationError words.Nullable `json:"interpolation_error"` // possible error of the difference due to interpolation between runs
	Replicates         int            `json:"replicates"`          // number of replicates compared
	Levels             []float64      `json:"levels"`              // model orders, or times in seconds, that all replicates of both reach
}

// A MeansDocument holds the means over replicates at one value of the knob.
type MeansDocument struct {
	MeasuredDocument
	Runs int `json:"runs"` // number of runs averaged; fewer than the field's replicates if runs failed or are missing
}

// A MeasuredDocument holds the measurements of a run, or their means over several runs.
type MeasuredDocument struct {
	Knob         words.Nullable `json:"knob"`                // value of the knob; 0 if there is none
	Order        words.Nullable `json:"model_order"`         // final model order, in elements
	ErrorPercent words.Nullable `json:"error_percent"`       // final test error, in percent
	Seconds      words.Nullable `json:"training_seconds"`    // processor time of training plus the time waited for the heuristic's separate process, in seconds
	PeakOrder    words.Nullable `json:"largest_model_order"` // largest model order at an evaluation, in elements
	MeanError    words.Nullable `json:"mean_error_percent"`  // mean test error over the stream, in percent
}

// A TrialDocument is one run. The columns of runs.csv have the same names.
type TrialDocument struct {
	MeasuredDocument
	Replicate      int            `json:"replicate"`       // number of the replicate
	ProcessSeconds words.Nullable `json:"process_seconds"` // part of training_seconds that training waited for the heuristic's separate process
}

// A StandingDocument ranks the heuristics that are comparable on all fields by their
// error at equal model order.
type StandingDocument struct {
	Ranks              []RankDocument `json:"ranks"`               // mean ranks, in ascending order
	Absent             []string       `json:"absent"`              // heuristics that are not comparable on some field
	Blocks             int            `json:"blocks"`              // number of blocks; a block is a replicate of a field
	P                  words.Nullable `json:"p"`                   // p-value of Friedman's test of no difference at all
	CriticalDifference words.Nullable `json:"critical_difference"` // Nemenyi's critical difference of mean ranks at level 0.05
}

// A RankDocument is the mean rank of a heuristic; 1 is the best.
type RankDocument struct {
	Name     string         `json:"name"`      // name of the heuristic
	MeanRank words.Nullable `json:"mean_rank"` // mean rank over the blocks
}

// MarshalJSON implements json.Marshaler.
func (s Standing) MarshalJSON() ([]byte, error) {
	d := StandingDocument{Absent: append([]string{}, s.Absent...), Blocks: s.Blocks, P: words.Nullable(s.P), CriticalDifference: words.Nullable(s.CD)}
	for i, name := range s.Names {
		d.Ranks = append(d.Ranks, RankDocument{name, words.Nullable(s.Mean[i])})
	}
	return json.Marshal(d)
}

// JSONSchemaAlias returns a value of the type whose fields the JSON has.
func (Standing) JSONSchemaAlias() any { return StandingDocument{} }

// MarshalJSON implements json.Marshaler.
func (e Entry) MarshalJSON() ([]byte, error) {
	knob, _ := e.Heuristic.Knob()
	h := HeuristicDocument{Name: e.Heuristic.Name, Knob: knob.Name, Comparisons: []ComparisonDocument{}}
	for _, m := range Measures() {
		if c := e.Compared[m]; c.Verdict != IsReference {
			h.Comparisons = append(h.Comparisons, c.document(m))
		}
	}
	for _, p := range e.Points {
		h.Means = append(h.Means, MeansDocument{p.document(), p.Runs})
	}
	for _, t := range e.Runs {
		h.Runs = append(h.Runs, TrialDocument{t.document(), t.Replicate, words.Nullable(t.Process)})
	}
	return json.Marshal(h)
}

// JSONSchemaAlias returns a value of the type whose fields the JSON has.
func (Entry) JSONSchemaAlias() any { return HeuristicDocument{} }

func (c Comparison) document(m Measure) ComparisonDocument {
	if len(c.Levels) == 0 {
		c.Estimate, c.Adjusted, c.AdjustedExact, c.Bend = stats.Single(math.NaN()), math.NaN(), math.NaN(), math.NaN()
	}
	if c.Basis == stats.Point {
		c.Low, c.High = math.NaN(), math.NaN()
	}
	return ComparisonDocument{
		Measure: measures[m].key, Verdict: c.Verdict, Reason: c.Reason, Difference: words.Nullable(c.Value), Low: words.Nullable(c.Low), High: words.Nullable(c.High),
		P: words.Nullable(c.Adjusted), PExact: words.Nullable(c.AdjustedExact), InterpolationError: words.Nullable(c.Bend),
		Replicates: c.N, Levels: append([]float64{}, c.Levels...),
	}
}

func (m Measured) document() MeasuredDocument {
	return MeasuredDocument{
		words.Nullable(m.Value), words.Nullable(m.Order), words.Nullable(m.Error),
		words.Nullable(m.Seconds), words.Nullable(m.PeakOrder), words.Nullable(m.MeanError),
	}
}
