package kernel

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"polkrepro/internal/hostile"
)

var errNoScale = errors.New("no scale")

func init() { Register[diagonal](); Register[forgetful]() }

// forgetful has a field that is not saved.
type forgetful struct {
	Polynomial
	hidden int
}

func (forgetful) Name() string { return "test-forgetful" }

// TestRegisteredKernel: a model with a registered kernel is read as it was
// written.
func TestRegisteredKernel(t *testing.T) {
	k := diagonal{Scale: []float64{1, 0.1, 1e-300}}
	e := randomExpansion(rand.New(rand.NewPCG(8, 1)), k, 4, 3, 2)
	file := written(t, e, nil)
	got, err := ReadExpansion(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Kernel, Kernel(k)) || !bytes.Equal(written(t, got, nil), file) {
		t.Errorf("read %+v with weights %v, want %+v with %v", got.Kernel, got.W, k, e.W)
	}
}

func TestKernelsWithoutSavedForm(t *testing.T) {
	for what, k := range map[string]Kernel{
		"unknown kernel": otherKernel{},
		"changes when":   forgetful{Polynomial{0, 1}, 1},
	} {
		if err := NewExpansion(k, 1, 1).Write(io.Discard, nil); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%T: %v, want %q", k, err, what)
		}
	}
	if err := NewExpansion(forgetful{Polynomial{0, 1}, 0}, 1, 1).Write(io.Discard, nil); err != nil {
		t.Errorf("a kernel with nothing to forget: %v", err)
	}
}

func TestDamagedParameters(t *testing.T) {
	const head = `{"kernel":{"type":"test-diagonal"PARAMS},"dim":1,"outputs":1,"order":0}`
	for params, want := range map[string]string{
		`,"params":{"scale":[]}`:            "no scale",
		`,"params":{"scale":"x"}`:           "cannot unmarshal",
		`,"params":{"scale":[1],"shift":1}`: "unknown field",
		`,"params":null`:                    "no scale",
		``:                                  "",
	} {
		file := hostile.Model(strings.Replace(head, "PARAMS", params, 1), nil)
		if _, err := ReadExpansion(bytes.NewReader(file), nil); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}

func TestRegisterPanics(t *testing.T) {
	for name, register := range map[string]func(){"test-diagonal": Register[diagonal], "gaussian": Register[shifted]} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if want := "kernel: kernel " + name + " is already registered"; recover() != want {
					t.Errorf("no panic %q", want)
				}
			}()
			register()
		})
	}
}
