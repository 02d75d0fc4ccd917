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
	register("letter", code{load: loadRows(',', csv(1), strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZ", ""), 15)})
}

// csv returns the options of tables with the class in column label: 1 is the first, −1 the last.
func csv(label int) rows.Options {
	return rows.Options{Format: rows.FormatCSV, Label: rows.Column{Number: label}, Header: rows.HeaderNo}
}

// loadRows returns a function that loads a data set of rows with the options, after a separator has
// become a comma. The features are divided by scale. The target is the index of the class in classes.
// If there is one file, the training part comes first.
func loadRows(separator byte, opts rows.Options, classes []string, scale float32) func(*manifestSet, Ref, Finder) (*Set, error) {
	return func(m *manifestSet, _ Ref, finder Finder) (*Set, error) {
		contents, sums, err := finder.read(m)
		if err != nil {
			return nil, err
		}
		opts.MaxDim = m.Dim
		var parts []*Split
		for _, text := range contents {
			r, err := rows.New(bytes.NewReader(bytes.ReplaceAll(text, []byte{separator}, []byte(","))), "", opts)
			s, x := &Split{Dim: m.Dim}, make([]float64, m.Dim)
			for err == nil {
				var row *rows.Row
				if row, err = r.Next(); err == nil {
					row.Dense(x)
					for _, v := range x {
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
