package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// AppendSum completes a text file that ends with its own SHA-256. text must end with
// tail; AppendSum returns text with the sum of all preceding bytes inserted before
// tail. h is the SHA-256 hash of everything that was written before text.
func AppendSum(h hash.Hash, text []byte, tail string) []byte {
	head := bytes.TrimSuffix(text, []byte(tail))
	h.Write(head)
	return append(hex.AppendEncode(bytes.Clone(head), h.Sum(nil)), tail...)
}

// Sum returns the sum before tail in a text file completed by AppendSum, and whether
// it is correct. The sum of a truncated or changed file is wrong.
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
