package external

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
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
	"polkrepro/polk/internal/literal"
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
	if len(os.Args) > 2 && os.Args[1] == "connect" { // the process that such a client leaves behind
		net.Dial("tcp", os.Args[2])
		fmt.Println()
		time.Sleep(time.Hour)
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // a process under the race detector waits a second before it ends
	os.Exit(m.Run())
}

// A client is a process's side of the protocol.
type client struct {
	hello string // without the version
	step  func(c *wire, total, order int)
}

const orderParam = `"params":[{"name":"order","about":"M","integer":true,"least":1,"grid":[4,8]}]`

var clients = map[string]client{
	"komp-order": {`"about":"KOMP to a fixed order","inverse":true,"wants":["costs"],` + orderParam, func(c *wire, total, order int) {
		for ; total > order; total-- {
			c.do(`{"remove":%d}`, least(c.numbers("costs")))
		}
	}},
	"smallest-weight": {`"about":"drops the lightest","epsilon":false,` + orderParam, func(c *wire, total, order int) {
		for ; total > order; total-- {
			c.do(`{"drop":%d}`, least(c.numbers("norms")))
		}
	}},
	"pairs":  {`"about":"replaces the two oldest elements by one in between",` + orderParam, pairs},
	"halves": {`"about":"replaces the two cheapest elements by the point between them, with a refit","inverse":true,` + orderParam, halves},
	"crash": {`"about":"fails",` + orderParam, func(c *wire, _, _ int) {
		fmt.Fprint(os.Stderr, strings.Repeat("chatter\n", 1<<17)+"\x1b[31mValueError:\tno such thing\x00\n")
		os.Exit(3)
	}},
	"threads": {`"about":"prints its numbers of threads",` + orderParam, func(*wire, int, int) {
		fmt.Fprintln(os.Stderr, os.Getenv("OMP_NUM_THREADS"), os.Getenv("OPENBLAS_NUM_THREADS"), os.Getenv("MKL_NUM_THREADS"))
		os.Exit(3)
	}},
	"silent": {`"about":"says nothing",` + orderParam, func(*wire, int, int) { time.Sleep(time.Hour) }},
	"twice":  {`"about":"answers twice",` + orderParam, func(c *wire, _, _ int) { c.say(`"done":true`) }},
	"early": {`"about":"answers the next question too",` + orderParam, func(c *wire, _, _ int) {
		fmt.Printf("{\"n\":%d,\"done\":true}\n{\"n\":%d,\"done\":true}\n", c.n, c.n+1)
		c.receive()
	}},
	"junk": {`"about":"ends with text",` + orderParam, func(c *wire, _, _ int) {
		fmt.Printf("{\"n\":%d,\"done\":true}\nbye", c.n)
		c.receive()
	}},
	"status": {`"about":"ends with an exit status",` + orderParam, func(c *wire, _, _ int) {
		c.say(`"done":true`)
		c.in.ReadBytes('\n')
		os.Exit(3)
	}},
	"parent": {`"about":"starts a process",` + orderParam, func(*wire, int, int) { leaveBehind() }},
	"lost-parent": {`"about":"starts a process and fails",` + orderParam, func(*wire, int, int) {
		leaveBehind()
		os.Exit(3)
	}},
	"endless": {`"about":"asks for ever",` + orderParam, func(c *wire, _, _ int) {
		for {
			c.ask(`"get":["norms"]`)
		}
	}},
	"closes": {`"about":"closes its output",` + orderParam, func(*wire, int, int) {
		os.Stdout.Close()
		time.Sleep(time.Hour)
	}},
	"too-long": {`"about":"says too much",` + orderParam, func(*wire, int, int) {
		fmt.Print(strings.Repeat(" ", 2*maxLine))
		time.Sleep(time.Hour)
	}},
}

// leaveBehind starts a process that connects to the address in the command, and waits until it has.
func leaveBehind() {
	child := exec.Command(os.Args[0], "connect", os.Args[3])
	out, _ := child.StdoutPipe()
	child.Start()
	out.Read(make([]byte, 1))
}

