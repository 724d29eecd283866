package remote

import (
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/s2"
)

// A series has samples with the same labels.
type series struct {
	labels  []label // in the order of names
	samples []sample
}

type label struct{ name, value string }

type sample struct {
	at     int64 // ms since 1970
	number float64
}

// Fields of a message in the Protocol Buffers encoding: field number and wire type.
const (
	field1Bytes  = 1<<3 | 2
	field2Bytes  = 2<<3 | 2
	field1Double = 1<<3 | 1
	field2Varint = 2 << 3
)

// request returns the body of a request ("Prometheus Remote-Write 1.0 specification"). A WriteRequest has time series in field 1.
// A time series has labels (name, value) in field 1 and samples (number, time) in field 2.
func request(all []series) []byte {
	var out, one, part []byte
	for i := range all {
		one = one[:0]
		for _, l := range all[i].labels {
			part = appendBytes(part[:0], field1Bytes, l.name)
			part = appendBytes(part, field2Bytes, l.value)
			one = appendBytes(one, field1Bytes, part)
		}
		for _, x := range all[i].samples {
			part = binary.LittleEndian.AppendUint64(append(part[:0], field1Double), math.Float64bits(x.number))
			part = binary.AppendUvarint(append(part, field2Varint), uint64(x.at))
			one = appendBytes(one, field2Bytes, part)
		}
		out = appendBytes(out, field1Bytes, one)
	}
	return s2.EncodeSnappy(nil, out)
}

// appendBytes appends a field with a text or message.
func appendBytes[T string | []byte](to []byte, field byte, b T) []byte {
	return append(binary.AppendUvarint(append(to, field), uint64(len(b))), b...)
}
