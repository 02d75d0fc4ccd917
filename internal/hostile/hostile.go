// Package hostile helps to test readers with malicious files. It measures how much memory a
// reader allocates, and it adds a valid header length and checksum to the bytes of a fuzzer.
package hostile

import (
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"testing"
)

// AtMost fails the test if f allocates more than limit bytes in total, including
// memory that is collected before f ends. The total is at least the growth of the
// memory in use. Allocations of other goroutines count too.
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

// Model returns a file in the format of kernel.Expansion.Write with the given header
// and payload and with a correct length and checksum.
func Model(header string, payload []byte) []byte { return Seal("POLKMDL\x01", header, payload) }

// Seal returns a file in the format of package modelfile that starts with magic.
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
