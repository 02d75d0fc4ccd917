package data

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"polkrepro/data/rows"
)

// Letter Recognition (Frey and Slate 1991): 20,000 lines, each a letter and 16 integers from 0 to 15,
// which are divided by 15. The first 16,000 are the training part, as in the authors' split.
func init() {
	register("letter", code{load: loadTables(',', 1, strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZ", ""), 15)})
}

// loadTables returns a function that loads a data set of tables with the class in column label (1 is
// the first, −1 the last) and numbers, which are divided by scale, in all other columns. The target
// is the index of the class in classes. If there is one file, the training part comes first.
func loadTables(separator byte, label int, classes []string, scale float32) func(*manifestSet, Ref, Finder) (*Set, error) {
	return func(m *manifestSet, _ Ref, finder Finder) (*Set, error) {
		contents, sums, err := finder.read(m)
		if err != nil {
			return nil, err
		}
		var parts []*Split
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
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			parts = append(parts, s)
		}
		if all := parts[0]; len(parts) == 1 {
			parts = []*Split{all.Slice(0, m.Train), all.Slice(m.Train, all.N)}
		}
		return &Set{Name: m.Name, Classes: m.Classes, Train: parts[0], Test: parts[1], Sums: sums}, nil
	}
}
