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
	"example.org/homenode/output/answer"
	show "example.org/homenode/output/size/fit"
	"example.org/homenode/size/fit"
)

// Fit asks how many VMs, and which sizes of them, fit each type of host with all memory local, how much room is left, and which hosts to buy.
type Fit struct {
	ask.Asked
	Fleet      string   `ask:"source,arg" label:"Fleet"`
	VMs        []string `ask:"vm" group:"VMs" label:"VMs" example:"24x192GB*40" help:"shape of VMs, without which the answer is the sizes that fit: 12x96GB is 12 vCPUs and 96 GB, 'db:12x96GB*40' 40 of them with a name (repeatable)"`
	Hosts      string   `ask:"hosts" group:"Hosts" label:"Host types" example:"2x32c/1TB,2x48c/1.5TB" help:"host types: 2x32c/1TB,2x48c/1.5TB"`
	Cluster    []string `ask:"cluster,list" label:"Cluster" example:"all" help:"clusters or hosts of SOURCE, or all; with --hosts all is the default"`
	Count      int      `ask:"host-count" default:"10" min:"1" label:"Hosts of the cluster" help:"hosts of the cluster that VMs without a count are for"`
	Spare      int      `ask:"spare" default:"1" min:"0" max:"1000" label:"Hosts that may fail" help:"hosts that may fail at once"`
	Release    string   `ask:"release" default:"8.0U3" label:"ESXi release" help:"ESXi release of the host types; with a SOURCE the newest of its hosts"`
	Reserve    float64  `ask:"reserve" default:"1" want:"how many times the soft reserve, 0 to 10, such as 1 or 0.5" group:"Kept free" label:"Soft reserves kept free" help:"how many times its soft reserve every node keeps free"`
	PerCore    float64  `ask:"vcpus-per-core" label:"Most vCPUs per core" help:"maximum vCPUs per core of a node (default 1; with a SOURCE 4, or as many as its cluster has with its largest host failed)"`
	Overhead   string   `ask:"overhead" label:"Overhead of a VM" example:"1%" help:"memory of a VM beside its guest's: 1GB or 1%; VMware's table when not given"`
	HostPrice  float64  `ask:"host-price" min:"0" max:"1e12" group:"Prices" label:"Price of a host" example:"18000" help:"price of a host whose type has none of its own"`
	CorePrice  float64  `ask:"core-price" min:"0" max:"1e12" label:"Price of a core" example:"350" help:"price of a core, such as a licence"`
	GBPrice    float64  `ask:"gb-price" min:"0" max:"1e12" label:"Price of a GB" example:"8" help:"price of a GB of memory"`
	Details    bool     `ask:"details" group:"Show" help:"all notes, the VMs by shape, and what else fits a node"`
	ask.Source `only:"nodes-per-socket assume-host" group:"Source"`
}

// Steps returns the number of described VMs plus the cost of shapes and host types. The fleet does not count.
func (f *Fit) Steps(*ask.Env) (n int, noun string, err error) {
	shapes, err := fit.ParseShapes(f.VMs)
	for i := range shapes {
		n += max(1, shapes[i].Count)
	}
	types := 0
	if f.Hosts != "" {
		types = 1 + strings.Count(f.Hosts, ",")
	}
	return max(n, 500*len(shapes), 1000*types), "VMs (a shape of VMs counts as 500, a host type as 1,000)", ask.Wrong("vm", err)
}

// Answer answers the question.
func (f *Fit) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	r, err := answered(f.answer(ctx, e))
	return ask.Partly(r, err, f.Source.Incomplete())
}

func (f *Fit) answer(ctx context.Context, e *ask.Env) (*answer.Answer, error) {
	a, c, err := f.ask()
	if err != nil {
		return nil, err
	}
	c.Given = f.GivenOf("release", "reserve", "vcpus-per-core", "overhead", "host-count")
	if f.Fleet != "" {
		if c.Given["host-count"] {
			return nil, errors.New("--host-count: not with a SOURCE, which has its number of VMs")
		}
		if room, err := f.fromSource(ctx, e, a, c); room != nil || err != nil {
			return room, err
		}
	} else if err := f.described(a); err != nil {
		return nil, err
	}
	r, err := fit.Fit(ctx, a)
	if err != nil {
		return nil, err
	}
	c.Options = a.Options
	if len(a.Shapes) == 0 {
		return show.Sizes(c, r, f.Words(nil, "hosts", "release", "reserve", "vcpus-per-core", "overhead")), nil
	}
	changes := fit.Changes(ctx, a, r)
	return show.Answer(c, r, changes), ctx.Err()
}

