package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// rowsAtOnce is the number of rows that are handed to the writer at a time.
const rowsAtOnce = 1000

// Parquet writes a frame as one Parquet file, its columns in alphabetical order,
// all optional, compressed by Zstandard. It panics if a value is not of its
// column's kind.
func (f *Frame) Parquet(w io.Writer) error {
	out := parquet.NewWriter(w, f.schema(), parquet.Compression(&parquet.Zstd), parquet.CreatedBy("polkrepro", "", ""))
	order := f.alphabetical()
	for part := range slices.Chunk(f.Rows, rowsAtOnce) {
		rows := make([]parquet.Row, len(part))
		for i, row := range part {
			rows[i] = make(parquet.Row, len(row))
			for to, from := range order {
				rows[i][to] = leaf(row[from], to)
			}
		}
		if _, err := out.WriteRows(rows); err != nil {
			return err
		}
	}
	return out.Close()
}

// schema returns the frame's columns as Parquet has them.
func (f *Frame) schema() *parquet.Schema {
	group := make(parquet.Group)
	for _, c := range f.Columns {
		node := parquet.String()
		switch c.Kind {
		case Int:
			node = parquet.Int(64)
		case Float:
			node = parquet.Leaf(parquet.DoubleType)
		}
		group[c.Name] = parquet.Optional(node)
	}
	return parquet.NewSchema("evaluations", group)
}

// alphabetical returns the columns' places in the frame by their names, which
// is how a parquet.Group orders them.
func (f *Frame) alphabetical() []int {
	order := make([]int, len(f.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(f.Columns[a].Name, f.Columns[b].Name) })
	return order
}

// leaf returns a value of an optional column.
func leaf(v any, column int) parquet.Value {
	switch v := v.(type) {
	case nil:
		return parquet.NullValue().Level(0, 0, column)
	case string:
		return parquet.ByteArrayValue([]byte(v)).Level(0, 1, column)
	case int64:
		return parquet.Int64Value(v).Level(0, 1, column)
	case float64:
		return parquet.DoubleValue(v).Level(0, 1, column)
	}
	panic(fmt.Sprintf("export: a value of type %T", v))
}
