package move

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"homenode/change/move"
	"homenode/change/move/pack"
	"homenode/change/move/plan"
	"homenode/change/move/target"
	"homenode/cmd/homenode/flags"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/numa/unit"
	answers "homenode/output/move"
	"homenode/rules"
	"homenode/size/fit"
)

// hosts are the hosts of the target, and how full they may be.
type hosts struct {
	names       []string
	perCore     []string
	threads     bool
	failover    int
	own         string
	apart, wave []string

	policy plan.Policy
	list   []pack.Host
	notes  []string
}

// hostNames are the names of these flags.
var hostNames = []string{"hosts", "vcpus-per-core", "count-threads", "failover-hosts", "host-reserve", "apart", "wave"}

func (h *hosts) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&h.names, "hosts", nil, "the hosts of the target: so many of a kind such as 2x32c/1TB*6, or files and folders (virsh capabilities, lscpu with numactl -H, hwloc, a scenario); 2x32c/1TB without a number: what each has, and no plan")
	fl.StringSliceVar(&h.perCore, "vcpus-per-core", []string{"3"}, "most vCPUs on a core of a node, and of some VMs: 3,'sql*=1'; a VM of latency sensitivity High has its cores alone")
	fl.BoolVar(&h.threads, "count-threads", false, "threads count as cores: a vCPU for each is no overcommitment")
	fl.IntVar(&h.failover, "failover-hosts", 1, "hosts that stay empty, so that as many may fail")
	fl.StringVar(&h.own, "host-reserve", "1c/16GB", "cores and memory of each node for the host itself, and for what QEMU takes beside the memory of guests")
	fl.StringArrayVar(&h.apart, "apart", nil, "VMs of which no two share a host: 'sql01,sql02' or 'dc*' (repeatable)")
	fl.StringArrayVar(&h.wave, "wave", nil, "VMs that move together, in the order of these flags: 'test*,dev*' (repeatable); by cluster without")
}

// read reads the hosts, and returns what guests are sized for; nil without --hosts.
func (h *hosts) read() (*move.Host, error) {
	if len(h.names) == 0 {
		return nil, nil
	}
	if one, counted, err := kindOf(h.names[0]); len(h.names) == 1 && (one != nil || err != nil) && counted == 0 {
		if err != nil {
			return nil, fmt.Errorf("--hosts: %w", err)
		}
		host, ok := move.HostOf(&one.Host)
		if !ok {
			return nil, fmt.Errorf("--hosts: found %q, want nodes with memory: 2x32c/1TB", h.names[0])
		}
		host.Name = h.names[0]
		return &host, nil
	}
	if err := h.readPolicy(); err != nil {
		return nil, err
	}
	for _, name := range h.names {
		if err := h.add(name); err != nil {
			return nil, fmt.Errorf("--hosts: %w", err)
		}
	}
	if n := len(h.list); n > 0 && h.failover >= max(2, n) { // of one host the default keeps none
		return nil, fmt.Errorf("--failover-hosts: found %d, want less than the %s of --hosts", h.failover, words.Plural(n, "host"))
	}
	h.policy.Keep(h.list)
	sizing := plan.Sizing(h.list)
	return &sizing, nil
}

// looksLikeKind matches what is meant to be a kind of host.
var looksLikeKind = regexp.MustCompile(`^(?:[^:/]*:)?\d+\s*[xX]\s*\d|^[^/\\.]*$`)

// kindOf reads a kind of host, and how many there are; 0 when that is not said. It returns none for the name of a file.
func kindOf(text string) (kind *fit.Type, count int, err error) {
	if _, err := os.Stat(text); err == nil || !looksLikeKind.MatchString(text) {
		return nil, 0, nil
	}
	kindText, number, counted := strings.Cut(text, "*")
	if counted {
		if count, err = strconv.Atoi(strings.TrimSpace(number)); err != nil || count < 1 || count > mostHosts {
			return nil, 0, fmt.Errorf("found %q, want a number of hosts behind the *, 1 to %d: 2x32c/1TB*6", text, mostHosts)
		}
	}
	one, err := fit.ParseType(kindText, numa.ESXi80) // of which only the nodes count
	if err != nil {
		return nil, 0, err
	}
	return &one, count, nil
}

