package spec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
)

// ownSpec is a spec on a user's file.
const ownSpec = `name: own
title: My own rows
task: ksvm
data: {train: sub/rows.csv, label: kind, holdout: 0.25, scale: standard}
kernel: {type: gaussian, bandwidth: 1}
regularizer: 1e-6
methods:
  - {method: polk, learning_rate: 1, batch_size: 4, parsimony: 0.01}
stopping: {epochs: 2}
evaluation: {every: 20, tail: 2, train_limit: 0}
`

// ownRows returns 40 rows of two classes.
func ownRows() string {
	var b strings.Builder
	b.WriteString("x,y,kind\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d,%s\n", i*i%17, i%5, []string{"elm", "oak"}[i%2])
	}
	return b.String()
}

// writeFiles writes files into a new folder.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeFile(t, dir, name, text)
	}
	return dir
}

// writeFile writes a file and returns its path.
func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	testutil.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)))
	return path
}

// TestOwnData checks that the runs of a spec on files are identified by the files' contents.
func TestOwnData(t *testing.T) {
	dir := writeFiles(t, map[string]string{"own.yaml": ownSpec, "sub/rows.csv": ownRows()})
	plan := planOfSpec(filepath.Join(dir, "own.yaml"), ProfileFull)
	run := plan[0].Run
	if run.Data.Name != "rows" || run.Samples != 60 || plan[0].Cost != 60*(2+elementWork)*defaultOrder || len(run.Problems()) > 0 {
		t.Errorf("%s: %d samples, cost %v, %v", run.Data.Name, run.Samples, plan[0].Cost, run.Problems())
	}
	if b, err := CanonicalJSON(run.Data); err != nil || strings.Contains(string(b), dir) || strings.Contains(string(b), "sub") || !strings.Contains(string(b), `"sha256":"`) {
		t.Errorf("the reference is written as %s, %v", b, err)
	}
	id := func(files map[string]string, spec string) string {
		dir := writeFiles(t, files)
		return planOfSpec(filepath.Join(dir, spec), ProfileFull)[0].ID
	}
	change := func(old, new string) string {
		if !strings.Contains(ownSpec, old) {
			t.Fatalf("no %q in the spec", old)
		}
		return strings.Replace(ownSpec, old, new, 1)
	}
	same := map[string]string{
		"elsewhere":       id(map[string]string{"own.yaml": ownSpec, "sub/rows.csv": ownRows()}, "own.yaml"),
		"renamed":         id(map[string]string{"own.yaml": change("sub/rows.csv", "other.csv"), "other.csv": ownRows()}, "own.yaml"),
		"named":           id(map[string]string{"own.yaml": change("{train", "{name: mine, train"), "sub/rows.csv": ownRows()}, "own.yaml"),
		"label by number": id(map[string]string{"own.yaml": change("label: kind", "label: -1, header: yes"), "sub/rows.csv": ownRows()}, "own.yaml"),
		"included": id(map[string]string{"a/own.yaml": "include: [b/base.yaml]\nname: own\n", "a/b/base.yaml": strings.Replace(ownSpec, "name: own\n", "", 1),
			"a/b/sub/rows.csv": ownRows()}, "a/own.yaml"),
	}
	for name, got := range same {
		if got != plan[0].ID {
			t.Errorf("%s: another run", name)
		}
	}
	for name, spec := range map[string]string{"scale": change("standard", "unit"), "holdout": change("0.25", "0.5"), "ignore": change("kind,", "kind, ignore: [y],"),
		"categories": change("kind,", "kind, categories: [y],"), "missing": change("kind,", "kind, missing: drop,")} {
		if id(map[string]string{"own.yaml": spec, "sub/rows.csv": ownRows()}, "own.yaml") == plan[0].ID {
			t.Errorf("%s: the same run", name)
		}
	}
}

// TestOwnDataMissing checks that a spec whose file is missing has runs that can't be
// started, like runs on MNIST without its files.
func TestOwnDataMissing(t *testing.T) {
	dir := writeFiles(t, map[string]string{"own.yaml": ownSpec})
	plan := planOfSpec(filepath.Join(dir, "own.yaml"), ProfileFull)
	err := data.Finder{}.Available(plan[0].Run.Data)
	if len(plan) != 1 || !errors.Is(err, data.ErrNotAvailable) || !strings.Contains(err.Error(), filepath.Join(dir, "sub", "rows.csv")) {
		t.Errorf("%d runs, %v", len(plan), err)
	}
}

