package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

const reference = "../../results/reference/bench/"

// TestRecorded: the recorded results give the recorded tables. That of products had a
// column more, the multiply-adds alone.
func TestRecorded(t *testing.T) {
	in, err := os.Open(reference + "bench.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	want, err := os.ReadFile(reference + "bench.md")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := write(&got, in); err != nil {
		t.Fatal(err)
	}
	const second = "\n## A few rows"
	_, wanted, _ := strings.Cut(string(want), second)
	if _, tables, ok := strings.Cut(got.String(), second); !ok || tables != wanted {
		t.Errorf("the tables are\n%s", tables)
	}
	for _, line := range []string{"- goamd64: v1\n", "| f32 | 32x784x1000 | 2 | 158 | 170 | 169 | 130 | 26.7 | 1.21 | 1.30 | 6.35 |\n"} {
		if !strings.Contains(got.String(), line) {
			t.Errorf("no %q", line)
		}
	}
}

func TestErrors(t *testing.T) {
	err := write(io.Discard, strings.NewReader("goos: linux\nBenchmarkX-2 10 ten ns/op\n"))
	if err == nil || err.Error() != `line 2: X: "ten" is not a number` {
		t.Errorf("got %v", err)
	}
}
