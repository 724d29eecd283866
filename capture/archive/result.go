package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"example.org/homenode/capture"
	"example.org/homenode/source/strict"
)

// A Result is the content of the files of one Reading.
type Result struct {
	Outside    int                  `json:"outside,omitempty"` // ticks before Options.From or after Options.To
	Recordings []*capture.Recording `json:"-"`                 // one for each host of each file
	// Notes are about files without ticks; the warnings of other files are in their recordings.
	Notes  []string `json:"notes,omitempty"`
	Failed []string `json:"failed,omitempty"` // errors of files that could not be read completely
	Named  []Named  `json:"named,omitempty"`
}

// Named is a host whose name differs from the one in its file.
type Named struct {
	As   string `json:"as"` // name from --host-name
	Host string `json:"host"`
	File string `json:"file"`
}

// Pack returns the result as bytes for another process; equal results give equal bytes. The
// form is a line of JSON and the recordings as capture.Encode writes them, compressed with
// zstd.
func (r *Result) Pack() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	for _, rec := range r.Recordings {
		if err := capture.Encode(&b, rec); err != nil {
			return nil, err
		}
	}
	return pack(b.Bytes()), nil
}

// Unpack reads the output of Pack, and nothing else.
func Unpack(packed []byte) (*Result, error) {
	b, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	first, rest, ok := bytes.Cut(b, []byte("\n"))
	if !ok {
		return nil, errors.New("found no line end behind its head")
	}
	r := &Result{}
	if err := strict.Unmarshal("", "result", first, r); err != nil {
		return nil, err
	}
	for len(rest) > 0 {
		var rec *capture.Recording
		if rec, rest, err = capture.Decode(rest); err != nil {
			return nil, err
		}
		r.Recordings = append(r.Recordings, rec)
	}
	return r, nil
}

// packer is shared by all goroutines: its output does not depend on the caller.
var packer = must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)))

// maxUnpacked limits the unpacked size of a result. A day of a host with 300 VMs has some 10
// MB.
const maxUnpacked = 1 << 30

var unpacker = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxUnpacked)))

func pack(b []byte) []byte { return packer.EncodeAll(b, nil) }

func unpack(b []byte) ([]byte, error) {
	plain, err := unpacker.DecodeAll(b, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return plain, nil
}

// must returns a packer or unpacker; only options in this file can make it fail.
func must[T any](one T, err error) T {
	if err != nil {
		panic(err)
	}
	return one
}
