package move

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"homenode/internal/bounded"
	answers "homenode/output/move"
	"homenode/output/move/target"
)

// check checks the files of a folder, in the order of their names, and returns how many could be.
func check(folder string) (checked int, faults []answers.Fault, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0, nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(folder, e.Name())
		data, err := bounded.File(path, bounded.Written)
		if err != nil {
			return 0, nil, err
		}
		found, err := target.Check(path, data)
		switch {
		case errors.Is(err, target.ErrNotChecked):
			continue
		case err != nil:
			return 0, nil, fmt.Errorf("--check: %w", err)
		}
		checked++
		for _, f := range found {
			faults = append(faults, answers.Fault{File: e.Name(), Fault: f})
		}
	}
	return checked, faults, nil
}
