package online

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"polkrepro/data/rows"
	"polkrepro/internal/charset"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

// Limits, so that neither a stream nor a model file exhausts memory.
const (
	MaxFeatures = 1 << 16
	MaxBatch    = 4096
	MaxOrder    = 8192 // elements of a dictionary: its kernel matrix and the inverse take up to 2.4 GB

	// maxFreeOrder is the largest order of pruners that keep neither matrix.
	maxFreeOrder = 1 << 15

	maxValues = 1 << 24 // largest number of values in a batch, in the head, and in the rows of a model file
)

// Settings determine a model together with the rows. They are saved with the model.
type Settings struct {
	Loss   string   `json:"loss"`             // name of the loss in package loss
	Labels []string `json:"labels,omitempty"` // labels of the classes; missing for regression
	Dim    int      `json:"dim"`              // number of features

	TextLabels bool `json:"text_labels,omitempty"` // whether labels that are whole numbers are text to the program that trained the model

	Kernel    string  `json:"kernel"`              // "gaussian", the kernel of scaled x
	Bandwidth float64 `json:"bandwidth,omitempty"` // c of exp(−‖x−x'‖²/(2c²))

	Regularizer  float64 `json:"regularizer"`
	LearningRate float64 `json:"learning_rate"`         // initial learning rate; constant if DecaySteps is 0
	DecaySteps   int     `json:"decay_steps,omitempty"` // steps over which the learning rate falls to 0; 0 if it is constant
	FixedFrom    int     `json:"fixed_from,omitempty"`  // first step in which the dictionary does not change
	FixedTo      int     `json:"fixed_to,omitempty"`    // first later step in which it may change again; 0 if the dictionary is never fixed
	Parsimony    float64 `json:"parsimony"`             // K of the budget ε = K·η^{3/2}, for pruners that use it
	Batch        int     `json:"batch"`

	// Pruner is the name of a registered heuristic.
	Pruner       string       `json:"pruner"`
	PrunerParams prune.Params `json:"pruner_params,omitempty"`

	Scale      rows.Scale `json:"scale"`
	Relevances []float64  `json:"relevances,omitempty"` // of the features, of a learned metric: the factor of each beyond scaling by its spread, relative to the largest

	Exact bool `json:"exact,omitempty"` // whether training on a file ends with a pass after which the weights are those of least squares

	Recursive *Recursive `json:"recursive,omitempty"` // of a stream's regression by recursive least squares; nil if the steps are POLK's

	ClassWeights map[string]float64 `json:"class_weights,omitempty"` // weights of the rows of a class; 1 of a class that is missing
	WeightFactor float64            `json:"weight_factor,omitempty"` // by which all weights are multiplied, so that their mean is 1 in the rows that settings were chosen from; 0 for 1
	Metric       string             `json:"metric,omitempty"`        // one of Metrics, by which candidates were compared; missing for the default

	// A target y of regression is learned as (y − TargetShift)·TargetFactor.
	TargetShift  float64 `json:"target_shift"`
	TargetFactor float64 `json:"target_factor"`

	TradeOff []Tried `json:"trade_off,omitempty"` // orders from which the model order was chosen; missing if none was tried

	Format      string `json:"format"`                 // format of the training data
	LabelColumn int    `json:"label_column,omitempty"` // 1 is the first column, −1 the last; 0 if LabelName is set
	LabelName   string `json:"label_name,omitempty"`   // name of the label's column in the header

	Columns *rows.Columns `json:"columns,omitempty"` // how columns become features; nil if each but the label is one, whatever its name
	Weights rows.Column   `json:"weights,omitzero"`  // column of the rows' weights; zero if there is none
}

// prunerMerge is KOMP with merging and a fixed number of elements. It won the comparison.
const prunerMerge = "komp-merge-order"

// prunerCapped is KOMP with an error budget and a largest number of elements.
const prunerCapped = "komp-capped"

// prunerMerging merges elements.
const prunerMerging = "merging"

// Default hyper-parameters. The learning rates keep a step below the curvature of the loss.
const (
	DefaultRegularizer = 1e-6
	DefaultParsimony   = 0.01
	cappedParsimony    = 0.001 // default of prunerCapped
	DefaultBatch       = 32
)

