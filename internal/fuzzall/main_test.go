package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseList(t *testing.T) {
	got := parseList("FuzzRead\nFuzzUnpack\nok  \tpolkrepro/record\t0.01s\nok  \tpolkrepro/report\t0.01s\n" +
		"?   \tpolkrepro/x\t[no test files]\nFuzzParse\nok  \tpolkrepro/experiments\t(cached)\n")
	want := []target{{"polkrepro/record", "FuzzRead"}, {"polkrepro/record", "FuzzUnpack"}, {"polkrepro/experiments", "FuzzParse"}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestParseCounts(t *testing.T) {
	got := parseCounts([]byte("fuzz: elapsed: 0s, gathering baseline coverage: 0/5 completed\n" +
		"fuzz: elapsed: 3s, execs: 100 (33/sec), new interesting: 2 (total: 7)\n" +
		"fuzz: elapsed: 6s, execs: 250 (50/sec), new interesting: 3 (total: 8)\nPASS\n"))
	if want := (counts{"250", "3"}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// A finding is an error of the whole, and so is a list without a target.
func TestReport(t *testing.T) {
	fine := outcome{target: target{"polkrepro/record", "FuzzRead"}, counts: counts{"12", "3"}, seconds: 60.2}
	bad := outcome{target: target{"polkrepro/data", "FuzzReadIDX"}, err: errors.New("exit status 1"), text: "Failing input written to x"}
	var b strings.Builder
	if err := report(&b, []outcome{fine}); err != nil || !strings.Contains(b.String(), "record.FuzzRead  60       12          3                none\n") {
		t.Errorf("error %v, table\n%s", err, b.String())
	}
	if err := report(&b, []outcome{fine, bad}); err == nil || !strings.Contains(err.Error(), "written to x") {
		t.Errorf("error %v", err)
	}
	if err := report(&b, nil); err == nil {
		t.Error("no targets are no error")
	}
}
