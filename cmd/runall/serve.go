package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/online"
)

func newServe() *cobra.Command {
	return &cobra.Command{
		Use:    "serve",
		Hidden: true, // for programs, as python/polk.py
		Short:  "Train and predict for another program, over standard input and output",
		Long: `Keep one model and answer the requests on standard input until its end. A
request or an answer is a line of JSON, followed by the bytes that it announces.
Arrays are float64, little-endian: the features of all rows, row by row, and if
rows are learned a target for each, for a class its index in "labels".

request  keys                   bytes              answer
fit      flags labels rows dim  features, targets  notes
begin    flags labels dim       -                  -
learn    rows                   features, targets  choosing, notes
scores   rows                   features           bytes: float64, row by row
save     -                      -                  order, bytes: a model file
load     bytes                  a model file       -

"flags" are those of train, by their names, as text. fit is train on a file,
begin and learn are train on a stream: while "choosing" is true, the first rows
are still collected and a provisional model answers. Errors are in "error"; the
model survives them, except those of fit and begin.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := server{in: bufio.NewReaderSize(cmd.InOrStdin(), 1<<16), out: raw(cmd.OutOrStdout())}
			return s.run(cmd.Context())
		},
	}
}

// A request is the line of JSON at the start of a request.
type request struct {
	Op     string            `json:"op"`
	Flags  map[string]string `json:"flags"`
	Labels []string          `json:"labels"` // labels of the classes; missing for a regression
	Rows   int               `json:"rows"`
	Dim    int               `json:"dim"`
	Bytes  int               `json:"bytes"`
}

// A reply is the line of JSON at the start of an answer.
type reply struct {
	Error    string   `json:"error,omitempty"`
	Notes    []string `json:"notes,omitempty"` // notes of training, such as the settings that it chose
	Choosing bool     `json:"choosing,omitempty"`
	Order    int      `json:"order,omitempty"`
	Bytes    int      `json:"bytes,omitempty"` // number of bytes after the line
}

// A server answers requests with one model.
type server struct {
	in  *bufio.Reader
	out io.Writer

	feed   *online.Feed // nil before the first rows
	labels []string     // class labels of the model; nil for a regression
	dim    int
	notes  []string
}

// run answers requests until the input ends.
func (s *server) run(ctx context.Context) error {
	for {
		line, err := s.in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		var q request
		if err == nil {
			err = json.Unmarshal(line, &q)
		}
		if err != nil {
			return harness.Usage(fmt.Errorf("standard input: want a line of JSON: %w", err))
		}
		if q.Op == "fit" || q.Op == "begin" {
			s.dim, s.labels = q.Dim, q.Labels
		}
		body, learned, err := s.read(&q)
		if err != nil {
			return harness.Usage(fmt.Errorf("standard input: %s: %w", q.Op, err))
		}
		s.notes = nil
		var a reply
		var payload bytes.Buffer
		if err := s.answer(ctx, &q, body, learned, &a, &payload); err != nil {
			a, payload = reply{Error: err.Error()}, bytes.Buffer{}
		}
		a.Notes, a.Bytes = s.notes, payload.Len()
		if line, err = json.Marshal(a); err == nil {
			_, err = s.out.Write(append(append(line, '\n'), payload.Bytes()...))
		}
		if err != nil {
			return err
		}
	}
}

// read reads the bytes after the line of a request: a model file, or rows and any targets.
func (s *server) read(q *request) (body []byte, learned []rows.Row, err error) {
	if q.Rows < 0 || int64(q.Rows) > 1<<32 || s.dim < 0 || s.dim > online.MaxFeatures || q.Bytes < 0 {
		return nil, nil, fmt.Errorf("%d rows of %d features, %d bytes: out of range", q.Rows, s.dim, q.Bytes)
	}
	if q.Bytes > 0 {
		var b bytes.Buffer
		_, err = io.CopyN(&b, s.in, int64(q.Bytes))
		return b.Bytes(), nil, err
	}
	x, err := s.floats(q.Rows * s.dim)
	var y []float64
	if err == nil && q.Op != "scores" {
		y, err = s.floats(q.Rows)
	}
	if err != nil || len(x) == 0 {
		return nil, nil, err
	}
	learned = make([]rows.Row, q.Rows)
	for i := range learned {
		learned[i] = rows.Row{Line: i + 1, Dim: s.dim, Values: x[i*s.dim : (i+1)*s.dim]}
		switch {
		case y == nil:
		case s.labels == nil:
			learned[i].Label = strconv.FormatFloat(y[i], 'g', -1, 64)
		case y[i] >= 0 && int(y[i]) < len(s.labels):
			learned[i].Label = s.labels[int(y[i])]
		default:
			return nil, nil, fmt.Errorf("target %v of row %d: want the index of one of %d labels", y[i], i+1, len(s.labels))
		}
	}
	return nil, learned, nil
}

// floats reads n numbers. The buffer grows with the bytes that arrive, so that a false n does
// not allocate memory.
func (s *server) floats(n int) ([]float64, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, s.in, 8*int64(n)); err != nil {
		return nil, err
	}
	out := make([]float64, n)
	_, err := binary.Decode(b.Bytes(), binary.LittleEndian, out)
	return out, err
}

// answer executes a request and fills in the reply and its payload.
func (s *server) answer(ctx context.Context, q *request, body []byte, learned []rows.Row, a *reply, payload *bytes.Buffer) error {
	switch q.Op {
	case "fit", "begin":
		s.feed = nil
		opt, err := s.options(q)
		if err != nil {
			return err
		}
		if q.Op == "begin" {
			s.feed = online.NewFeed(opt)
			return nil
		}
		opt.Source.Rows = learned
		m, err := online.Train(ctx, opt)
		if err == nil {
			s.feed = online.GoOn(m)
		}
		return err
	case "load":
		m, err := online.Read(bytes.NewReader(body))
		if err == nil {
			s.feed, s.labels, s.dim = online.GoOn(m), m.Settings().Labels, m.Settings().Dim
		}
		return err
	}
	if s.feed == nil {
		return fmt.Errorf("%q before there is a model", q.Op)
	}
	if q.Op == "learn" {
		err := s.feed.Learn(ctx, learned)
		a.Choosing = s.feed.Choosing()
		return err
	}
	m, err := s.feed.Model(ctx)
	if err != nil {
		return err
	}
	switch q.Op {
	case "scores":
		scores, err := m.Scores(learned)
		binary.Write(payload, binary.LittleEndian, scores)
		return err
	case "save":
		a.Order = m.Order()
		return m.Save(payload)
	}
	return fmt.Errorf("unknown request %q", q.Op)
}

// options returns the options of train for the flags of a request.
func (s *server) options(q *request) (opt online.TrainOptions, err error) {
	flags := trainFlags{}
	cmd := new(cobra.Command)
	flags.add(cmd, &opt)
	for _, name := range slices.Sorted(maps.Keys(q.Flags)) {
		if err := cmd.Flags().Set(name, q.Flags[name]); err != nil {
			return opt, err
		}
	}
	if err := cmd.ValidateFlagGroups(); err != nil {
		return opt, err
	}
	// A request can't choose input or output files.
	flags.rows.format, flags.out, flags.resume = rows.FormatCSV, "standard output", ""
	opt.Source.Path = "the data"
	if q.Op == "begin" {
		opt.Source.Path = "-"
	}
	if err := flags.complete(cmd.Flags(), &opt); err != nil {
		return opt, err
	}
	if regression := opt.Settings.Loss == lossNames["squared"]; regression != (q.Labels == nil) {
		return opt, fmt.Errorf("--loss %s: classes need a loss for classification, numbers the loss squared", flags.loss)
	}
	opt.Settings.Labels, opt.Settings.Dim = slices.Clone(q.Labels), q.Dim
	opt.Note = func(format string, args ...any) { s.notes = append(s.notes, fmt.Sprintf(format, args...)) }
	return opt, nil
}
