package external

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/literal"
	"polkrepro/polk/prune"
	"polkrepro/polk/prune/prunetest"
)

// The test program itself is the command of the tests' heuristics: "external.test
// serve NAME" is a client of the protocol, like a process in Python.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		clients[os.Args[2]].serve()
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "learn" {
		learnWith(os.Args[2:])
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // a process under the race detector waits a second before it ends
	os.Exit(m.Run())
}

// A client is a process's side of the protocol.
type client struct {
	hello string // without the version
	step  func(c *wire, old, total, order int)
}

const orderParam = `"params":[{"name":"order","about":"M","integer":true,"least":1,"grid":[4,8]}]`

var clients = map[string]client{
	"komp-order": {`"about":"KOMP to a fixed order","inverse":true,"wants":["costs"],` + orderParam, func(c *wire, _, total, order int) {
		for ; total > order; total-- {
			c.do(`{"remove":%d}`, least(c.numbers("costs")))
		}
	}},
	"pairs": {`"about":"replaces the two oldest elements by one in between","state":true,` + orderParam, pairs},
	"remove-least": {`"about":"KOMP to a fixed order, in one action","inverse":true,` + orderParam, func(c *wire, _, total, order int) {
		c.do(`{"remove_least":{"leave":%d,"plus":[%s0]}}`, order, strings.Repeat("0,", total-1))
	}},
	"halves": {`"about":"replaces the two cheapest elements by the point between them, with a refit","inverse":true,` + orderParam, halves},
	"drop-oldest": {`"about":"drops the oldest","wants":["ids"],"epsilon":false,` + orderParam, func(c *wire, _, total, order int) {
		ids := c.numbers("ids")
		for ; total > order; total-- {
			j := least(ids)
			c.do(`{"drop":%d}`, j)
			ids[j] = math.NaN()
		}
	}},
	"crash": {`"about":"fails",` + orderParam, func(c *wire, _, _, _ int) {
		fmt.Fprint(os.Stderr, strings.Repeat("chatter\n", 1<<17)+"\x1b[31mValueError:\tno such thing\x00\n")
		os.Exit(3)
	}},
	"silent": {`"about":"says nothing",` + orderParam, func(c *wire, _, _, _ int) { time.Sleep(time.Hour) }},
	"twice":  {`"about":"answers twice",` + orderParam, func(*wire, int, int, int) { fmt.Println(`{"done":true}`) }},
	"endless": {`"about":"asks for ever",` + orderParam, func(c *wire, _, _, _ int) {
		for {
			c.ask(`{"get":["norms"]}`)
		}
	}},
	"busy": {`"about":"does not read",` + orderParam, func(*wire, int, int, int) {
		os.WriteFile(os.Args[3], fmt.Append(nil, os.Getpid(), "\n"), 0o666)
		time.Sleep(time.Hour)
	}},
	"closes": {`"about":"closes its output",` + orderParam, func(c *wire, _, _, _ int) {
		os.Stdout.Close()
		time.Sleep(time.Hour)
	}},
	"too-long": {`"about":"says too much",` + orderParam, func(c *wire, _, _, _ int) {
		fmt.Print(strings.Repeat(" ", 2*maxLine))
		time.Sleep(time.Hour)
	}},
}

// halves is the client of that name. halving is the same heuristic in this program.
func halves(c *wire, _, total, order int) {
	for left := total; left > order; left-- {
		costs := c.numbers("costs")
		p := least(costs)
		costs[p] = math.NaN()
		q := least(costs)
		if q < 0 {
			c.do(`{"remove":%d}`, p)
			continue
		}
		var values [][]float64
		z, _ := json.Marshal(c.between(p, q))
		c.ask(`{"values":[%s]}`, z)
		json.Unmarshal(c.values["values"], &values)
		var entered []int
		c.do(`{"enter":{"point":%s}}`, z)
		c.ask(`{"get":["entered"]}`)
		json.Unmarshal(c.values["entered"], &entered)
		if c.do(`{"remove":%d}`, p); entered[0] >= 0 && values[0][p] > 0.5 {
			c.do(`{"remove":%d}`, q)
		} else if entered[0] >= 0 {
			c.do(`{"remove":%d}`, entered[0])
		}
	}
}

