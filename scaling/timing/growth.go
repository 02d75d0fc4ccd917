package timing

import (
	"context"
	"time"

	"polkrepro/baselines/bsgd"
	"polkrepro/baselines/csvc"
	"polkrepro/baselines/lbfgs"
	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/scaling"
)

// sizes returns the numbers of samples of a profile: of streams, and of the batch
// methods, whose kernel matrix has N² elements.
func sizes(profile string) (stream, batch []int) {
	last, largest := 1_000_000, 4000
	switch profile {
	case experiments.ProfileSmoke:
		last, largest = 4000, 160
	case experiments.ProfileFull:
		last, largest = 20_000_000, 8000
	}
	for n := last; n >= 1000 && len(stream) < 10; n /= 2 {
		stream = append([]int{n}, stream...)
	}
	for n := largest; n >= largest/64 && n >= 40; n /= 2 {
		batch = append([]int{n}, batch...)
	}
	return stream, batch
}

// What is trained on multidist: as the paper's experiments, with the parsimony
// constants of the smaller dictionaries and BSGD's budget of the same order.
const (
	bandwidth   = 0.6
	regularizer = 1e-6
	rate        = 6
	miniBatch   = 32
	budget      = 16
)

// stepper is a learner of a stream.
type stepper interface {
	Step(n int, x []float32, y []float64) error
	Expansion() *kernel.Expansion
}

// newLearner makes the learner of an online method.
func newLearner(method, task string, s *data.Stream) (stepper, error) {
	k := kernel.Gaussian{Bandwidth: bandwidth}
	if method == "bsgd" {
		return bsgd.New(bsgd.Config{Kernel: k, Classes: s.Classes(), Dim: s.Dim(), Regularizer: regularizer, LearningRate: 1,
			Schedule: bsgd.Constant, Budget: budget, Maintenance: bsgd.Merging})
	}
	cfg := polk.Config{Kernel: k, Loss: loss.MultiHinge{}, Classes: s.Classes(), Dim: s.Dim(), Regularizer: regularizer,
		LearningRate: polk.Constant(rate), Budget: polk.Parsimony(0.04)}
	if task == "klr" {
		cfg.Loss, cfg.Budget = loss.MultiLogistic{}, polk.Parsimony(0.03)
	}
	return polk.New(cfg)
}

// Streams trains the online methods on a stream of multidist and returns what the
// samples had cost at each number of them. Drawing the samples is not in it.
func Streams(ctx context.Context, profile string) ([]scaling.Growth, error) {
	all := []scaling.Growth{{Method: "polk", Task: "ksvm"}, {Method: "polk", Task: "klr"}, {Method: "bsgd", Task: "ksvm"}}
	ns, _ := sizes(profile)
	for i := range all {
		if err := stream(ctx, &all[i], ns); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// stream measures one method. Samples are drawn some mini-batches at a time: the
// clock is read seldom.
func stream(ctx context.Context, g *scaling.Growth, ns []int) error {
	source, err := data.NewMultidistStream(data.Calibrated, data.FigureDraw().Seed, 1)
	if err != nil {
		return err
	}
	learner, err := newLearner(g.Method, g.Task, source)
	if err != nil {
		return err
	}
	const chunk = 32 * miniBatch
	x, y := make([]float32, chunk*source.Dim()), make([]float64, chunk)
	var spent time.Duration
	for done := 0; len(ns) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(chunk, ns[0]-done)
		for i := range n {
			y[i] = source.Next(x[i*source.Dim() : (i+1)*source.Dim()])
		}
		start := time.Now()
		if err := inBatches(learner, n, x, y); err != nil {
			return err
		}
		spent += time.Since(start)
		if done += n; done == ns[0] {
			g.Points = append(g.Points, scaling.GrowthPoint{Samples: done, Seconds: spent.Seconds(), Order: learner.Expansion().Order()})
			ns = ns[1:]
		}
	}
	return nil
}

// inBatches takes steps on n samples.
func inBatches(l stepper, n int, x []float32, y []float64) error {
	dim := len(x) / len(y)
	for i := 0; i < n; i += miniBatch {
		m := min(miniBatch, n-i)
		if err := l.Step(m, x[i*dim:(i+m)*dim], y[i:i+m]); err != nil {
			return err
		}
	}
	return nil
}

// Batches trains the batch methods on the first N samples of the same stream, for
// each N of the profile.
func Batches(ctx context.Context, profile string) ([]scaling.Growth, error) {
	all := []scaling.Growth{{Method: "csvc", Task: "ksvm", Batch: true}, {Method: "lbfgs", Task: "klr", Batch: true}}
	_, ns := sizes(profile)
	source, err := data.NewMultidistStream(data.Calibrated, data.FigureDraw().Seed, 1)
	if err != nil {
		return nil, err
	}
	dim, most := source.Dim(), ns[len(ns)-1]
	x, y := make([]float32, most*dim), make([]float64, most)
	for i := range most {
		y[i] = source.Next(x[i*dim : (i+1)*dim])
	}
	for i := range all {
		for _, n := range ns {
			start := time.Now()
			order, err := train(ctx, all[i].Method, n, source, x[:n*dim], y[:n])
			if err != nil {
				return nil, err
			}
			all[i].Points = append(all[i].Points, scaling.GrowthPoint{Samples: n, Seconds: time.Since(start).Seconds(), Order: order})
		}
	}
	return all, nil
}

// train trains a batch method and returns the model order.
func train(ctx context.Context, method string, n int, s *data.Stream, x []float32, y []float64) (int, error) {
	k := kernel.Gaussian{Bandwidth: bandwidth}
	if method == "csvc" {
		m, _, err := csvc.Train(ctx, csvc.Config{Kernel: k, C: 1}, n, s.Dim(), x, y, s.Classes())
		if err != nil {
			return 0, err
		}
		return m.NumSV(), nil
	}
	r, err := lbfgs.Train(ctx, lbfgs.Config{Kernel: k, Loss: loss.MultiLogistic{}, Classes: s.Classes(), Dim: s.Dim(), Regularizer: regularizer}, n, x, y, nil)
	if err != nil {
		return 0, err
	}
	return r.Expansion.Order(), nil
}
