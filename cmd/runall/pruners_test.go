package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"polkrepro/harness"
)

// prunerProcess removes the elements of least cost, or fails if $PRUNER is "fails".
func prunerProcess() {
	order := 0
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m map[string]map[string]json.RawMessage
		json.Unmarshal(line, &m)
		switch {
		case m["hello"] != nil:
			fmt.Println(`{"hello":{"version":1,"about":"removes the cheapest","inverse":true,"params":[{"name":"order","about":"M","integer":true,"least":1,"grid":[16]}]}}`)
		case m["start"] != nil:
			var p struct{ Order int }
			json.Unmarshal(m["start"]["params"], &p)
			order = p.Order
		case os.Getenv("PRUNER") == "fails":
			fmt.Fprintln(os.Stderr, "out of ideas")
			os.Exit(7)
		default:
			fmt.Printf("{\"do\":[{\"remove_least\":{\"leave\":%d}}],\"done\":true}\n", order)
		}
	}
}

// TestRepeatCommands: the printed commands for repeating runs include --pruner.
func TestRepeatCommands(t *testing.T) {
	q := reporting{opt: harness.Options{Results: "rq"}, profile: "smoke", pruners: []string{"mine=./mine.py", "ours=python3 ours.py"}}
	line := q.line("reproduce", "own.yaml")
	if !strings.HasSuffix(line, "reproduce own.yaml --profile smoke --pruner mine=./mine.py --pruner 'ours=python3 ours.py' --results rq") {
		t.Error(line)
	}
}
