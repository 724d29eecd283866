package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.org/homenode/esxi/product"
	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/anonymise"
)

// nameFlags are the flags that replace the names of a fleet by pseudonyms, and restore them.
type nameFlags struct {
	anonymise   bool
	key, reveal string
	known       *anonymise.Key // in the file of --key; nil for a new file
	saved       bool           // a new key was written
}

func (f *nameFlags) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.anonymise, "anonymise", false, "replace names, UUIDs, addresses and paths by pseudonyms")
	cmd.Flags().StringVar(&f.key, "key", "", "with --anonymise: file for the key to the names, mode 0600; one that is there goes on (default: a new one, FILE.key.json for -o FILE.json)")
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
		if _, err := os.Lstat(f.key); err == nil {
			return fmt.Errorf("%s exists: a key is never overwritten, for the names would be lost; --key %s continues it", f.key, words.Command(f.key))
		}
		return nil
	}
	known, err := readKey(f.key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f.known = known
	return err
}

// withdraw removes the new key of a file that could not be written. The next attempt creates
// another key.
func (f *nameFlags) withdraw() error {
	if !f.saved {
		return nil
	}
	return os.Remove(f.key)
}

func readKey(file string) (*anonymise.Key, error) {
	in, err := bounded.Open(file)
	if err != nil {
		return nil, err
	}
	key, err := anonymise.ReadKey(file, in)
	return key, errors.Join(err, in.Close())
}

// pseudonyms returns those of the key, or none yet.
func (f *nameFlags) pseudonyms() *anonymise.Pseudonyms {
	if f.known != nil {
		return f.known.Pseudonyms(product.Public)
	}
	return &anonymise.Pseudonyms{Public: product.Public}
}

// save writes the key to the pseudonyms. A key that was there has all of its names still.
func (f *nameFlags) save(cmd *cobra.Command, names *anonymise.Pseudonyms) error {
	write := atomicfile.WriteNew
	if f.known != nil {
		write = atomicfile.Write
	}
	key := names.Key()
	if err := write(f.key, key.Write); err != nil {
		return err
	}
	f.saved = f.known == nil
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s: the key to %d names; keep it to yourself\n", f.key, len(key.Names()))
	return err
}

// apply replaces or restores the names of the fleet. It saves the key before writing any output
// that depends on it.
func (f *nameFlags) apply(cmd *cobra.Command, fleet *numa.Fleet) (*numa.Fleet, error) {
	switch {
	case f.anonymise:
		names := f.pseudonyms()
		out := names.Fleet(fleet)
		return out, f.save(cmd, names)
	case f.reveal != "":
		key, err := readKey(f.reveal)
		if err != nil {
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
