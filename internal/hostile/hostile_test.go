package hostile

import (
	"bytes"
	"testing"

	"polkrepro/kernel"
)

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
