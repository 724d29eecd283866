package fleet

import (
	"errors"
	"fmt"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/size/fit"
	"example.org/homenode/source/scenario"
)

// Names of the VM and the host in a question without a source.
const askedVM, askedHost = "vm", "host"

// hostAlone returns an error that names the commands about a host shape without a VM; nil if the text is no host shape.
func hostAlone(text string) error {
	shape, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if _, err := fit.ParseType(shape, numa.ESXi80); err != nil {
		return nil
	}
	return fmt.Errorf("%s is a host: homenode size fit --hosts %s shows which VM sizes fit it; to explain one VM on it add --vm, as in: homenode explain --vm 24x512GB --host %s", shape, words.Command(shape), words.Command(shape))
}

// shaped returns a VM and a host as a fleet. Each is a shape, optionally followed by settings as in a scenario: "24x512GB
// hotAdd=on".
func shaped(vm, host, release string) (*numa.Fleet, error) {
	if strings.ContainsAny(vm+host, "\r\n") {
		return nil, errors.New("--vm, --host: found a line break, want one line each")
	}
	vmShape, vmWords, _ := strings.Cut(strings.TrimSpace(vm), " ")
	hostShape, hostWords, _ := strings.Cut(strings.TrimSpace(host), " ")
	shape, err := fit.ParseShape(vmShape)
	if err != nil {
		return nil, ask.Wrong("vm", err)
	}
	if shape.Count > 1 {
		return nil, ask.Wrong("vm", fmt.Errorf("found %d VMs, want one", shape.Count))
	}
	r, err := numa.ParseRelease(release)
	if err != nil {
		return nil, ask.Wrong("release", err)
	}
	if _, _, ok := numa.ModelOf(r); !ok {
		return nil, ask.Wrong("release", numa.NotModelled(r))
	}
	on, err := fit.ParseType(hostShape, r)
	if err != nil {
		return nil, ask.Wrong("host", err)
	}
	text := fmt.Sprintf("release %s\n%s\nvm %s host=%s vcpus=%d memory=%dMB %s\n", release, ask.HostLine(askedHost, &on, hostWords),
		askedVM, askedHost, shape.VCPUs, shape.Memory/numa.MiB, vmWords)
	fleet, err := scenario.Read("question", []byte(text))
	if err != nil {
		if e, ok := errors.AsType[*numa.SyntaxError](err); ok {
			return nil, ask.Wrong(map[int]string{1: "release", 2: "host", 3: "vm"}[e.Line], errors.New(e.Msg))
		}
		return nil, err
	}
	fleet.Source = vm + " on " + host
	return fleet, nil
}
