package fleet

import (
	"errors"
	"fmt"
	"strings"

	"homenode/numa"
	"homenode/size/fit"
	"homenode/source/scenario"
)

// The names of the VM and the host of a question without a SOURCE.
const askedVM, askedHost = "vm", "host"

// question returns a VM and a host as a fleet. Each is a shape, and after it what else a scenario says of one: "24x512GB hotAdd=on".
func question(vm, host, release string) (*numa.Fleet, error) {
	if strings.ContainsAny(vm+host, "\r\n") {
		return nil, errors.New("--vm, --host: found a line break, want one line each")
	}
	vmShape, vmWords, _ := strings.Cut(strings.TrimSpace(vm), " ")
	hostShape, hostWords, _ := strings.Cut(strings.TrimSpace(host), " ")
	shape, err := fit.ParseShape(vmShape)
	if err != nil {
		return nil, fmt.Errorf("--vm: %w", err)
	}
	if shape.Count > 1 {
		return nil, fmt.Errorf("--vm: found %d VMs, want one", shape.Count)
	}
	r, err := numa.ParseRelease(release)
	if err != nil {
		return nil, fmt.Errorf("--release: %w", err)
	}
	if _, _, ok := numa.ModelOf(r); !ok {
		return nil, fmt.Errorf("--release: %w", numa.NotModelled(r))
	}
	on, err := fit.ParseType(hostShape, r)
	if err != nil {
		return nil, fmt.Errorf("--host: %w", err)
	}
	h := &on.Host
	var b strings.Builder
	fmt.Fprintf(&b, "release %s\nhost %s packages=%d nodes=%d cores=%d memory=%dMB", release, askedHost,
		h.Packages.Value, len(h.Nodes.Value), h.Nodes.Value[0].Cores, h.Memory.Value/numa.MiB)
	if !h.HyperThreading.Value {
		b.WriteString(" ht=off")
	}
	if mhz := h.CoreMHz.Value; mhz > 0 {
		fmt.Fprintf(&b, " mhz=%d", mhz)
	}
	fmt.Fprintf(&b, " %s\nvm %s host=%s vcpus=%d memory=%dMB %s\n", hostWords, askedVM, askedHost, shape.VCPUs, shape.Memory/numa.MiB, vmWords)
	fleet, err := scenario.Read("question", []byte(b.String()))
	if err != nil {
		if e, ok := errors.AsType[*numa.SyntaxError](err); ok {
			return nil, fmt.Errorf("--%s: %s", map[int]string{1: "release", 2: "host", 3: "vm"}[e.Line], e.Msg)
		}
		return nil, err
	}
	fleet.Source = vm + " on " + host
	return fleet, nil
}
