package open

import (
	"errors"
	"fmt"
	"io"
	"os"

	"homenode/numa"
	"homenode/source/evidence"
	"homenode/source/fact"
	"homenode/source/tables"
)

// A Part is what a file, or one in a folder or archive, was understood as.
type Part struct {
	Name   string
	Docs   []fact.Document // of evidence
	Fleet  *numa.Fleet     // of an inventory
	Format string          // of Fleet
	Err    error           // why it could not be read, or not to its end
}

// Anything reads what lies at path, or standard input for "-", in any format. In a
// folder or archive, files of other kinds are left out.
func Anything(path string, stdin io.Reader) []Part {
	if path == "-" {
		docs, err := evidence.Documents(path, stdin)
		return []Part{{Name: path, Docs: docs, Err: err}}
	}
	if _, err := os.Stat(path); err != nil {
		return []Part{{Name: path, Err: err}}
	}
	if tables.RVTools(path) {
		return []Part{asFleet(path, "RVTools export")}
	}
	if isFile(path) && tables.Holds(path) {
		return []Part{asFleet(path, "inventory")}
	}
	var parts []Part
	err := evidence.Walk(path, func(f evidence.Found) error {
		if errors.Is(f.Err, evidence.ErrUnknown) {
			return f.Err
		}
		parts = append(parts, Part{Name: f.Name, Docs: f.Docs, Err: f.Err})
		return nil
	})
	if errors.Is(err, evidence.ErrUnknown) || err == nil && len(parts) == 0 { // it is no evidence
		p := asFleet(path, "inventory")
		_, mistake := errors.AsType[*numa.SyntaxError](p.Err)
		if p.Err == nil || mistake && !errors.Is(p.Err, evidence.ErrUnknown) {
			return []Part{p}
		}
		if errors.Is(p.Err, evidence.ErrUnknown) { // it describes the file
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

func asFleet(path, format string) Part {
	fleet, err := File(path)
	return Part{Name: path, Fleet: fleet, Format: format, Err: err}
}