func halving(s prune.InverseState, order int) {
	for left := s.Len(); left > order; left-- {
		p := prune.Least(s, s.Cost)
		q := prune.Least(s, func(j int) float64 {
			if j == p {
				return math.NaN()
			}
			return s.Cost(j)
		})
		if s.Len() < 2 {
			s.Remove(p)
			continue
		}
		z := make([]float32, len(s.Point(p)))
		for i, v := range s.Point(p) {
			z[i] = float32((float64(v) + float64(s.Point(q)[i])) / 2)
		}
		near := s.Values(z)[p] > 0.5
		j := s.Enter(z)[0]
		if s.Remove(p); j >= 0 && near {
			s.Remove(q)
		} else if j >= 0 {
			s.Remove(j)
		}
	}
}

// pairs replaces the two elements of least ID by their mean, with the sum of their weights. In
// every third step it leaves out the weights of the second one.
func pairs(c *wire, _, total, order int) {
	c.steps++
	ids, left := c.numbers("ids"), total
	for left > order {
		var weights [][]float64
		c.get("weights", &weights)
		j := least(ids)
		ids[j] = math.NaN()
		k := least(ids)
		ids[k] = math.Inf(1)
		z, w := c.between(j, k), weights[j]
		if c.steps%3 > 0 {
			for i := range w {
				w[i] += weights[k][i]
			}
		}
		add, _ := json.Marshal(map[string]any{"point": z, "weights": w})
		c.do(`{"drop":%d},{"drop":%d},{"add":%s}`, j, k, add)
		ids[k] = math.NaN()
		ids = append(ids, 1e9+float64(len(ids)))
		left--
	}
}

// least returns the index of the least number, the first of equals. It ignores NaN.
func least(x []float64) int {
	best := -1
	for j, v := range x {
		if v == v && (best < 0 || v < x[best]) {
			best = j
		}
	}
	return best
}

// A wire is a client at work.
type wire struct {
	in     *bufio.Reader
	values map[string]json.RawMessage
	todo   []string
	steps  int // the state that it saves
}

func (c client) serve() {
	w := &wire{in: bufio.NewReaderSize(os.Stdin, 1<<16)}
	var order int
	for {
		m := w.receive()
		switch {
		case m["hello"] != nil:
			fmt.Printf("{\"hello\":{\"version\":1,%s}}\n", c.hello)
		case m["start"] != nil:
			var s struct{ Params struct{ Order int } }
			json.Unmarshal(m["start"], &s)
			order = s.Params.Order
		case m["save"] != nil:
			fmt.Printf("{\"state\":%d}\n", w.steps)
		case m["load"] != nil:
			json.Unmarshal(m["load"], &w.steps)
		case m["step"] != nil:
			var s struct{ Old, Total int }
			json.Unmarshal(m["step"], &s)
			json.Unmarshal(m["given"], &w.values)
			c.step(w, s.Old, s.Total, order)
			fmt.Printf("{\"do\":[%s],\"done\":true}\n", strings.Join(w.todo, ","))
			w.todo, w.values = nil, nil
		}
	}
}

func (w *wire) receive() (m map[string]json.RawMessage) {
	line, err := w.in.ReadBytes('\n')
	if err == io.EOF {
		os.Exit(0)
	}
	json.Unmarshal(line, &m)
	return m
}

func (w *wire) do(format string, args ...any) {
	w.todo = append(w.todo, fmt.Sprintf(format, args...))
	w.values = nil
}

