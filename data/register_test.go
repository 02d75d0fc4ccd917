package data_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/data/rows"
	"polkrepro/internal/testutil"
)

// rings returns points on two rings about the origin.
func rings(n int, turn float64) *data.Split {
	s := &data.Split{N: n, Dim: 2, X: make([]float32, 2*n), Y: make([]float64, n)}
	for i := range n {
		class := i % 2
		angle, radius := turn+float64(i), float64(1+class)
		s.X[2*i], s.X[2*i+1] = float32(radius*math.Cos(angle)), float32(radius*math.Sin(angle))
		s.Y[i] = float64(class)
	}
	return s
}

// A program adds a data set that its specs can name: {name: two-rings}.
func ExampleRegister() {
	data.Register(data.Registration{
		Info: data.Info{Name: "two-rings", Title: "Two rings", Classes: 2, Dim: 2, Train: 300, Test: 100},
		Code: "version 1", // raise it when the points change: it is part of the runs' identity
		Load: func(data.Ref) (*data.Set, error) {
			return &data.Set{Train: rings(300, 0), Test: rings(100, 0.5)}, nil
		},
	})
	set, err := data.Load(data.Ref{Name: "two-rings"}, data.Finder{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %d classes, %d and %d examples of %d features\n", set.Name, set.Classes, set.Train.N, set.Test.N, set.Train.Dim)
	// Output:
	// two-rings: 2 classes, 300 and 100 examples of 2 features
}

// A program plans experiments on files.
func ExampleSource_Open() {
	_, _, err := data.Source{Train: "measured.csv", Label: rows.Column{Name: "kind"}, Holdout: 0.2, Scale: rows.ScaleStandard}.Open()
	fmt.Println(errors.Is(err, data.ErrNotAvailable), err)
	// Output:
	// true measured.csv: data not available: missing file
}

// TestRegister checks that Load validates registered data sets and that RegisteredCode
// returns their code.
func TestRegister(t *testing.T) {
	spoil := map[string]func(*data.Set){
		"":                                  func(*data.Set) {},
		"lacks a training or a test part":   func(s *data.Set) { s.Test = nil },
		"want 30 of 2":                      func(s *data.Set) { s.Train = rings(31, 0) },
		"feature 1 of test example 3":       func(s *data.Set) { s.Test.X[7] = float32(math.NaN()) },
		"the target of training example 2 ": func(s *data.Set) { s.Train.Y[2] = 2 },
	}
	n := 0
	for want, change := range spoil {
		n++
		name := fmt.Sprintf("spoiled-%d", n)
		data.Register(data.Registration{
			Info: data.Info{Name: name, Title: "Rings", Classes: 2, Dim: 2, Train: 30, Test: 10, Variants: []string{"plain", "odd"}}, Code: "sum 12",
			Load: func(ref data.Ref) (*data.Set, error) {
				s := &data.Set{Train: rings(30, 0), Test: rings(10, 0.5)}
				change(s)
				return s, nil
			},
		})
		set, err := data.Load(data.Ref{Name: name, Variant: "odd"}, data.Finder{})
		if want == "" {
			if err != nil || set.Name != name || set.Sums[name] == "" {
				t.Errorf("%+v, %v", set, err)
			}
		} else if !errors.Is(err, data.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if code := data.RegisteredCode(name); code != "sum 12" {
			t.Errorf("code %q", code)
		}
		if !slices.ContainsFunc(data.List(), func(i data.Info) bool { return i.Name == name && i.Kind == data.KindGenerated }) {
			t.Errorf("%s is not listed", name)
		}
	}
	if data.RegisteredCode("mnist") != "" {
		t.Error("mnist has a registered code")
	}
	good := data.Registration{Info: data.Info{Name: "taken", Title: "T", Classes: 2, Dim: 1, Train: 1, Test: 1}, Code: "1", Load: func(data.Ref) (*data.Set, error) { return nil, nil }}
	data.Register(good)
	for what, change := range map[string]func(*data.Registration){
		"taken": func(*data.Registration) {}, "name": func(r *data.Registration) { r.Name = "No name" }, "code": func(r *data.Registration) { r.Name, r.Code = "a", "" },
		"load": func(r *data.Registration) { r.Name, r.Load = "b", nil }, "classes": func(r *data.Registration) { r.Name, r.Classes = "c", 1 },
	} {
		t.Run(what, func(t *testing.T) {
			r := good
			change(&r)
			testutil.MustPanic(t, func() { data.Register(r) })
		})
	}
}
