package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"homenode/internal/atomicfile"
	"homenode/rules/rule"
	"homenode/source/snapshot"
)

func newSnapshot() *cobra.Command {
	var (
		src   sourceFlags
		file  string
		names nameFlags
	)
	cmd := &cobra.Command{
		Use:   "snapshot SOURCE... -o FILE",
		Short: "Saves a fleet as JSON, to analyse it without access to vCenter",
		Long: `snapshot reads a fleet and saves what homenode needs of it: names, sizes and settings, no
credentials and no annotations. Every command takes the file as SOURCE. When one of several sources cannot
be read, the file holds the others and says so in a note, and the exit code is 2.

--anonymise replaces names, IDs, UUIDs, addresses, folders, tags and paths by pseudonyms, the same name by the
same pseudonym, also inside notes and places. Sizes, settings, releases and models stay, so that the findings are
the same. The key to the names is saved beside the file, or where --key says; it is as confidential as the names.
--reveal gives them back. Names of one character or of digits alone are not looked for inside other text, and words of
notes that are neither a name of the fleet nor an address, path or quotation stay: read them before you give the
file away.

` + sourceHelp,
		Example: `  homenode snapshot https://vc01.example.com -o fleet.json
  homenode assess fleet.json
  homenode snapshot fleet.json -o away.json --anonymise
  homenode snapshot away.json -o back.json --reveal away.key.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return errors.New("-o FILE is missing: where to save the snapshot (- for standard output)")
			}
			if err := names.check(file); err != nil {
				return err
			}
			fleet, err := src.read(cmd, args...)
			if err != nil {
				return err
			}
			if fleet, err = names.apply(cmd, fleet); err != nil {
				return err
			}
			if file == "-" {
				return errors.Join(snapshot.Write(cmd.OutOrStdout(), fleet), src.incomplete())
			}
			if err := atomicfile.Write(file, func(w io.Writer) error { return snapshot.Write(w, fleet) }); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s, %s, %s\n", file, rule.Plural(len(fleet.Clusters), "cluster"),
				rule.Plural(len(fleet.Hosts), "host"), rule.Plural(len(fleet.VMs), "VM"))
			return errors.Join(err, src.incomplete())
		},
	}
	src.register(cmd)
	names.register(cmd)
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to save to, written whole or not at all; - for standard output")
	return cmd
}