// described checks the fields that are required without a SOURCE.
func (f *Fit) described(a *fit.Ask) error {
	switch {
	case f.Cluster != nil:
		return errors.New("--cluster: only with a SOURCE")
	case len(a.Types) == 0 && len(a.Shapes) == 0:
		return errors.New("want --vm and --hosts, as in --vm 12x96GB --hosts 2x32c/1TB, --hosts alone for the sizes of VMs that fit, or a SOURCE with VMs")
	case len(a.Types) == 0:
		return errors.New("--hosts: found none, want host types such as 2x32c/1TB,2x48c/1.5TB, or a SOURCE with hosts")
	case len(a.Shapes) == 0:
		a.Hosts, a.Spare = 0, 0 // the question is which VMs fit a host
		return f.Refuse("without --vm or a SOURCE the answer is which VMs fit a host", "host-count", "spare", "host-price", "core-price", "gb-price")
	case a.Shapes[0].Count > 0:
		a.Hosts = 0 // it is the result
	case a.Spare >= a.Hosts:
		return fmt.Errorf("--spare: found %d hosts, %d of them spare: want one at least that is not", a.Hosts, a.Spare)
	}
	return nil
}

// fromSource adds the VMs and hosts of the source to a. For a question about free capacity it returns the answer.
func (f *Fit) fromSource(ctx context.Context, e *ask.Env, a *fit.Ask, c *show.Context) (*answer.Answer, error) {
	counted := len(a.Shapes) > 0 && a.Shapes[0].Count > 0
	room := len(a.Shapes) > 0 && !counted && len(a.Types) == 0
	switch {
	case room && len(a.Shapes) > 1:
		return nil, errors.New("--vm: found several shapes without a count, want one to ask what room is left for it")
	case len(a.Shapes) > 0 && !counted && !room:
		return nil, errors.New("--vm: found no count: with a SOURCE and --hosts the question is which hosts to buy, so want how many come to its VMs (12x96GB*40); or no --hosts, to ask what room is left")
	case room && f.prices() != (fit.Prices{}):
		return nil, errors.New("--host-price, --core-price, --gb-price: not when the question is what room is left, want --hosts or counts")
	}
	fleet, err := f.Read(ctx, e, f.Fleet)
	if err != nil {
		return nil, err
	}
	if c.Given["release"] {
		on, err := release(f.Release)
		if err != nil {
			return nil, err
		}
		fill(fleet, on, c)
	}
	c.Source, c.Notes, c.Words = fleet.Source, fleet.Notes, f.Words([]string{f.Fleet}, ask.SourceNames...)
	clusters := f.Cluster
	if clusters == nil && len(a.Types) > 0 && len(fleet.Clusters) > 1 {
		clusters = []string{fit.All} // hosts are bought for all of them
	}
	if c.Cluster, err = fit.Find(fleet, clusters...); err != nil {
		return nil, err
	}
	if on, _ := numa.ReleaseOf(c.Cluster.Hosts); on.Known() && !c.Given["release"] {
		for i := range a.Types {
			a.Types[i].Host.Release = on
			c.Release, c.Newest = on.Value.String(), true
		}
	}
	part := c.Cluster.Part
	if text := (&numa.Fleet{Part: part}).LoadUnknown(); text != "" && (room || !c.Given["vcpus-per-core"] && (len(a.Types) == 0 || c.Cluster.Running == nil)) {
		return nil, fmt.Errorf("%s; read the whole export, or ask with --hosts how many a cluster, or --cluster all, needs at least", text)
	}
	a.Running = c.Cluster.Running
	if a.Running != nil && !c.Given["vcpus-per-core"] {
		a.PerCore = max(fit.MostPerCore, a.Running.PerCore())
	} else if !c.Given["vcpus-per-core"] {
		var ok bool
		if a.PerCore, ok = c.Cluster.Limit(); !ok {
			return nil, noHost(c.Cluster, ", or --vcpus-per-core where only --hosts are asked about")
		}
	}
	if room {
		return f.room(ctx, a, c)
	}
	if a.Running != nil {
		a.Density = a.Running.PerCore()
	} else if today, _, ok := c.Cluster.PerCore(); ok {
		a.Density = today
	}
	a.Shapes = append(c.Cluster.Shapes(), a.Shapes...)
	if a.Types = fit.Beside(c.Cluster.Types(), a.Types); len(a.Types) == 0 {
		return nil, noHost(c.Cluster, ", or --hosts")
	}
	if len(a.Shapes) == 0 {
		return nil, fmt.Errorf("%s has no running VM: want --vm, or --hosts without the SOURCE to ask which VMs fit them", c.Cluster.Name)
	}
	a.Hosts = 0
	if part != nil || len(c.Cluster.Hosts) == 0 {
		return nil, nil
	}
	today, err := c.Cluster.Today(&a.Options)
	c.Today = &today
	return nil, err
}

