package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"polkrepro/internal/golden"
	"polkrepro/internal/hostile"
	"polkrepro/internal/race"
)

type testMeta struct {
	Learner string `json:"learner"`
	Steps   int    `json:"steps"`
}

// models returns expansions of every kind that can be saved.
func models() map[string]*Expansion {
	r := rand.New(rand.NewPCG(6, 1))
	return map[string]*Expansion{
		"gaussian":   randomExpansion(r, Gaussian{Bandwidth: 0.6}, 5, 3, 2),
		"polynomial": randomExpansion(r, Polynomial{Offset: 0, Degree: 3}, 4, 1, 1),
		"empty":      NewExpansion(Gaussian{Bandwidth: math.Pi}, 7, 10),
		"long":       randomExpansion(r, Gaussian{Bandwidth: 4}, 1200, 9, 3), // longer than the chunk that is read at once
	}
}

func written(t testing.TB, e *Expansion, meta any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := e.Write(&b, meta); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sameBits(t *testing.T, name string, got, want *Expansion) {
	t.Helper()
	if got.Kernel != want.Kernel || got.Outputs != want.Outputs || got.Dict.Dim() != want.Dict.Dim() || got.Order() != want.Order() || len(got.W) != len(want.W) {
		t.Fatalf("%s: read %+v, %d outputs, dimension %d, order %d", name, got.Kernel, got.Outputs, got.Dict.Dim(), got.Order())
	}
	for i, v := range want.Dict.raw {
		if math.Float32bits(v) != math.Float32bits(got.Dict.raw[i]) {
			t.Fatalf("%s: feature %d of all elements is %v, want %v", name, i, got.Dict.raw[i], v)
		}
	}
	for i, v := range want.W {
		if math.Float64bits(v) != math.Float64bits(got.W[i]) {
			t.Fatalf("%s: weight %d of all elements is %v, want %v", name, i, got.W[i], v)
		}
	}
}

// TestRoundTrip: a model is read as it was written, bit for bit, including signed zeros and
// denormals, also from a reader that gives one byte at a time.
func TestRoundTrip(t *testing.T) {
	for name, e := range models() {
		if e.Order() > 1 {
			e.Weights(0)[0], e.Weights(1)[0] = math.Copysign(0, -1), math.SmallestNonzeroFloat64
			e.Dict.At(1)[0] = math.SmallestNonzeroFloat32
		}
		file := written(t, e, testMeta{"polk", 17})
		for _, r := range []io.Reader{bytes.NewReader(file), iotest.OneByteReader(bytes.NewReader(file)), iotest.DataErrReader(bytes.NewReader(file))} {
			var meta testMeta
			got, err := ReadExpansion(r, &meta)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sameBits(t, name, got, e)
			if want := (testMeta{"polk", 17}); meta != want {
				t.Errorf("%s: meta data %+v, want %+v", name, meta, want)
			}
			if again := written(t, got, meta); !bytes.Equal(again, file) {
				t.Errorf("%s: written again it is another file", name)
			}
		}
		if _, err := ReadExpansion(bytes.NewReader(file), nil); err != nil {
			t.Errorf("%s: without meta data: %v", name, err)
		}
	}
	if _, err := ReadExpansion(bytes.NewReader(written(t, models()["empty"], nil)), &testMeta{}); err != nil {
		t.Errorf("nil meta data: %v", err)
	}
}

// TestGolden: models that an earlier version of this program wrote can be read, and are written
// again byte for byte. Overwrite them (go test -run Golden -update) only together with the
// format's version.
func TestGolden(t *testing.T) {
	for name, e := range models() {
		if name == "long" {
			continue
		}
		path := filepath.Join("testdata", name+".polkmdl")
		file := written(t, e, testMeta{"golden", 3})
		if *golden.Update {
			if err := os.WriteFile(path, file, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadExpansion(bytes.NewReader(golden), nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		// The generator of models may change; the contents of the file may not.
		if again := written(t, got, testMeta{"golden", 3}); !bytes.Equal(again, golden) {
			t.Errorf("%s: written again it is another file", path)
		}
	}
}

// TestRefused lists files with one error each, most of them with a correct checksum.
func TestRefused(t *testing.T) {
	const head = `{"kernel":{"type":"gaussian","bandwidth":1},"dim":1,"outputs":1,"order":1,"meta":{}}`
	payload := func(x float32, w float64) []byte {
		b := binary.LittleEndian.AppendUint32(nil, math.Float32bits(x))
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(w))
	}
	if _, err := ReadExpansion(bytes.NewReader(hostile.Model(head, payload(1, 2))), &testMeta{}); err != nil {
		t.Fatalf("a file built by hand: %v", err)
	}
	replaced := func(old, new string) []byte {
		if !strings.Contains(head, old) {
			t.Fatalf("%s is not in the header", old)
		}
		return hostile.Model(strings.Replace(head, old, new, 1), payload(1, 2))
	}
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		file []byte
		want string // in the message
	}{
		"nothing":             {nil, "file is truncated"},
		"another format":      {[]byte("GIF89a, and more than twelve bytes"), "does not start with"},
		"huge header":         {append(append([]byte(nil), magic[:]...), 0xff, 0xff, 0xff, 0xff), "header of"},
		"not JSON":            {hostile.Model("{", nil), "JSON"},
		"no kernel":           {replaced(`"gaussian"`, `""`), "unknown kernel"},
		"unknown kernel":      {replaced(`"gaussian"`, `"laplacian"`), "unknown kernel"},
		"bandwidth 0":         {replaced(`"bandwidth":1`, `"bandwidth":0`), "bandwidth"},
		"bandwidth a string":  {replaced(`"bandwidth":1`, `"bandwidth":"1"`), "bandwidth"},
		"degree 0":            {replaced(`"gaussian","bandwidth":1`, `"polynomial"`), "degree"},
		"dimension 0":         {replaced(`"dim":1`, `"dim":0`), "dimension 0"},
		"dimension −1":        {replaced(`"dim":1`, `"dim":-1`), "dimension -1"},
		"dimension 1.5":       {replaced(`"dim":1`, `"dim":1.5`), "dim"},
		"dimension 1e300":     {replaced(`"dim":1`, `"dim":1e300`), "dim"},
		"outputs 0":           {replaced(`"outputs":1`, `"outputs":0`), "0 outputs"},
		"order −1":            {replaced(`"order":1`, `"order":-1`), "-1 elements"},
		"order 2":             {replaced(`"order":1`, `"order":2`), "file is truncated"},
		"order 0, with data":  {replaced(`"order":1`, `"order":0`), "SHA-256"},
		"order 2^40":          {replaced(`"order":1`, `"order":1099511627776`), "1099511627776"},
		"NaN feature":         {hostile.Model(head, payload(float32(nan), 2)), "NaN"},
		"infinite feature":    {hostile.Model(head, payload(float32(-inf), 2)), "-Inf"},
		"NaN weight":          {hostile.Model(head, payload(1, nan)), "NaN"},
		"infinite weight":     {hostile.Model(head, payload(1, inf)), "+Inf"},
		"meta of other types": {replaced(`"meta":{}`, `"meta":{"learner":7}`), "learner"},
		"no meta":             {replaced(`,"meta":{}`, ``), ""},
	} {
		e, err := ReadExpansion(bytes.NewReader(c.file), &testMeta{})
		if err == nil || e != nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: the error does not wrap ErrFormat: %v", name, err)
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %q does not say %q", name, err, c.want)
		}
	}
}

// TestLyingHeader: no header makes the reader allocate memory for missing data. The limit is the
// cost of one bounded header.
func TestLyingHeader(t *testing.T) {
	const limit = 8 << 20
	kernel := `{"kernel":{"type":"gaussian","bandwidth":1},`
	long := `"dim":16777216`
	for name, file := range map[string][]byte{
		"order":             hostile.Model(kernel+`"dim":1,"outputs":1,"order":2147483648}`, nil),
		"order and outputs": hostile.Model(kernel+`"dim":1,"outputs":2147483648,"order":2147483648}`, make([]byte, 1000)),
		"outputs, empty":    hostile.Model(kernel+`"dim":1,"outputs":2147483648,"order":0}`, nil),
		"dimension":         hostile.Model(kernel+long+`,"outputs":1,"order":1}`, nil),
		"dimension, data":   hostile.Model(kernel+long+`,"outputs":1,"order":1}`, make([]byte, 1<<10)),
		"dimension, empty":  hostile.Model(kernel+long+`,"outputs":1,"order":0}`, nil),
		"meta, deep":        hostile.Model(kernel+`"dim":1,"outputs":1,"order":0,"meta":`+strings.Repeat("[", 1<<19)+strings.Repeat("]", 1<<19)+`}`, nil),
		"header length":     append(append([]byte(nil), magic[:]...), 0, 0, 0x10, 0),
	} {
		t.Run(name, func(t *testing.T) {
			hostile.AtMost(t, limit, func() { ReadExpansion(bytes.NewReader(file), nil) })
		})
	}
}

// TestLongElements: elements longer than the limit are refused. Otherwise missing data could still
// take memory later, when a vector of the announced length is made for a prediction.
func TestLongElements(t *testing.T) {
	kernel := `{"kernel":{"type":"gaussian","bandwidth":1},`
	for _, text := range []string{`"dim":1048577,"outputs":1,"order":0}`, `"dim":1,"outputs":1048577,"order":0}`} {
		if _, err := ReadExpansion(bytes.NewReader(hostile.Model(kernel+text, nil)), nil); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error %v", text, err)
		}
	}
	if e, err := ReadExpansion(bytes.NewReader(hostile.Model(kernel+`"dim":1,"outputs":1048576,"order":0}`, nil)), nil); err != nil || e.Outputs != maxOutputs {
		t.Errorf("the most outputs: %v", err)
	}
	for _, e := range []*Expansion{NewExpansion(Gaussian{1}, maxDim+1, 1), NewExpansion(Gaussian{1}, 1, maxOutputs+1)} {
		if err := e.Write(io.Discard, nil); err == nil || errors.Is(err, ErrFormat) {
			t.Errorf("what can't be read was written: %v", err)
		}
	}
}