// halves replaces the two cheapest elements by the point between them if they are near each
// other. Otherwise it removes the cheapest.
func halves(c *wire, total, order int) {
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
		c.ask(`"values":[%s]`, z)
		json.Unmarshal(c.values["values"], &values)
		var entered []int
		c.do(`{"enter":{"point":%s}}`, z)
		c.ask(`"get":["entered"]`)
		json.Unmarshal(c.values["entered"], &entered)
		if c.do(`{"remove":%d}`, p); entered[0] >= 0 && values[0][p] > 0.5 {
			c.do(`{"remove":%d}`, q)
		} else if entered[0] >= 0 {
			c.do(`{"remove":%d}`, entered[0])
		}
	}
}

// pairs replaces the two elements of least ID by their mean, with the sum of their weights. In
// every third step it leaves out the weights of the second one.
func pairs(c *wire, total, order int) {
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
	n      int // number of the last message
	values map[string]json.RawMessage
	todo   []string
	steps  int // that pairs has seen
}

func (c client) serve() {
	w := &wire{in: bufio.NewReaderSize(os.Stdin, 1<<16)}
	for {
		m := w.receive()
		switch {
		case m["hello"] != nil:
			w.say(`"hello":{"version":1,%s}`, c.hello)
		case m["step"] != nil:
			var s struct {
				Total  int
				Params struct{ Order int }
			}
			json.Unmarshal(m["step"], &s)
			json.Unmarshal(m["given"], &w.values)
			c.step(w, s.Total, s.Params.Order)
			w.say(`"do":[%s],"done":true`, strings.Join(w.todo, ","))
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
	json.Unmarshal(m["n"], &w.n)
	return m
}

// say writes an answer with the given fields.
func (w *wire) say(fields string, args ...any) {
	fmt.Printf("{\"n\":%d,%s}\n", w.n, fmt.Sprintf(fields, args...))
}

func (w *wire) do(format string, args ...any) {
	w.todo = append(w.todo, fmt.Sprintf(format, args...))
	w.values = nil
}

func (w *wire) ask(format string, args ...any) {
	w.say(`"do":[%s],%s`, strings.Join(w.todo, ","), fmt.Sprintf(format, args...))
	w.todo, w.values = nil, w.receive()
}

func (w *wire) get(name string, v any) {
	if w.values[name] == nil {
		w.ask(`"get":[%q]`, name)
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
	w.ask(`"get":["points"],"of":[%d,%d]`, j, k)
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
		t.Cleanup(func() {
			if err := any(made).(io.Closer).Close(); err != nil {
				t.Error(err)
			}
		})
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

// TestConformance: the conformance suite passes for processes with and without the inverse.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one question at a time, as in TestSameBits")
	}
	for _, name := range []string{"komp-order", "pairs", "halves"} {
		t.Run(name, func(t *testing.T) { prunetest.Run(t, served(t, name), prune.Params{"order": 7}) })
	}
}

// TestSameBits: a process and the same heuristic in this program leave the same bits.
func TestSameBits(t *testing.T) {
	for name, own := range map[string]*prune.Instance{
		"komp-order":      instance(t, "komp-age", prune.Params{"order": 8, "memory": 1e300}), // ages hardly count
		"smallest-weight": instance(t, "smallest-weight", prune.Params{"order": 8}),
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := learnerWith(t, own), learner(t, served(t, name))
			r := rand.New(rand.NewPCG(18, 11))
			for range 40 {
				x, y := sample(r)
				_, first := ours.Step(t.Context(), 5, x, y)
				_, second := theirs.Step(t.Context(), 5, x, y)
				testutil.NoError(t, errors.Join(first, second))
			}
			var a, b bytes.Buffer
			testutil.NoError(t, errors.Join(ours.Expansion().Write(&a, nil), theirs.Expansion().Write(&b, nil)))
			if n := ours.Expansion().Order(); n != 8 || !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%d elements with the weights\n%v\n%v", n, ours.Expansion().W, theirs.Expansion().W)
			}
		})
	}
}

func instance(t *testing.T, name string, p prune.Params) *prune.Instance {
	t.Helper()
	i, err := prune.Find(name, p)
	testutil.NoError(t, err)
	return i
}

// learner returns a learner that prunes to eight elements.
func learner(t *testing.T, h prune.Heuristic) *polk.Learner {
	t.Helper()
	p, err := prune.New(h, prune.Params{"order": 8})
	testutil.NoError(t, err)
	return learnerWith(t, p)
}

