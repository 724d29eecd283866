package size

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/numa/unit"
	"homenode/output/answer"
	show "homenode/output/size/dump"
	"homenode/size/dump"
	"homenode/source/evidence"
)

// dumpFlags are the flags of size dump.
type dumpFlags struct {
	common
	ram, release, boot, logs, reserve, media string
}

func newDump() *cobra.Command {
	var f dumpFlags
	f.checks = func() (*answer.Answer, error) { return show.Published(), nil }
	cmd := f.command("dump", cobra.MaximumNArgs(1), f.ask)
	fl := cmd.Flags()
	fl.StringVar(&f.ram, "ram", "", "memory of the host: 512GB, 1.5TB")
	fl.StringVar(&f.release, "release", "", "ESXi release, such as 8.0U3; with a SOURCE for hosts that state none")
	fl.StringVar(&f.boot, "boot", "", "boot device: 32GB")
	fl.StringVar(&f.logs, "logs", "3GB", "space wanted for logs and traces; 0 when all go to a syslog server")
	fl.StringVar(&f.reserve, "keep-free", "20", "percent of ESX-OSData that is kept free")
	fl.StringVar(&f.media, "media", string(dump.MediaDefault), "boot option systemMediaSize: min, small, default, max")
	f.src.Register(cmd)
	fl.Lookup("evidence").Usage = "outputs of hosts of your own: esxcli system coredump file list, with esxcli hardware memory get: the size of their core dump file counts for hosts of the same memory"
	return cmd
}

func (f *dumpFlags) ask(cmd *cobra.Command, args []string) (*answer.Answer, error) {
	given := flags.Given(cmd, "ram", "release", "boot", "logs", "keep-free", "media")
	q, err := f.question()
	if err != nil {
		return nil, err
	}
	for _, arg := range f.src.TakeEvidence() {
		piece, err := evidence.Read(arg)
		if err != nil {
			return nil, fmt.Errorf("--evidence: %w", err)
		}
		own, err := dump.Own(&piece, q.RAM)
		if err != nil {
			return nil, fmt.Errorf("--evidence: %w", err)
		}
		q.Own = append(q.Own, own...)
	}
	switch {
	case len(args) == 0 && f.ram == "":
		return nil, errors.New("found neither --ram nor SOURCE, want the memory of a host such as --ram 1.5TB, or whose hosts to size")
	case len(args) == 0:
		r, err := dump.Answer(q)
		if err != nil {
			return nil, fmt.Errorf("--ram: %w", err)
		}
		return show.Answer(q, &r, given), nil
	case f.ram != "":
		return nil, errors.New("--ram: not with a SOURCE, which states the memory of its hosts")
	}
	fleet, err := f.src.Read(cmd, args[0])
	if err != nil {
		return nil, err
	}
	r, err := dump.OfFleet(fleet.Hosts, q)
	return show.Fleet(fleet.Source, &r, given), err
}

// question reads the flags.
func (f *dumpFlags) question() (q dump.Question, err error) {
	size := func(text string) (dump.Size, error) {
		v, err := memory(text)
		return dump.Size(v), err
	}
	boot := func(text string) (dump.Size, error) {
		v, err := size(text)
		if err == nil {
			_, err = dump.Divide(v, "")
		}
		return v, err
	}
	logs := func(text string) (dump.Size, error) {
		if strings.Trim(text, "0") == "" {
			return 0, nil // all go to a syslog server
		}
		return size(text)
	}
	err = cmp.Or(flags.Set("ram", f.ram, &q.RAM, memory), flags.Set("boot", f.boot, &q.Boot, boot), flags.Set("logs", f.logs, &q.Needs.Logs, logs),
		flags.Set("keep-free", f.reserve, &q.Needs.Reserve, unit.ParsePercent))
	if err != nil {
		return q, err
	}
	if q.Needs.Reserve > dump.MostReserve {
		return q, fmt.Errorf("--keep-free: found %s, want at most %s", q.Needs.Reserve, dump.MostReserve)
	}
	if q.Needs.Media = dump.Media(f.media); !slices.Contains(dump.Medias, q.Needs.Media) {
		return q, fmt.Errorf("--media: found %q, want min, small, default or max", f.media)
	}
	return q, flags.Set("release", f.release, &q.Release, release)
}