func (w *wire) ask(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(w.todo) > 0 {
		text = `{"do":[` + strings.Join(w.todo, ",") + `],` + text[1:]
		w.todo = nil
	}
	fmt.Println(text)
	w.values = w.receive()
}

func (w *wire) get(name string, v any) {
	if w.values[name] == nil {
		w.ask(`{"get":[%q]}`, name)
	}
	json.Unmarshal(w.values[name], v)
}

// numbers returns a quantity, with NaN for null and for numbers that are not finite.
func (w *wire) numbers(name string) []float64 {
	var all []any
	w.get(name, &all)
	out := make([]float64, len(all))
	for i, v := range all {
		if x, ok := v.(float64); ok {
			out[i] = x
		} else {
			out[i] = math.NaN()
		}
	}
	return out
}

// between returns the point halfway between two elements.
func (w *wire) between(j, k int) []float64 {
	var points [][]float64
	w.ask(`{"points":[%d,%d]}`, j, k)
	json.Unmarshal(w.values["points"], &points)
	for i, v := range points[1] {
		points[0][i] = (points[0][i] + v) / 2
	}
	return points[0]
}

// served returns the heuristic of a client with its arguments. Its processes end with the test.
func served(t *testing.T, client string) prune.Heuristic {
	t.Helper()
	h, err := New("mine", os.Args[0]+" serve "+client)
	testutil.NoError(t, err)
	return closing(t, h)
}

// closing returns a heuristic whose pruners are closed with the test.
func closing(t *testing.T, h prune.Heuristic) prune.Heuristic {
	h.New, h.NewInverse = closed(t, h.New), closed(t, h.NewInverse)
	return h
}

// closed returns a maker of pruners that are closed with the test, nil for nil.
func closed[Pruner any](t *testing.T, make func(prune.Params) Pruner) func(prune.Params) Pruner {
	if make == nil {
		return nil
	}
	return func(p prune.Params) Pruner {
		made := make(p)
		t.Cleanup(func() { any(made).(io.Closer).Close() })
		return made
	}
}

var command = flag.String("command", "", "`command` of a heuristic for TestCommand")

// TestCommand tests the heuristic of the flag -command.
func TestCommand(t *testing.T) {
	if *command == "" {
		t.Skip("no -command")
	}
	h, err := New("mine", *command)
	testutil.NoError(t, err)
	prunetest.Run(t, closing(t, h))
}

// The conformance suite passes for processes with and without the inverse.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one question at a time, as in TestSameBits")
	}
	for _, name := range []string{"komp-order", "pairs", "halves"} {
		t.Run(name, func(t *testing.T) { prunetest.Run(t, served(t, name), prune.Params{"order": 7}) })
	}
}

// leastCost is komp-order, by the costs of all elements.
func leastCost(s prune.InverseState, order int) {
	for s.Len() > order {
		s.Remove(prune.Least(s, s.Cost))
	}
}

// oldestFirst is the client drop-oldest in Go.
func oldestFirst(s prune.State, order int) {
	for s.Len() > order {
		s.Drop(prune.Least(s, func(j int) float64 { return float64(s.ID(j)) }))
	}
}

// An inGo is a pruner given by a Go function that prunes to an order.
type inGo[State any] struct {
	order int
	prune func(s State, order int)
}

func (g inGo[State]) Prune(_ context.Context, s State) error {
	g.prune(s, g.order)
	return nil
}

