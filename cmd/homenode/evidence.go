package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"homenode/numa"
	"homenode/source/detect"
	"homenode/source/evidence"
)

// join applies --evidence.
func (f *sourceFlags) join(fleet *numa.Fleet) error {
	pieces := make([]evidence.Piece, 0, len(f.evidence))
	for _, arg := range f.evidence {
		piece, err := readEvidence(arg)
		if err != nil {
			return fmt.Errorf("--evidence: %w", err)
		}
		pieces = append(pieces, piece)
	}
	if len(pieces) == 0 {
		return nil
	}
	if sum := evidence.Join(fleet, pieces); sum.Joined == 0 {
		last := fleet.Notes[len(fleet.Notes)-1]
		return fmt.Errorf("--evidence: nothing in it belongs to the fleet: %s", last)
	}
	return fleet.Check()
}

// readEvidence reads FILE or VM=FILE; FILE can be a folder or an archive. A file that
// exists under the whole name is that file.
func readEvidence(arg string) (evidence.Piece, error) {
	p := evidence.Piece{Name: arg}
	if _, err := os.Stat(arg); err != nil {
		if vm, path, ok := strings.Cut(arg, "="); ok {
			p.VM, p.Name = vm, path
		}
	}
	var broken error
	err := detect.Walk(p.Name, func(f detect.Found) error {
		p.Docs = append(p.Docs, f.Docs...)
		broken = errors.Join(broken, f.Err)
		return nil
	})
	if len(p.Docs) == 0 && err == nil && broken == nil {
		err = fmt.Errorf("%s: %w in it", p.Name, detect.ErrUnknown)
	}
	return p, errors.Join(err, broken)
}
