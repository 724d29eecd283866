package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"homenode/numa"
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
	size     sizeFlags
	src      sourceFlags
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

func newSizeFit() *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:   "fit [SOURCE]",
		Short: "How many VMs fit each type of host with all memory local, what is left, and which hosts to buy",
		Long: `fit says how many VMs of a shape fit a host without remote memory: as the model of ESXi places them, node by node,
with the soft reserve of each node kept free. With counts (--vm 12x96GB*40) it says how many hosts of each type hold all
of them; with a SOURCE, how many hold the running VMs of a cluster, or, with --vm alone, what room its hosts have left.

A host type is sockets x cores of a socket / memory: 2x32c/1TB. More can follow: /snc2 or /nps4 (NUMA nodes of a socket),
/noht, @2.6GHz, =18000 (price of a host); a name stands before it: R760:2x32c/1TB.

` + sourceHelp,
		Example: `  homenode size fit --vm 12x96GB --hosts 2x32c/1TB,2x48c/1.5TB
  homenode size fit --vm 'db:12x96GB*40' --vm 'web:4x16GB*200' --hosts 2x32c/1TB=21000,2x48c/1.5TB=33000
  homenode size fit demo --cluster prod-a --hosts 2x32c/1TB,2x48c/2TB
  homenode size fit demo --cluster prod-a --vm 8x64GB`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.vms, "vm", nil, "shape of VMs: 12x96GB is 12 vCPUs and 96 GB, 'db:12x96GB*40' 40 of them with a name (repeatable)")
	fl.StringVar(&f.hosts, "hosts", "", "host types: 2x32c/1TB,2x48c/1.5TB")
	fl.StringVar(&f.cluster, "cluster", "", "cluster or host of SOURCE, or all; not needed when there is one")
	fl.IntVar(&f.count, "count", 10, "hosts of the cluster that VMs without a count are for")
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
	f.size.register(cmd)
	f.src.register(cmd)
	return cmd
}

// fitGiven are the flags of which an answer says whether they were given.
var fitGiven = []string{"release", "reserve", "vcpus-per-core", "overhead", "count"}

func (f *fitFlags) run(cmd *cobra.Command, args []string) error {
	a, c, err := f.ask()
	if err != nil {
		return err
	}
	c.Given = map[string]bool{}
	for _, name := range fitGiven {
		c.Given[name] = cmd.Flags().Changed(name)
	}
	if len(args) > 0 {
		if cmd.Flags().Changed("count") {
			return errors.New("--count: not with a SOURCE, which has its number of VMs")
		}
		if done, err := f.fromSource(cmd, args[0], a, c); done || err != nil {
			return err
		}
	} else if err := f.described(a); err != nil {
		return err
	}
	r, err := fit.Fit(a)
	if err != nil {
		return err
	}
	c.Options = a.Options
	return f.size.write(cmd, show.Answer(c, r, fit.Changes(a, r)))
}

// described checks what is needed without a SOURCE.
func (f *fitFlags) described(a *fit.Ask) error {
	switch {
	case f.cluster != "":
		return errors.New("--cluster: only with a SOURCE")
	case len(a.Shapes) == 0:
		return errors.New("--vm: found none, want a shape such as 12x96GB, or a SOURCE with VMs")
	case len(a.Types) == 0:
		return errors.New("--hosts: found none, want host types such as 2x32c/1TB,2x48c/1.5TB, or a SOURCE with hosts")
	case a.Shapes[0].Count > 0:
		a.Hosts = 0 // is what is asked
	case a.Spare >= a.Hosts:
		return fmt.Errorf("--spare: found %d hosts, %d of them spare: want one at least that is not", a.Hosts, a.Spare)
	}
	return nil
}

