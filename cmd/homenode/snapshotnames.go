package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"homenode/esxi/product"
	"homenode/internal/atomicfile"
	"homenode/numa"
	"homenode/source/anonymise"
)

// nameFlags are the flags that replace the names of a fleet by pseudonyms, and restore them.
type nameFlags struct {
	anonymise   bool
	key, reveal string
}

func (f *nameFlags) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.anonymise, "anonymise", false, "replace names, UUIDs, addresses and paths by pseudonyms")
	cmd.Flags().StringVar(&f.key, "key", "", "with --anonymise: new file for the key to the names, mode 0600 (default FILE.key.json for -o FILE.json)")
	cmd.Flags().StringVar(&f.reveal, "reveal", "", "key file of --anonymise: give the names back")
	cmd.MarkFlagsMutuallyExclusive("anonymise", "reveal")
	cmd.MarkFlagsMutuallyExclusive("key", "reveal")
}

// Check validates the flags before anything is read. file is the value of -o.
func (f *nameFlags) Check(file string) error {
	switch {
	case !f.anonymise && f.key != "":
		return errors.New("--key is for --anonymise; --reveal takes the key that is there")
	case !f.anonymise:
		return nil
	case f.key == "" && file == "-":
		return errors.New("--key FILE is missing: where to save the key to the names")
	case f.key == "":
		f.key = strings.TrimSuffix(file, filepath.Ext(file)) + ".key.json"
	}
	if _, err := os.Lstat(f.key); err == nil {
		return fmt.Errorf("%s exists: a key is never overwritten, for the names would be lost", f.key)
	}
	return nil
}

// withdraw removes the key of a snapshot that could not be written. The next attempt creates
// another key.
func (f *nameFlags) withdraw() error {
	if !f.anonymise {
		return nil
	}
	return os.Remove(f.key)
}

// apply replaces or restores the names of the fleet. It saves the key before writing any output
// that depends on it.
func (f *nameFlags) apply(cmd *cobra.Command, fleet *numa.Fleet) (*numa.Fleet, error) {
	switch {
	case f.anonymise:
		out, key := anonymise.Fleet(fleet, product.Public)
		if err := atomicfile.WriteNew(f.key, key.Write); err != nil {
			return nil, err
		}
		_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s: the key to %d names; keep it to yourself\n", f.key, len(key.Names()))
		return out, err
	case f.reveal != "":
		in, err := os.Open(f.reveal)
		if err != nil {
			return nil, err
		}
		key, err := anonymise.ReadKey(f.reveal, in)
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, err
		}
		out, err := key.Fleet(fleet)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.reveal, err)
		}
		return out, nil
	}
	return fleet, nil
}
