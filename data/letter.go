package data

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"polkrepro/data/rows"
)

func init() { register("letter", code{load: loadLetter}) }

// loadLetter reads Letter Recognition (Frey and Slate 1991): 20,000 lines, each a letter
// and 16 integers from 0 to 15, which are divided by 15. The first 16,000 are the training
// part, as in the authors' split.
func loadLetter(m *manifestSet, _ Ref, finder Finder) (*Set, error) {
	letters := strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "")
	tables, sums, err := readTables(m, finder, ',', 1, letters, 15)
	if err != nil {
		return nil, err
	}
	all := tables[0]
	return &Set{Name: m.Name, Classes: m.Classes, Train: all.Slice(0, m.Train), Test: all.Slice(m.Train, all.N), Sums: sums}, nil
}

// readTables reads the files of a data set: tables with the class in column label (1 is
// the first, −1 the last) and numbers, which are divided by scale, in all other columns.
// The target is the index of the class in classes. readTables returns a Split for each
// file, and the files' SHA-256 by name.
func readTables(m *manifestSet, finder Finder, separator byte, label int, classes []string, scale float32) ([]*Split, map[string]string, error) {
	contents, sums, err := finder.read(m)
	if err != nil {
		return nil, nil, err
	}
	var out []*Split
	for _, text := range contents {
		r, err := rows.New(bytes.NewReader(bytes.ReplaceAll(text, []byte{separator}, []byte(","))), "", rows.Options{
			Format: rows.FormatCSV, Label: rows.Column{Number: label}, MaxDim: m.Dim, Header: rows.HeaderNo,
		})
		s := &Split{Dim: m.Dim}
		for err == nil {
			var row *rows.Row
			if row, err = r.Next(); err == nil {
				for _, v := range row.Values {
					s.X = append(s.X, float32(v)/scale)
				}
				s.Y = append(s.Y, float64(slices.Index(classes, row.Label)))
				s.N++
			}
		}
		if err != io.EOF {
			return nil, nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		out = append(out, s)
	}
	return out, sums, nil
}
