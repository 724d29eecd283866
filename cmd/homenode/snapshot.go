package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/atomicfile"
	"homenode/rules/rule"
	"homenode/source/snapshot"
)

// newSnapshot returns the command.
func newSnapshot() *cobra.Command {
	var (
		src   = flags.Source{KVM: true}
		file  string
		names nameFlags
	)
	cmd := described("snapshot", &cobra.Command{
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if file == "" {
				return errors.New("-o FILE is missing: where to save the snapshot (- for standard output)")
			}
			if err := names.Check(file); err != nil {
				return err
			}
			fleet, err := src.Read(cmd, args...)
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
				// What was printed before an error may be kept: its key stays.
				written = true
				return errors.Join(snapshot.Write(cmd.OutOrStdout(), fleet), src.Incomplete())
			}
			if err := atomicfile.Write(file, func(w io.Writer) error { return snapshot.Write(w, fleet) }); err != nil {
				return err
			}
			written = true
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s, %s, %s\n", file, rule.Plural(len(fleet.Clusters), "cluster"),
				rule.Plural(len(fleet.Hosts), "host"), rule.Plural(len(fleet.VMs), "VM"))
			return errors.Join(err, src.Incomplete())
		},
	})
	src.Register(cmd)
	names.Register(cmd)
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to save to, written whole or not at all; - for standard output")
	return cmd
}