// DefaultLearningRate returns the default learning rate for the loss with the given name.
func DefaultLearningRate(name string) float64 {
	if unboundedGradient(name) {
		return 0.5
	}
	return 2
}

// unboundedGradient reports whether the gradient of a loss grows with the error.
func unboundedGradient(name string) bool {
	return name == loss.SquaredError{}.Name() || name == loss.SquaredHinge{}.Name()
}

// withDefaults sets zero settings to their defaults, unless these depend on the rows.
func (s Settings) withDefaults() (Settings, error) {
	s.Kernel = cmp.Or(s.Kernel, kernel.Gaussian{}.Name())
	s.Batch = cmp.Or(s.Batch, DefaultBatch)
	s.Scale = cmp.Or(s.Scale, rows.ScaleUnit)
	s.Pruner = cmp.Or(s.Pruner, prune.KOMP)
	s.TargetFactor = 1 // unless the targets are scaled
	if err := s.canonicalLabels(); err != nil {
		return s, err
	}
	p, err := prune.Find(s.Pruner, s.PrunerParams)
	if err != nil {
		return s, err
	}
	s.PrunerParams = p.Params()
	return s, nil
}

// setRates sets rates that are zero to their defaults.
func (s *Settings) setRates() {
	s.LearningRate = cmp.Or(s.LearningRate, DefaultLearningRate(s.Loss))
	s.Regularizer = cmp.Or(s.Regularizer, DefaultRegularizer)
	parsimony := DefaultParsimony
	if s.Pruner == prunerCapped {
		parsimony = cappedParsimony
	}
	s.Parsimony = cmp.Or(s.Parsimony, parsimony)
}

// canonicalLabels converts the labels to the canonical form that rows use.
func (s *Settings) canonicalLabels() error {
	s.Labels = slices.Clone(s.Labels)
	for i, l := range s.Labels {
		var err error
		if s.Labels[i], err = rows.CanonicalLabel(l); err != nil {
			return fmt.Errorf("online: %w", err)
		}
	}
	return nil
}

// CheckLabels returns an error if the labels are not valid classes for the loss, or if two
// of them denote the same class. It can be called before any row is read.
func (s Settings) CheckLabels() error {
	if err := s.canonicalLabels(); err != nil {
		return err
	}
	return s.validateLabels()
}

// regression reports whether targets are numbers.
func (s *Settings) regression() bool { return s.Loss == loss.SquaredError{}.Name() }

// validate returns an error if the settings are invalid, for instance in a model
// file that someone has altered.
func (s *Settings) validate() error {
	switch {
	case s.Kernel != kernel.Gaussian{}.Name():
		return fmt.Errorf("online: kernel %.20q, want %q", s.Kernel, kernel.Gaussian{}.Name())
	case s.Dim < 1 || s.Dim > MaxFeatures:
		return fmt.Errorf("online: %d features, want 1 to %d", s.Dim, MaxFeatures)
	case s.Batch < 1 || s.Batch > MaxBatch || s.Batch*s.Dim > maxValues:
		return fmt.Errorf("online: batches of %d rows with %d features, want 1 to %d rows and at most %d values", s.Batch, s.Dim, MaxBatch, maxValues)
	case s.PrunerParams["order"] > float64(s.maxOrder()):
		return fmt.Errorf("online: model order %v, want at most %d", s.PrunerParams["order"], s.maxOrder())
	case len(s.TradeOff) > orderLines:
		return fmt.Errorf("online: trade-off of %d lines, want at most %d", len(s.TradeOff), orderLines)
	case s.DecaySteps < 0:
		return fmt.Errorf("online: learning rate falls over %d steps, want at least 0", s.DecaySteps)
	case !slices.Contains(Scales(), string(s.Scale)):
		return fmt.Errorf("online: unknown scaling %q", s.Scale)
	case len(s.Relevances) > 0 && (len(s.Relevances) != s.Dim || slices.ContainsFunc(s.Relevances, func(r float64) bool { return !(r >= 0 && r <= 1) })):
		return fmt.Errorf("online: %d relevances, want %d from 0 to 1", len(s.Relevances), s.Dim)
	case s.Columns.Check(s.Dim) != nil:
		return fmt.Errorf("online: %w", s.Columns.Check(s.Dim))
	case s.Recursive != nil:
		if err := s.Recursive.validate(s); err != nil {
			return err
		}
	case !(s.WeightFactor >= 0) || math.IsInf(s.WeightFactor, 1):
		return fmt.Errorf("online: weights times %v", s.WeightFactor)
	case slices.ContainsFunc(slices.Collect(maps.Values(s.ClassWeights)), func(w float64) bool { return !(w > 0) || math.IsInf(w, 1) }):
		return errors.New("online: weights of classes: want numbers above 0")
	case s.Exact && !s.regression():
		return fmt.Errorf("online: exact weights with the %s loss", s.Loss)
	case !(s.TargetFactor > 0) || math.IsInf(s.TargetFactor, 1) || math.IsNaN(s.TargetShift) || math.IsInf(s.TargetShift, 0):
		return errors.New("online: the targets' scaling is not finite")
	}
	return s.validateLabels()
}