// A process and the same heuristic in this program leave the same bits.
func TestSameBits(t *testing.T) {
	inverse := func(f func(s prune.InverseState, order int)) prune.Heuristic {
		return prune.Heuristic{Name: "own", About: "for this test", Params: []prune.Param{prune.Order},
			NewInverse: func(p prune.Params) prune.InversePruner { return inGo[prune.InverseState]{p.Int("order"), f} }}
	}
	oldest := inverse(nil)
	oldest.NewInverse, oldest.New = nil, func(p prune.Params) prune.Pruner { return inGo[prune.State]{p.Int("order"), oldestFirst} }
	for name, own := range map[string]prune.Heuristic{
		"komp-order": inverse(leastCost), "remove-least": inverse(leastCost), "halves": inverse(halving), "drop-oldest": oldest,
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := learner(t, own), learner(t, served(t, name))
			r := rand.New(rand.NewPCG(18, 11))
			for range 40 {
				x, y := sample(r)
				_, first := ours.Step(t.Context(), 5, x, y)
				_, second := theirs.Step(t.Context(), 5, x, y)
				testutil.NoError(t, errors.Join(first, second))
			}
			a, b := ours.Expansion(), theirs.Expansion()
			if a.Order() != 8 || b.Order() != 8 || !slices.Equal(a.W, b.W) {
				t.Fatalf("%d and %d elements, weights\n%v\n%v", a.Order(), b.Order(), a.W, b.W)
			}
			for j := range a.Order() {
				if !slices.Equal(a.Dict.At(j), b.Dict.At(j)) {
					t.Errorf("element %d: %v and %v", j, a.Dict.At(j), b.Dict.At(j))
				}
			}
		})
	}
}

// learner returns a learner that prunes to eight elements.
func learner(t *testing.T, h prune.Heuristic) *polk.Learner {
	t.Helper()
	l, err := newLearner(h)
	testutil.NoError(t, err)
	return l
}

func newLearner(h prune.Heuristic) (*polk.Learner, error) {
	p, err := prune.New(h, prune.Params{"order": 8})
	if err != nil {
		return nil, err
	}
	return polk.New(polk.Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.7}, Loss: loss.MultiLogistic{}, Classes: 3, Dim: 2, Regularizer: 1e-3,
		LearningRate: polk.Constant(1), Budget: polk.Parsimony(0.01), Pruner: p, Seed: 1,
	})
}

// learnWith takes a step with a client of these arguments. TestNothingIsLeft runs it in a process
// and kills this process.
func learnWith(arguments []string) {
	h, err := New("mine", os.Args[0]+" serve "+strings.Join(arguments, " "))
	if err != nil {
		panic(err)
	}
	l, err := newLearner(h)
	if err != nil {
		panic(err)
	}
	panic(stepOnce(context.Background(), l))
}

// stepOnce takes a step, always on the same samples.
func stepOnce(ctx context.Context, l *polk.Learner) error {
	x, y := sample(rand.New(rand.NewPCG(1, 2)))
	_, err := l.Step(ctx, 5, x, y)
	return err
}

func sample(r *rand.Rand) (x []float32, y []float64) {
	for range 5 {
		c := r.IntN(3)
		x = append(x, float32(c)+float32(r.Float64()), float32(2*r.Float64()))
		y = append(y, float64(c))
	}
	return x, y
}

// fail returns the error of the first step with a client. The next step must return it again.
func fail(t *testing.T, name string) string {
	t.Helper()
	l := learner(t, served(t, name))
	err := stepOnce(t.Context(), l)
	if err == nil {
		t.Fatalf("%s: no error", name)
	}
	if again := stepOnce(t.Context(), l); again == nil || again.Error() != err.Error() {
		t.Errorf("%s: the next step: %v", name, again)
	}
	return err.Error()
}

// A process that ends, closes its output, writes too long a line or takes too long is an error
// with the reason and the end of the process's standard error.
func TestFailures(t *testing.T) {
	defer func() { stepPatience, farewell = time.Minute, 2*time.Second }()
	farewell = 100 * time.Millisecond
	for _, tt := range []struct {
		client   string
		patience time.Duration
		want     string
	}{
		{"crash", time.Minute, "the process has ended (exit status 3); the end of its standard error:\n" +
			strings.Repeat("  chatter\n", tailLines-1) + "  [31mValueError: no such thing"},
		{"closes", time.Minute, "its standard output is closed; its standard error is empty"},
		{"too-long", time.Minute, "a line of more than 16777216 bytes; its standard error is empty"},
		{"silent", 300 * time.Millisecond, "took more than 300ms; its standard error is empty"},
		{"endless", 300 * time.Millisecond, "took more than 300ms; its standard error is empty"},
	} {
		stepPatience = tt.patience
		if got, want := fail(t, tt.client), "polk: pruner mine: step: "+tt.want; got != want {
			t.Errorf("%s: %s\nwant %s", tt.client, got, want)
		}
	}
}

