// Package notices has the licences and notices of everything that homenode links: of Go and of each module.
package notices

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

// packed is the text, compressed: it is read seldom. go test ./internal/notices -update writes it.
//
//go:embed notices.txt.gz
var packed []byte

// Write writes the text: each licence or notice below the modules that it is of.
func Write(w io.Writer) error {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}
