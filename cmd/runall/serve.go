package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/internal/words"
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
rows are learned a target for each, for a class its index in "labels". "text" is
true if labels that look like numbers are text to the program. If "weights" is
true, a weight for each row follows the targets of fit and learn. If "entries"
is given, features are sparse: how many of them each row has, then the indices
of these entries from 0, ascending in each row, then their values.

request  keys                   bytes              answer
fit      flags labels text
           rows dim entries     features, targets  notes
begin    flags labels text dim  -                  -
learn    rows entries           features, targets  choosing, notes
scores   rows entries           features           bytes: float64, row by row
save     -                      -                  choosing order, bytes: a file
load     bytes                  a model file       -

"flags" are the settings of train, by the names of their flags, as text. fit is
train on a file, begin and learn are train on a stream: while "choosing" is
true, the first rows are still collected and a provisional model answers. A
loaded model for prediction only answers scores alone. Errors are in "error";
the model survives them, except those of fit and begin. A request that can't be
read ends the process.`,
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
	Text   bool              `json:"text"`   // whether they are text to the program
	Rows   int               `json:"rows"`
	Dim    int               `json:"dim"`
	Bytes  int               `json:"bytes"`

	Weights bool `json:"weights"` // whether rows have weights
	Entries *int `json:"entries"` // of all rows, if their features are sparse
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

// maxRequest is the largest length of a line, in bytes.
const maxRequest = 1 << 24

// run answers requests until the input ends.
func (s *server) run(ctx context.Context) error {
	for {
		line, err := s.line()
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
		body, err := s.read(&q)
		if err != nil {
			return harness.Usage(fmt.Errorf("standard input: %.40q: %w", q.Op, err))
		}
		s.notes = nil
		var a reply
		var payload bytes.Buffer
		if err := s.answer(ctx, &q, body, &a, &payload); err != nil {
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

// line reads a line.
func (s *server) line() (line []byte, err error) {
	for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
		if len(line) > maxRequest {
			return nil, fmt.Errorf("a line of more than %d bytes", maxRequest)
		}
		var part []byte
		part, err = s.in.ReadSlice('\n')
		line = append(line, part...)
	}
	return line, err
}

// A body is the bytes after the line of a request.
type body struct {
	model []byte
	x, y  []float64 // features of all rows, and targets; no targets for scores
	w     []float64 // weights; nil without

	counts, indices []float64 // if x is sparse: how many features each row has, and their indices
}

// read reads the bytes after the line of a request.
func (s *server) read(q *request) (b body, err error) {
	if q.Rows < 0 || int64(q.Rows) > 1<<32 || s.dim < 0 || s.dim > online.MaxFeatures || q.Bytes < 0 {
		return b, fmt.Errorf("%d rows of %d features, %d bytes: out of range", q.Rows, s.dim, q.Bytes)
	}
	if q.Bytes > 0 {
		var model bytes.Buffer
		_, err = io.CopyN(&model, s.in, int64(q.Bytes))
		return body{model: model.Bytes()}, err
	}
	entries := q.Rows * s.dim
	sparse := q.Entries != nil
	if sparse {
		if *q.Entries < 0 || *q.Entries > entries {
			return b, fmt.Errorf("%d entries of %d rows of %d features", *q.Entries, q.Rows, s.dim)
		}
		entries = *q.Entries
	}
	for _, part := range []struct {
		to   *[]float64
		n    int
		sent bool
	}{{&b.counts, q.Rows, sparse}, {&b.indices, entries, sparse}, {&b.x, entries, true}, {&b.y, q.Rows, q.Op != "scores"}, {&b.w, q.Rows, q.Weights}} {
		if part.sent && err == nil {
			*part.to, err = s.floats(part.n)
		}
	}
	return b, err
}

// rows returns the rows of a body, without those that weigh 0. It checks targets and weights, so that none
// is learned if one is wrong.
func (s *server) rows(b body) ([]rows.Row, error) {
	all, err := s.features(b)
	if err != nil || b.y == nil {
		return all, err
	}
	out := all[:0]
	for i, row := range all {
		if row.Label, err = s.label(b.y[i]); err != nil {
			return nil, fmt.Errorf("target %v of row %d: want %w", b.y[i], i+1, err)
		}
		if b.w != nil {
			if row.Weight = b.w[i]; !(row.Weight >= 0) || !words.Finite(row.Weight) {
				return nil, fmt.Errorf("weight %v of row %d: want a number of at least 0", row.Weight, i+1)
			}
		}
		if b.w == nil || row.Weight > 0 {
			out = append(out, row)
		}
	}
	return out, nil
}

// features returns the rows of a body without their targets.
func (s *server) features(b body) ([]rows.Row, error) {
	out := make([]rows.Row, max(len(b.counts), len(b.x)/max(1, s.dim)))
	if b.counts == nil {
		for i := range out {
			out[i] = rows.Row{Line: i + 1, Dim: s.dim, Values: b.x[i*s.dim : (i+1)*s.dim]}
		}
		return out, nil
	}
	at, indices := 0, make([]int32, len(b.x))
	for i, n := range b.counts {
		if !(n >= 0 && n <= float64(len(b.x)-at)) || n != math.Trunc(n) {
			return nil, fmt.Errorf("row %d has %v of %d entries", i+1, n, len(b.x))
		}
		to, last := at+int(n), -1.0
		out[i] = rows.Row{Line: i + 1, Dim: s.dim, Values: b.x[at:to], Indices: indices[at:to]}
		for ; at < to; at++ {
			q := b.indices[at]
			if !(q > last && q < float64(s.dim)) || q != math.Trunc(q) {
				return nil, fmt.Errorf("index %v of row %d after %v: want them ascending, up to %d", q, i+1, last, s.dim-1)
			}
			indices[at], last = int32(q), q
		}
	}
	return out, nil
}

// label returns the label of a target. Its error says what targets there are.
func (s *server) label(y float64) (string, error) {
	switch {
	case s.labels == nil && words.Finite(y):
		return strconv.FormatFloat(y, 'g', -1, 64), nil
	case s.labels == nil:
		return "", errors.New("a finite number")
	case y >= 0 && y < float64(len(s.labels)) && y == math.Trunc(y):
		return s.labels[int(y)], nil
	}
	return "", fmt.Errorf("the index of one of %d labels", len(s.labels))
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
func (s *server) answer(ctx context.Context, q *request, b body, a *reply, payload *bytes.Buffer) error {
	begins := q.Op == "fit" || q.Op == "begin"
	if begins {
		s.feed = nil
	} else if s.feed == nil && q.Op != "load" {
		return fmt.Errorf("%.40q before there is a model", q.Op)
	}
	given, err := s.rows(b)
	if err != nil {
		return err
	}
	if begins {
		return s.begin(ctx, q, given)
	}
	switch q.Op {
	case "load":
		m, err := online.Read(bytes.NewReader(b.model))
		if errors.Is(err, online.ErrPrediction) {
			m, err = online.ReadForPrediction(bytes.NewReader(b.model))
		}
		if err == nil {
			s.feed, s.labels, s.dim = online.GoOn(m, s.note), m.Settings().Labels, m.Settings().Dim
		}
		return err
	case "learn":
		err := s.feed.Learn(ctx, given)
		a.Choosing = s.feed.Choosing()
		return err
	case "scores":
		m, err := s.feed.Predictor(ctx)
		if err != nil {
			return err
		}
		scores, err := m.Scores(given)
		binary.Write(payload, binary.LittleEndian, scores)
		return err
	case "save":
		m, err := s.feed.Model(ctx)
		if err != nil {
			return err
		}
		a.Order, a.Choosing = m.Order(), s.feed.Choosing()
		return m.Save(payload)
	}
	return fmt.Errorf("unknown request %.40q", q.Op)
}

// begin makes the model of a fit, or the one that a begin starts with.
func (s *server) begin(ctx context.Context, q *request, given []rows.Row) error {
	opt, err := s.options(q)
	switch {
	case err != nil:
		return err
	case q.Op == "begin":
		s.feed = online.NewFeed(opt)
		return nil
	case len(given) == 0:
		return errors.New("no rows to learn")
	}
	opt.Source.Rows = given
	m, err := online.Train(ctx, opt)
	if err == nil {
		s.feed = online.GoOn(m, s.note)
	}
	return err
}

// note keeps a note for the answer.
func (s *server) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// options returns the options of a training with the settings of a request.
func (s *server) options(q *request) (opt online.TrainOptions, err error) {
	var settings trainSettings
	table := settings.table(&opt)
	for _, name := range slices.Sorted(maps.Keys(q.Flags)) {
		if err := table.Set(name, q.Flags[name]); err != nil {
			return opt, err
		}
	}
	if err := settings.complete(table, &opt); err != nil {
		return opt, err
	}
	set := &opt.Settings
	set.Labels, set.TextLabels, set.Dim = slices.Clone(q.Labels), q.Text, q.Dim
	set.Format, set.LabelColumn = rows.FormatCSV, 1 // for predict and train --resume
	opt.Note = s.note
	switch regression := set.Loss == lossNames["squared"]; {
	case regression != (q.Labels == nil):
		return opt, fmt.Errorf("--loss %s: classes need a loss for classification, numbers the loss squared", settings.loss)
	case q.Dim < 1:
		return opt, fmt.Errorf("rows of %d features: want 1 to %d", q.Dim, online.MaxFeatures)
	case q.Op == "begin" && opt.Epochs > 1:
		return opt, errors.New("--epochs: the rows of a stream can be learned only once")
	}
	return opt, set.CheckLabels()
}
