package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/internal/files"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/record"
)

// StreamOptions say how the endless-stream experiment runs. The zero value is
// the paper's Multi-KSVM problem on multidist, with the parameters of its
// smaller dictionary (Section 5.3).
type StreamOptions struct {
	Results   string  // folder for stream.csv; default "results"
	Samples   int     // default 1,000,000
	Every     int     // samples between two points; default 10,000
	Parsimony float64 // K; default 0.04
	Draw      uint64  // of the class means; default the figures' draw
	Seed      uint64  // of the stream; default 1
	Progress  Progress
	Methods   Registry
}

func (o StreamOptions) withDefaults() StreamOptions {
	base := Options{Results: o.Results, Progress: o.Progress, Methods: o.Methods}.withDefaults()
	o.Results, o.Progress, o.Methods = base.Results, base.Progress, base.Methods
	if o.Samples == 0 {
		o.Samples = 1_000_000
	}
	if o.Every == 0 {
		o.Every = 10_000
	}
	if o.Parsimony == 0 {
		o.Parsimony = 0.04
	}
	if o.Draw == 0 {
		o.Draw = data.FigureDraw().Seed
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	return o
}

// check reports what can't be streamed.
func (o StreamOptions) check() error {
	if o.Samples < 1 || o.Every < 1 {
		return Usage(fmt.Errorf("stream of %d samples, measured every %d: want at least 1", o.Samples, o.Every))
	}
	return checkParsimony(o.Parsimony)
}

// run returns the run that the options describe.
func (o StreamOptions) run() experiments.Run {
	return experiments.Run{
		Data:   data.Ref{Name: "multidist", Variant: data.Calibrated, Draw: o.Draw},
		Task:   "ksvm",
		Method: "polk",
		Params: experiments.Params{
			Kernel:       experiments.Kernel{Type: "gaussian", Bandwidth: 0.6},
			Regularizer:  1e-6,
			LearningRate: 6,
			Schedule:     "constant",
			BatchSize:    32,
			Parsimony:    o.Parsimony,
		},
		Seed:    o.Seed,
		Samples: o.Samples,
	}
}

// A streamer runs the endless-stream experiment.
type streamer struct {
	opt     StreamOptions
	learner Learner
	source  *data.Stream
	scorer  kernel.Scorer
	tracked *tracked
	watch   stopwatch
	wrong   int // since the last point
	seen    int // the same
	points  []record.StreamPoint
}

// Stream trains POLK on samples that are drawn once and never come back, and
// measures whether model order, memory and speed stay bounded. It writes the
// points to stream.csv in the results folder, which appears when it is whole.
// The error wraps ErrUsage if the stream is unknown, and ErrInterrupted if
// the context ends before the stream does.
func Stream(ctx context.Context, opt StreamOptions) ([]record.StreamPoint, error) {
	opt = opt.withDefaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	results, err := OpenResults(opt.Results)
	if err != nil {
		return nil, err
	}
	defer results.Close()
	s, err := newStreamer(opt)
	if err != nil {
		return nil, err
	}
	if err := s.run(ctx); err != nil {
		return s.points, err
	}
	path := filepath.Join(opt.Results, "stream.csv")
	return s.points, files.Write(path, func(w io.Writer) error { return writeStream(w, s.points) })
}

func newStreamer(opt StreamOptions) (*streamer, error) {
	run := opt.run()
	source, err := data.NewMultidistStream(run.Data.Variant, run.Data.Draw, run.Seed)
	if err != nil {
		return nil, err
	}
	learner, err := opt.Methods.NewLearner(run, source.Classes(), source.Dim(), nil)
	if err != nil {
		return nil, err
	}
	plan := experiments.Planned{Run: run, ID: "stream", Series: fmt.Sprintf("endless stream, K = %g", opt.Parsimony)}
	opt.Progress.Report(Event{Kind: EventPlan, Runs: 1, Workers: 1})
	return &streamer{opt: opt, learner: learner, source: source, tracked: newTracked(plan, opt.Progress)}, nil
}

func (s *streamer) run(ctx context.Context) (err error) {
	defer Recover(&err)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const batch = 32
	x := make([]float32, batch*s.source.Dim())
	y := make([]float64, batch)
	next := s.opt.Every
	for samples := 0; samples < s.opt.Samples; {
		if ctx.Err() != nil {
			s.tracked.report(EventStop)
			return fmt.Errorf("%w: a rerun starts over", ErrInterrupted)
		}
		n := min(batch, s.opt.Samples-samples)
		if err := s.step(n, x, y); err != nil {
			return fmt.Errorf("after %d samples: %w", samples, err)
		}
		samples += n
		s.tracked.stepped(samples, s.learner)
		if samples >= next || samples == s.opt.Samples {
			s.measure(samples)
			next += s.opt.Every
		}
	}
	s.tracked.report(EventFinish)
	return nil
}

// step draws a mini-batch, predicts it, and learns from it.
func (s *streamer) step(n int, x []float32, y []float64) error {
	dim := s.source.Dim()
	for i := range n {
		y[i] = s.source.Next(x[i*dim : (i+1)*dim])
	}
	e := s.learner.Expansion()
	scores := make([]float64, n*e.Outputs)
	s.scorer.Scores(e, n, x, scores, 1)
	for i := range n {
		if loss.Decide(scores[i*e.Outputs:(i+1)*e.Outputs]) != y[i] {
			s.wrong++
		}
	}
	s.seen += n
	s.watch.start(1)
	defer s.watch.stop()
	return s.learner.Step(n, x[:n*dim], y[:n])
}

// measure makes one point.
func (s *streamer) measure(samples int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p := record.StreamPoint{
		Samples:    samples,
		ModelOrder: s.learner.Expansion().Order(),
		Heap:       m.HeapInuse,
		Resident:   residentBytes(),
		Error:      float64(s.wrong) / float64(s.seen),
		Throughput: float64(s.seen) / s.watch.total.Wall,
	}
	s.points = append(s.points, p)
	s.wrong, s.seen, s.watch = 0, 0, stopwatch{}
	s.tracked.event.Error = p.Error
}

// residentBytes returns how much memory the process occupies, as far as the
// system says.
func residentBytes() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(status)); lines.Scan(); {
		var kilobytes uint64
		if _, err := fmt.Sscanf(lines.Text(), "VmRSS: %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	return 0
}

func writeStream(w io.Writer, points []record.StreamPoint) error {
	out := csv.NewWriter(w)
	out.Write([]string{"samples", "model_order", "heap_inuse_bytes", "resident_bytes", "prequential_error", "samples_per_second"})
	for _, p := range points {
		out.Write([]string{strconv.Itoa(p.Samples), strconv.Itoa(p.ModelOrder), strconv.FormatUint(p.Heap, 10),
			strconv.FormatUint(p.Resident, 10), number(p.Error), strconv.FormatFloat(p.Throughput, 'f', 0, 64)})
	}
	out.Flush()
	return out.Error()
}

// CheckFile finds out now, not after an hour of training, whether WriteFile
// can write a file.
func CheckFile(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	err := files.Probe(path)
	var cause *os.PathError
	if errors.As(err, &cause) { // it names a file that the user never heard of
		err = cause.Err
	}
	if err != nil {
		return fmt.Errorf("%s can't be written: %w", path, err)
	}
	return nil
}
