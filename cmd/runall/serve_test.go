package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"polkrepro/internal/testutil"
)

// A target that is no class or not finite gets an error as its answer, from fit as from learn, and
// none of the request's rows is learned.
func TestServeTargets(t *testing.T) {
	for labels, wrong := range map[string][]float64{
		`,"labels":["a","b"]`:         {1e300, math.Inf(1), math.Inf(-1), math.NaN(), 9.3e18, 1.9999, -0.5, -1, 2},
		`,"flags":{"loss":"squared"}`: {math.Inf(1), math.Inf(-1), math.NaN()},
	} {
		ask := func(op string, rows ...float64) string { // each a feature, and then each a target
			var body bytes.Buffer
			binary.Write(&body, binary.LittleEndian, rows)
			return fmt.Sprintf(`{"op":%q,"rows":%d,"dim":1%s}`+"\n%s", op, len(rows)/2, labels, body.String())
		}
		begin, good, after := ask("begin"), ask("learn", 3, 4, 0, 1), `{"op":"save"}`+"\n"
		want := served(t, begin+good+after)
		if !strings.HasPrefix(want, "{}\n{\"choosing\":true}\n{\"choosing\":true,\"order\":2,") {
			t.Errorf("%.200q", want)
		}
		for _, y := range wrong {
			refused := regexp.QuoteMeta(fmt.Sprintf(`{"error":"target %v of row 2: want `, y)) + ".*\n"
			got := served(t, ask("fit", 1, 2, 1, y)+begin+ask("learn", 1, 2, 1, y)+good+ask("learn", 1, 2, 1, y)+after)
			errors := regexp.MustCompile(refused)
			if n := len(errors.FindAllString(got, -1)); n != 3 || errors.ReplaceAllString(got, "") != want {
				t.Errorf("%v: %d errors in %.400q", y, n, got)
			}
		}
	}
}

// Sparse features make the model and the scores of the same dense features. Counts and indices that
// do not fit are an error, and nothing is learned.
func TestServeSparse(t *testing.T) {
	t.Parallel()
	ask := func(header string, rows ...float64) string {
		var body bytes.Buffer
		binary.Write(&body, binary.LittleEndian, rows)
		return header + "\n" + body.String()
	}
	begin, after := `{"op":"begin","dim":3,"labels":["a","b"]}`+"\n", `{"op":"save"}`+"\n"
	dense := ask(`{"op":"learn","rows":3}`, 0, 2, 3, 0, 0, 0, 4, 0, 0, 1, 0, 1) + after + ask(`{"op":"scores","rows":1}`, 0, 7, 0)
	sparse := ask(`{"op":"learn","rows":3,"entries":3}`, 2, 0, 1, 1, 2, 0, 2, 3, 4, 1, 0, 1) + after + ask(`{"op":"scores","rows":1,"entries":1}`, 1, 1, 7)
	want := served(t, begin+dense)
	if got := served(t, begin+sparse); got != want || strings.Contains(got, "error") {
		t.Errorf("sparse: %.300q, dense: %.300q", got, want)
	}
	for rows, wrong := range map[string][]float64{
		"row 2 has 2 of 2 entries":       {1, 2, 0, 0, 5, 5, 0, 0},
		"row 1 has -1 of 2 entries":      {-1, 2, 0, 0, 5, 5, 0, 0},
		"row 1 has 0.5 of 2 entries":     {0.5, 1, 0, 0, 5, 5, 0, 0},
		"row 1 has NaN of 2 entries":     {math.NaN(), 1, 0, 0, 5, 5, 0, 0},
		"index 0 of row 1 after 1: want": {2, 0, 1, 0, 5, 5, 0, 0},
		"index 1 of row 1 after 1: want": {2, 0, 1, 1, 5, 5, 0, 0},
		"index 3 of row 1 after -1":      {2, 0, 3, 4, 5, 5, 0, 0},
		"index 0.5 of row 1 after -1":    {2, 0, 0.5, 1, 5, 5, 0, 0},
		"index NaN of row 2 after -1":    {1, 1, 0, math.NaN(), 5, 5, 0, 0},
	} {
		got := served(t, begin+ask(`{"op":"learn","rows":2,"entries":2}`, wrong...)+dense)
		if first, rest, _ := strings.Cut(got, "}\n"); first != "{" || !strings.Contains(strings.SplitN(rest, "\n", 2)[0], rows) || !strings.HasSuffix(got, want[3:]) {
			t.Errorf("%s: %.300q", rows, got)
		}
	}
}

