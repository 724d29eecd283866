package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/numa"
	"homenode/numa/unit"
	show "homenode/output/size/dump"
	"homenode/size/dump"
)

// dumpFlags are the flags of size dump.
type dumpFlags struct {
	size      sizeFlags
	src       sourceFlags
	ram       string
	release   string
	boot      string
	logs      string
	reserve   string
	media     string
	published bool
}

func newSizeDump() *cobra.Command {
	var f dumpFlags
	cmd := &cobra.Command{
		Use:   "dump [SOURCE]",
		Short: "How large the core dump file of a host is, and what it leaves on the boot device",
		Long: `dump says how large the core dump file of an ESXi host is (7.0 and later) and what it leaves of a boot device for logs:
of one host (--ram), or of all hosts of a SOURCE. Four hosts were measured and published; other sizes of RAM have a range.

Sizes are binary, as LUNs and the vSphere Client have them: a disk sold as 240 GB is --boot 223.5GB.

` + sourceHelp,
		Example: `  homenode size dump --ram 1.5TB --release 8.0U3 --boot 32GB
  homenode size dump demo --boot 32GB
  homenode size dump --published`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.ram, "ram", "", "memory of the host: 512GB, 1.5TB")
	fl.StringVar(&f.release, "release", "", "ESXi release, such as 8.0U3; with a SOURCE for hosts that state none")
	fl.StringVar(&f.boot, "boot", "", "boot device: 32GB")
	fl.StringVar(&f.logs, "logs", "3GB", "space wanted for logs and traces; 0 when all go to a syslog server")
	fl.StringVar(&f.reserve, "reserve", "20", "percent of ESX-OSData that is kept free")
	fl.StringVar(&f.media, "media", string(dump.MediaDefault), "boot option systemMediaSize: min, small, default, max")
	fl.BoolVar(&f.published, "published", false, "show the published figures beside what they come to")
	f.size.register(cmd)
	f.src.register(cmd)
	return cmd
}

func (f *dumpFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.size.check(); err != nil {
		return err
	}
	given := map[string]bool{}
	for _, name := range []string{"ram", "release", "boot", "logs", "reserve", "media"} {
		given[name] = cmd.Flags().Changed(name)
		if f.published && given[name] {
			return fmt.Errorf("--published: stands alone: found --%s", name)
		}
	}
	if f.published {
		if len(args) > 0 {
			return fmt.Errorf("--published: stands alone: found %s", args[0])
		}
		return f.size.write(cmd, show.Published())
	}
	q, err := f.question()
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0 && f.ram == "":
		return errors.New("found neither --ram nor SOURCE, want the memory of a host such as --ram 1.5TB, or whose hosts to size")
	case len(args) == 0:
		r, err := dump.Answer(q)
		if err != nil {
			return fmt.Errorf("--ram: %w", err)
		}
		return f.size.write(cmd, show.Answer(q, &r, given))
	case f.ram != "":
		return errors.New("--ram: not with a SOURCE, which states the memory of its hosts")
	}
	fleet, err := f.src.read(cmd, args[0])
	if err != nil {
		return err
	}
	r, err := dump.OfFleet(fleet.Hosts, q)
	if err != nil {
		return err
	}
	if err := f.size.write(cmd, show.Fleet(fleet.Source, &r, given)); err != nil {
		return err
	}
	return f.src.incomplete()
}

// question reads the flags.
func (f *dumpFlags) question() (q dump.Question, err error) {
	size := func(flag, text string) (numa.Bytes, error) {
		if flag == "logs" && text != "" && strings.Trim(text, "0") == "" {
			return 0, nil // all go to a syslog server
		}
		v, err := memorySize(text)
		if err != nil {
			return 0, fmt.Errorf("--%s: %w", flag, err)
		}
		return v, nil
	}
	if f.ram != "" {
		if q.RAM, err = size("ram", f.ram); err != nil {
			return q, err
		}
	}
	if f.boot != "" {
		v, err := size("boot", f.boot)
		if err != nil {
			return q, err
		}
		q.Boot = dump.Size(v)
		if _, err := dump.Divide(q.Boot, ""); err != nil {
			return q, fmt.Errorf("--boot: %w", err)
		}
	}
	logs, err := size("logs", f.logs)
	if err != nil {
		return q, err
	}
	q.Needs.Logs = dump.Size(logs)
	if q.Needs.Reserve, err = unit.ParsePercent(f.reserve); err != nil {
		return q, fmt.Errorf("--reserve: %w", err)
	}
	if q.Needs.Reserve > dump.MostReserve {
		return q, fmt.Errorf("--reserve: found %s, want at most %s", q.Needs.Reserve, dump.MostReserve)
	}
	if q.Needs.Media = dump.Media(f.media); !slices.Contains(dump.Medias, q.Needs.Media) {
		return q, fmt.Errorf("--media: found %q, want min, small, default or max", f.media)
	}
	if f.release != "" {
		if q.Release, err = numa.ParseRelease(f.release); err != nil {
			return q, fmt.Errorf("--release: %w", err)
		}
		if !slices.Contains(numa.Modelled, q.Release.Base()) {
			return q, fmt.Errorf("--release: found %s, want one of %s", q.Release, releaseNames())
		}
	}
	return q, nil
}

// releaseNames lists the releases that are known.
func releaseNames() string {
	var names []string
	for _, r := range numa.Modelled {
		names = append(names, r.String())
	}
	return strings.Join(names, ", ")
}
