package main

import (
	"errors"
	"strings"
	"testing"

	"polkrepro/harness"
)

// TestRemark: only the first failure has its whole text.
func TestRemark(t *testing.T) {
	var said strings.Builder
	failed := func(id, text string) harness.FailedRun { return harness.FailedRun{ID: id, Err: errors.New(text)} }
	remark(&said, "results", &harness.Outcome{Failed: []harness.FailedRun{
		failed("a", "POLK, seed 1: it ended:\n  line 1\n  KeyError"),
		failed("b", "POLK, seed 2: out of ideas"),
		failed("c", "POLK, seed 3: it ended:\n  line 1\n  KeyError"),
	}})
	const want = `failed, see results/records/a.failed.jsonl: POLK, seed 1: it ended:
  line 1
  KeyError
failed, see results/records/b.failed.jsonl: POLK, seed 2: out of ideas
failed, see results/records/c.failed.jsonl: POLK, seed 3: it ended: … KeyError
`
	if said.String() != want {
		t.Errorf("%s\nwant %s", said.String(), want)
	}
	said.Reset()
	p := newProgress(harness.ProgressPlain, &said)
	p.Report(harness.Event{Kind: harness.EventFail, ID: "a", Message: "it ended:\n  line 1\n  KeyError"})
	p.Close()
	if !strings.Contains(said.String(), "it ended: … KeyError (1 of 0)\n") {
		t.Error(said.String())
	}
}
