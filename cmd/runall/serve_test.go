package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// A malformed request ends the process with an error. A request that can't be answered gets an
// error as its answer, and the process continues.
func TestServe(t *testing.T) {
	var row bytes.Buffer
	binary.Write(&row, binary.LittleEndian, []float64{0.5, 1}) // a feature and a class
	const begin = `{"op":"begin","dim":1,"labels":["no","yes"]}` + "\n"
	for _, tt := range []struct{ in, out, err string }{
		{in: ""},
		{in: "hello\n", err: "want a line of JSON"},
		{in: `{"op":"fit","dim":65536,"rows":4294967296}` + "\nxxxxxxxx", err: "fit: EOF"},
		{in: `{"op":"load","bytes":9223372036854775807}` + "\nPOLK", err: "load: EOF"},
		{in: begin + `{"op":"learn","rows":-1}` + "\n", out: "{}\n", err: "-1 rows"},
		{in: strings.Replace(begin, `,"yes"`, "", 1) + `{"op":"learn","rows":1}` + "\n" + row.String(), out: "{}\n", err: "target 1 of row 1"},
		{in: begin + `{"op":"learn","rows":1}` + "\n" + row.String() + `{"op":"scores","rows":1}` + "\n" + row.String()[:8],
			out: "{}\n{\"choosing\":true}\n{\"bytes\":16}\n"},
		{in: strings.Replace(begin, `"dim"`, `"flags":{"pruner":"komp-order","pruner-params":"order=7"},"dim"`, 1), out: "{}\n"},
		{in: `{"op":"save"}` + "\n" + strings.Replace(begin, "begin", "dance", 1) + strings.Replace(begin, `"dim"`, `"flags":{"order":"many"},"dim"`, 1),
			out: `{"error":"\"save\" before there is a model"}` + "\n" + `{"error":"\"dance\" before there is a model"}` + "\n" +
				`{"error":"invalid argument \"many\" for \"--order\" flag: must be an integer from 1 to 8192"}` + "\n"},
	} {
		var out bytes.Buffer
		s := server{in: bufio.NewReader(strings.NewReader(tt.in)), out: &out}
		err := s.run(t.Context())
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || !strings.HasPrefix(out.String(), tt.out) {
			t.Errorf("%q: %v\n%s", tt.in, err, out.String())
		}
	}
}
