//go:build check && linux

package faults

import (
	"slices"
	"strings"
	"testing"
)

// TestCheckJudge: errors that no user should see, and results that are not the
// wanted ones, are told from those that are.
func TestCheckJudge(t *testing.T) {
	full := []refusal{one("no space left")}
	for _, tt := range []struct {
		code       int
		text, want string
	}{
		{1, "start a\nrunall: write x: no space left on device\n", ""},
		{2, "runall: write x: no space left on device\n", "none of the fault's"},
		{1, "runall: write x: permission denied\n", "none of the fault's"},
		{1, "write x: no space left on device\n", "without one clear line"},
		{1, "runall: no space left\nand more\n", "without one clear line"},
		{2, "panic: no space left\n\ngoroutine 1 [running]:\n", `it says "panic"`},
		{1, "runall: a defect of this program: no space left\n", "a defect"},
	} {
		if got := unclear(tt.code, tt.text, full); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("exit %d, %q: %q, want %q", tt.code, tt.text, got, tt.want)
		}
	}
	want := state{".lock": varies, "records/a.jsonl": "1", "records/b.jsonl": "2", "report/index.md": "3"}
	got := state{".lock": varies, "records/a.jsonl": "9", "records/b.jsonl": damaged + "torn", "records/.b.jsonl-1.tmp": ""}
	differences := []string{"records/a.jsonl is different: 9", "records/b.jsonl is different: damaged: torn", "report/index.md is missing", "records/.b.jsonl-1.tmp is left over"}
	if d := got.differences(want); !slices.Equal(d, differences) {
		t.Errorf("differences %q", d)
	}
	if b := got.believed(want); len(b) != 1 || !strings.HasPrefix(b[0], "records/a.jsonl") {
		t.Errorf("believed %q", b)
	}
	if d := want.differences(want); len(d) != 0 {
		t.Errorf("differences of the same %q", d)
	}
}