// room answers how many VMs of a shape fit beside those of the cluster.
func (f *Fit) room(ctx context.Context, a *fit.Ask, c *show.Context) (*answer.Answer, error) {
	spare := f.Spare
	switch n := len(c.Cluster.Hosts); {
	case n == 0:
		return nil, noHost(c.Cluster, "")
	case n == 1 && !f.Given("spare"):
		spare = 0
	}
	left, err := c.Cluster.Room(ctx, a.Shapes[0], spare, &a.Options)
	if err != nil {
		return nil, err
	}
	c.Options = a.Options
	return show.Room(c, left), nil
}

// noHost explains why no host of the cluster is usable, and suggests a remedy.
func noHost(c *fit.Cluster, also string) error {
	left := slices.IndexFunc(c.Notes, func(text string) bool { return strings.HasSuffix(text, ": left out") })
	switch {
	case len(c.Hosts) > 0:
		return fmt.Errorf("which VMs run on the described hosts of %s is unknown, and so are the vCPUs per core: want --assume-host for the other hosts%s", c.Name, also)
	case left < 0:
		return fmt.Errorf("the SOURCE describes no host of the VMs of %s: want --assume-host, which describes them%s", c.Name, also)
	}
	return fmt.Errorf("no host of %s can be used for the calculation (%s): want --release for hosts that state none, or --assume-host for hosts that the SOURCE does not describe%s", c.Name, strings.TrimSuffix(c.Notes[left], ": left out"), also)
}

// fill sets the release of hosts without one to on (--release).
func fill(fleet *numa.Fleet, on numa.Release, c *show.Context) {
	for i := range fleet.Hosts {
		if h := &fleet.Hosts[i]; !h.Release.Known() {
			h.Release = numa.AssumedFor(on, "--release")
			c.Release = on.String()
			c.Filled++
		}
	}
}

// ask parses the fields.
func (f *Fit) ask() (*fit.Ask, *show.Context, error) {
	on, err := release(f.Release)
	if err != nil {
		return nil, nil, fmt.Errorf("--release: %w", err)
	}
	if !f.Given("vcpus-per-core") {
		f.PerCore = 1
	}
	a := &fit.Ask{Hosts: f.Count, Spare: f.Spare, Prices: f.prices()}
	c := &show.Context{Details: f.Details}
	if a.Shapes, err = fit.ParseShapes(f.VMs); err != nil {
		return nil, nil, fmt.Errorf("--vm: %w", err)
	}
	types := func(text string) ([]fit.Type, error) {
		c.Release = on.String()
		return fit.ParseTypes(text, on)
	}
	a.Reserve, a.PerCore, a.Overhead = f.Reserve, f.PerCore, fit.PublishedOverhead
	return a, c, cmp.Or(ask.Set("hosts", strings.TrimSpace(f.Hosts), &a.Types, types), ask.Set("overhead", f.Overhead, &a.Overhead, fit.ParseOverhead),
		f.checkNumbers())
}

// prices returns the given prices.
func (f *Fit) prices() fit.Prices {
	return fit.Prices{Host: f.HostPrice, Core: f.CorePrice, GB: f.GBPrice}
}

// checkNumbers reports the first flag whose value is out of range.
func (f *Fit) checkNumbers() error {
	o := fit.Options{Reserve: f.Reserve, PerCore: 1}
	if err := o.Check(); err != nil {
		return fmt.Errorf("--%w", err)
	}
	if !(f.PerCore > 0 && f.PerCore <= 100) {
		return fmt.Errorf("--vcpus-per-core: found %v, want more than 0, up to 100", f.PerCore)
	}
	return nil
}
