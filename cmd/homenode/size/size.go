// Package size has the commands of homenode size: an architect's calculations.
package size

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"homenode/cmd/homenode/flags"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/format"
)

// helps are what the commands say of themselves.
//
//go:embed help
var helps embed.FS

// New returns the command with those below it.
func New() *cobra.Command {
	cmd := flags.Describe(helps, "size", &cobra.Command{})
	cmd.AddCommand(newCalibrate(), newDump(), newFit(), newIO(), newLatency(), newPages(), newRightSize(), newSpeed())
	return cmd
}

// common is what all commands have.
type common struct {
	flags.Output
	src       flags.Source
	in        flags.Captures
	checks    func() (*answer.Answer, error) // what --published shows; nil where there is none
	published bool
}

// command returns the command of this name: it prints what ask answers.
func (f *common) command(name string, args cobra.PositionalArgs, ask func(*cobra.Command, []string) (*answer.Answer, error)) *cobra.Command {
	cmd := flags.Describe(helps, name, &cobra.Command{})
	cmd.Args = args
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.Check(cmd); err != nil {
			return err
		}
		var a *answer.Answer
		var err error
		if f.published {
			a, err = f.record(cmd, args)
		} else {
			a, err = ask(cmd, args)
		}
		if err != nil {
			return err
		}
		a.Version = 2 // 1 had sentences as notes
		return cmp.Or(f.Print(cmd, a), f.in.Incomplete(), f.src.Incomplete())
	}
	if f.checks != nil {
		cmd.Flags().BoolVar(&f.published, "published", false, "the published figures beside what they come to")
	}
	f.Register(cmd, format.Names...)
	return cmd
}

// record returns the published figures; no question goes with them.
func (f *common) record(cmd *cobra.Command, args []string) (*answer.Answer, error) {
	other := ""
	if len(args) > 0 {
		other = texttab.Clean(args[0])
	}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"published", "format", "output"}, flag.Name) {
			other = "--" + flag.Name
		}
	})
	if other != "" {
		return nil, fmt.Errorf("--published: not with %s: it prints what was published, and asks nothing", other)
	}
	return f.checks()
}

// hosts are flags about hosts that are alike.
type hosts struct {
	count, cores int
	core         string
}

// register adds the flags; share says what the hosts share.
func (h *hosts) register(cmd *cobra.Command, count int, share, core string) {
	fl := cmd.Flags()
	fl.IntVar(&h.count, "host-count", count, share)
	fl.IntVar(&h.cores, "host-cores", 0, "cores of a host, all sockets")
	fl.StringVar(&h.core, "core", "", core)
}

// check returns the frequency of a core; 0 when it is not given.
func (h *hosts) check(cmd *cobra.Command) (core unit.Hz, err error) {
	return core, cmp.Or(count(cmd, "host-count", h.count, 100_000), count(cmd, "host-cores", h.cores, 100_000),
		flags.Set("core", h.core, &core, unit.ParseHz))
}

// count checks a flag that counts things, if it was given.
func count(cmd *cobra.Command, flag string, n, most int) error {
	if cmd.Flags().Changed(flag) && (n < 1 || n > most) {
		return fmt.Errorf("--%s: found %d, want 1 to %s", flag, n, unit.Grouped(float64(most), 0))
	}
	return nil
}

// memory reads an amount of memory or of a disk; its error shows one, not a block.
func memory(text string) (numa.Bytes, error) {
	v, err := unit.ParseSize(text)
	if err != nil {
		return 0, fmt.Errorf("found %q, want a size such as 512GB or 1.5TB", text)
	}
	return v, nil
}

// release reads a release that is modelled.
func release(text string) (numa.Release, error) {
	r, err := numa.ParseRelease(text)
	if err == nil && !slices.Contains(numa.Modelled, r.Base()) {
		var names []string
		for _, known := range numa.Modelled {
			names = append(names, known.String())
		}
		err = fmt.Errorf("found %s, want one of %s", r, strings.Join(names, ", "))
	}
	return r, err
}

// figure returns how a flag that reads a share makes of it a figure that the user gave.
func figure(flag string) func(string) (unit.Figure[unit.Share], error) {
	return func(text string) (unit.Figure[unit.Share], error) {
		share, err := unit.ParsePercent(text)
		return unit.Exactly(share, unit.Given, "--"+flag, ""), err
	}
}
