package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/change/move"
	"example.org/homenode/change/move/pack"
	"example.org/homenode/change/move/plan"
	"example.org/homenode/change/move/target"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/numa/unit"
	show "example.org/homenode/output/move"
	"example.org/homenode/rules"
	"example.org/homenode/size/fit"
)

// Hosts are the target hosts and their capacity limits.
type Hosts struct {
	Names    []string `ask:"hosts,list" help:"hosts of the target: a type and a number of hosts such as 2x32c/1TB*6, or files and folders (virsh capabilities, lscpu with numactl -H, a scenario); without a number, 2x32c/1TB describes each host, and no plan is made"`
	PerCore  []string `ask:"vcpus-per-core,list" default:"3" help:"most vCPUs on a core of a node, and of some VMs: 3,'sql*=1'; a VM of latency sensitivity High has its cores alone"`
	Threads  bool     `ask:"count-threads" help:"threads count as cores: a vCPU for each is no overcommitment"`
	Failover int      `ask:"failover-hosts" default:"1" min:"0" help:"hosts that stay empty, so that as many may fail"`
	Own      string   `ask:"host-reserve" default:"1c/16GB" help:"cores and memory of each node for the host itself; what QEMU takes beside the memory of each guest is counted too"`
	Apart    []string `ask:"apart" help:"VMs that must not share a host: 'sql01,sql02' or 'dc*' (repeatable)"`
	Wave     []string `ask:"wave" help:"VMs that move together, in the order of these flags: 'test*,dev*' (repeatable); by cluster without"`
}

// hostNames are the names of these fields.
var hostNames = []string{"hosts", "vcpus-per-core", "count-threads", "failover-hosts", "host-reserve", "apart", "wave"}

// targets are the parsed hosts.
type targets struct {
	policy plan.Policy
	list   []pack.Host // nil if only the shape of each host is known
	notes  []string
	shared bool // no file is read
}

// read parses the hosts, and the kinds of hosts that guests are sized for; none without --hosts.
func (h *Hosts) read(shared bool) (t targets, sizing []move.Host, err error) {
	t.shared = shared
	if len(h.Names) == 0 {
		return t, nil, nil
	}
	if one, counted, err := t.kindOf(h.Names[0]); len(h.Names) == 1 && (one != nil || err != nil) && counted == 0 {
		if err != nil {
			return t, nil, ask.Wrong("hosts", err)
		}
		host, ok := move.HostOf(&one.Host)
		if !ok {
			return t, nil, ask.Wrong("hosts", fmt.Errorf("found %q, want nodes with memory: 2x32c/1TB", h.Names[0]))
		}
		host.Name = h.Names[0]
		return t, []move.Host{host}, nil
	}
	if t.policy, err = h.policy(); err != nil {
		return t, nil, err
	}
	var other error // hosts of another hypervisor
	for _, name := range h.Names {
		switch err := t.add(name); {
		case errors.Is(err, target.ErrOther):
			other = err
		case err != nil:
			return t, nil, ask.Wrong("hosts", err)
		}
	}
	if len(t.list) == 0 && other != nil {
		return t, nil, ask.Wrong("hosts", other)
	}
	if n := len(t.list); n > 0 && h.Failover >= max(2, n) { // for one host the default is to reserve none
		return t, nil, ask.Wrong("failover-hosts", fmt.Errorf("found %d, want less than the %s of --hosts", h.Failover, words.Plural(n, "host")))
	}
	t.policy.Keep(t.list)
	return t, plan.Sizing(t.list), nil
}

// looksLikeKind matches text that is probably a kind of host rather than a file.
var looksLikeKind = pattern.Of(`^(?:[^:/]*:)?\d+\s*[xX]\s*\d|^[^/\\.]*$`)

