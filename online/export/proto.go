package export

import (
	"encoding/binary"
	"math"
)

// A message is an encoded message of Protocol Buffers, to which fields are appended.
type message []byte

// number appends a field of type int64 or enum.
func (m *message) number(field int, v int64) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3)
	*m = binary.AppendUvarint(*m, uint64(v))
}

// float appends a field of type float.
func (m *message) float(field int, v float32) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|5)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(v))
}

// text appends fields of type string, bytes or message, one for each value.
func text[T string | []byte | message](m *message, field int, values ...T) {
	for _, v := range values {
		*m = binary.AppendUvarint(*m, uint64(field)<<3|2)
		*m = binary.AppendUvarint(*m, uint64(len(v)))
		*m = append(*m, v...)
	}
}
