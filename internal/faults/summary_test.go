//go:build check && linux

package faults

import (
	"fmt"
	"strings"
)

// A summaryTable counts the outcomes of trials by fault and command.
type summaryTable map[[2]string]*[outcomes]int

func (s summaryTable) add(of scenario, outcome int) {
	key := [2]string{of.fault.name, of.cmd.name}
	if s[key] == nil {
		s[key] = new([outcomes]int)
	}
	s[key][outcome]++
}

// trials returns the number of trials of a fault and a command.
func (s summaryTable) trials(fault, command string) (n int) {
	if counts := s[[2]string{fault, command}]; counts != nil {
		for _, c := range counts {
			n += c
		}
	}
	return n
}

// text returns the table in Markdown, with what was left out below it.
func (s summaryTable) text(scenarios []scenario, left []string) string {
	var b strings.Builder
	b.WriteString("| fault | command | trials | survived at once | resumed | refused, then resumed | violations |\n|---|---|--:|--:|--:|--:|--:|\n")
	var total [outcomes]int
	trials := 0
	for _, of := range scenarios {
		n := s.trials(of.fault.name, of.cmd.name)
		if n == 0 {
			continue
		}
		c := s[[2]string{of.fault.name, of.cmd.name}]
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d |\n", of.fault.name, of.cmd.name, n, c[survived], c[resumed], c[refused], c[violated])
		trials += n
		for i := range total {
			total[i] += c[i]
		}
	}
	fmt.Fprintf(&b, "| all | | %d | %d | %d | %d | %d |\n", trials, total[survived], total[resumed], total[refused], total[violated])
	for _, l := range left {
		fmt.Fprintf(&b, "\nLeft out: %s.\n", l)
	}
	return b.String()
}
