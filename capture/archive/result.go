package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"homenode/capture"
	"homenode/internal/queue"
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
		frames = append(frames, queue.Pack(b.Bytes())...)
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
	plain, err := queue.Unpack(b)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return capture.Decode(bytes.NewReader(plain))
}
