package experiments

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// ResultVersion is part of every run's identity. Raise it whenever a change
// makes a run's result differ from what it was (an algorithm, a generator, the
// order of the stream, what an evaluation computes), so that older records are
// no longer taken for the same run.
const ResultVersion = 2

// ID returns the identity of a run: the first 16 bytes, in lower-case
// hexadecimal, of the SHA-256 of the canonical JSON of the run and
// ResultVersion. It panics if a parameter is not a finite number.
func ID(run Run) string {
	b, err := CanonicalJSON(struct {
		ResultVersion int `json:"result_version"`
		Run           Run `json:"run"`
	}{ResultVersion, run})
	if err != nil {
		panic("experiments: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
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
