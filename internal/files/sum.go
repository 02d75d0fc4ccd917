package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// AppendSum completes a text file that ends with its own SHA-256: it returns
// text with the sum of all that precedes it inserted before tail, the bytes
// that text must end with. h is a SHA-256 of what was written before text.
func AppendSum(h hash.Hash, text []byte, tail string) []byte {
	head := bytes.TrimSuffix(text, []byte(tail))
	h.Write(head)
	return append(hex.AppendEncode(bytes.Clone(head), h.Sum(nil)), tail...)
}

// Sum returns the sum before tail in a text file that AppendSum completed, and
// whether it is right: a file that was cut off or changed has a wrong one.
func Sum(file []byte, tail string) (sum string, ok bool) {
	head, ok := bytes.CutSuffix(file, []byte(tail))
	at := len(head) - hex.EncodedLen(sha256.Size)
	if !ok || at < 0 {
		return "", false
	}
	want := sha256.Sum256(head[:at])
	sum = string(head[at:])
	return sum, sum == hex.EncodeToString(want[:])
}
