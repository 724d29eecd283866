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

// readEvidence reads FILE or VM=FILE. A file that exists under the whole name is
// that file.
func readEvidence(arg string) (evidence.Piece, error) {
	p := evidence.Piece{Name: arg}
	if _, err := os.Stat(arg); err != nil {
		if vm, path, ok := strings.Cut(arg, "="); ok {
			p.VM, p.Name = vm, path
		}
	}
	file, err := os.Open(p.Name)
	if err != nil {
		return p, err
	}
	p.Docs, err = detect.Read(p.Name, file)
	return p, errors.Join(err, file.Close())
}
