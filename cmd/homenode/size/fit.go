package size

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/numa"
	"homenode/output/answer"
	show "homenode/output/size/fit"
	"homenode/size/fit"
)

// times is how many times something, as a flag.
type times float64

func (t *times) String() string { return strconv.FormatFloat(float64(*t), 'g', -1, 64) }

// Set reads the flag.
func (t *times) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return errors.New("want how many times the soft reserve, 0 to 10, such as 1 or 0.5")
	}
	*t = times(v)
	return nil
}

// Type names the kind of value in the help.
func (t *times) Type() string { return "float" }

// fitFlags are the flags of size fit.
type fitFlags struct {
	common
	vms      []string
	hosts    string
	cluster  string
	count    int
	spare    int
	release  string
	reserve  times
	perCore  float64
	overhead string
	prices   fit.Prices
	details  bool
}

func newFit() *cobra.Command {
	var f fitFlags
	cmd := f.command("fit", cobra.MaximumNArgs(1), f.answer)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.vms, "vm", nil, "shape of VMs: 12x96GB is 12 vCPUs and 96 GB, 'db:12x96GB*40' 40 of them with a name (repeatable)")
	fl.StringVar(&f.hosts, "hosts", "", "host types: 2x32c/1TB,2x48c/1.5TB")
	fl.StringVar(&f.cluster, "cluster", "", "cluster or host of SOURCE, or all; not needed when there is one")
	fl.IntVar(&f.count, "host-count", 10, "hosts of the cluster that VMs without a count are for")
	fl.IntVar(&f.spare, "spare", 1, "hosts that may fail at once")
	fl.StringVar(&f.release, "release", "8.0U3", "ESXi release of the host types")
	f.reserve = 1
	fl.Var(&f.reserve, "reserve", "how many times its soft reserve every node keeps free")
	fl.Float64Var(&f.perCore, "vcpus-per-core", 1, "most vCPUs of a node per core; with a SOURCE what its cluster has with --spare hosts failed")
	fl.StringVar(&f.overhead, "overhead", "", "memory of a VM beside its guest's: 1GB or 1%; VMware's table when not given")
	fl.Float64Var(&f.prices.Host, "host-price", 0, "price of a host whose type has none of its own")
	fl.Float64Var(&f.prices.Core, "core-price", 0, "price of a core, such as a licence")
	fl.Float64Var(&f.prices.GB, "gb-price", 0, "price of a GB of memory")
	fl.BoolVar(&f.details, "details", false, "all notes, the VMs by shape, and what else fits a node")
	f.src.RegisterOnly(cmd, flags.SourceShapes...)
	return cmd
}

func (f *fitFlags) answer(cmd *cobra.Command, args []string) (*answer.Answer, error) {
	a, c, err := f.ask()
	if err != nil {
		return nil, err
	}
	if flags.OfPage(cmd) {
		if err := checkPage(a); err != nil {
			return nil, err
		}
	}
	c.Given = flags.Given(cmd, "release", "reserve", "vcpus-per-core", "overhead", "host-count")
	if len(args) > 0 {
		if c.Given["host-count"] {
			return nil, errors.New("--host-count: not with a SOURCE, which has its number of VMs")
		}
		if room, err := f.fromSource(cmd, args[0], a, c); room != nil || err != nil {
			return room, err
		}
	} else if err := f.described(a); err != nil {
		return nil, err
	}
	r, err := fit.Fit(cmd.Context(), a)
	if err != nil {
		return nil, err
	}
	c.Options = a.Options
	changes := fit.Changes(cmd.Context(), a, r)
	return show.Answer(c, r, changes), cmd.Context().Err()
}

// What a page may ask about: its answers come within seconds.
const (
	pageVMs    = 20_000
	pageShapes = 40
	pageTypes  = 20
)

// checkPage refuses what takes long. VMs and hosts of the fleet that is held do not count.
func checkPage(a *fit.Ask) error {
	vms := 0
	for i := range a.Shapes {
		vms += a.Shapes[i].Count
	}
	if vms > pageVMs || len(a.Shapes) > pageShapes || len(a.Types) > pageTypes {
		return fmt.Errorf("found %d VMs of %d shapes and %d host types: a page counts up to %d, %d and %d; homenode size fit counts more", vms, len(a.Shapes), len(a.Types), pageVMs, pageShapes, pageTypes)
	}
	return nil
}

// described checks what is needed without a SOURCE.
// mostSpare bounds the hosts that may fail at once: more than a cluster has.
const mostSpare = 1000

func (f *fitFlags) described(a *fit.Ask) error {
	switch {
	case f.cluster != "":
		return errors.New("--cluster: only with a SOURCE")
	case len(a.Shapes) == 0:
		return errors.New("--vm: found none, want a shape such as 12x96GB, or a SOURCE with VMs")
	case len(a.Types) == 0:
		return errors.New("--hosts: found none, want host types such as 2x32c/1TB,2x48c/1.5TB, or a SOURCE with hosts")
	case a.Spare > mostSpare:
		return fmt.Errorf("--spare: found %d, want at most %d hosts", a.Spare, mostSpare)
	case a.Shapes[0].Count > 0:
		a.Hosts = 0 // is what is asked
	case a.Spare >= a.Hosts:
		return fmt.Errorf("--spare: found %d hosts, %d of them spare: want one at least that is not", a.Hosts, a.Spare)
	}
	return nil
}

