package detect

import (
	"errors"
	"io"

	"homenode/source/archive"
	"homenode/source/fact"
)

// A Found is one file of a walk.
type Found struct {
	Name string // the path that was walked and, in a folder or archive, the name in it
	Docs []fact.Document
	Err  error // why it could not be read, or not to its end
}

// Walk reads what lies at path: a file, also packed with gzip or zstd, or the files
// in a folder or archive, where those of no known format are passed over. visit is
// called for each; the error is that of the walk or of visit.
func Walk(path string, visit func(Found) error) error {
	var damaged []Found
	opt := archive.Options{Damaged: func(name string, err error) { damaged = append(damaged, Found{Name: name, Err: err}) }}
	err := archive.Walk(path, opt, func(name string, _ int64, r io.Reader) error {
		docs, err := Read(name, r)
		inside := name != path
		if inside && docs == nil && (errors.Is(err, ErrUnknown) || errors.Is(err, ErrEmpty)) {
			return nil
		}
		return visit(Found{name, docs, err})
	})
	for _, d := range damaged {
		if err == nil {
			err = visit(d)
		}
	}
	return err
}
