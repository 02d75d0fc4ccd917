package online

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"

	"polkrepro/data/rows"
)

// ErrOtherFile is wrapped by the error of a training that is to be resumed on a file that does not
// begin with the rows that the model has learned.
var ErrOtherFile = errors.New("the model was trained on other rows")

// A checkpoint says where the training on a file stopped before its end.
type checkpoint struct {
	Epochs int    `json:"epochs"`           // planned number of passes
	Pass   int    `json:"pass"`             // current pass, from 0
	Rows   int    `json:"rows"`             // rows of the pass that the model has learned
	Sum    string `json:"sum"`              // fingerprint of these rows
	Header string `json:"header,omitempty"` // rows.HeaderYes or HeaderNo; empty for LIBSVM
	Whole  string `json:"whole,omitempty"`  // fingerprint of all rows, after the first pass

	Shuffled bool `json:"shuffled,omitempty"` // whether the passes take the rows in the order of a shuffler
}

// Unfinished reports whether the model is from a training of a file that stopped
// before it was finished.
func (m *Model) Unfinished() bool { return m.checkpoint != nil }

// A fingerprint identifies the first rows of a file by the SHA-256 of their
// labels and features.
type fingerprint struct {
	hash hash.Hash
	buf  []byte
}

// newFingerprint returns the fingerprint of no rows.
func newFingerprint() *fingerprint { return &fingerprint{hash: sha256.New()} }

// add adds a row.
func (f *fingerprint) add(row *rows.Row) {
	b := binary.LittleEndian.AppendUint32(f.buf[:0], uint32(len(row.Label)))
	b = append(b, row.Label...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(row.Values)))
	b, _ = binary.Append(b, binary.LittleEndian, row.Values)
	b, _ = binary.Append(b, binary.LittleEndian, row.Indices)
	if row.Weight != 0 {
		b, _ = binary.Append(b, binary.LittleEndian, row.Weight)
	}
	f.hash.Write(b)
	f.buf = b
}

func (f *fingerprint) sum() string { return hex.EncodeToString(f.hash.Sum(nil)) }
