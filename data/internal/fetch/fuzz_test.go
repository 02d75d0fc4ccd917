package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"polkrepro/internal/testutil"
)

// FuzzGet: whatever a mirror answers, and whatever an earlier download left,
// Get fails or the file is right; nothing else appears, and never more than may
// be taken.
func FuzzGet(f *testing.F) {
	const right = "the right bytes of a file"
	ok := "HTTP/1.1 200 OK\r\nContent-Length: 25\r\nETag: \"1\"\r\n\r\n" + right
	f.Add([]byte(ok), []byte(nil), "")
	f.Add([]byte("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 9-24/25\r\nETag: \"1\"\r\n\r\n"+right[9:]), []byte(ok),
		right[:9])
	f.Add([]byte("HTTP/1.1 416 Range\r\n\r\n"), []byte("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n"), "x")
	f.Add([]byte("HTTP/1.1 404 \x1b[2J\r\nContent-Length: 99999999999\r\n\r\n"), []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n19\r\n"+right+"\r\n0\r\n\r\n"), right)
	f.Fuzz(func(t *testing.T, first, second []byte, partial string) {
		const most = 40
		dir := t.TempDir()
		if partial != "" {
			if err := os.WriteFile(Partial(dir, "file"), []byte(partial), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		answers := [][]byte{first, second}
		client := Client{Tries: 2, Stall: time.Second, Wait: time.Nanosecond}
		client.Transport = testutil.RoundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Scheme != "http" && r.URL.Scheme != "https" {
				t.Errorf("asked for %s", r.URL)
			}
			if len(answers) == 0 {
				return nil, errors.New("no more answers")
			}
			answer := answers[0]
			answers = answers[1:]
			return http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), r)
		})
		name, _, err := client.Get(t.Context(), File{Dir: dir, Name: "file", URLs: []string{"http://mirror/file"}, Max: most,
			Accept: func(path string) (string, error) {
				switch b, err := os.ReadFile(path); {
				case err != nil:
					return "", err
				case string(b) == right:
					return "file", nil
				case strings.HasPrefix(right, string(b)):
					return "", io.ErrUnexpectedEOF
				}
				return "", errors.New("wrong bytes")
			}})
		if err != nil && strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("error %q", err)
		}
		entries, listing := os.ReadDir(dir)
		if listing != nil {
			t.Fatal(listing)
		}
		for _, e := range entries {
			b, _ := os.ReadFile(filepath.Join(dir, e.Name()))
			switch {
			case e.Name() == "file" && string(b) == right && err == nil && name == "file":
			case e.Name() == "file.partial" && err != nil && len(b) <= max(most, len(partial)):
			default:
				t.Errorf("%s is there with %q after name %q, error %v", e.Name(), b, name, err)
			}
		}
	})
}
