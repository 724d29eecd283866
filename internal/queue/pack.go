package queue

import "github.com/klauspost/compress/zstd"

// packer is one for all goroutines: what it writes does not depend on which one asks.
var packer = func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // a wrong option, whatever the input
	}
	return e
}()

// maxUnpacked bounds a result, and what a task, an input or a recording unpacks to: whoever
// wrote to the queue made it. A day of a host with 300 VMs has some 10 MB.
const maxUnpacked = 256 << 20

var unpacker = func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		panic(err)
	}
	return d
}()

// Pack packs with zstd: tasks, inputs and results are packed alike, so that equal ones
// have equal bytes.
func Pack(b []byte) []byte { return packer.EncodeAll(b, nil) }

// Unpack unpacks what Pack made.
func Unpack(b []byte) ([]byte, error) { return unpacker.DecodeAll(b, nil) }
