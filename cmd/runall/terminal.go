package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"polkrepro/internal/charset"
)

// A display says how text for people is written to standard output.
type display struct {
	ascii bool // the locale has no other characters
	width int  // of the terminal; 0 of anything else
}

// displayOf returns how text is written to w.
func displayOf(w io.Writer) display {
	var d display
	terminal := false
	if f, ok := raw(w).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		terminal = true
		d.width, _, _ = term.GetSize(int(f.Fd())) // 0 if the terminal does not say
	}
	d.ascii = !charset.UTF8() && (terminal || charset.Chosen())
	return d
}

// forPrograms reports whether what a command writes is read by programs: then
// not a byte of it is changed.
func forPrograms(cmd *cobra.Command) bool {
	for _, name := range []string{"json", "csv"} {
		if f := cmd.Flag(name); f != nil && f.Value.String() == "true" {
			return true
		}
	}
	switch cmd.Name() {
	case "predict", "export", "draws", "serve":
		return true
	case "report":
		return cmd.Flag("format").Value.String() != "text"
	}
	return false
}

// readable returns a line for people as the locale of w can show it.
func readable(w io.Writer, s string) string { return display{ascii: displayOf(w).ascii}.line(s) }

// narrowest is the width of a terminal below which lines are left to it.
const narrowest = 20

// line returns a line as it is displayed: one that is too long for the terminal
// is continued, indented, on the next ones, after the last column or word that
// has room.
func (d display) line(s string) string {
	s = charset.Shown(s)
	if d.ascii {
		s = charset.Line(s)
	}
	if d.width < narrowest || utf8.RuneCountInString(s) <= d.width {
		return s
	}
	const indent = "    "
	var b strings.Builder
	rest, room := []rune(s), d.width
	for len(rest) > room {
		cut := room
		if end := lastGap(rest[:room+1]); end > room/3 {
			cut = end
		}
		b.WriteString(strings.TrimRight(string(rest[:cut]), " "))
		rest = []rune(strings.TrimLeft(string(rest[cut:]), " "))
		if len(rest) == 0 {
			return b.String()
		}
		b.WriteString("\n" + indent)
		room = d.width - len(indent)
	}
	b.WriteString(string(rest))
	return b.String()
}

// lastGap returns where the last run of two blanks or more ends in a text, unless
// it is in the first third, and the last blank then; 0 if there is none.
func lastGap(text []rune) int {
	s := string(text)
	for _, gap := range []string{"  ", " "} {
		if i := strings.LastIndex(s, gap); i >= 0 {
			if n := utf8.RuneCountInString(s[:i]); n > len(text)/3 {
				return n
			}
		}
	}
	return 0
}
