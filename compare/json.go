package compare

import (
	"encoding/json"
	"math"

	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
)

// A HeuristicDocument is a heuristic on a field.
type HeuristicDocument struct {
	Name        string               `json:"name"`           // with the parameters of a variant: komp-age:memory=50
	Knob        string               `json:"knob,omitempty"` // the parameter that trades model order for accuracy; missing if there is none
	Comparisons []ComparisonDocument `json:"comparisons"`    // with the reference, one a measure; empty for the reference itself
	Means       []MeansDocument      `json:"means"`          // over replicates, one for each value of the knob that has runs
	Runs        []TrialDocument      `json:"runs"`           // one for each value of the knob and replicate
}

// A ComparisonDocument is the comparison of a heuristic with the reference by one
// measure. Of all measures less is better. All but the verdict is about the mean over
// the levels, and null or empty where there is no level in common.
type ComparisonDocument struct {
	Measure            string         `json:"measure"`             // error_at_order, error_at_time or mean_error_at_order, in points of the error rate; log_time_at_order, the natural logarithm of the ratio of times
	Verdict            Verdict        `json:"verdict"`             // as in the tables
	Reason             string         `json:"reason,omitempty"`    // why the two are not comparable, have too few replicates, or no verdict although the interval leaves 0 out; else missing
	Difference         words.Nullable `json:"difference"`          // heuristic less reference
	Low                words.Nullable `json:"low"`                 // of the 95 % interval of the difference; null where there are too few replicates
	High               words.Nullable `json:"high"`                // the same
	P                  words.Nullable `json:"p"`                   // of no difference beyond the interpolation error, two-sided, corrected by Holm's method
	PExact             words.Nullable `json:"p_exact"`             // the same of no difference at all
	InterpolationError words.Nullable `json:"interpolation_error"` // by how much the lines between runs may put the difference wrong
	Replicates         int            `json:"replicates"`          // compared
	Levels             []float64      `json:"levels"`              // model orders, or seconds, that all replicates of both reach
}

// A MeansDocument is the mean over replicates at one value of the knob.
type MeansDocument struct {
	MeasuredDocument
	Runs int `json:"runs"` // averaged; fewer than the field's replicates where runs failed or are missing
}

// A MeasuredDocument is what is measured of a run, or the mean of several.
type MeasuredDocument struct {
	Knob         words.Nullable `json:"knob"`                // value of the knob; 0 if there is none
	Order        words.Nullable `json:"model_order"`         // final, elements
	ErrorPercent words.Nullable `json:"error_percent"`       // final test error
	Seconds      words.Nullable `json:"training_seconds"`    // processor time of training, and of the heuristic's own process
	PeakOrder    words.Nullable `json:"largest_model_order"` // at an evaluation
	MeanError    words.Nullable `json:"mean_error_percent"`  // over the stream
}

// A TrialDocument is one run. The columns of runs.csv have the same names.
type TrialDocument struct {
	MeasuredDocument
	Replicate      int            `json:"replicate"`       // number of the replicate
	ProcessSeconds words.Nullable `json:"process_seconds"` // of training_seconds, those that training has waited for a heuristic's own process
}

// A StandingDocument ranks the heuristics that are comparable on all fields by their
// error at equal model order.
type StandingDocument struct {
	Ranks              []RankDocument `json:"ranks"`               // in the order of the mean ranks
	Absent             []string       `json:"absent"`              // heuristics that are not comparable on some field
	Blocks             int            `json:"blocks"`              // replicates of fields
	P                  words.Nullable `json:"p"`                   // of Friedman's test of no difference at all
	CriticalDifference words.Nullable `json:"critical_difference"` // Nemenyi's, of mean ranks at level 0.05
}

// A RankDocument is the mean rank of a heuristic, 1 the best.
type RankDocument struct {
	Name     string         `json:"name"`      // of the heuristic
	MeanRank words.Nullable `json:"mean_rank"` // over the blocks
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
