package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/internal/files"
)

// PlanName is the plan's file in its folder.
const PlanName = "plan.json"

// Limits of what is read: a file of the most bytes takes some hundred thousand
// runs, and some seven times as much memory.
const (
	maxPlan   = 128 << 20
	maxText   = 512     // bytes of a name
	maxMemory = 1 << 30 // MiB
)

// sumTail is what follows the sum in the file.
const sumTail = "\"\n}\n"

// encode returns the plan's file and completes the plan by its sum.
func (p *Plan) encode() ([]byte, error) {
	p.Sum = ""
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(p); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	if b.Len() > maxPlan {
		return nil, fmt.Errorf("cluster: a plan of %d runs takes %d bytes, more than %d", len(p.Runs), b.Len(), maxPlan)
	}
	file := files.AppendSum(sha256.New(), b.Bytes(), sumTail)
	p.Sum, _ = files.Sum(file, sumTail)
	return file, nil
}

// Read reads the plan in a folder. Nothing in the file is trusted: it must be
// as it was written, byte for byte, and its runs must be what specs can plan,
// with the IDs that this program gives them. No path in it is followed. The
// error wraps harness.ErrUsage.
func Read(dir string) (*Plan, error) {
	path := filepath.Join(dir, PlanName)
	b, err := files.ReadNamed(path, maxPlan)
	if err == nil {
		var p *Plan
		if p, err = Parse(b); err == nil {
			return p, nil
		}
		err = fmt.Errorf("%s: %w", path, err)
	}
	return nil, harness.Usage(err)
}

// Parse reads a plan's file from memory; see Read.
func Parse(b []byte) (*Plan, error) {
	if len(b) > maxPlan {
		return nil, fmt.Errorf("more than %d bytes", maxPlan)
	}
	if _, ok := files.Sum(b, sumTail); !ok {
		return nil, ErrChanged
	}
	if err := checkVersions(b); err != nil {
		return nil, err
	}
	var p Plan
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	// What is read otherwise than it is written, a key given twice say, is
	// not what this program wrote.
	if again, err := p.encode(); err != nil || !bytes.Equal(again, b) {
		return nil, ErrChanged
	}
	return &p, nil
}

// checkVersions reports a plan that this program can't read, before anything
// that depends on it.
func checkVersions(b []byte) error {
	var p struct {
		Format  int     `json:"format"`
		Program Program `json:"program"`
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	if p.Format != Format {
		return fmt.Errorf("format %d, this program reads %d", p.Format, Format)
	}
	if v := p.Program.ResultVersion; v != experiments.ResultVersion {
		return fmt.Errorf("%w: %v; this one is of %v", ErrProgram, p.Program, ThisProgram())
	}
	return nil
}

// check reports what no plan of this program says.
func (p *Plan) check() error {
	if !slices.Contains(experiments.Profiles(), p.Profile) {
		return fmt.Errorf("no profile %q", p.Profile)
	}
	if len(p.Runs) == 0 {
		return errors.New("a plan of no runs")
	}
	sums, unused := p.sums(), p.sums()
	if len(sums) != len(p.Data) {
		return errors.New("a data set is given twice")
	}
	ids := make(map[string]bool, len(p.Runs))
	for i := range p.Runs {
		r := &p.Runs[i]
		if err := r.check(i); err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
		if ids[r.ID] {
			return fmt.Errorf("run %d: duplicate", i)
		}
		ids[r.ID] = true
		ref := r.Run.Data
		if sums[ref] == nil {
			return fmt.Errorf("run %d: the plan has no sums of its data", i)
		}
		delete(unused, ref)
	}
	if len(unused) > 0 || !slices.Equal(p.Specs, specsOf(p.Runs)) {
		return errors.New("it names data or specs that no run uses")
	}
	return p.checkTasks()
}

// check reports what can't be the plan's run of that index.
func (r *IndexedRun) check(index int) error {
	if r.Index != index {
		return fmt.Errorf("its index is %d", r.Index)
	}
	for _, text := range []string{r.Spec, r.Label, r.Series} {
		if len(text) > maxText || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
			return fmt.Errorf("%.40q is not a valid name", text)
		}
	}
	if !(r.Cost >= 0) {
		return fmt.Errorf("its cost is %v", r.Cost)
	}
	if err := r.Run.Check(); err != nil {
		return err
	}
	if present := r.Run.PresentCode(); r.Run.Code != present {
		return fmt.Errorf("it was planned with other code (%s; here %s): plan again with this program", experiments.CodeName(r.Run.Code), experiments.CodeName(present))
	}
	if id := experiments.ID(r.Run); r.ID != id {
		return fmt.Errorf("its ID is %.40q, not %s", r.ID, id)
	}
	return nil
}

// checkTasks reports tasks that don't do every run once.
func (p *Plan) checkTasks() error {
	done := make([]bool, len(p.Runs))
	left := len(p.Runs)
	large := false
	for k, t := range p.Tasks {
		if len(t.Runs) == 0 || t.Memory < 1 || t.Memory > maxMemory {
			return fmt.Errorf("task %d: %d runs in %d MiB", k, len(t.Runs), t.Memory)
		}
		if large && t.Memory <= largeMemory {
			return fmt.Errorf("task %d: it is among those of large memory", k)
		}
		large = t.Memory > largeMemory
		for _, i := range t.Runs {
			if i < 0 || i >= len(done) || done[i] {
				return fmt.Errorf("task %d: no run %d is left to do", k, i)
			}
			done[i] = true
			left--
		}
	}
	if left > 0 {
		return fmt.Errorf("%d runs are in no task", left)
	}
	return nil
}
