// Package hostile helps to test readers with files that someone made in order
// to do harm: it measures what memory a reader allocates, and seals the bytes
// of a fuzzer as a program would that knows the format.
package hostile

import (
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"testing"
)

// AtMost fails the test if f allocates more than limit bytes, those included that are
// collected before it ends: no less than what it adds to the memory in use. Other
// goroutines are counted too.
func AtMost(t testing.TB, limit int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(limit) {
		t.Errorf("%d bytes allocated, more than %d", n, limit)
	}
}

// Model returns a file in the format of kernel.Expansion.Write with a header
// and a payload, under the right length and checksum.
func Model(header string, payload []byte) []byte { return Seal("POLKMDL\x01", header, payload) }

// Seal returns a file of package modelfile that starts with magic.
func Seal(magic, header string, payload []byte) []byte {
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	b = append(append(b, header...), payload...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// Parts is the inverse of Seal: the header and the payload of a file.
func Parts(file []byte) (header string, payload []byte) {
	end := 12 + int(binary.LittleEndian.Uint32(file[8:]))
	return string(file[12:end]), file[end : len(file)-sha256.Size]
}
