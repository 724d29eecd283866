package snapshot

import (
	"errors"
	"fmt"
	"io"

	"example.org/homenode/source/strict"
)

// locate converts an error of the decoder to a numa.SyntaxError.
func (r *reader) locate(err error) error {
	size, broken := r.lines.Size()
	if broken != nil && broken != io.EOF {
		return fmt.Errorf("%s: %w", r.name, broken)
	}
	offset, msg := strict.Explain(err, "snapshot")
	if errors.Is(err, io.ErrUnexpectedEOF) {
		offset = size
	}
	return r.lines.Error(r.name, offset, msg)
}
