package data

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/race"
)

// smallTable writes small files in place of a data set's text files, and changes the
// manifest accordingly for the rest of the test.
func smallTable(t *testing.T, name string, texts ...string) Finder {
	t.Helper()
	m := must(lookup(name))
	before := *m
	t.Cleanup(func() { *m = before })
	dir := t.TempDir()
	m.Files = nil
	for i, text := range texts {
		file := entry(before.Files[i].Name, []byte(text), false)
		m.Files = append(m.Files, file)
		writeFile(t, filepath.Join(dir, file.Name), []byte(text))
	}
	return Finder{Dir: dir}
}

func TestLetter(t *testing.T) {
	line := ",0,15,3,5,1,8,13,0,6,6,10,8,0,8,0,8\n"
	f := smallTable(t, "letter", strings.Repeat("A"+line, 16000)+"Z"+line+"B"+line)
	s := must(Load(Ref{Name: "letter"}, f))
	if s.Classes != 26 || s.Train.N != 16000 || s.Test.N != 2 || s.Test.Y[0] != 25 || s.Test.Y[1] != 1 || s.Test.X[1] != 1 || s.Test.X[2] != 0.2 {
		t.Errorf("%d classes, %d and %d examples, of which the first for testing is of class %v: %v", s.Classes, s.Train.N, s.Test.N, s.Test.Y[0], s.Test.X[:16])
	}
}

func TestSatimage(t *testing.T) {
	row := strings.Repeat("51 ", 36)
	s := must(Load(Ref{Name: "satimage"}, smallTable(t, "satimage", row+"7\n"+row+"1\n", row+"5\n")))
	if s.Classes != 6 || s.Train.N != 2 || s.Test.N != 1 || s.Train.Y[0] != 5 || s.Train.Y[1] != 0 || s.Test.Y[0] != 4 || s.Test.X[0] != 0.2 {
		t.Errorf("%+v", s)
	}
}

func TestA9A(t *testing.T) {
	s := must(Load(Ref{Name: "a9a"}, smallTable(t, "a9a", "-1 3:1 123:1 \r\n+1 1:1\r\n", "+1 2:1 \r\n")))
	if s.Classes != 2 || s.Train.N != 2 || s.Test.N != 1 || !slices.Equal(s.Train.Y, []float64{0, 1}) || s.Test.Y[0] != 1 || s.Train.X[2] != 1 || s.Train.X[122] != 1 || s.Train.X[123] != 1 || s.Train.X[1] != 0 {
		t.Errorf("%+v", s)
	}
}

// TestSameFileNames: MNIST's and Fashion-MNIST's files have the same names, and neither
// is taken for the other.
func TestSameFileNames(t *testing.T) {
	m := must(lookup("fashion-mnist"))
	root := t.TempDir()
	there := func(dir, name string) bool { return Finder{Dir: dir}.Available(Ref{Name: name}) == nil }
	t.Chdir(root)
	t.Setenv(EnvDir, "")
	for folder, want := range map[string][2]bool{"plain": {true, false}, "mnist": {true, false}, "fashion-mnist": {false, true}} {
		dir := filepath.Join(root, "of-"+folder, folder)
		for _, f := range m.Files {
			writeFile(t, filepath.Join(dir, f.Name), nil)
		}
		for i, name := range []string{"mnist", "fashion-mnist"} {
			if got := there(dir, name); got != want[i] {
				t.Errorf("in folder %s: %s is found: %v", folder, name, got)
			}
		}
	}
	if there(filepath.Join(root, "of-fashion-mnist"), "mnist") || !there(filepath.Join(root, "of-fashion-mnist"), "fashion-mnist") {
		t.Error("in the folder above")
	}
}

// TestPublicSets loads the real files, where available.
func TestPublicSets(t *testing.T) {
	if race.Enabled {
		t.Skip("the files are read as TestMNIST reads its own")
	}
	for name, rows := range map[string][2]int{"fashion-mnist": {60000, 10000}, "letter": {16000, 4000}, "satimage": {4435, 2000}, "a9a": {32561, 16281}} {
		t.Run(name, func(t *testing.T) { checkPublic(t, name, rows) })
	}
}

func checkPublic(t *testing.T, name string, rows [2]int) {
	s := must(Load(Ref{Name: name}, needReal(t, name)))
	if s.Train.N != rows[0] || s.Test.N != rows[1] || s.Name != name {
		t.Errorf("%s: %d and %d examples", s.Name, s.Train.N, s.Test.N)
	}
	for _, split := range []*Split{s.Train, s.Test} {
		counts := make([]int, s.Classes)
		for _, y := range split.Y {
			counts[int(y)]++
		}
		for c, n := range counts {
			if n < split.N/s.Classes/3 {
				t.Errorf("%s: %d examples of class %d", name, n, c)
			}
		}
	}
}