// TestAllocLongElement: reading the longest element allowed takes memory in proportion to its
// length.
func TestAllocLongElement(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates too; make test runs it without")
	}
	e := NewExpansion(Gaussian{Bandwidth: 1}, maxDim, 1)
	e.Append(make([]float32, maxDim), []float64{1})
	file := written(t, e, nil)
	hostile.AtMost(t, 8*len(file)+420*maxDim, func() {
		if _, err := ReadExpansion(bytes.NewReader(file), nil); err != nil {
			t.Error(err)
		}
	})
}

// TestReadErrors: an error of the reader itself is returned, and not reported as a corrupt file.
func TestReadErrors(t *testing.T) {
	file := written(t, models()["gaussian"], nil)
	broken := errors.New("broken pipe")
	for n := range file {
		_, err := ReadExpansion(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(broken)), nil)
		if !errors.Is(err, broken) || errors.Is(err, ErrFormat) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

// TestWriteErrors: if the disk is full at any byte, Write returns the error.
func TestWriteErrors(t *testing.T) {
	e := models()["long"]
	size := len(written(t, e, nil))
	for n := 0; n < size; n += 1 + n/50 {
		if err := e.Write(&fullDisk{left: n}, nil); !errors.Is(err, errFull) {
			t.Fatalf("full after %d of %d bytes: %v", n, size, err)
		}
	}
	if err := e.Write(&fullDisk{left: size - 1}, nil); !errors.Is(err, errFull) {
		t.Errorf("full at the last byte: %v", err)
	}
	if err := e.Write(io.Discard, func() {}); err == nil {
		t.Error("meta data that have no JSON were written")
	}
}

type otherKernel struct{ Gaussian }

func (otherKernel) Name() string { return "other" }

var errFull = errors.New("no space left on device")

type fullDisk struct{ left int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.left {
		return d.left, errFull
	}
	d.left -= len(b)
	return len(b), nil
}

// FuzzReadExpansion reads a header and a payload twice: as the fuzzer made them, and with a valid
// magic, length and checksum, so that the code behind the checksum is reached too. Every file that
// is accepted must hold a valid model that survives a round trip.
func FuzzReadExpansion(f *testing.F) {
	for _, e := range models() {
		file := written(f, e, testMeta{"polk", 5})
		header, payload := hostile.Parts(file)
		f.Add([]byte(header), payload)
		f.Add(file, []byte(nil))
	}
	f.Add([]byte(`{"kernel":{"type":"polynomial","degree":1},"dim":1,"outputs":1,"order":1}`), make([]byte, 12))
	f.Fuzz(func(t *testing.T, header, payload []byte) {
		e, err := ReadExpansion(bytes.NewReader(append(append([]byte(nil), header...), payload...)), nil)
		checkRead(t, e, err)
		file := hostile.Model(string(header), payload)
		hostile.AtMost(t, 64*len(file)+400*len(payload)+1<<20, func() { e, err = ReadExpansion(bytes.NewReader(file), nil) })
		checkRead(t, e, err)
	})
}

// checkRead checks the expansion read from a file, or the error.
func checkRead(t *testing.T, e *Expansion, err error) {
	if err != nil {
		if !errors.Is(err, ErrFormat) {
			t.Fatalf("error that does not wrap ErrFormat: %v", err)
		}
		return
	}
	if err := e.Kernel.Validate(); err != nil {
		t.Fatal(err)
	}
	if len(e.W) != e.Order()*e.Outputs {
		t.Fatalf("%d weights for %d elements and %d outputs", len(e.W), e.Order(), e.Outputs)
	}
	again, err := ReadExpansion(bytes.NewReader(written(t, e, nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.W, e.W) || again.Kernel != e.Kernel {
		t.Fatalf("read again: %+v, want %+v", again, e)
	}
}

func ExampleExpansion_Write() {
	e := NewExpansion(Gaussian{Bandwidth: 1}, 2, 1)
	e.Append([]float32{0, 1}, []float64{0.5})
	var file bytes.Buffer
	if err := e.Write(&file, map[string]int{"steps": 3}); err != nil {
		panic(err)
	}
	var meta struct{ Steps int }
	f, err := ReadExpansion(&file, &meta)
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Kernel, f.Order(), f.Weights(0), meta.Steps)
	// Output: {1} 1 [0.5] 3
}
