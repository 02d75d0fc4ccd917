package hostile

import (
	"bytes"
	"testing"

	"polkrepro/kernel"
)

var sink []byte

type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestAtMost(t *testing.T) {
	allocate := func() {
		for range 4 {
			sink = make([]byte, 1<<20)
		}
	}
	if n := Allocated(allocate); n < 4<<20 || n > 5<<20 {
		t.Errorf("%d bytes, want 4 MiB", n)
	}
	var r recorder
	if AtMost(&r, 5<<20, allocate); r.failed {
		t.Error("4 MiB are more than 5 MiB")
	}
	if AtMost(&r, 3<<20, allocate); !r.failed {
		t.Error("4 MiB are not more than 3 MiB")
	}
}

// Model makes files that package kernel reads, and Parts takes its own apart.
func TestModel(t *testing.T) {
	e := kernel.NewExpansion(kernel.Gaussian{Bandwidth: 2}, 3, 1)
	e.Append([]float32{1, 2, 3}, []float64{4})
	var file bytes.Buffer
	if err := e.Write(&file, nil); err != nil {
		t.Fatal(err)
	}
	header, payload := Parts(file.Bytes())
	if !bytes.Equal(Model(header, payload), file.Bytes()) {
		t.Errorf("header %s with %d bytes", header, len(payload))
	}
}
