package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/output/fleet"
	"homenode/output/format"
	"homenode/source/fact"
	"homenode/source/open"
)

func newRead() *cobra.Command {
	var out flags.Output
	cmd := &cobra.Command{
		Use:   "read FILE...",
		Short: "Prints what was understood of files: each fact with its place",
		Long: `read tells by the content what each file is and prints every fact that its reader took from it, with line and
column, unit and warnings: to see what homenode makes of a file before it is used, and to check the reader.
- reads standard input.

It reads every kind of file that homenode knows: inventories (RVTools exports, snapshots, scenarios), logs and
settings of VMs, output of host commands, tools inside guests, and results of benchmarks. Folders and archives
are read file by file; files of other kinds in them are skipped.

Exit code 0: all files were read; 2: one could not be.`,
		Example: `  homenode read vmware.log
  ssh esx03 sched-stats -t numa-clients | homenode read -
  homenode read lscpu.txt --format json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.Check(cmd); err != nil {
				return err
			}
			var files []fact.File
			failed := 0
			for _, path := range args {
				got, broken := readFacts(cmd, path)
				files = append(files, got...)
				if broken {
					failed++
				}
			}
			err := out.Print(cmd, fleet.Read(files))
			if err == nil && failed > 0 {
				err = fmt.Errorf("%d of %d files could not be read, or not to the end", failed, len(args))
			}
			return err
		},
	}
	out.Register(cmd, format.Names[:len(format.Names)-1]...)
	return cmd
}

// readFacts returns the facts of a file or of the files in a folder or archive.
func readFacts(cmd *cobra.Command, path string) (files []fact.File, failed bool) {
	for _, p := range open.Anything(path, cmd.InOrStdin()) {
		for _, d := range p.Docs {
			files = append(files, *d.File())
		}
		if p.Fleet != nil {
			files = append(files, fact.OfFleet(p.Name, p.Format, p.Fleet))
		}
		if p.Err != nil {
			failed = true
			files = append(files, fact.File{Name: p.Name, Facts: []fact.Fact{}, Error: p.Err.Error()})
		}
	}
	return files, failed
}