// kindOf parses a kind of host and its count; 0 if no count is given. It returns nil for the name of a file.
func (t *targets) kindOf(text string) (kind *fit.Type, count int, err error) {
	if !looksLikeKind.MatchString(text) {
		return nil, 0, nil
	}
	if !t.shared {
		if _, err := os.Stat(text); err == nil {
			return nil, 0, nil
		}
	}
	kindText, number, counted := strings.Cut(text, "*")
	if counted {
		if count, err = strconv.Atoi(strings.TrimSpace(number)); err != nil || count < 1 || count > mostHosts {
			return nil, 0, fmt.Errorf("found %q, want a number of hosts behind the *, 1 to %d: 2x32c/1TB*6", text, mostHosts)
		}
	}
	one, err := fit.ParseType(kindText, numa.ESXi80) // only its nodes matter
	if err != nil {
		return nil, 0, err
	}
	for i := range one.Host.Nodes.Value { // memory that Linux does not report: 64 bytes of page table per page, firmware and kernel
		n := &one.Host.Nodes.Value[i]
		n.Memory.Value -= n.Memory.Value/64 + n.Memory.Value/512
	}
	return &one, count, nil
}

// mostHosts is above the size of any realistic plan.
const mostHosts = 100_000

// add adds the hosts of a kind, a file or a folder.
func (t *targets) add(text string) error {
	kind, count, err := t.kindOf(text)
	switch {
	case err != nil:
		return err
	case kind == nil && t.shared:
		return ask.ErrFiles
	case kind == nil:
		list, notes, err := target.Read(text)
		t.list, t.notes = append(t.list, list...), append(t.notes, notes...)
		return err
	}
	base := "kvm"
	if name, _, named := strings.Cut(text, ":"); named {
		base = name + "-"
	}
	digits := len(strconv.Itoa(max(10, count)))
	for range max(1, count) {
		host, err := target.OfHost(&kind.Host)
		if err != nil {
			return err
		}
		host.Name = fmt.Sprintf("%s%0*d", base, digits, len(t.list)+1)
		t.list = append(t.list, host)
	}
	return nil
}

// policy parses the capacity limits.
func (h *Hosts) policy() (p plan.Policy, err error) {
	p = plan.Policy{Threads: h.Threads, Failover: h.Failover, Apart: words.Lists(h.Apart), Waves: words.Lists(h.Wave)}
	for _, text := range h.PerCore {
		pattern, number, named := cutLast(text, "=")
		if !named {
			pattern, number = "", text
		}
		ratio, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(ratio >= 0.1 && ratio <= 100) {
			return p, ask.Wrong("vcpus-per-core", fmt.Errorf("found %q, want vCPUs per core, 0.1 to 100, and of some VMs with their name: 3,'sql*=1'", text))
		}
		if named {
			p.Ratios = append(p.Ratios, plan.Ratio{VMs: pattern, PerCore: ratio})
		} else {
			p.PerCore = ratio
		}
	}
	p.PerCore = cmp.Or(p.PerCore, defaultPerCore)
	cores, memory, ok := strings.Cut(h.Own, "/")
	n, err := strconv.Atoi(strings.TrimRight(cores, "cC"))
	if !ok || err != nil || n < 0 || n > numa.MaxCoresPerNode {
		return p, ask.Wrong("host-reserve", fmt.Errorf("found %q, want cores and memory of a node, such as 1c/16GB", h.Own))
	}
	p.KeptCores = n
	if !zeroSize.MatchString(memory) {
		p.KeptMemory, err = unit.ParseSize(memory)
	}
	return p, ask.Wrong("host-reserve", err)
}

// zeroSize matches a size of zero, with or without a unit; other options reject it.
var zeroSize = pattern.Of(`^\s*0+(\.0*)?\s*[kKmMgGtT]?[iI]?[bB]?\s*$`)

// defaultPerCore is the ratio of the other VMs when --vcpus-per-core only names some.
const defaultPerCore = 3

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// plan places the VMs on the hosts and sets the options accordingly; nil without hosts.
func (t *targets) plan(ctx context.Context, r *rules.Result, to []*move.Platform, o *move.Options) (*show.Planned, error) {
	if t.list == nil {
		return nil, nil
	}
	o.SMT = !slices.ContainsFunc(t.list, func(h pack.Host) bool {
		return !slices.ContainsFunc(h.Nodes, func(n pack.Node) bool { return n.Threads > n.Cores })
	})
	p, err := plan.Make(ctx, r, to, *o, t.list, t.policy)
	if err != nil {
		return nil, err
	}
	o.At = p.At
	return &show.Planned{Plan: p, Notes: t.notes}, nil
}
