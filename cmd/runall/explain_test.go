package main

import (
	"testing"
)

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"a/b-c": "a/b-c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`} {
		if got := quote(word); got != want {
			t.Errorf("%q becomes %s, want %s", word, got, want)
		}
	}
}