// mostHosts are more than a plan is ever made for.
const mostHosts = 100_000

// add adds the hosts of a kind, a file or a folder.
func (h *hosts) add(text string) error {
	kind, count, err := kindOf(text)
	if err != nil {
		return err
	}
	if kind == nil {
		list, notes, err := target.Read(text)
		h.list, h.notes = append(h.list, list...), append(h.notes, notes...)
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
		host.Name = fmt.Sprintf("%s%0*d", base, digits, len(h.list)+1)
		h.list = append(h.list, host)
	}
	return nil
}

// readPolicy reads the flags that say how full hosts may be.
func (h *hosts) readPolicy() error {
	p := &h.policy
	p.Threads, p.Failover = h.threads, h.failover
	if h.failover < 0 {
		return fmt.Errorf("--failover-hosts: found %d, want 0 or more", h.failover)
	}
	for _, text := range h.perCore {
		pattern, number, named := cutLast(text, "=")
		if !named {
			pattern, number = "", text
		}
		ratio, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(ratio >= 0.1 && ratio <= 100) {
			return fmt.Errorf("--vcpus-per-core: found %q, want vCPUs per core, 0.1 to 100, and of some VMs with their name: 3,'sql*=1'", text)
		}
		if named {
			p.Ratios = append(p.Ratios, plan.Ratio{VMs: pattern, PerCore: ratio})
		} else {
			p.PerCore = ratio
		}
	}
	if p.PerCore == 0 {
		p.PerCore = defaultPerCore
	}
	cores, memory, ok := strings.Cut(h.own, "/")
	n, err := strconv.Atoi(strings.TrimRight(cores, "cC"))
	if !ok || err != nil || n < 0 || n > numa.MaxCoresPerNode {
		return fmt.Errorf("--host-reserve: found %q, want cores and memory of a node, such as 1c/16GB", h.own)
	}
	p.KeptCores = n
	if !zeroSize.MatchString(memory) {
		if p.KeptMemory, err = unit.ParseSize(memory); err != nil {
			return fmt.Errorf("--host-reserve: %w", err)
		}
	}
	p.Apart, p.Waves = words.Lists(h.apart), words.Lists(h.wave)
	return nil
}

// zeroSize matches no memory, with a unit or without, which is no size elsewhere.
var zeroSize = regexp.MustCompile(`^\s*0+(\.0*)?\s*[kKmMgGtT]?[iI]?[bB]?\s*$`)

// defaultPerCore is what is taken beside ratios of some VMs alone.
const defaultPerCore = 3

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// plan plans the hosts of the VMs and says so in the options; nil when no hosts are named.
func (h *hosts) plan(r *rules.Result, to []*move.Platform, o *move.Options) (*answers.Planned, error) {
	if h.list == nil {
		return nil, nil
	}
	p, err := plan.Make(r, to, *o, h.list, h.policy)
	if err != nil {
		return nil, err
	}
	o.At = p.At
	return &answers.Planned{Plan: p, Notes: h.notes}, nil
}

// refuse says that --hosts is empty, or that a flag about full hosts wants hosts.
func (h *hosts) refuse(cmd *cobra.Command) error {
	switch {
	case h.list != nil:
		return nil
	case len(h.names) == 0 && cmd.Flags().Changed("hosts"):
		return errors.New("--hosts: found nothing, want hosts such as 2x32c/1TB*6, or files of them")
	}
	return flags.Refuse(cmd, "it is about the plan of hosts: name them with --hosts, such as 2x32c/1TB*6", hostNames[1:]...)
}
