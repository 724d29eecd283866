package size

import (
	"cmp"
	"errors"
	"io/fs"

	"example.org/homenode/ask"
	"example.org/homenode/size/calibrate/coefficients"
)

// noCoefficients is the value of --coefficients that disables the user's costs.
const noCoefficients = "none"

// load reads the user's costs of I/O; nil for none.
func load(file string, e *ask.Env) (*coefficients.File, error) {
	if file == noCoefficients || e.Own != nil {
		return nil, nil
	}
	own, err := coefficients.Load(nameOf(file))
	if file == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return own, ask.Wrong("coefficients", err)
}

// nameOf returns the name of the file with the user's costs.
func nameOf(file string) string {
	return cmp.Or(file, coefficients.DefaultFile)
}
