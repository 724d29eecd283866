package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/numa"
	"homenode/size/pages"
	"homenode/source/demo"
	"homenode/source/open"
	"homenode/source/ticks"
)

// readHosts reads the last tick of each host, in the order of names.
func (f *pagesFlags) readHosts(cmd *cobra.Command, args []string) ([]pages.Host, error) {
	last := map[string]*pages.Host{}
	outside := 0
	tick := func(t *numa.Tick) error {
		if w := f.in.window; t.Time.Before(w[0]) || !w[1].IsZero() && t.Time.After(w[1]) {
			outside++
			return nil
		}
		if h := last[t.Host]; h == nil || !t.Time.Before(h.Time) {
			last[t.Host] = hostOfTick(t)
		}
		return nil
	}
	o := ticks.Options{Host: f.in.host, From: f.in.window[0], To: f.in.window[1], Workers: runtime.GOMAXPROCS(0)}
	done := func(_ *ticks.File, err error) error {
		if err != nil {
			f.in.failed++
			fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s\n", errorText(err))
		}
		return nil
	}
	for _, arg := range args {
		var err error
		switch arg {
		case open.Demo:
			night, e := demo.Capture()
			if err = e; e == nil {
				err = night.Ticks(tick)
			}
		case "-":
			_, err = ticks.Read(cmd.Context(), open.StandardInput, cmd.InOrStdin(), o, tick)
		default:
			_, err = ticks.Walk(cmd.Context(), arg, o, ticks.Visit{Tick: tick, Done: done})
		}
		if err != nil {
			return nil, err
		}
	}
	if len(last) == 0 {
		if f.in.failed > 0 {
			return nil, errors.New("nothing could be read")
		}
		return nil, nothingFound(strings.Join(args, ", "), outside, nil)
	}
	var hosts []pages.Host
	for _, h := range last {
		hosts = append(hosts, *h)
	}
	slices.SortFunc(hosts, func(a, b pages.Host) int { return strings.Compare(a.Name, b.Name) })
	return hosts, nil
}

// hostOfTick takes what a tick states, and nothing else.
func hostOfTick(t *numa.Tick) *pages.Host {
	stated := func(has, bit numa.Counters, b numa.Bytes) *numa.Bytes {
		if has&bit == 0 {
			return nil
		}
		return &b
	}
	h := &pages.Host{
		Name: t.Host, Time: t.Time, Nodes: len(t.Nodes),
		Memory: stated(t.Has, numa.HasTotal, t.Memory), Free: stated(t.Has, numa.HasFree, t.Free), MinFree: stated(t.Has, numa.HasMinFree, t.MinFree),
		Shared: stated(t.Has, numa.HasShared, t.Shared), Common: stated(t.Has, numa.HasCommon, t.Common),
	}
	if t.Has&numa.HasState != 0 {
		state := t.State
		h.State = &state
	}
	for i := range t.VMs {
		v := &t.VMs[i]
		at := func(bit numa.Counters, b numa.Bytes) *numa.Bytes { return stated(v.Has, bit, b) }
		h.VMs = append(h.VMs, pages.VM{
			Name: v.Name, Size: at(numa.HasSize, v.Size), Granted: at(numa.HasGranted, v.Granted), Consumed: at(numa.HasConsumed, v.Consumed),
			Active: at(numa.HasActive, v.Active), Shared: at(numa.HasShared, v.Shared), Saved: at(numa.HasSaved, v.Saved), Zero: at(numa.HasZero, v.Zero),
			Hint: at(numa.HasHint, v.Hint), Large: at(numa.HasLarge, v.Large),
		})
	}
	return h
}
