package main

import (
	"errors"
	"fmt"
	"os"

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
// exists under the whole name is that file; a name of a VM may hold = too.
func readEvidence(arg string) (evidence.Piece, error) {
	p := evidence.Piece{Name: arg}
	if _, err := os.Stat(arg); err != nil {
		for i := range arg {
			if arg[i] != '=' {
				continue
			}
			if _, err := os.Stat(arg[i+1:]); err == nil || p.VM == "" {
				p.VM, p.Name = arg[:i], arg[i+1:]
				if err == nil {
					break
				}
			}
		}
	}
	err := detect.Walk(p.Name, func(f detect.Found) error {
		p.Docs = append(p.Docs, f.Docs...)
		if f.Err != nil {
			p.Errs = append(p.Errs, f.Err)
		}
		return nil
	})
	switch {
	case len(p.Docs) == 0 && err == nil && p.Errs == nil:
		err = fmt.Errorf("%s: %w in it", p.Name, detect.ErrUnknown)
	case len(p.Docs) == 0:
		err = errors.Join(append(p.Errs, err)...)
	case err != nil: // what was read before it counts
		p.Errs, err = append(p.Errs, err), nil
	}
	return p, err
}
