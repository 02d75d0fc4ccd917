package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"polkrepro/harness"
)

// prunerProcess removes the elements that cost least before the step. If $PRUNER is "fails", it fails
// in the first step, and if it is "speaks", it writes a line after the last one.
func prunerProcess() {
	steps := 0
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if steps > 0 && os.Getenv("PRUNER") == "speaks" {
				fmt.Println("goodbye")
			}
			return
		}
		var m struct {
			N     int
			Hello *struct{}
			Step  struct{ Params struct{ Order int } }
			Given struct{ Costs []float64 }
		}
		json.Unmarshal(line, &m)
		switch {
		case m.Hello != nil:
			fmt.Printf(`{"n":%d,"hello":{"version":1,"about":"removes the cheapest","inverse":true,"wants":["costs"],"params":[{"name":"order","about":"M","integer":true,"least":1,"grid":[16]}]}}`+"\n", m.N)
		case os.Getenv("PRUNER") == "fails":
			fmt.Fprintln(os.Stderr, "out of ideas")
			os.Exit(7)
		default:
			steps++
			var do []string
			for costs := m.Given.Costs; len(costs)-len(do) > m.Step.Params.Order; {
				j := slices.Index(costs, slices.Min(costs))
				costs[j] = math.Inf(1)
				do = append(do, fmt.Sprintf(`{"remove":%d}`, j))
			}
			fmt.Printf("{\"n\":%d,\"do\":[%s],\"done\":true}\n", m.N, strings.Join(do, ","))
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
