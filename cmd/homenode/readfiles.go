package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"homenode/output/report"
	"homenode/source/detect"
	"homenode/source/fact"
	"homenode/source/rvtools"
)

func newRead() *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "read FILE...",
		Short: "Prints what was understood of files: each fact with its place",
		Long: `read tells by the content what each file is and prints every fact that its reader took from it, with line and
column, unit and warnings: to see what homenode makes of a file before it is used, and to check the reader.
- reads standard input.

It reads every kind of file that homenode knows: inventories (RVTools exports, snapshots, scenarios), logs and
settings of VMs, output of host commands, tools inside guests, and results of benchmarks. Folders and archives
are read file by file; files of other kinds in them are passed over.

Exit code 0: all files were read; 2: one could not be.`,
		Example: `  homenode read vmware.log
  ssh esx03 sched-stats -t numa-clients | homenode read -
  homenode read lscpu.txt --format json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			var files []report.FactFile
			failed := 0
			for _, path := range args {
				got, err := readFacts(cmd, path)
				files = append(files, got...)
				if err != nil {
					failed++
				}
			}
			err := out.write(cmd, func(w io.Writer, colour bool) error {
				if out.format == "json" {
					return report.FactsJSON(w, files)
				}
				return report.Facts(w, files, colour)
			})
			if err == nil && failed > 0 {
				err = fmt.Errorf("%d of %d files could not be read, or not to the end", failed, len(args))
			}
			return err
		},
	}
	out.register(cmd, "table", "json")
	return cmd
}

// readFacts returns the facts of a file or of the files in a folder or archive.
func readFacts(cmd *cobra.Command, path string) (files []report.FactFile, err error) {
	fail := func(err error) ([]report.FactFile, error) {
		return append(files, report.FactFile{File: fact.File{Name: path}, Err: err}), err
	}
	if path == "-" {
		docs, err := detect.Read("-", cmd.InOrStdin())
		files = append(files, factFiles(docs)...)
		if err != nil {
			return fail(err)
		}
		return files, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return fail(err)
	}
	if rvtools.Detect(path) {
		return readFleetFacts(path, "RVTools export", info.IsDir(), fail)
	}
	failed := 0
	err = detect.Walk(path, func(f detect.Found) error {
		if errors.Is(f.Err, detect.ErrUnknown) {
			return f.Err
		}
		files = append(files, factFiles(f.Docs)...)
		if f.Err != nil {
			failed++
			files = append(files, report.FactFile{File: fact.File{Name: f.Name}, Err: f.Err})
		}
		return nil
	})
	switch {
	case errors.Is(err, detect.ErrUnknown):
		return readInventory(path, err, fail)
	case err != nil:
		return fail(err)
	case len(files) == 0:
		return fail(fmt.Errorf("%s: %w in it", path, detect.ErrUnknown))
	case failed > 0:
		err = fmt.Errorf("%d could not be read", failed)
	}
	return files, err
}

// readInventory reads a file that is no evidence; unknown is why.
func readInventory(path string, unknown error, fail func(error) ([]report.FactFile, error)) ([]report.FactFile, error) {
	files, err := readFleetFacts(path, "inventory", false, func(err error) ([]report.FactFile, error) { return nil, err })
	if err != nil {
		return fail(unknown)
	}
	return files, nil
}

// readFleetFacts reads an inventory.
func readFleetFacts(path, format string, folder bool, fail func(error) ([]report.FactFile, error)) ([]report.FactFile, error) {
	fleet, err := readFile(path, folder)
	if err != nil {
		return fail(err)
	}
	return []report.FactFile{{File: report.FleetFacts(path, format, fleet)}}, nil
}

func factFiles(docs []fact.Document) []report.FactFile {
	out := make([]report.FactFile, len(docs))
	for i, d := range docs {
		out[i].File = *d.File()
	}
	return out
}
