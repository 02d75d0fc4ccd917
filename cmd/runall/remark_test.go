package main

import (
	"errors"
	"strings"
	"testing"

	"polkrepro/harness"
)

// TestRemark: runs that failed for the same reason share one text.
func TestRemark(t *testing.T) {
	var said strings.Builder
	failed := func(id, text string) harness.FailedRun { return harness.FailedRun{ID: id, Err: errors.New(text)} }
	remark(&said, "results", &harness.Outcome{Failed: []harness.FailedRun{
		failed("a", "POLK, seed 1: after 0 samples: it ended:\n  line 1\n  KeyError"),
		failed("b", "POLK, seed 2: after 32 samples: out of ideas"),
		failed("c", "POLK, seed 3: after 64 samples: it ended:\n  line 1\n  KeyError"),
	}})
	const want = `failed, see results/records/a.failed.jsonl: POLK, seed 1: after 0 samples: it ended:
  line 1
  KeyError
2 runs failed for this reason; the others:
  results/records/c.failed.jsonl: POLK, seed 3: after 64 samples
failed, see results/records/b.failed.jsonl: POLK, seed 2: after 32 samples: out of ideas
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
