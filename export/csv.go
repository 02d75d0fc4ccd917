package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// CSV writes a frame with a header. Numbers are written so that they are read
// back as they were.
func (f *Frame) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := make([]string, len(f.Columns))
	for i, c := range f.Columns {
		line[i] = c.Name
	}
	if err := out.Write(line); err != nil {
		return err
	}
	for _, row := range f.Rows {
		for i, v := range row {
			line[i] = text(v)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// text writes a value; nothing for none.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
