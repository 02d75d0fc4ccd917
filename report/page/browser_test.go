//go:build check

package page

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"polkrepro/internal/testutil"
)

// A browser is a headless Chromium with one page, driven over two pipes in the
// DevTools protocol: messages of JSON, each ended by a zero byte.
type browser struct {
	out     *os.File
	in      *bufio.Reader
	session string
	last    int
	events  []message // all received so far
}

// A message is what the browser sends: the answer to a call, or an event.
type message struct {
	ID                    int
	Error, Result, Params json.RawMessage
	Method                string
}

// openBrowser starts Chromium, which the test needs.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	for _, name := range []string{"chromium-browser", "google-chrome"} {
		if err != nil {
			path, err = exec.LookPath(name)
		}
	}
	testutil.Need(t, err)
	toBrowser, out := pipe(t)
	in, fromBrowser := pipe(t)
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // 3 and 4, as the browser expects
	testutil.NoError(t, cmd.Start())
	toBrowser.Close()
	fromBrowser.Close()
	b := &browser{out: out, in: bufio.NewReader(in)}
	t.Cleanup(func() {
		b.send("Browser.close", nil)
		cmd.Wait()
		stop()
	})
	var target struct{ TargetID string }
	b.call(t, "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call(t, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID // from now on, calls go to this page
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(t, domain+".enable", nil, nil)
	}
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	testutil.NoError(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// send writes a call.
func (b *browser) send(method string, params any) error {
	b.last++
	msg := map[string]any{"id": b.last, "method": method}
	if params != nil {
		msg["params"] = params
	}
	if b.session != "" {
		msg["sessionId"] = b.session
	}
	line, err := json.Marshal(msg)
	if err == nil {
		_, err = b.out.Write(append(line, 0))
	}
	return err
}

// ask sends a call and collects events until its answer is there.
func (b *browser) ask(t *testing.T, method string, params any) message {
	t.Helper()
	if err := b.send(method, params); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	for {
		if m := b.receive(t); m.ID == b.last {
			return m
		}
	}
}

// call is ask for a call that must succeed. It decodes the answer into result unless result is nil.
func (b *browser) call(t *testing.T, method string, params, result any) {
	t.Helper()
	m := b.ask(t, method, params)
	if m.Error != nil {
		t.Fatalf("%s: %s", method, m.Error)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
}

// receive reads a message and keeps it if it is an event.
func (b *browser) receive(t *testing.T) (m message) {
	t.Helper()
	line, err := b.in.ReadBytes(0)
	if err != nil {
		t.Fatalf("the browser ended: %v", err)
	}
	testutil.NoError(t, json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &m))
	if m.Method != "" {
		b.events = append(b.events, m)
	}
	return m
}

// open shows a page and waits until it is loaded.
func (b *browser) open(t *testing.T, url string) {
	t.Helper()
	from := len(b.events)
	b.call(t, "Page.navigate", map[string]any{"url": url}, nil)
	for {
		for _, e := range b.events[from:] {
			if e.Method == "Page.loadEventFired" {
				return
			}
		}
		b.receive(t)
	}
}

// width sets the width of the page in CSS pixels.
func (b *browser) width(t *testing.T, width int) {
	t.Helper()
	b.call(t, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
}

// eval evaluates an expression in the page and decodes its value into result.
func (b *browser) eval(t *testing.T, expression string, result any) {
	t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call(t, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(answer.Result.Value, result); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
}

// complaints returns the errors and warnings that the page caused, and its requests to other
// addresses.
func (b *browser) complaints(t *testing.T, own string) (out []string) {
	t.Helper()
	for _, e := range b.events {
		var p struct {
			Type    string
			Entry   struct{ Level, Text string }
			Request struct{ URL string }
		}
		testutil.NoError(t, json.Unmarshal(e.Params, &p))
		switch {
		case e.Method == "Runtime.exceptionThrown",
			e.Method == "Runtime.consoleAPICalled" && (p.Type == "error" || p.Type == "warning"),
			e.Method == "Log.entryAdded" && (p.Entry.Level == "error" || p.Entry.Level == "warning"):
			out = append(out, fmt.Sprintf("%s: %s", e.Method, e.Params))
		case e.Method == "Network.requestWillBeSent" && p.Request.URL != own && !strings.HasPrefix(p.Request.URL, "data:"):
			out = append(out, "asks for "+p.Request.URL)
		}
	}
	return out
}
