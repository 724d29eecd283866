package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/change/gate"
	"example.org/homenode/esxi/product"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/open"
)

// A Source has the options for reading the sources of a question.
type Source struct {
	NodesPerSocket []string `ask:"nodes-per-socket" help:"NUMA nodes per package for sources that know none: 'esx*=1', then 'esx07=2' (the later wins), or @FILE with such lines"`
	Products       []string `ask:"product" help:"software in guests, such as 'sql*=SQL Server 2022 Standard', or @FILE with such lines (docs/reference/guests.md)"`
	Evidence       []string `ask:"evidence,local" help:"file with observations, which are compared with the prediction: vmware.log, .vmx, lscpu, numactl -H, Coreinfo, homenode measure, sched-stats, esxtop screen, the end of a recording; NAME=FILE says whose it is"`
	AssumeHost     string   `ask:"assume-host" help:"host to take where no source states one, such as a folder of logs: '2x18c/1TB release=7.0U3' (sockets x cores of a socket / memory of the host), 'nodes=2 cores=18 memory=1TB release=7.0U3' (cores of a node), or what hosts lack: release=8.0U3"`

	Models []string `ask:"hosts" help:"host models for VMs that are only planned: '2x16c/512GB release=8.0U3' (repeatable); else the hosts of another SOURCE"`

	lacks Lacks
}

// Options returns the options for reading sources.
func (s *Source) Options() open.Options {
	return open.Options{NodesPerSocket: s.NodesPerSocket, Products: s.Products, AssumeHost: hostWords(s.AssumeHost), Evidence: s.Evidence}
}

// ErrNoFleet is the error when a shared process has not read a fleet yet.
var ErrNoFleet = errors.New("no inventory was read yet: the page of the status says how collecting goes")

func (s *Source) reads() {}

// Reads reports whether a question reads sources.
func Reads(q Fielded) bool {
	_, ok := q.(interface{ reads() })
	return ok
}

// Read reads the fleet of the sources for a question that predicts with the default choices and takes no KVM fleet.
func (s *Source) Read(ctx context.Context, e *Env, sources ...string) (*numa.Fleet, error) {
	return s.ReadBy(ctx, e, vnuma.Choices{}, false, sources...)
}

// ReadBy reads the fleet of the sources. Unreadable sources are reported as warnings; Incomplete then returns an error. A question that predicts ESXi
// behaviour rejects a KVM fleet, unless kvm is set. VMs whose stored size is unknown get the one that their last power-on stored, by ch.
func (s *Source) ReadBy(ctx context.Context, e *Env, ch vnuma.Choices, kvm bool, sources ...string) (*numa.Fleet, error) {
	fleet, err := s.read(ctx, e, kvm, sources)
	if fleet != nil {
		vnuma.AssumeStored(fleet, ch)
	}
	return fleet, err
}

func (s *Source) read(ctx context.Context, e *Env, kvm bool, sources []string) (*numa.Fleet, error) {
	if e.Held != nil {
		fleet, err := e.Held.fleet(sources)
		s.lacks.Of(fleet)
		return fleet, cmp.Or(err, onlyESXi(fleet, kvm, sources))
	}
	if e.Open == nil {
		return nil, ErrNoFleet
	}
	fleet, unread, err := e.Open(ctx, sources, s.Options())
	s.lacks.failed = append(s.lacks.failed, unread...) // Read can be called for two fleets
	s.lacks.Of(fleet)
	for _, n := range unread {
		e.Tell(n.String())
	}
	if err = cmp.Or(err, onlyESXi(fleet, kvm, sources)); err == nil {
		err = spelt(fleet)
	}
	if err != nil {
		return fleet, err
	}
	on, err := models(s.Models)
	if err != nil {
		return nil, err
	}
	return gate.Place(fleet, on)
}

// onlyESXi rejects a KVM fleet unless kvm is set.
func onlyESXi(fleet *numa.Fleet, kvm bool, sources []string) error {
	if kvm || fleet == nil || fleet.Hypervisor != numa.KVM {
		return nil
	}
	return fmt.Errorf("this command predicts the layouts of ESXi, and the definitions of KVM state theirs; %s", open.KVMWay(strings.Join(sources, " ")))
}

// Told reports whether Read has already reported a note of the fleet as a warning.
func (s *Source) Told(n numa.Note) bool { return slices.Contains(s.lacks.failed, n) }

// Incomplete returns an error, a *Lacks, if Read skipped a source or a file: "no findings" about half of a fleet would be misleading.
func (s *Source) Incomplete() error { return s.lacks.Err() }

// Judged reads and assesses the fleet of the sources. read is the duration of reading. The result is read-only: it can be shared.
func (s *Source) Judged(ctx context.Context, e *Env, kvm bool, o rules.Options, sources ...string) (r *rules.Result, read time.Duration, err error) {
	if h := e.Held; h != nil {
		if err := h.allow(sources); err != nil {
			return nil, 0, err
		}
		if h.judged(o) {
			s.lacks.Of(h.Result.Fleet)
			return h.Result, 0, nil
		}
	}
	start := time.Now()
	fleet, err := s.ReadBy(ctx, e, o.Choices, kvm, sources...)
	if err != nil {
		return nil, 0, err
	}
	read = time.Since(start)
	r, err = rules.RunContext(ctx, fleet, o)
	return r, read, err
}

// State sets the products of a fleet without a source. A product without a pattern applies to every VM.
func (s *Source) State(fleet *numa.Fleet) error {
	var products []string
	for _, text := range s.Products {
		if !strings.Contains(text, "=") && !strings.HasPrefix(text, "@") {
			text = "*=" + text
		}
		products = append(products, text)
	}
	return cmp.Or(open.Options{Products: products}.Apply(fleet), spelt(fleet))
}

// spelt returns an error if --product states an edition that no product has.
func spelt(fleet *numa.Fleet) error {
	for i := range fleet.VMs {
		p := &fleet.VMs[i].Product
		if words, editions := product.Misspelt(p.Value); words != nil && strings.HasPrefix(p.Origin.Where, "--product ") {
			return fmt.Errorf("--product: found %q in %q, which is no edition: want %s, or none", words[0], p.Value, strings.Join(editions, ", "))
		}
	}
	return nil
}

// SourceNames are the fields about reading a source, and the flags about connecting to a vCenter.
var SourceNames = []string{"nodes-per-socket", "evidence", "assume-host", "hosts", "credentials", "insecure"}

// AnswerNames are the fields that affect the findings of captures, for the next commands of an answer.
var AnswerNames = slices.Concat([]string{"fleet"}, SourceNames, []string{"host-name", "from", "to", "interval", "start", "config", "fail-on"})
