package size

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"homenode/size/calibrate/coefficients"
)

// coefficientsFlag reads the user's own costs of I/O.
type coefficientsFlag struct{ file string }

// noCoefficients is the value of --coefficients that takes none.
const noCoefficients = "none"

func (f *coefficientsFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "coefficients", "", "your own costs of I/O, from size calibrate (default: "+coefficients.DefaultFile+" of the working directory, if there is one; "+noCoefficients+" takes the published ones)")
}

// load returns the user's own costs; nil when there are none.
func (f *coefficientsFlag) load() (*coefficients.File, error) {
	if f.file == noCoefficients {
		return nil, nil
	}
	own, err := coefficients.Load(f.name())
	switch {
	case f.file == "" && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("--coefficients: %w", err)
	}
	return own, nil
}

// name returns the file.
func (f *coefficientsFlag) name() string {
	if f.file == "" {
		return coefficients.DefaultFile
	}
	return f.file
}