// served returns the answers to requests.
func served(t *testing.T, requests string) string {
	t.Helper()
	var out bytes.Buffer
	s := server{in: bufio.NewReader(strings.NewReader(requests)), out: &out}
	testutil.NoError(t, s.run(t.Context()))
	return out.String()
}

// FuzzServe: whatever the requests, each answer is a line of JSON with the bytes that it announces.
func FuzzServe(f *testing.F) {
	row := string(make([]byte, 16))
	for _, flags := range []string{`"labels":["no","yes"]`, `"flags":{"loss":"squared","no-tune":"true"}`, `"labels":["1","2"],"flags":{"order":"3","batch":"1"}`} {
		f.Add([]byte(`{"op":"begin","dim":1,` + flags + "}\n" + `{"op":"learn","rows":1}` + "\n" + row + `{"op":"scores","rows":2}` + "\n" + row + `{"op":"save"}` + "\n"))
		f.Add([]byte(`{"op":"fit","rows":4,"dim":1,` + flags + "}\n" + row + row + row + "\x00\x00\x00\x00\x00\x00\xf0?" + row[8:] + `{"op":"save"}` + "\n"))
	}
	f.Add([]byte(`{"op":"begin","dim":2,"labels":["a","b"]}` + "\n" + `{"op":"learn","rows":1,"entries":1}` + "\n\x00\x00\x00\x00\x00\x00\xf0?" + row[:8] + row))
	f.Add([]byte(`{"op":"load","bytes":4}` + "\nPOLK\n"))
	f.Fuzz(func(t *testing.T, requests []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var out bytes.Buffer
		s := server{in: bufio.NewReader(bytes.NewReader(requests)), out: &out}
		s.run(ctx)
		for r := bufio.NewReader(&out); ; {
			line, err := r.ReadBytes('\n')
			if err == io.EOF && len(line) == 0 {
				return
			}
			var a reply
			if err := json.Unmarshal(line, &a); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if n, err := r.Discard(a.Bytes); err != nil {
				t.Fatalf("%d bytes after %q", n, line)
			}
		}
	})
}

// A malformed request ends the process with an error. A request that can't be answered gets an
// error as its answer, and the process continues.
func TestServe(t *testing.T) {
	var row bytes.Buffer
	binary.Write(&row, binary.LittleEndian, []float64{0.5, 1}) // a feature and a class
	const begin = `{"op":"begin","dim":1,"labels":["no","yes"]}` + "\n"
	for _, tt := range []struct{ in, out, err string }{
		{in: ""},
		{in: "hello\n", err: "want a line of JSON"},
		{in: strings.Repeat(" ", maxRequest+1<<17), err: "a line of more than 16777216 bytes"},
		{in: `{"op":"fit","dim":65536,"rows":4294967296}` + "\nxxxxxxxx", err: `"fit": EOF`},
		{in: `{"op":"load","bytes":9223372036854775807}` + "\nPOLK", err: `"load": EOF`},
		{in: begin + `{"op":"learn","rows":-1}` + "\n", out: "{}\n", err: "-1 rows"},
		{in: begin + `{"op":"learn","rows":1,"entries":2}` + "\n", out: "{}\n", err: "2 entries of 1 rows of 1 features"},
		{in: strings.Replace(begin, `,"yes"`, "", 1), out: `{"error":"online: 1 classes, want 2 to 1024"}` + "\n"},
		{in: strings.Replace(begin, `"dim"`, `"flags":{"out":"m"},"dim"`, 1), out: `{"error":"no such flag -out"}` + "\n"},
		{in: strings.Replace(begin, `"dim"`, `"flags":{"order":"7","pruner":"komp"},"dim"`, 1), out: `{"error":"--order and --pruner exclude each other: give only one"}` + "\n"},
		{in: strings.Replace(begin, "begin", "fit", 1), out: `{"error":"no rows to learn"}` + "\n"},
		{in: strings.Replace(begin, `"dim":1`, `"dim":0`, 1), out: `{"error":"rows of 0 features: want 1 to 65536"}` + "\n"},
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
			t.Errorf("%.200q: %v\n%s", tt.in, err, out.String())
		}
	}
}
