package data

import (
	"bufio"
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

func init() { register("letter", code{load: loadLetter}) }

// loadLetter reads Letter Recognition (Frey and Slate 1991): 20,000 lines of a letter and
// 16 integers of 0 to 15, which are divided by 15. The first 16,000 are for training, as
// its authors split it.
func loadLetter(m *manifestSet, _ Ref, finder Finder) (*Set, error) {
	rows, sums, err := readTable(m, finder, ",", func(fields []string) ([]string, int, error) {
		class := fields[0]
		if len(class) != 1 || class[0] < 'A' || class[0] > 'Z' {
			return nil, 0, fmt.Errorf("the class is %q, not a letter of A to Z", class)
		}
		return fields[1:], int(class[0] - 'A'), nil
	}, 15)
	if err != nil {
		return nil, err
	}
	all := rows[0]
	return &Set{Name: m.Name, Classes: m.Classes, Train: all.part(0, m.Train), Test: all.part(m.Train, all.N), Sums: sums}, nil
}

// readTable reads the files of a data set, one example a line: split names a line's
// numbers and the class, and the numbers are divided by scale. It returns a Split for
// each file, and the files' sums.
func readTable(m *manifestSet, finder Finder, comma string, split func(fields []string) (numbers []string, class int, err error), scale float32) ([]*Split, map[string]string, error) {
	loc, err := finder.locate(m)
	if err != nil {
		return nil, nil, err
	}
	sums := make(map[string]string)
	var out []*Split
	for i, file := range m.Files {
		path := filepath.Join(loc.dir, loc.files[i])
		var text bytes.Buffer
		if sums[file.Name], err = hashVerified(path, file, &text); err != nil {
			return nil, nil, err
		}
		s := &Split{Dim: m.Dim}
		lines := bufio.NewScanner(&text)
		for lines.Scan() {
			numbers, class, err := split(strings.Split(lines.Text(), comma))
			if err == nil {
				err = s.appendRow(numbers, class, scale)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w: line %d: %w", path, ErrCorrupt, s.N+1, err)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w: %w", path, ErrCorrupt, err)
		}
		out = append(out, s)
	}
	return out, sums, nil
}

// appendRow adds an example.
func (s *Split) appendRow(numbers []string, class int, scale float32) error {
	if len(numbers) != s.Dim {
		return fmt.Errorf("%d numbers, want %d", len(numbers), s.Dim)
	}
	for _, text := range numbers {
		v, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return err
		}
		s.X = append(s.X, float32(v)/scale)
	}
	s.Y = append(s.Y, float64(class))
	s.N++
	return nil
}

// part returns the examples from lo to hi.
func (s *Split) part(lo, hi int) *Split {
	return &Split{N: hi - lo, Dim: s.Dim, X: s.X[lo*s.Dim : hi*s.Dim], Y: s.Y[lo:hi]}
}