// An unrequested answer makes a later step fail, or at the latest the pruner's Close: it could
// have been taken for the answer to a later question.
func TestStray(t *testing.T) {
	for steps := range 4 {
		h := served(t, "twice")
		var made prune.Pruner
		start := h.New
		h.New = func(p prune.Params) prune.Pruner { made = start(p); return made }
		l, err := newLearner(h)
		for range steps + 1 {
			err = cmp.Or(err, stepOnce(t.Context(), l))
		}
		err = cmp.Or(err, made.(io.Closer).Close())
		if want := "unexpected line "; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d steps: %v\nwant %s", steps+1, err, want)
		}
	}
}

// An interrupted step ends the process and returns the context's error.
func TestInterrupted(t *testing.T) {
	l := learner(t, served(t, "silent"))
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	if err := stepOnce(ctx, l); !errors.Is(err, context.Canceled) || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// The identity of a heuristic depends on the contents of its files, not on where they are. A
// process is not used if its files have changed since the heuristic was made.
func TestIdentity(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "mine.txt")
		testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	one := file("one")
	link := one + ".link"
	if err := os.Symlink(one, link); err != nil {
		link = one // Windows forbids it to most users
	}
	h := served(t, "komp-order "+one)
	for arguments, same := range map[string]bool{
		"komp-order " + file("one"): true,
		"komp-order " + link:        true,
		"komp-order " + file("two"): false,
		"komp-order one":            false,
		"pairs " + one:              false,
	} {
		if other := served(t, arguments); (other.Code() == h.Code()) != same || !strings.HasPrefix(other.Code(), "command ") {
			t.Errorf("%s: %s and %s: the same is %v", arguments, h.Code(), other.Code(), same)
		}
	}
	c := &program{words: []string{"python3", one}}
	plain, err := c.hash(&hello{})
	testutil.NoError(t, err)
	more, err := c.hash(&hello{Files: []string{one}})
	if _, missing := c.hash(&hello{Files: []string{one + "?"}}); err != nil || more == plain || missing == nil {
		t.Errorf("files of the hello: %s and %s, %v, missing: %v", plain, more, err, missing)
	}

	l := learner(t, h)
	testutil.NoError(t, os.WriteFile(one, []byte("edited"), 0o666))
	if err := stepOnce(t.Context(), l); err == nil || !strings.Contains(err.Error(), "its files have changed") {
		t.Errorf("an edited file: %v", err)
	}
}

