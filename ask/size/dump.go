package size

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/dump"
	"example.org/homenode/source/evidence"
)

// Dump asks for the size of a host's core dump file, and for the space that remains on its boot
// device.
type Dump struct {
	ask.Asked
	Published
	Fleet      string   `ask:"source,arg" label:"Fleet"`
	RAM        string   `ask:"ram" group:"Host" label:"Memory of the host" example:"1.5TB" help:"memory of the host: 512GB, 1.5TB"`
	Release    string   `ask:"release" label:"ESXi release" example:"8.0U3" help:"ESXi release, such as 8.0U3; with a SOURCE for hosts that state none"`
	Boot       string   `ask:"boot" label:"Boot device" example:"32GB" help:"boot device: 32GB"`
	Logs       string   `ask:"logs" default:"3GB" label:"Space for logs" help:"space wanted for logs and traces; 0 when all go to a syslog server"`
	KeepFree   string   `ask:"keep-free" default:"20" label:"Kept free, percent" help:"percent of ESX-OSData that is kept free"`
	Media      string   `ask:"media" default:"default" likely:"default,min,small,max" label:"systemMediaSize" help:"boot option systemMediaSize: min, small, default, max"`
	Evidence   []string `ask:"evidence,local" group:"Source" help:"outputs of esxcli system coredump file list and esxcli hardware memory get of your own hosts: their sizes replace the published ones for hosts of the same memory"`
	ask.Source `only:"nodes-per-socket product assume-host"`
}

// Answer answers the question.
func (f *Dump) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	r, err := f.or(f, "size dump", dump.Checks, func() (*answer.Answer, error) { return f.ask(ctx, e) })
	return ask.Partly(r, err, f.Source.Incomplete())
}

func (f *Dump) ask(ctx context.Context, e *ask.Env) (*answer.Answer, error) {
	q, err := f.question()
	if err != nil {
		return nil, err
	}
	for _, arg := range f.Evidence {
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
	case f.Fleet == "" && f.RAM == "":
		return nil, errors.New("found neither --ram nor SOURCE, want the memory of a host such as --ram 1.5TB, or whose hosts to size")
	case f.Fleet == "":
		r, err := dump.Answer(q)
		if err != nil {
			return nil, fmt.Errorf("--ram: %w", err)
		}
		return size.Answer("size dump", r), nil
	case f.RAM != "":
		return nil, errors.New("--ram: not with a SOURCE, which states the memory of its hosts")
	}
	fleet, err := f.Read(ctx, e, f.Fleet)
	if err != nil {
		return nil, err
	}
	return size.Answer("size dump", dump.OfFleet(fleet.Source, fleet.Hosts, q)), nil
}

// question parses the fields.
func (f *Dump) question() (q dump.Question, err error) {
	boot := func(text string) (numa.Bytes, error) {
		v, err := memory(text)
		if err == nil {
			err = dump.CheckBoot(v)
		}
		return v, err
	}
	logs := func(text string) (numa.Bytes, error) {
		if strings.Trim(text, "0") == "" {
			return 0, nil // all dumps go to a syslog server
		}
		return memory(text)
	}
	q.Given = f.GivenOf("logs", "keep-free", "media")
	err = cmp.Or(ask.Set("ram", f.RAM, &q.RAM, memory), ask.Set("boot", f.Boot, &q.Boot, boot), ask.Set("logs", f.Logs, &q.Logs, logs),
		ask.Set("keep-free", f.KeepFree, &q.Reserve, unit.ParsePercent))
	if err != nil {
		return q, err
	}
	if q.Reserve > dump.MostReserve {
		return q, fmt.Errorf("--keep-free: found %s, want at most %s", q.Reserve, dump.MostReserve)
	}
	if q.Media = f.Media; !slices.Contains(dump.Medias, q.Media) {
		return q, fmt.Errorf("--media: found %q, want min, small, default or max", f.Media)
	}
	return q, ask.Set("release", f.Release, &q.Release, release)
}
