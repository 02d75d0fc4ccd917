package online

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

// Limits, so that neither a stream nor a model file exhausts memory.
const (
	MaxFeatures = 1 << 16
	MaxClasses  = 1024
	MaxBatch    = 4096
	MaxOrder    = 8192 // elements of a dictionary: its kernel matrix and the inverse take up to 2.4 GB

	maxValues = 1 << 24 // features of a batch, of the head, and of the rows that a model file keeps
)

// Settings are what determines a model beside the rows. They are saved with it.
type Settings struct {
	Loss   string   `json:"loss"`             // a name of package loss
	Labels []string `json:"labels,omitempty"` // of the classes; none for regression
	Dim    int      `json:"dim"`              // number of features

	Bandwidth    float64 `json:"bandwidth"` // c of the Gaussian kernel exp(−‖x−x'‖²/(2c²)), x scaled
	Regularizer  float64 `json:"regularizer"`
	LearningRate float64 `json:"learning_rate"` // constant
	Parsimony    float64 `json:"parsimony"`     // K of the budget ε = K·η^{3/2}
	Order        int     `json:"order,omitempty"`
	Batch        int     `json:"batch"`

	Scale Scale `json:"scale"`

	// A target y of regression is learned as (y − TargetShift)·TargetFactor.
	TargetShift  float64 `json:"target_shift"`
	TargetFactor float64 `json:"target_factor"`

	Format      string `json:"format"` // of the training data
	LabelColumn int    `json:"label_column,omitempty"`
}

// Default hyper-parameters. The learning rates keep a step below the curvature
// of the loss for a kernel with κ(x, x) = 1.
const (
	DefaultRegularizer = 1e-6
	DefaultParsimony   = 0.01
	DefaultBatch       = 32
)

// DefaultLearningRate returns the learning rate of a loss.
func DefaultLearningRate(name string) float64 {
	switch name {
	case loss.SquaredError{}.Name(), loss.SquaredHinge{}.Name():
		return 0.5
	}
	return 2
}

// withDefaults fills in the hyper-parameters that are zero.
func (s Settings) withDefaults() Settings {
	s.Regularizer = cmp.Or(s.Regularizer, DefaultRegularizer)
	s.LearningRate = cmp.Or(s.LearningRate, DefaultLearningRate(s.Loss))
	s.Parsimony = cmp.Or(s.Parsimony, DefaultParsimony)
	s.Batch = cmp.Or(s.Batch, DefaultBatch)
	s.Scale = cmp.Or(s.Scale, ScaleUnit)
	return s
}

// regression reports whether targets are numbers.
func (s *Settings) regression() bool { return s.Loss == loss.SquaredError{}.Name() }

// validate reports settings that don't make a model, for instance those of a
// file that someone has altered.
func (s *Settings) validate() error {
	classes := len(s.Labels)
	switch {
	case s.Dim < 1 || s.Dim > MaxFeatures:
		return fmt.Errorf("online: %d features, want 1 to %d", s.Dim, MaxFeatures)
	case s.Batch < 1 || s.Batch > MaxBatch || s.Batch*s.Dim > maxValues:
		return fmt.Errorf("online: batches of %d rows with %d features, want 1 to %d rows and at most %d values", s.Batch, s.Dim, MaxBatch, maxValues)
	case s.Order < 0 || s.Order > MaxOrder:
		return fmt.Errorf("online: model order %d, want at most %d", s.Order, MaxOrder)
	case !s.Scale.known():
		return fmt.Errorf("online: no scaling %q", s.Scale)
	case !(s.TargetFactor > 0) || math.IsInf(s.TargetFactor, 1) || math.IsNaN(s.TargetShift) || math.IsInf(s.TargetShift, 0):
		return errors.New("online: the targets' scaling is not finite")
	case s.regression() && classes > 0:
		return errors.New("online: regression has no classes")
	case !s.regression() && (classes < 2 || classes > MaxClasses):
		return fmt.Errorf("online: %d classes, want 2 to %d", classes, MaxClasses)
	}
	return s.validateLabels()
}

// validateLabels reports a label that stands for two classes, and a binary
// loss for more than two.
func (s *Settings) validateLabels() error {
	sorted := slices.Sorted(slices.Values(s.Labels))
	for i, l := range sorted {
		if l == "" || i > 0 && l == sorted[i-1] {
			return fmt.Errorf("online: label %q is empty or there twice", l)
		}
	}
	l, err := loss.ByName(s.Loss)
	if err != nil {
		return err
	}
	if !s.regression() && l.Outputs(3) == 1 && len(s.Labels) != 2 {
		return fmt.Errorf("online: the %s loss is for two classes, and there are %d", s.Loss, len(s.Labels))
	}
	return nil
}

// config returns the learner's configuration. It assumes valid settings.
func (s *Settings) config() (polk.Config, error) {
	l, err := loss.ByName(s.Loss)
	if err != nil {
		return polk.Config{}, err
	}
	cfg := polk.Config{
		Kernel: kernel.Gaussian{Bandwidth: s.Bandwidth}, Loss: l, Classes: len(s.Labels), Dim: s.Dim,
		Regularizer: s.Regularizer, LearningRate: polk.Constant(s.LearningRate), Budget: polk.Parsimony(s.Parsimony),
		Threads: runtime.GOMAXPROCS(0),
	}
	if s.Order > 0 {
		cfg.Pruner, err = prune.Find("komp-order", prune.Params{"order": float64(s.Order)})
	}
	return cfg, err
}