// An invalid hello is an error that says why.
func TestHello(t *testing.T) {
	knob := prune.Param{Name: "order", About: "M", Grid: []float64{1}}
	for want, said := range map[string]hello{
		`prune: heuristic "mine" has no description`:                                                        {},
		`"two\nlines": want one line without control characters`:                                            {About: "two\nlines"},
		`wants "costs": unknown quantity, or one that needs inverse in the hello`:                           {About: "a", Wants: []string{"costs"}},
		`wants "cost": unknown quantity, or one that needs inverse in the hello`:                            {About: "a", Wants: []string{"cost"}, Inverse: true},
		`parameter "a=b": want a name of lower-case letters, digits and underscores, and about in one line`: {About: "a", Params: []prune.Param{knob, {Name: "a=b", About: "b"}}},
		`parameter order, the first one, has no grid: list the values that a comparison tries`:              {About: "a", Params: []prune.Param{{Name: "order", About: "M"}}},
		`grid of order: order of pruner mine is 1, want at least 2`:                                         {About: "a", Params: []prune.Param{{Name: "order", About: "M", Grid: []float64{1}, Least: prune.Bound(2)}}},
		`grid of order: pruner mine needs the parameter grace, steps`:                                       {About: "a", Params: []prune.Param{knob, {Name: "grace", About: "steps"}}},
	} {
		c := &program{hello: said}
		if _, err := c.heuristic("mine"); err == nil || err.Error() != "hello: "+want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	for command, want := range map[string]string{
		"":                              "pruner mine: : no command: want NAME=COMMAND, such as mine=./mine.py",
		"no-such-program-anywhere -x":   `pruner mine: no-such-program-anywhere -x: exec: "no-such-program-anywhere": executable file not found in $PATH`,
		"sed -u s/.*/PASS/w/dev/stderr": "hello: PASS: this line is not a JSON object (a print? write to standard error); the end of its standard error:\n  PASS", // once it is asked
	} {
		if _, err := New("mine", command); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// Invalid answers are errors that say why.
func TestNonsense(t *testing.T) {
	for answer, want := range map[string]string{
		``:                            "this line is not a JSON object (a print? write to standard error)",
		`hello`:                       "this line is not a JSON object (a print? write to standard error)",
		`[`:                           "this line is not a JSON object (a print? write to standard error)",
		`{}`:                          `want either something to get or "done": true`,
		`{"get":["ids"],"done":true}`: `want either something to get or "done": true`,
		`{"done":true} {}`:            "more than one value on a line",
		`{"remove":3,"done":true}`:    `json: unknown field "remove"`,
		`{"do":[{"remove":3,"drop":2}],"done":true}`:                          "action 0 is not one of remove, remove_least, drop, add, enter and weights",
		`{"do":[{"remove":99}],"done":true}`:                                  errNoInverse.Error(),
		`{"do":[{"drop":-1}],"done":true}`:                                    "drop: element -1 is not present: want one of 0 to 8 that has not been removed",
		`{"do":[{"drop":1},{"drop":1}],"done":true}`:                          "drop: element 1 is not present: want one of 0 to 8 that has not been removed",
		`{"do":[{"remove_least":{"leave":1}}],"done":true}`:                   errNoInverse.Error(),
		`{"do":[{"remove":1}],"done":true}`:                                   errNoInverse.Error(),
		`{"do":[{"add":{"point":[1,2],"weights":[1,2,3]}}],"done":true}`:      "add: point of 2 features, want 3",
		`{"do":[{"add":{"point":[1,2,3],"weights":[1]}}],"done":true}`:        "add: 1 weights, want 3",
		`{"do":[{"add":{"point":[1,2,1e39],"weights":[1,2,3]}}],"done":true}`: "add: feature 1e+39 is out of the range of float32",
		`{"do":[{"weights":{"of":0,"to":[NaN,1,2]}}],"done":true}`:            "invalid character 'N' looking for beginning of value",
		`{"do":[{"weights":{"of":0,"to":[1,2]}}],"done":true}`:                "weights: 2 weights, want 3",
		`{"get":["cost"]}`:  `unknown quantity "cost"`,
		`{"get":["costs"]}`: `costs needs the inverse kernel matrix: say "inverse": true in the hello`,
		`{"rows":[9]}`:      "rows: element 9 is not present: want one of 0 to 8 that has not been removed",
		`{"do":[{"enter":{"point":[1,2,3]}}],"done":true}`: errNoInverse.Error(),
		`{"values":[[1,2]]}`: "values: point of 2 features, want 3",
		`{"columns":[1]}`:    errNoInverse.Error(),
	} {
		a, err := parseAnswer([]byte(answer))
		if err == nil {
			_, err = newView(t).answer(a)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", answer, err, want)
		}
	}
}

// newView returns a state of nine elements without the inverse, of which four are old.
func newView(t testing.TB) *view {
	p, err := prune.Find("oldest", prune.Params{"order": 3})
	testutil.NoError(t, err)
	step := prune.Step{T: 5, Len: 9, N: 5, X: make([]float32, 15), Y: make([]float64, 5), Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: loss.MultiLogistic{}, Outputs: 3}
	var points [][]float32
	var w [][]float64
	for j := range 9 {
		points = append(points, []float32{float32(j), 0.5, -1})
		w = append(w, []float64{1, float64(j), 0.1})
	}
	return &view{Elements: literal.NewState(p, step, 4, points, w, make([]int, 9))}
}

// TestPage: docs/pruner-protocol.md lists all fields, quantities and actions, and its example of a
// conversation is valid.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/pruner-protocol.md")
	testutil.NoError(t, err)
	page := string(text)
	section := func(title string) string {
		_, rest, _ := strings.Cut(page, "\n## "+title+"\n")
		body, _, _ := strings.Cut(rest, "\n## ")
		return body
	}
	fields := func(v any) (names []string) {
		for i := range reflect.TypeOf(v).NumField() {
			names = append(names, reflect.TypeOf(v).Field(i).Tag.Get("json"))
		}
		return names
	}
	var actions []string
	for _, name := range fields(action{}) {
		actions = append(actions, `{"`+name+`":`)
	}
	for _, tt := range []struct {
		section string
		want    []string
	}{
		{"The hello", fields(hello{})}, {"Answers", append(fields(answer{}), actions...)}, {"Quantities", slices.Collect(maps.Keys(quantities))},
	} {
		var listed []string
		for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+|\\{\"\\w+\":)").FindAllStringSubmatch(section(tt.section), -1) {
			listed = append(listed, row[1])
		}
		slices.Sort(listed)
		slices.Sort(tt.want)
		if !slices.Equal(listed, tt.want) {
			t.Errorf("%s: the page has %v, want %v", tt.section, listed, tt.want)
		}
	}

	said, answers := 0, 0
	for line := range strings.Lines(section("A conversation")) {
		line, from := strings.CutPrefix(line, "← ")
		if !from {
			continue
		}
		if said++; said == 1 {
			var h struct{ Hello hello }
			if err := parse([]byte(line), &h); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			if _, err := (&program{hello: h.Hello, code: "command"}).heuristic("mine"); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			continue
		}
		if _, err := parseAnswer([]byte(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		answers++
	}
	if answers != 4 {
		t.Errorf("%d answers", answers)
	}
}

// FuzzAnswer: whatever a process answers, a step continues or fails with an error.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"do":[{"remove":3},{"drop":8},{"weights":{"of":1,"to":[1,2,3]}}],"get":["costs","spent"]}`))
	f.Add([]byte(`{"do":[{"add":{"point":[1,2,3],"weights":[0,0,1e300]}}],"rows":[0,9],"points":[2],"columns":[1]}`))
	f.Add([]byte(`{"do":[{"enter":{"point":[1.5,0.5,-1]}},{"remove":9}],"get":["entered"],"values":[[1,2,3]]}`))
	f.Add([]byte(`{"do":[],"get":["ids","ages","samples","self","weights","norms","distances","distances_before","x","y"]}`))
	f.Add([]byte(`{"do":[{"remove_least":{"leave":4,"plus":[0,1,2,3,4,5,6,7,8]}}],"done":true}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := parseAnswer(line)
		if err != nil {
			return
		}
		plain, inverse := newView(t), newView(t)
		inverse.inverse = inverse.Elements.(prune.InverseState)
		for _, v := range []*view{plain, inverse} {
			message, err := v.answer(a)
			if err == nil && !json.Valid(message) {
				t.Errorf("%s gives %s", line, message)
			}
			for j := range v.Total() {
				if v.Present(j) && len(v.Weights(j)) != 3 {
					t.Errorf("%s leaves weights %v", line, v.Weights(j))
				}
			}
		}
	})
}