// TestOwnErrors compares the errors of invalid data, with their places in the spec, with
// testdata/own.golden. Package data tests more errors of files. To update the file:
// go test ./experiments -run TestOwnErrors -update
func TestOwnErrors(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"sub/rows.csv": ownRows(),
		"sub/bad.csv":  ownRows() + "1,blue,elm\n",
		"sub/esc.csv":  ownRows() + "1,\x1b[2J,elm\n",
		"array.csv":    "\x93NUMPY\x01\x00",
	})
	var out strings.Builder
	for _, c := range []string{
		"{train: sub/rows.csv, label: kind}",
		"{train: sub/rows.csv, holdout: 0.25}",
		"{train: sub/rows.csv, label: 0, holdout: 0.25}",
		"{train: sub/rows.csv, label: '', holdout: 0.25}",
		"{train: sub/rows.csv, label: [1], holdout: 0.25}",
		"{train: sub/rows.csv, label: 1.5, holdout: 0.25}",
		"{train: sub/rows.csv, label: kind, holdout: 0}",
		"{train: sub/rows.csv, label: kind, holdout: 0.25, split_seed: 0}",
		"{train: sub/rows.csv, label: kind, holdout: 0.25, variant: raw}",
		"{train: sub/rows.csv, label: kind, holdout: 0.25, ignore: [x, z]}",
		"{train: sub/rows.csv, label: kind, holdout: 0.25, ignored: [x]}",
		"{train: sub/rows.csv, label: kind, holdout: 0.25, categories: [kind]}",
		"{train: sub/rows.csv, label: kind, holdout: 0.25, missing: zero}",
		"{train: sub/rows.csv, label: kind, holdout: 0.25, decimal: ','}",
		"{train: sub/rows.csv, label: kind, holdout: 0.25, delimiter: ;;}",
		"{train: sub/rows.csv, label: kind, holdout: 0.25, zero_based: true}",
		"{train: sub/rows.csv, label: kind, test: array.csv}",
		"{train: sub/bad.csv, label: kind, holdout: 0.25}",
		"{train: sub/esc.csv, label: kind, holdout: 0.25}",
		"{train: array.csv, label: kind, holdout: 0.25}",
		"{name: multidist, scale: unit}",
		"{scale: unit}",
	} {
		src := strings.Replace(ownSpec, "{train: sub/rows.csv, label: kind, holdout: 0.25, scale: standard}", c, 1)
		_, err := plannedOne(Parse(filepath.Join(dir, "own.yaml"), []byte(src)))
		var list Errors
		if !errors.As(err, &list) {
			t.Errorf("%s: %v", c, err)
			continue
		}
		fmt.Fprintln(&out, strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	golden.Check(t, "testdata/own.golden", out.String())
	src := strings.Replace(ownSpec, "stopping", "repeats: [{draws: figure}]\nstopping", 1)
	if _, err := plannedOne(Parse(filepath.Join(dir, "own.yaml"), []byte(src))); err == nil || !strings.Contains(err.Error(), "data set rows is fixed: draws applies only to generated data") {
		t.Errorf("draws of a file: %v", err)
	}
	src = strings.Replace(ownSpec, "stopping", "repeats: [{draws: [2, 1], seeds: [3]}]\nstopping", 1)
	plan, err := plannedOne(Parse(filepath.Join(dir, "own.yaml"), []byte(src)))
	if of, resplit := Replicates(plan); err != nil || !resplit || plan[0].Run.Data.Files.SplitSeed != 2 || plan[0].Run.Data.Draw != 0 || of[0][0] != 2 || of[1][0] != 1 {
		t.Errorf("resplits: %v, %+v", err, plan)
	}
}

// plannedOne returns the runs of the only spec of a file.
func plannedOne(specs []*Spec, err error) ([]Planned, error) {
	s, err := one(specs, err)
	if err != nil {
		return nil, err
	}
	return s.Plan(ProfileFull, PlanOptions{})
}

// TestParseOpensNoData checks that a spec is checked without its data files, which Plan describes.
func TestParseOpensNoData(t *testing.T) {
	dir := writeFiles(t, map[string]string{"sub/rows.csv": "x,y,kind\n1,blue,elm\n"})
	path := filepath.Join(dir, "own.yaml")
	if _, err := Parse(path, []byte(strings.Replace(ownSpec, "standard", "none, label: kin", 1))); err == nil || strings.Contains(err.Error(), "rows.csv") {
		t.Errorf("two labels: %v", err)
	}
	s := must(one(Parse(path, []byte(ownSpec))))
	var list Errors
	if _, err := s.Plan(ProfileFull, PlanOptions{}); !errors.As(err, &list) || list[0].Line != 4 || !strings.Contains(err.Error(), `feature "blue" is not a number`) {
		t.Errorf("words in the file: %v", err)
	}
	if s.Data.Files.Train.SHA256 != "" || s.Data.Name != "rows" {
		t.Errorf("the parsed spec has %+v", s.Data)
	}
}

// ownComparison is a comparison on a user's file.
const ownComparison = `name: mine
title: Mine
compare: {reference: komp, heuristics: [merging], orders: [2, 4]}
data: {train: rows.csv, label: kind, holdout: 0.25, split_seed: 1}
task: ksvm
kernel: {type: gaussian, bandwidth: 1}
regularizer: 1e-6
defaults: {polk: {learning_rate: 1, batch_size: 4}}
stopping: {samples: 60}
repeats: {seeds: 2}
`

// TestOwnComparison: a comparison takes files as a spec does.
func TestOwnComparison(t *testing.T) {
	dir := writeFiles(t, map[string]string{"t.yaml": ownComparison, "rows.csv": ownRows(), "drawn.yaml": strings.Replace(ownComparison, "data:", "methods: []\ndata:", 1),
		"bad.yaml": strings.Replace(ownComparison, "label: kind", "label: sort", 1)})
	tour := must(FindComparison(filepath.Join(dir, "t.yaml")))
	plan, err := tour.Plan(ProfileSmoke)
	if err != nil || len(plan) < 4 {
		t.Fatalf("%d runs, %v", len(plan), err)
	}
	if f := tour.DataSets[0]; f.Data.Name != "rows" || plan[0].Cost != 60*(2+elementWork)*defaultOrder || plan[0].Run.Data != f.Data {
		t.Errorf("field on %v, cost %v", f.Data, plan[0].Cost)
	}
	for name, want := range map[string]string{"drawn.yaml": "a comparison has no methods", "bad.yaml": `no column "sort": want one of x, y, kind`} {
		tour, err := FindComparison(filepath.Join(dir, name))
		if err == nil {
			_, err = tour.Plan(ProfileSmoke)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestOwnKeys compares the keys of a spec's data with the fields of a data.Source.
func TestOwnKeys(t *testing.T) {
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[data.Source]()) {
		// The task determines Regression; Say and Fitted are not keys of a spec, and Columns holds some.
		if !slices.Contains([]string{"Regression", "Say", "Fitted", "Columns"}, f.Name) {
			fields = append(fields, strings.ToLower(f.Name))
		}
	}
	keys := []string{"name"}
	for key := range testutil.ReadSchema(t, "schema.json")["$defs"].(map[string]any)["Data"].(map[string]any)["properties"].(map[string]any) {
		if key != "name" && key != "variant" {
			keys = append(keys, strings.ReplaceAll(key, "_", ""))
		}
	}
	slices.Sort(fields)
	slices.Sort(keys)
	if !slices.Equal(fields, keys) {
		t.Errorf("a Source has %v, a spec's data %v", fields, keys)
	}
}

// TestVaried checks the words for what differs between the runs of a setting, by a spec's repeats.
func TestVaried(t *testing.T) {
	dir := writeFiles(t, map[string]string{"sub/rows.csv": ownRows(), "test.csv": "x,y,kind\n90,1,elm\n91,2,oak\n"})
	for repeats, want := range map[string]string{
		"{seeds: 3}":                  "splits",
		"[{draws: [1], seeds: 3}]":    "orders of one split",
		"[{draws: [1, 2], seeds: 2}]": "orders of 2 splits",
		"[{draws: [1], seeds: [1]}, {draws: [2], seeds: [2]}]": "splits",
		"[{seeds: 1}]": "",
	} {
		plan := planOfSpec(writeFile(t, dir, "own.yaml", ownSpec+"repeats: "+repeats+"\n"), ProfileFull)
		if got := Varied(plan); got != want {
			t.Errorf("%s: %q, want %q", repeats, got, want)
		}
	}
	text := strings.Replace(ownSpec, "holdout: 0.25", "test: test.csv", 1) + "repeats: [{seeds: 3}]\n"
	if got := Varied(planOfSpec(writeFile(t, dir, "own.yaml", text), ProfileFull)); got != "orders of one training file" {
		t.Errorf("a test file: %q", got)
	}
}
