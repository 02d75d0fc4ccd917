package data

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// readParquet reads a Parquet file whose columns are numbers, and that of the
// labels numbers or text. Columns that are left out may be anything.
func (t *table) readParquet(file *os.File) (err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics at some damaged files
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := checkFooter(file, info.Size()); err != nil {
		return err
	}
	f, err := parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	for _, group := range f.Metadata().RowGroups {
		for i := range group.Columns {
			if err := checkPages(file, &group.Columns[i].MetaData); err != nil {
				return fmt.Errorf("row group %d, column %d: it is damaged: %w", group.Ordinal+1, i+1, err)
			}
		}
	}
	columns := f.Root().Columns()
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name()
	}
	if err := t.choose(names, len(columns)); err != nil {
		return err
	}
	if n := f.NumRows(); n < 1 {
		return errors.New("the file has no rows")
	} else if err := t.room(n, t.dim); err != nil {
		return err
	}
	if err := t.parquetColumn(columns[t.layout.label], func(i int, v parquet.Value, kind string) error {
		text, err := parquetLabel(v, kind)
		if err == nil {
			text, err = t.label(text)
		}
		if err != nil {
			return err
		}
		return t.add(Row{Line: i + 1, Dim: t.dim, Label: text})
	}); err != nil {
		return err
	}
	n := len(t.rows) // of which each was there
	values := make([]float64, n*t.dim)
	for i := range t.rows {
		t.rows[i].Values = values[i*t.dim : (i+1)*t.dim : (i+1)*t.dim]
	}
	for q, at := range t.layout.features {
		count := 0
		if err := t.parquetColumn(columns[at], func(i int, v parquet.Value, kind string) (err error) {
			if i == n {
				return fmt.Errorf("want as many values as there are labels, %d", n)
			}
			t.rows[i].Values[q], err = parquetNumber(v, kind)
			count = i + 1
			return err
		}); err != nil {
			return err
		}
		if count < n {
			return fmt.Errorf("column %q: %d values, want as many as there are labels, %d", columns[at].Name(), count, n)
		}
	}
	for i := range t.rows {
		t.running.Add(t.rows[i].Values)
	}
	return nil
}

// parquetColumn calls do with each value of a column.
func (t *table) parquetColumn(c *parquet.Column, do func(i int, v parquet.Value, kind string) error) error {
	wrong := func(err error) error { return fmt.Errorf("column %q: %w", c.Name(), err) }
	if !c.Leaf() || c.MaxRepetitionLevel() > 0 {
		return wrong(fmt.Errorf("it holds lists or groups, want one number a row: leave it out with ignore: [%q]", c.Name()))
	}
	kind := c.Type().String()
	pages := c.Pages()
	defer pages.Close()
	buf := make([]parquet.Value, 1024)
	row := 0
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			break
		}
		if err != nil {
			return wrong(err)
		}
		values := page.Values()
		for err = nil; err != io.EOF; {
			var n int
			n, err = values.ReadValues(buf)
			if err != nil && err != io.EOF {
				return wrong(err)
			}
			if n == 0 && err == nil {
				return wrong(io.ErrNoProgress)
			}
			for _, v := range buf[:n] {
				if err := do(row, v, kind); err != nil {
					return wrong(fmt.Errorf("row %d: %w", row+1, err))
				}
				row++
			}
		}
		parquet.Release(page)
	}
	return nil
}

// parquetNumber returns a feature.
func parquetNumber(v parquet.Value, kind string) (float64, error) {
	unsigned := strings.HasSuffix(kind, ",false)")
	switch whole := strings.HasPrefix(kind, "INT"); {
	case v.IsNull():
		return 0, errors.New("the value is missing")
	case kind == "BOOLEAN" && v.Boolean():
		return 1, nil
	case kind == "BOOLEAN":
		return 0, nil
	case kind == "FLOAT":
		return finiteFeature(float64(v.Float()))
	case kind == "DOUBLE":
		return finiteFeature(v.Double())
	case whole && v.Kind() == parquet.Int32 && unsigned:
		return float64(v.Uint32()), nil
	case whole && v.Kind() == parquet.Int32:
		return float64(v.Int32()), nil
	case whole && v.Kind() == parquet.Int64 && unsigned:
		return float64(v.Uint64()), nil
	case whole && v.Kind() == parquet.Int64:
		return float64(v.Int64()), nil
	}
	return 0, fmt.Errorf("its type is %s, want numbers or truth values: convert it, or leave the column out with ignore", kind)
}

// parquetLabel returns a label's text.
func parquetLabel(v parquet.Value, kind string) (string, error) {
	switch v.Kind() {
	case parquet.ByteArray:
		if kind == "STRING" || kind == "ENUM" || kind == "BYTE_ARRAY" {
			return utf8Label(v.ByteArray())
		}
	case parquet.Int64:
		if kind == "INT(64,false)" {
			return strconv.FormatUint(v.Uint64(), 10), nil
		}
		if strings.HasPrefix(kind, "INT") {
			return strconv.FormatInt(v.Int64(), 10), nil
		}
	}
	x, err := parquetNumber(v, kind)
	return strconv.FormatFloat(x, 'g', -1, 64), err
}