func learnerWith(t *testing.T, p *prune.Instance) *polk.Learner {
	t.Helper()
	l, err := polk.New(polk.Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.7}, Loss: loss.MultiLogistic{}, Classes: 3, Dim: 2, Regularizer: 1e-3,
		LearningRate: polk.Constant(1), Budget: polk.Parsimony(0.01), Pruner: p, Seed: 1,
	})
	testutil.NoError(t, err)
	return l
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

// TestFailures: a process that ends, closes its output, writes too long a line or takes too long
// is an error with the reason and the end of the process's standard error. The next step returns
// the error again.
func TestFailures(t *testing.T) {
	defer func() { stepPatience, farewell = time.Minute, 2*time.Second }()
	farewell = 100 * time.Millisecond
	for _, tt := range []struct {
		client   string
		patience time.Duration
		want     string // text with * for anything
	}{
		{"crash", time.Minute, "the process has ended (exit status 3); the end of its standard error:\n*\n  chatter\n  ·[31mValueError:\tno such thing·"},
		{"closes", time.Minute, "its standard output is closed; its standard error is empty"},
		{"too-long", time.Minute, "a line of more than 16777216 bytes; its standard error is empty"},
		{"silent", 300 * time.Millisecond, "took more than 300ms; its standard error is empty"},
		{"endless", 300 * time.Millisecond, "took more than 300ms; its standard error is empty"},
	} {
		stepPatience = tt.patience
		l := learner(t, served(t, tt.client))
		err := stepOnce(t.Context(), l)
		begins, ends, _ := strings.Cut("polk: pruner mine: step: "+tt.want, "*")
		if err == nil || !strings.HasPrefix(err.Error(), begins) || !strings.HasSuffix(err.Error(), ends) || len(err.Error()) > 2*maxTail {
			t.Errorf("%s: %v\nwant %s", tt.client, err, tt.want)
		}
		if again := stepOnce(t.Context(), l); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: the next step: %v", tt.client, again)
		}
	}
}

// TestThreads: a process has one thread for linear algebra unless the environment says otherwise.
func TestThreads(t *testing.T) {
	for name, value := range map[string]string{"OMP_NUM_THREADS": "5", "OPENBLAS_NUM_THREADS": "", "MKL_NUM_THREADS": ""} {
		t.Setenv(name, value) // so that it is restored
		if value == "" {
			testutil.NoError(t, os.Unsetenv(name))
		}
	}
	if err := stepOnce(t.Context(), learner(t, served(t, "threads"))); err == nil || !strings.HasSuffix(err.Error(), "its standard error:\n  5 1 1") {
		t.Error(err)
	}
}

// TestSurplus: a surplus answer is not taken for the answer to the next question.
func TestSurplus(t *testing.T) {
	l := learner(t, served(t, "twice"))
	testutil.NoError(t, stepOnce(t.Context(), l))
	const want = `step: {"n":2,"do":[],"done":true}: an answer with n 2, want 3, that of the message`
	if err := stepOnce(t.Context(), l); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v\nwant %s", err, want)
	}
	var err error
	for l := learner(t, served(t, "early")); err == nil; { // unless the surplus answer is late
		err = stepOnce(t.Context(), l)
	}
	if !strings.Contains(err.Error(), `: an answer with n `) || !strings.Contains(err.Error(), ` before the message with that number`) {
		t.Error(err)
	}
}

// TestLast: what a process writes after its last answer, and its exit status, are errors of Close.
func TestLast(t *testing.T) {
	for client, want := range map[string]string{
		"komp-order": "<nil>",
		"silent":     "<nil>", // not a step
		"twice":      `end: {"n":2,"do":[],"done":true}: this line answers no message; its standard error is empty`,
		"early":      `end: {"n":3,"done":true}: this line answers no message; its standard error is empty`,
		"junk":       `end: bye: this line answers no message; its standard error is empty`,
		"status":     `end: the process has ended (exit status 3); its standard error is empty`,
	} {
		p, err := prune.New(served(t, client), prune.Params{"order": 8})
		testutil.NoError(t, err)
		if d := p.Pruner().(interface {
			Start(context.Context) error
			io.Closer
		}); client == "silent" {
			testutil.NoError(t, d.Start(t.Context()))
		} else {
			testutil.NoError(t, stepOnce(t.Context(), learnerWith(t, p)))
		}
		if err := p.Pruner().(io.Closer).Close(); fmt.Sprint(err) != want {
			t.Errorf("%s: %v\nwant %s", client, err, want)
		}
	}
}

