package open

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/kvm"
	"example.org/homenode/source/planned"
	"example.org/homenode/source/tables"
)

// A Part is the content of one file, also of a file in a folder or archive.
type Part struct {
	Name   string
	Docs   []fact.Document // of evidence
	Fleet  *numa.Fleet     // of an inventory
	Format string          // format of Fleet
	Note   string          // about files that are not read
	Err    error           // why it could not be read completely
}

// Anything reads path, or standard input for "-", in any format. In a folder or archive, it lists files of other kinds.
func Anything(path string, stdin io.Reader) []Part {
	if path == "-" {
		docs, err := evidence.Documents(path, stdin)
		return []Part{{Name: path, Docs: docs, Err: err}}
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = readable(path, info)
	}
	if err != nil {
		return []Part{{Name: path, Err: err}}
	}
	if isCollection(path, info) && !tables.Book(path) && !planned.Detect(path) {
		if parts := (&collection{stop: within(context.Background(), path), path: path, read: map[string]bool{}}).everything(); parts != nil {
			return parts
		}
	}
	if isFile(path) && (planned.Detect(path) || tables.Holds(path)) {
		return []Part{asFleet(path, "inventory")}
	}
	parts, err := documents(path)
	if errors.Is(err, evidence.ErrUnknown) || err == nil && len(parts) == 0 { // it is no evidence
		p := asFleet(path, "inventory")
		_, mistake := errors.AsType[*numa.SyntaxError](p.Err)
		if p.Err == nil || mistake && !errors.Is(p.Err, evidence.ErrUnknown) {
			return []Part{p}
		}
		if errors.Is(p.Err, evidence.ErrUnknown) { // the error describes the file
			p.Err = fmt.Errorf("%w; evidence is %s", p.Err, evidence.Names())
			return []Part{p}
		}
	}
	if err == nil && len(parts) == 0 {
		err = fmt.Errorf("%s: %w in it: %s", path, evidence.ErrUnknown, evidence.Names())
	}
	if err != nil {
		parts = append(parts, Part{Name: path, Err: err})
	}
	return parts
}

// documents reads the evidence at path.
func documents(path string) (parts []Part, err error) {
	err = evidence.Walk(path, func(f evidence.Found) error {
		switch {
		case f.Name == path && errors.Is(f.Err, evidence.ErrUnknown):
			return f.Err
		case f.Name == path || !tables.Passing(f.Name):
			parts = append(parts, Part{Name: f.Name, Docs: f.Docs, Err: f.Err})
		}
		return nil
	})
	if errors.Is(err, archive.ErrMany) {
		return []Part{{Name: path, Err: numa.Located(path, err)}}, nil
	}
	return parts, err
}

// everything returns the tables and the evidence in a folder or archive, and lists the other files; nil if nothing could be read.
func (c *collection) everything() (parts []Part) {
	if kvm.Detect(c.path) {
		if _, err := readCollection(context.Background(), c.path); errors.Is(err, numa.ErrHypervisors) {
			return []Part{{Name: c.path, Err: err}}
		}
	}
	err := c.list()
	if err != nil && !errors.Is(err, archive.ErrMany) {
		return nil // the walk of the evidence reports it
	}
	if err = cmp.Or(err, c.tables()); err != nil {
		return []Part{{Name: c.path, Err: err}}
	}
	docs, err := documents(c.path)
	if len(c.parts)+len(docs) == 0 {
		return nil
	}
	if errors.Is(err, evidence.ErrUnknown) { // a compressed single table
		err = nil
	}
	for _, p := range c.parts {
		name, _, _ := strings.Cut(p.Fleet.Source, " (")
		format := "inventory"
		if slices.Contains(c.exports, p.Fleet) {
			format = "RVTools export"
		}
		parts = append(parts, Part{Name: name, Fleet: p.Fleet, Format: format})
	}
	for _, d := range docs {
		c.read[c.inside(filepath.ToSlash(d.Name))] = true
		parts = append(parts, d)
	}
	for _, n := range c.notes {
		switch {
		case slices.ContainsFunc(docs, func(d Part) bool { return d.Name == n.At }): // reported by its own reader
		case slices.Contains(c.unread, n.At):
			parts = append(parts, Part{Name: n.At, Err: errors.New(n.Text)})
		default:
			parts = append(parts, Part{Name: n.At, Note: n.Text})
		}
	}
	if err != nil {
		parts = append(parts, Part{Name: c.path, Err: err})
	}
	c.notes = nil
	if c.skipped(); c.notes != nil {
		parts = append(parts, Part{Name: c.path, Note: c.notes[0].Text})
	}
	return parts
}

func asFleet(path, format string) Part {
	fleet, err := File(path)
	return Part{Name: path, Fleet: fleet, Format: format, Err: err}
}