// validateLabels returns an error if the number of classes does not suit the loss, or if
// a label is invalid or duplicated.
func (s *Settings) validateLabels() error {
	classes := len(s.Labels)
	switch {
	case s.regression() && classes > 0:
		return errors.New("online: regression has no classes")
	case !s.regression() && (classes < 2 || classes > rows.MaxClasses):
		return fmt.Errorf("online: %d classes, want 2 to %d", classes, rows.MaxClasses)
	}
	var set rows.Labels
	sorted := slices.Sorted(slices.Values(s.Labels))
	for i, l := range sorted {
		if l == "" || i > 0 && l == sorted[i-1] {
			return fmt.Errorf("online: label %q is empty or duplicated", l)
		}
		if err := showable(l); err != nil {
			return err
		}
		if err := set.Add(l); err != nil {
			return fmt.Errorf("online: %w", err)
		}
	}
	l, err := loss.ByName(s.Loss)
	if err != nil {
		return err
	}
	if !s.regression() && !loss.Multiclass(l) && classes != 2 {
		return fmt.Errorf("online: the %s loss needs two classes, got %d", s.Loss, classes)
	}
	return nil
}

// showable returns an error if a label is unsafe to print in predictions: if it has
// control characters, invisible characters or characters that change the direction of
// text, or if it starts like a spreadsheet formula. Numbers may have a sign.
func showable(label string) error {
	if strings.ContainsFunc(label, charset.Hidden) || !utf8.ValidString(label) {
		return fmt.Errorf("online: label %q has control or invisible characters", label)
	}
	if _, err := strconv.ParseFloat(label, 64); err != nil && strings.ContainsRune("=+-@", rune(label[0])) {
		return fmt.Errorf("online: label %q must not start with =, +, - or @, unless it is a number", label)
	}
	return nil
}

// maxOrder returns the largest model order allowed.
func (s *Settings) maxOrder() int {
	if s.Pruner == prunerMerging {
		return maxFreeOrder
	}
	return MaxOrder
}

// config returns the learner's configuration. It assumes valid settings.
func (s *Settings) config() (polk.Config, error) {
	l, _ := loss.ByName(s.Loss)
	k, err := s.kernel()
	if err != nil {
		return polk.Config{}, err
	}
	cfg := polk.Config{
		Kernel: k, Loss: l, Classes: len(s.Labels), Dim: s.Dim,
		Regularizer: s.Regularizer, LearningRate: polk.Constant(s.LearningRate), Budget: polk.Parsimony(s.Parsimony),
		Threads: runtime.GOMAXPROCS(0),
	}
	cfg.FixedFrom, cfg.FixedTo = s.FixedFrom, s.FixedTo
	if s.DecaySteps > 0 {
		cfg.LearningRate = cooldown{s.LearningRate, s.DecaySteps}
	}
	if s.Pruner != "" && s.Pruner != prune.KOMP {
		cfg.Pruner, err = prune.Find(s.Pruner, s.PrunerParams)
	}
	return cfg, err
}

// kernel returns the kernel.
func (s *Settings) kernel() (kernel.Gaussian, error) {
	k := kernel.Gaussian{Bandwidth: s.Bandwidth}
	if err := k.Validate(); err != nil {
		return k, fmt.Errorf("online: %w", err)
	}
	if g := k.Gamma(); math.IsInf(g, 1) || g == 0 {
		return k, fmt.Errorf("online: bandwidth %.3g: 1/(2c²) is %v: want a bandwidth between 1e-154 and 1e154", s.Bandwidth, g)
	}
	return k, nil
}
