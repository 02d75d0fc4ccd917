package spec

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"polkrepro/polk/prune"
)

// ResultVersion is part of every run's identity. Raise it whenever a change alters the
// results of all runs (the order of the stream, the computation of an evaluation), so
// that older records are no longer taken for the same run.
const ResultVersion = 2

// A CodeVersion is the version of a method, kernel, task's loss or data set in versions.json.
// TestCodeVersions of package harness repeats the run that gave Result, and raises the version
// if it is told that another result is right. The versions of heuristics are in
// polk/prune/versions.json.
type CodeVersion struct {
	Version int       `json:"version"`
	Result  []float64 `json:"result,omitempty"`
}

//go:embed versions.json
var versionsJSON []byte

// CodeVersions returns the versions by name, such as "method polk". A name that is not
// listed is at its first version.
var CodeVersions = sync.OnceValue(func() map[string]CodeVersion {
	var all map[string]CodeVersion
	if err := json.Unmarshal(versionsJSON, &all); err != nil {
		panic("spec: versions.json: " + err.Error())
	}
	return all
})

// PresentCode distinguishes the run's result from results of other code. It names each
// part (pruner, method, kernel, loss, data set) that is not at the first of its recorded
// versions, such as "pruner twin: source 0dd1f09ac7b2". Usually it is empty.
func (r Run) PresentCode() string {
	var parts []string
	set := "data " + r.Data.Name
	if r.Data.Own() {
		set = "data files" // the code that reads them
	}
	for _, part := range []string{"method " + r.Method, "kernel " + r.Params.Kernel.Type, "task " + r.Task, set} {
		if v := CodeVersions()[part].Version; v > 1 {
			parts = append(parts, fmt.Sprintf("%s: version %d", part, v))
		}
	}
	if m := Method(r.Method); m != nil && m.param("pruner") != nil {
		if h, ok := prune.Lookup(r.Params.PrunerName()); ok {
			if code := h.Code(); code != "" {
				parts = append(parts, "pruner "+h.Name+": "+code)
			}
		}
	}
	return strings.Join(parts, ", ")
}

// CodeName returns a run's [Run.Code] in words.
func CodeName(code string) string { return cmp.Or(code, "the recorded versions") }

// CodeNote counts runs by their code, such as "12 of pruner twin: source 0dd1f09ac7b2".
func CodeNote(runs []Run) string {
	count := make(map[string]int)
	for _, r := range runs {
		count[r.Code]++
	}
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d of %s", count[code], CodeName(code)))
	}
	return strings.Join(parts, "; ")
}

// MixedCode says how many runs of a plan are of other code than this program's. It is
// empty if there are none.
func MixedCode(plan []Planned) string {
	var other []Run
	for _, p := range plan {
		if p.Run.Code != p.Run.PresentCode() {
			other = append(other, p.Run)
		}
	}
	if len(other) == 0 {
		return ""
	}
	return fmt.Sprintf("%d runs are of other code: %s.", len(other), CodeNote(other))
}

// ID returns the identity of a run: the first 16 bytes, in lower-case
// hexadecimal, of the SHA-256 of the canonical JSON of the run and
// ResultVersion. It does not depend on the name and the path of a user's data.
// It panics if a parameter is not a finite number.
func ID(run Run) string { return idBy(ResultVersion, run) }

// Identifies reports whether id is the [ID] that this or an earlier ResultVersion gives a run.
func Identifies(id string, run Run) bool {
	for version := ResultVersion; version > 0; version-- {
		if id == idBy(version, run) {
			return true
		}
	}
	return false
}

func idBy(version int, run Run) string {
	run.Data = run.Data.Content()
	b, err := CanonicalJSON(struct {
		ResultVersion int `json:"result_version"`
		Run           Run `json:"run"`
	}{version, run})
	if err != nil {
		panic("spec: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// CodelessID returns the [ID] that a run has without its code. All runs that differ only
// in their code share it.
func CodelessID(run Run) string {
	run.Code = ""
	return ID(run)
}

// CanonicalJSON returns the JSON of v in a form that depends on its contents
// only: no white space, the keys of every object sorted, numbers as
// encoding/json writes them, no HTML escapes. Reordering the fields of a struct
// does not change it.
func CanonicalJSON(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