// fromSource adds the VMs and hosts of the source to what is asked; done when the
// question was about the room that is left, and is answered.
func (f *fitFlags) fromSource(cmd *cobra.Command, source string, a *fit.Ask, c *show.Context) (done bool, err error) {
	counted := len(a.Shapes) > 0 && a.Shapes[0].Count > 0
	room := len(a.Shapes) > 0 && !counted && len(a.Types) == 0
	switch {
	case room && len(a.Shapes) > 1:
		return false, errors.New("--vm: found several shapes without a count, want one to ask what room is left for it")
	case len(a.Shapes) > 0 && !counted && !room:
		return false, errors.New("--vm: found no count: with a SOURCE and --hosts the question is which hosts to buy, so want how many come to its VMs (12x96GB*40); or no --hosts, to ask what room is left")
	case room && f.prices != (fit.Prices{}):
		return false, errors.New("--host-price, --core-price, --gb-price: not when the question is what room is left, want --hosts or counts")
	}
	fleet, err := f.src.read(cmd, source)
	if err != nil {
		return false, err
	}
	if cmd.Flags().Changed("release") {
		c.Filled = f.fill(fleet, c)
	}
	if c.Cluster, err = fit.Find(fleet, f.cluster); err != nil {
		return false, fmt.Errorf("--cluster: %w", err)
	}
	c.Source = fleet.Source
	if !c.Given["vcpus-per-core"] {
		ratio, failed, ok := c.Cluster.PerCore(f.spare)
		if !ok {
			return false, noHost(c.Cluster, ", and --vcpus-per-core where only --hosts are asked about")
		}
		a.PerCore, c.Failed = ratio, failed
	}
	if room && len(c.Cluster.Hosts) == 0 {
		return false, noHost(c.Cluster, "")
	}
	if room {
		spare := f.spare
		if len(c.Cluster.Hosts) == 1 && !cmd.Flags().Changed("spare") {
			spare = 0
		}
		left, err := c.Cluster.Room(a.Shapes[0], spare, &a.Options)
		if err != nil {
			return false, err
		}
		c.Options = a.Options
		return true, f.size.write(cmd, show.Room(c, left))
	}
	a.Shapes = append(c.Cluster.Shapes(), a.Shapes...)
	if a.Types = fit.Beside(c.Cluster.Types(), a.Types); len(a.Types) == 0 {
		return false, noHost(c.Cluster, ", or --hosts")
	}
	a.Hosts = 0
	today, err := c.Cluster.Today(&a.Options)
	c.Today = &today
	return false, err
}

// noHost says why no host of the cluster can be reckoned with, and what helps.
func noHost(c *fit.Cluster, also string) error {
	why := "found none"
	if len(c.Notes) > 0 {
		why = strings.TrimSuffix(c.Notes[0], ": left out")
	}
	return fmt.Errorf("no host of %s can be reckoned with (%s): want --release for hosts that state none, or --assume-host for hosts that the SOURCE does not describe%s", c.Name, why, also)
}

// fill gives hosts that state no release that of --release; it returns how many.
func (f *fitFlags) fill(fleet *numa.Fleet, c *show.Context) (n int) {
	release, err := f.releaseOf()
	if err != nil {
		return 0 // ask has said so
	}
	for i := range fleet.Hosts {
		if h := &fleet.Hosts[i]; !h.Release.Known() {
			h.Release = numa.AssumedFor(release, "--release")
			c.Release = release.String()
			n++
		}
	}
	return n
}

// releaseOf reads --release.
func (f *fitFlags) releaseOf() (numa.Release, error) {
	release, err := numa.ParseRelease(f.release)
	if err != nil {
		return 0, fmt.Errorf("--release: %w", err)
	}
	if !slices.Contains(numa.Modelled, release.Base()) {
		return 0, fmt.Errorf("--release: found %s, want one of %s", release, releaseNames())
	}
	return release, nil
}

// ask reads the flags.
func (f *fitFlags) ask() (*fit.Ask, *show.Context, error) {
	if err := f.size.check(); err != nil {
		return nil, nil, err
	}
	release, err := f.releaseOf()
	if err != nil {
		return nil, nil, err
	}
	a := &fit.Ask{Hosts: f.count, Spare: f.spare, Prices: f.prices}
	c := &show.Context{Details: f.details}
	if a.Shapes, err = fit.ParseShapes(f.vms); err != nil {
		return nil, nil, fmt.Errorf("--vm: %w", err)
	}
	if strings.TrimSpace(f.hosts) != "" {
		c.Release = release.String()
		if a.Types, err = fit.ParseTypes(f.hosts, release); err != nil {
			return nil, nil, fmt.Errorf("--hosts: %w", err)
		}
	}
	a.Reserve, a.PerCore = float64(f.reserve), f.perCore
	if a.Overhead, err = fit.ParseOverhead(f.overhead); err != nil {
		return nil, nil, fmt.Errorf("--overhead: %w", err)
	}
	for _, p := range []struct {
		flag  string
		value float64
	}{{"host-price", f.prices.Host}, {"core-price", f.prices.Core}, {"gb-price", f.prices.GB}} {
		if !(p.value >= 0 && p.value <= 1e12) {
			return nil, nil, fmt.Errorf("--%s: found %v, want no negative price", p.flag, p.value)
		}
	}
	return a, c, f.checkNumbers()
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
		return fmt.Errorf("--count: found %d, want 1 at least", f.count)
	case f.spare < 0:
		return fmt.Errorf("--spare: found %d, want no negative number", f.spare)
	}
	return nil
}
