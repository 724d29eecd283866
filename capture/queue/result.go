package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"homenode/capture"
)

// A Result is what one job held.
type Result struct {
	Name       string // of the job
	Ticks      int
	Outside    int                  // ticks before Options.From or after Options.To
	Recordings []*capture.Recording // one for each host of each file
	// Notes are about files without ticks; recordings hold the warnings of theirs.
	Notes  []string
	Failed []string // why files could not be read, or not to their end
	Broken bool     // there are some
}

// head begins an encoded result: one line of JSON, before the recordings.
type head struct {
	Name    string   `json:"name"`
	Ticks   int      `json:"ticks"`
	Outside int      `json:"outside,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Failed  []string `json:"failed,omitempty"`
	Broken  bool     `json:"broken,omitempty"`
	Frames  []frame  `json:"frames"`
}

// A frame is a recording in the form of capture.Encode, packed with zstd.
type frame struct {
	Host  string `json:"host"`
	Bytes int    `json:"bytes"`
}

// packer is one for all goroutines: what it writes does not depend on which one asks.
var packer = func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // a wrong option, whatever the input
	}
	return e
}()

// maxUnpacked bounds what a task or a recording unpacks to: whoever wrote to the queue made it.
const maxUnpacked = 1 << 30

var unpacker = func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		panic(err)
	}
	return d
}()

// encode returns the result as bytes: equal results have equal ones.
func (r *Result) encode() ([]byte, error) {
	h := head{Name: r.Name, Ticks: r.Ticks, Outside: r.Outside, Notes: r.Notes, Failed: r.Failed, Broken: r.Broken, Frames: []frame{}}
	var frames []byte
	for _, rec := range r.Recordings {
		var b bytes.Buffer
		if err := capture.Encode(&b, rec); err != nil {
			return nil, err
		}
		before := len(frames)
		frames = packer.EncodeAll(b.Bytes(), frames)
		h.Frames = append(h.Frames, frame{rec.Host, len(frames) - before})
	}
	first, err := json.Marshal(&h)
	if err != nil {
		return nil, err
	}
	return append(append(first, '\n'), frames...), nil
}

// splitResult returns the head of an encoded result and its frames.
func splitResult(b []byte) (h head, frames [][]byte, err error) {
	first, rest, ok := bytes.Cut(b, []byte("\n"))
	if !ok {
		return h, nil, errors.New("result: found no line end behind its head")
	}
	if err := json.Unmarshal(first, &h); err != nil {
		return h, nil, fmt.Errorf("result: %w", err)
	}
	for _, f := range h.Frames {
		if f.Bytes < 0 || f.Bytes > len(rest) {
			return h, nil, fmt.Errorf("result of %s: found %d bytes, want a frame of %d", h.Name, len(rest), f.Bytes)
		}
		frames, rest = append(frames, rest[:f.Bytes]), rest[f.Bytes:]
	}
	if len(rest) > 0 {
		return h, nil, fmt.Errorf("result of %s: found %d bytes behind its frames", h.Name, len(rest))
	}
	return h, frames, nil
}

// decodeFrame returns the recording of a frame.
func decodeFrame(b []byte) (*capture.Recording, error) {
	plain, err := unpacker.DecodeAll(b, nil)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return capture.Decode(bytes.NewReader(plain))
}
