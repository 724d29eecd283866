package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/homenode/capture/export/esxtop"
	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/anonymise"
	"example.org/homenode/source/ticks"
)

// anonymiseCapture reads the capture of one host, and writes it as an esxtop batch file with pseudonyms. Only the counters that homenode reads are
// in it, so that no text of the host can be.
func anonymiseCapture(cmd *cobra.Command, paths []string, file string, names *nameFlags) error {
	if len(paths) > 1 {
		return fmt.Errorf("found %d captures, want one for %s", len(paths), file)
	}
	var unused error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if unused == nil && !slices.Contains([]string{"output", "anonymise", "key"}, f.Name) {
			unused = fmt.Errorf("--%s is for a fleet: nothing of it would be in the capture %s", f.Name, file)
		}
	})
	if unused != nil {
		return unused
	}
	to, rows, host, warnings := names.pseudonyms(), 0, "", []string(nil)
	err := atomicfile.Write(file, func(w io.Writer) error {
		out := esxtop.NewWriter(w)
		visit := ticks.Visit{
			Open: func(string, string) error { return nil },
			Tick: func(t *numa.Tick) error {
				if host != "" && t.Host != host {
					return fmt.Errorf("found the hosts %s and %s, want a capture of one host", host, t.Host)
				}
				host = t.Host
				rows++
				return out.Add(pseudonymous(t, to))
			},
			Done: func(f *ticks.File, err error) error {
				warnings = append(warnings, f.Warnings...)
				return err
			},
		}
		if _, err := ticks.Walk(cmd.Context(), paths[0], ticks.Options{Workers: 1}, visit); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
		return names.save(cmd, to) // before the file that needs the key appears
	})
	if err != nil {
		return errors.Join(err, names.withdraw())
	}
	var text strings.Builder
	for _, w := range warnings {
		text.WriteString(texttab.Clean(w) + "\n")
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s%s: %s of 1 host\n", text.String(), file, words.Plural(rows, "row"))
	return err
}

// pseudonymous returns a tick with pseudonyms. It shares everything else with t.
func pseudonymous(t *numa.Tick, names *anonymise.Pseudonyms) *numa.Tick {
	out := *t
	out.Host, out.VMs = names.Host(t.Host), append([]numa.VMTick(nil), t.VMs...)
	for i := range out.VMs {
		out.VMs[i].Name = names.VM(out.VMs[i].Name)
	}
	return &out
}
