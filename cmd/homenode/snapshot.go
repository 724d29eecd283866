package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/snapshot"
)

// A saved has the fields for making a snapshot.
type saved struct {
	ask.Asked
	Sources    []string `ask:"source,arg,need"`
	ask.Source `only:"nodes-per-socket product evidence assume-host" group:"Source"`
}

// mostNotes are printed: they say which VMs and values of the sources are not in the snapshot.
const mostNotes = 20

// newSnapshot returns the command.
func newSnapshot() *cobra.Command {
	var (
		src   saved
		asks  flags.Asking
		file  string
		names nameFlags
	)
	cmd := described("snapshot", &cobra.Command{
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if file == "" {
				return errors.New("-o FILE is missing: where to save the snapshot (- for standard output)")
			}
			if err := cmp.Or(names.Check(file), asks.Take(&src, args)); err != nil {
				return err
			}
			if names.anonymise && strings.EqualFold(filepath.Ext(file), ".csv") {
				return anonymiseCapture(cmd, src.Sources, file, &names)
			}
			fleet, err := src.ReadBy(cmd.Context(), asks.Session.Env(cmd), vnuma.Choices{}, true, src.Sources...)
			if err != nil {
				return err
			}
			if fleet, err = names.apply(cmd, fleet); err != nil {
				return err
			}
			written := false
			defer func() {
				if !written {
					err = errors.Join(err, names.withdraw())
				}
			}()
			if file == "-" {
				// The user may have saved output that was printed before an error, so its key
				// must remain.
				written = true
				return errors.Join(snapshot.Write(cmd.OutOrStdout(), fleet), src.Incomplete())
			}
			if err := atomicfile.Write(file, func(w io.Writer) error { return snapshot.Write(w, fleet) }); err != nil {
				return err
			}
			written = true
			kept := slices.DeleteFunc(slices.Clone(fleet.Notes), src.Told)
			notes := words.Texts(kept[:min(len(kept), mostNotes)], func(n numa.Note) string { return texttab.Clean(n.String()) + "\n" })
			if more := len(kept) - mostNotes; more > 0 {
				notes = append(notes, fmt.Sprintf("%s: homenode assess %s --format json has them\n", words.Plural(more, "more note"), words.Command(file)))
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s%s: %s, %s, %s\n", strings.Join(notes, ""), file, words.Plural(len(fleet.Clusters), "cluster"),
				words.Plural(len(fleet.Hosts), "host"), words.Plural(len(fleet.VMs), "VM"))
			return errors.Join(err, src.Incomplete())
		},
	})
	names.Register(cmd)
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to save to, written whole or not at all; - for standard output")
	asks.Register(cmd, &src)
	flags.Group(cmd, "Source", asks.Session.Register)
	return cmd
}
