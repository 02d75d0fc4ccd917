package files

import (
	"crypto/sha256"
	"strings"
	"testing"
)

// TestSum checks that the sum is that of all preceding bytes, and that a text with another
// byte or another length is rejected.
func TestSum(t *testing.T) {
	const tail = "\"}\n"
	h := sha256.New()
	h.Write([]byte("first\n"))
	whole := "first\n" + string(AppendSum(h, []byte(`{"sum":"`+tail), tail))
	// printf 'first\n{"sum":"' | sha256sum
	const want = "493304ead1bf06a2387b2ca5bc0805f735aee5ff07a668dda1c200ceead8a303"
	if whole != "first\n{\"sum\":\""+want+tail {
		t.Fatalf("%q", whole)
	}
	if sum, ok := Sum([]byte(whole), tail); !ok || sum != want {
		t.Errorf("sum %q, %v", sum, ok)
	}
	for n := range len(whole) {
		if _, ok := Sum([]byte(whole[:n]), tail); ok {
			t.Errorf("cut off after %d bytes: accepted", n)
		}
		if b := []byte(whole); b[n] != 'x' {
			b[n] = 'x'
			if _, ok := Sum(b, tail); ok {
				t.Errorf("byte %d changed: accepted", n)
			}
		}
	}
	if _, ok := Sum([]byte(whole+"\n"), tail); ok {
		t.Error("a byte added: accepted")
	}
	if _, ok := Sum([]byte(strings.ToUpper(whole)), tail); ok {
		t.Error("upper case: accepted")
	}
}