// fromSource adds the VMs and hosts of the source to what is asked. It returns the answer
// when the question was about the room that is left.
func (f *fitFlags) fromSource(cmd *cobra.Command, source string, a *fit.Ask, c *show.Context) (*answer.Answer, error) {
	counted := len(a.Shapes) > 0 && a.Shapes[0].Count > 0
	room := len(a.Shapes) > 0 && !counted && len(a.Types) == 0
	switch {
	case room && len(a.Shapes) > 1:
		return nil, errors.New("--vm: found several shapes without a count, want one to ask what room is left for it")
	case len(a.Shapes) > 0 && !counted && !room:
		return nil, errors.New("--vm: found no count: with a SOURCE and --hosts the question is which hosts to buy, so want how many come to its VMs (12x96GB*40); or no --hosts, to ask what room is left")
	case room && f.prices != (fit.Prices{}):
		return nil, errors.New("--host-price, --core-price, --gb-price: not when the question is what room is left, want --hosts or counts")
	}
	fleet, err := f.src.Read(cmd, source)
	if err != nil {
		return nil, err
	}
	if c.Given["release"] {
		on, err := release(f.release)
		if err != nil {
			return nil, err
		}
		fill(fleet, on, c)
	}
	c.Source = fleet.Source
	if c.Cluster, err = fit.Find(fleet, f.cluster); err != nil {
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	if !c.Given["vcpus-per-core"] {
		ratio, failed, ok := c.Cluster.PerCore(f.spare)
		if !ok {
			return nil, noHost(c.Cluster, ", and --vcpus-per-core where only --hosts are asked about")
		}
		a.PerCore, c.Failed = ratio, failed
	}
	if room && len(c.Cluster.Hosts) == 0 {
		return nil, noHost(c.Cluster, "")
	}
	if room {
		spare := f.spare
		if len(c.Cluster.Hosts) == 1 && !cmd.Flags().Changed("spare") {
			spare = 0
		}
		left, err := c.Cluster.Room(cmd.Context(), a.Shapes[0], spare, &a.Options)
		if err != nil {
			return nil, err
		}
		c.Options = a.Options
		return show.Room(c, left), nil
	}
	a.Shapes = append(c.Cluster.Shapes(), a.Shapes...)
	if a.Types = fit.Beside(c.Cluster.Types(), a.Types); len(a.Types) == 0 {
		return nil, noHost(c.Cluster, ", or --hosts")
	}
	a.Hosts = 0
	today, err := c.Cluster.Today(&a.Options)
	c.Today = &today
	return nil, err
}

// noHost says why no host of the cluster can be reckoned with, and what helps.
func noHost(c *fit.Cluster, also string) error {
	why := "found none"
	if len(c.Notes) > 0 {
		why = strings.TrimSuffix(c.Notes[0], ": left out")
	}
	return fmt.Errorf("no host of %s can be reckoned with (%s): want --release for hosts that state none, or --assume-host for hosts that the SOURCE does not describe%s", c.Name, why, also)
}

// fill gives hosts that state no release that of --release, which ask has read.
func fill(fleet *numa.Fleet, on numa.Release, c *show.Context) {
	for i := range fleet.Hosts {
		if h := &fleet.Hosts[i]; !h.Release.Known() {
			h.Release = numa.AssumedFor(on, "--release")
			c.Release = on.String()
			c.Filled++
		}
	}
}

// ask reads the flags.
func (f *fitFlags) ask() (*fit.Ask, *show.Context, error) {
	on, err := release(f.release)
	if err != nil {
		return nil, nil, fmt.Errorf("--release: %w", err)
	}
	a := &fit.Ask{Hosts: f.count, Spare: f.spare, Prices: f.prices}
	c := &show.Context{Details: f.details}
	if a.Shapes, err = fit.ParseShapes(f.vms); err != nil {
		return nil, nil, fmt.Errorf("--vm: %w", err)
	}
	types := func(text string) ([]fit.Type, error) {
		c.Release = on.String()
		return fit.ParseTypes(text, on)
	}
	a.Reserve, a.PerCore, a.Overhead = float64(f.reserve), f.perCore, fit.PublishedOverhead
	return a, c, cmp.Or(flags.Set("hosts", strings.TrimSpace(f.hosts), &a.Types, types), flags.Set("overhead", f.overhead, &a.Overhead, fit.ParseOverhead),
		price("host-price", f.prices.Host), price("core-price", f.prices.Core), price("gb-price", f.prices.GB), f.checkNumbers())
}

func price(flag string, v float64) error {
	if !(v >= 0 && v <= 1e12) {
		return fmt.Errorf("--%s: found %v, want no negative price", flag, v)
	}
	return nil
}

// checkNumbers names the flag whose number cannot be.
func (f *fitFlags) checkNumbers() error {
	o := fit.Options{Reserve: float64(f.reserve), PerCore: 1}
	if err := o.Check(); err != nil {
		return fmt.Errorf("--%w", err)
	}
	switch {
	case !(f.perCore > 0 && f.perCore <= 100):
		return fmt.Errorf("--vcpus-per-core: found %v, want more than 0, up to 100", f.perCore)
	case f.count < 1:
		return fmt.Errorf("--host-count: found %d, want 1 at least", f.count)
	case f.spare < 0:
		return fmt.Errorf("--spare: found %d, want no negative number", f.spare)
	}
	return nil
}