// TestGroup: when a process has ended, in whatever way, the processes that it has started are killed.
func TestGroup(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testutil.NoError(t, err)
	defer l.Close()
	for _, tt := range []struct{ client, end string }{{"parent", "close"}, {"parent", "interrupt"}, {"lost-parent", "error"}} {
		p, err := prune.New(served(t, tt.client+" "+l.Addr().String()), prune.Params{"order": 8})
		testutil.NoError(t, err)
		d := p.Pruner().(interface {
			Start(context.Context) error
			io.Closer
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		testutil.NoError(t, d.Start(ctx))
		if err := stepOnce(t.Context(), learnerWith(t, p)); (err != nil) != (tt.end == "error") {
			t.Errorf("%s: %v", tt.end, err)
		}
		child, err := l.Accept()
		testutil.NoError(t, err)
		switch tt.end {
		case "close":
			testutil.NoError(t, d.Close())
		case "interrupt":
			cancel()
		}
		child.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := child.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the process's child lives on", tt.end)
		}
	}
}

// TestInterrupted: an interrupted step ends the process and returns the context's error.
func TestInterrupted(t *testing.T) {
	l := learner(t, served(t, "silent"))
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	if err := stepOnce(ctx, l); !errors.Is(err, context.Canceled) || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// TestIdentity: the identity of a heuristic depends on the contents of its files, not on where
// they are. A process is not used if its files have changed since the heuristic was made.
func TestIdentity(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "mine.txt")
		testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	one := file("one")
	hash := func(said hello, words ...string) string {
		t.Helper()
		code, err := (&program{words: words}).hash(&said)
		testutil.NoError(t, err)
		return code
	}
	code := hash(hello{}, "./external.test", "serve", one)
	if !strings.HasPrefix(code, "command ") || hash(hello{}, "./external.test", "serve", file("one")) != code {
		t.Errorf("%s is not that of a copy of its file", code)
	}
	for _, other := range []string{
		hash(hello{}, "./external.test", "serve", file("two")), hash(hello{}, "./external.test", "serve", "one"),
		hash(hello{}, "./external.test", "others", one), hash(hello{Files: []string{one}}, "./external.test", "serve", one),
	} {
		if other == code {
			t.Errorf("another command has the code %s", code)
		}
	}
	if _, err := (&program{words: []string{"python3", one}}).hash(&hello{Files: []string{one + "?"}}); err == nil {
		t.Error("a missing file of the hello has a hash")
	}
	l := learner(t, served(t, "komp-order "+one))
	testutil.NoError(t, os.WriteFile(one, []byte("edited"), 0o666))
	if err := stepOnce(t.Context(), l); err == nil || !strings.Contains(err.Error(), "its files have changed") {
		t.Errorf("an edited file: %v", err)
	}
}

// TestHello: an invalid hello is an error that says why.
func TestHello(t *testing.T) {
	about := prune.Heuristic{About: "a"}
	for want, said := range map[string]hello{
		`prune: heuristic "mine" has no description, or a description or source of more than one line`: {},
		`parameter order, the first one, has no grid: list the values that a comparison tries`:         {Heuristic: prune.Heuristic{About: "a", Params: []prune.Param{{Name: "order", About: "M"}}}},
		`prune: heuristic "mine" has 101 parameters: want at most 100`:                                 {Heuristic: prune.Heuristic{About: "a", Params: make([]prune.Param, 101)}},
		`prune: heuristic "mine" has 1001 values in the grid of order: want at most 1000`:              {Heuristic: prune.Heuristic{About: "a", Params: []prune.Param{{Name: "order", About: "M", Grid: make([]float64, 1001)}}}},
		`wants "costs": unknown quantity, or one that needs inverse in the hello`:                      {Heuristic: about, Wants: []string{"costs"}},
		`wants "cost": unknown quantity, or one that needs inverse in the hello`:                       {Heuristic: about, Wants: []string{"cost"}, Inverse: true},
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

// answered returns what a process is sent for an answer.
func answered(v *view, line []byte) ([]byte, error) {
	a, err := parse(line)
	if err != nil {
		return nil, err
	}
	message, err := v.answer(a)
	if err != nil {
		return nil, err
	}
	return json.Marshal(message)
}

// TestNonsense: invalid answers are errors that say why.
func TestNonsense(t *testing.T) {
	const absent = " is not present: want one of 0 to 8 that has not been removed"
	for line, want := range map[string]string{
		``:                            errNotObject.Error(),
		`[`:                           errNotObject.Error(),
		`{}`:                          `want either something to get or "done": true`,
		`{"get":["ids"],"done":true}`: `want either something to get or "done": true`,
		`{"done":true} {}`:            "more than one value on a line",
		`{"remove":3,"done":true}`:    `json: unknown field "remove"`,
		`{"do":[{"remove":3,"drop":2}],"done":true}`:                              "action 0 is not one of remove, drop, add, enter and weights",
		`{"do":[{"enter":{"point":[1,2,3],"weights":[1,2,3]}}],"done":true}`:      "action 0 has a field that belongs to another one",
		`{"do":[{"add":{"of":1,"point":[1,2,3],"weights":[1,2,3]}}],"done":true}`: "action 0 has a field that belongs to another one",
		`{"do":[{"weights":{"of":1,"weights":[1,null,3]}}],"done":true}`:          "null: leave out a field without a value, and write finite numbers",
		`{"hello":{},"done":true}`:                                                "a hello in a step",
		`{"do":[{"remove":1}],"done":true}`:                                       errNoInverse.Error(),
		`{"do":[{"enter":{"point":[1,2,3]}}],"done":true}`:                        errNoInverse.Error(),
		`{"get":["columns"],"of":[1]}`:                                            `columns needs the inverse kernel matrix: say "inverse": true in the hello`,
		`{"get":["costs"]}`:                                                       `costs needs the inverse kernel matrix: say "inverse": true in the hello`,
		`{"get":["cost"]}`:                                                        `unknown quantity "cost"`,
		`{"do":[{"drop":-1}],"done":true}`:                                        "element -1" + absent,
		`{"do":[{"drop":1},{"drop":1}],"done":true}`:                              "element 1" + absent,
		`{"get":["rows"],"of":[9]}`:                                               "element 9" + absent,
		`{"do":[{"add":{"point":[1,2],"weights":[1,2,3]}}],"done":true}`:          "point of 2 features, want 3",
		`{"values":[[1,2]]}`:                                                      "point of 2 features, want 3",
		`{"do":[{"add":{"point":[1,2,3],"weights":[1]}}],"done":true}`:            "1 weights, want 3",
		`{"do":[{"weights":{"of":0,"weights":[1,2]}}],"done":true}`:               "2 weights, want 3",
		`{"do":[{"add":{"point":[1,2,1e39],"weights":[1,2,3]}}],"done":true}`:     "json: cannot unmarshal number 1e39 into Go struct field element.do.add.point of type float32",
	} {
		if _, err := answered(newView(t), []byte(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", line, err, want)
		}
	}
}

// TestAsked: a process gets the quantities of the state, and null for removed elements and for
// numbers that are not finite.
func TestAsked(t *testing.T) {
	v := newView(t)
	s := v.Elements.(prune.InverseState)
	v.inverse = s
	ask := func(line string) (got struct {
		IDs                           []uint64
		Costs                         []*float64
		Weights                       [][]float64
		Rows, Columns, Points, Values [][]float64
	}) {
		t.Helper()
		message, err := answered(v, []byte(line))
		testutil.NoError(t, err)
		testutil.NoError(t, json.Unmarshal(message, &got))
		return got
	}
	all, some := ask(`{"do":[{"drop":2}],"get":["ids","costs","weights"]}`), ask(`{"get":["rows","columns","points"],"of":[4,3],"values":[[1,0.5,-1]]}`)
	column := make([]float64, 9)
	s.Column(column, 4)
	for what, same := range map[string]bool{
		"ids":     len(all.IDs) == 9 && all.IDs[2] == 2 && all.IDs[8] == 8,
		"costs":   len(all.Costs) == 9 && all.Costs[2] == nil && *all.Costs[3] == s.Cost(3),
		"weights": len(all.Weights) == 9 && all.Weights[2] == nil && slices.Equal(all.Weights[7], s.Weights(7)),
		"rows":    len(some.Rows) == 2 && slices.Equal(some.Rows[1], s.Row(3)),
		"columns": len(some.Columns) == 2 && slices.Equal(some.Columns[0], column),
		"points":  len(some.Points) == 2 && slices.Equal(some.Points[1], []float64{3, 0.5, -1}),
		"values":  len(some.Values) == 1 && slices.Equal(some.Values[0], s.Row(1)),
	} {
		if !same {
			t.Errorf("%s: %+v, %+v", what, all, some)
		}
	}
	message, err := answered(v, []byte(`{"get":["points","ids"],"packed":true}`))
	testutil.NoError(t, err)
	var matrix struct {
		Points []byte // of base64
		IDs    []uint64
	}
	testutil.NoError(t, json.Unmarshal(message, &matrix))
	at := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(matrix.Points[8*i:])) }
	if len(matrix.Points) != 8*9*3 || at(3*3) != 3 || at(3*3+1) != 0.5 || at(8*3+2) != -1 || !math.IsNaN(at(2*3)) || len(matrix.IDs) != 9 {
		t.Errorf("packed: %s", message)
	}
	text, err := json.Marshal(numbers([]float64{math.Inf(1), math.NaN(), 1e-300, 0.1}))
	if err != nil || string(text) != "[null,null,1e-300,0.1]" {
		t.Errorf("numbers are written %s, %v", text, err)
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
	section := func(title string) string {
		_, rest, _ := strings.Cut(string(text), "\n## "+title+"\n")
		body, _, _ := strings.Cut(rest, "\n## ")
		return body
	}
	fields := func(v any, format string) (names []string) {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if name := f.Tag.Get("json"); name != "" && name != "-" && name != "hello" && name != "n" {
				names = append(names, fmt.Sprintf(format, name))
			}
		}
		return names
	}
	for title, want := range map[string][]string{
		"The hello":  fields(hello{}, "%s"),
		"Answers":    append(fields(answer{}, "%s"), fields(action{}, `{"%s":`)...),
		"Quantities": slices.Collect(maps.Keys(quantities)),
	} {
		var listed []string
		for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+|\\{\"\\w+\":)").FindAllStringSubmatch(section(title), -1) {
			listed = append(listed, row[1])
		}
		slices.Sort(listed)
		slices.Sort(want)
		if !slices.Equal(listed, want) {
			t.Errorf("%s: the page has %v, want %v", title, listed, want)
		}
	}
	answers := regexp.MustCompile("(?m)^← (.*)$").FindAllStringSubmatch(section("A conversation"), -1)
	if len(answers) != 5 {
		t.Fatalf("%d answers", len(answers))
	}
	for i, line := range answers {
		a, err := parse([]byte(line[1]))
		testutil.NoError(t, err)
		if i == 0 {
			_, err = (&program{hello: *a.Hello, code: "command"}).heuristic("mine")
		} else {
			err = a.check()
		}
		if err != nil || a.N != i+1 {
			t.Errorf("%s: %v", line[1], err)
		}
	}
}

// FuzzAnswer: whatever a process answers, a step continues or fails with an error.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"do":[{"remove":3},{"drop":8},{"weights":{"of":1,"weights":[1,2,3]}}],"get":["costs","spent"]}`))
	f.Add([]byte(`{"do":[{"add":{"point":[1,2,3],"weights":[0,0,1e300]}}],"get":["rows","points","columns"],"of":[2,9]}`))
	f.Add([]byte(`{"do":[{"enter":{"point":[1.5,0.5,-1]}},{"remove":9}],"get":["entered"],"values":[[1,2,3]]}`))
	f.Add([]byte(`{"do":[],"get":["ids","ages","samples","self","points","rows","columns","weights","norms","distances","distances_before","x","y"],"packed":true}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		plain, inverse := newView(t), newView(t)
		inverse.inverse = inverse.Elements.(prune.InverseState)
		for _, v := range []*view{plain, inverse} {
			if message, err := answered(v, line); err == nil && !json.Valid(message) {
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
