package whatif

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// An Effect describes the effect of a change.
type Effect struct {
	Change  string `json:"change"` // its text
	Hosts   int    `json:"hosts"`  // affected objects
	VMs     int    `json:"vms"`
	Changed int    `json:"changed"` // number of these that were different before
	Only    string `json:"-"`       // ID of the VM, if the change affects only one
	Leave   string `json:"-"`       // how the VMs leave their hosts: "power on elsewhere"; "" where they stay

	Dropped []Dropped `json:"-"` // hosts that keep their release

	in map[string]bool // IDs of the affected clusters and standalone hosts
}

// Dropped is a host that keeps its release because the new one no longer supports its processors.
type Dropped struct {
	Host    string `json:"host"`
	Cluster string `json:"cluster,omitempty"`
	CPU     string `json:"cpuModel"`
	Why     string `json:"why"`
}

// about records that the change affects a VM or a host, given by its cluster and host.
func (e *Effect) about(cluster, host string) {
	if e.in == nil {
		e.in = map[string]bool{}
	}
	e.in[cluster], e.in[host] = true, true
}

// Apply returns the fleet after the changes, in their order, and the effect of each of them. f is not modified. A
// change that matches nothing is an error, and so is the end of the context. A fact that already has the requested
// value keeps its origin.
//
// The changed fleet was not observed: compare it with Unobserved(f).
func Apply(ctx context.Context, f *numa.Fleet, changes []Change, choices vnuma.Choices) (*numa.Fleet, []Effect, error) {
	out := Unobserved(f)
	var effects []Effect
	for i := range changes {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		c := &changes[i]
		e := Effect{Change: c.Text}
		var err error
		switch c.op {
		case set:
			err = c.set(out, &e, choices)
		case lose:
			err = c.lose(out, &e, choices)
		case add:
			err = c.add(out, &e)
		}
		if err != nil {
			return nil, nil, c.located(err)
		}
		effects = append(effects, e)
	}
	if err := out.Check(); err != nil {
		return nil, nil, err
	}
	return out, effects, nil
}

// Unobserved returns a copy of the fleet without observations of its VMs: they do not apply to a what-if. The copy
// shares no host, VM or list with f; values inside facts are never modified in place.
func Unobserved(f *numa.Fleet) *numa.Fleet {
	out := *f
	out.Clusters, out.Hosts, out.VMs, out.Notes = slices.Clone(f.Clusters), slices.Clone(f.Hosts), slices.Clone(f.VMs), slices.Clone(f.Notes)
	for i := range out.VMs {
		out.VMs[i].Observed = nil
	}
	return &out
}

// set applies the settings of the change to hosts and VMs.
func (c *Change) set(f *numa.Fleet, e *Effect, choices vnuma.Choices) error {
	clusters, err := c.clusters.clusterIDs(f)
	if err != nil {
		return err
	}
	if len(c.hostWords) > 0 {
		left := map[string]bool{}
		if err := c.setHosts(f, clusters, e, left); err != nil {
			return err
		}
		defer c.empty(f, e, left, choices) // with the VMs as they are afterwards
	}
	if len(c.vmWords) == 0 && c.home == nil {
		return nil
	}
	return c.setVMs(f, clusters, e)
}

// empty moves the running VMs off hosts that enter maintenance mode, as vMotion does. Those that cannot move stay, with a note.
func (c *Change) empty(f *numa.Fleet, e *Effect, left map[string]bool, choices vnuma.Choices) {
	if len(left) == 0 {
		return
	}
	move := newRefuge(f, func(v *numa.VM) bool { return !left[v.Host] }, choices)
	var vms, stay []*numa.VM
	for _, v := range leaving(f, left) {
		switch {
		case v.MayRun() && v.Tied() != nil:
			stay = append(stay, v)
		case v.MayRun():
			vms = append(vms, v)
		}
	}
	stay = append(stay, move.settle(vms)...)
	move.arrive(f, c.Text)
	if n := len(move.moved); n > 0 {
		e.VMs, e.Changed, e.Leave = e.VMs+n, e.Changed+n, "move to another host"
	}
	if stay != nil {
		names := words.Texts(stay, func(v *numa.VM) string { return v.Name })
		f.Notes = append(f.Notes, numa.Note{At: c.Text, Text: fmt.Sprintf("%s must be powered off before the maintenance (no other host of the cluster accepts a vMotion): %s", words.Plural(len(stay), "VM"), words.List(names))})
	}
}

// setHosts applies the settings to hosts; those that enter maintenance mode go into left.
func (c *Change) setHosts(f *numa.Fleet, clusters map[string]bool, e *Effect, left map[string]bool) error {
	names := hostNames(f)
	if idle := c.hosts.idle(names); idle != nil {
		return idle.none("host", names)
	}
	for _, i := range c.hosts.match(names) {
		h := &f.Hosts[i]
		if clusters != nil && !clusters[h.Cluster] {
			continue
		}
		e.Hosts++
		e.about(h.Cluster, h.ID)
		before := *h
		changed, dropped, err := c.hostSettings(h)
		if err != nil {
			return err
		}
		if dropped != "" {
			e.Dropped = append(e.Dropped, Dropped{h.Name, f.ClusterName(h.Cluster), h.CPUModel.Value, dropped})
			f.Notes = append(f.Notes, numa.Note{At: c.Text, Text: fmt.Sprintf("host %s stays at ESXi %s: %s", h.Name, h.Release.Value, dropped)})
		}
		keep(&before, h)
		left[h.ID] = h.Maintenance.Or(false) && !before.Maintenance.Or(false)
		if changed || !reflect.DeepEqual(before, *h) {
			e.Changed++
		}
	}
	if e.Hosts == 0 {
		if c.hosts != nil {
			return c.hosts.none(within("host", c.clusters), names)
		}
		return word.Errorf(c.hostWords[0].Col, "found no %s", within("host", c.clusters))
	}
	return nil
}

func within(noun string, clusters *namePattern) string {
	if clusters == nil {
		return noun
	}
	return fmt.Sprintf("%s in cluster %s", noun, clusters.text)
}

func (c *Change) setVMs(f *numa.Fleet, clusters map[string]bool, e *Effect) error {
	home, err := c.homeIn(f)
	if err != nil {
		return err
	}
	names := vmNames(f)
	if idle := c.vms.idle(names); idle != nil {
		return idle.none("VM", names)
	}
	on := f.HostsByID()
	var odd uneven
	moved := map[string]bool{}
	for _, i := range c.vms.match(names) {
		v := &f.VMs[i]
		if clusters != nil && !clusters[v.Cluster] || !c.where.Holds(v, f.ClusterName(v.Cluster), on[v.Host]) {
			continue
		}
		if e.VMs++; e.VMs == 1 {
			e.Only = v.ID
		} else {
			e.Only = ""
		}
		e.about(v.Cluster, v.Host)
		if h := on[v.Host]; h != nil {
			e.about(h.Cluster, h.ID)
		}
		before := *v
		if err := c.setWords(v); err != nil {
			return err
		}
		v.Follow(&before.Config, c.Text)
		if device := v.Tied(); home != nil && device != nil && v.Host != "" && v.Host != home.ID {
			f.Notes = append(f.Notes, numa.Note{At: c.Text, Text: fmt.Sprintf("VM %s stays on its host: its %s is there, and vSphere migrates no VM with it (D-5)", v.Name, device)})
		} else if home != nil {
			if was := on[v.Host]; was != nil && v.MayRun() {
				if why := notRunning(f, was, home); why != "" {
					f.Notes = append(f.Notes, numa.Note{At: c.Text, Text: "VM " + v.Name + ": " + why})
				}
			}
			v.Host, v.Cluster = home.ID, home.Cluster
			e.about(v.Cluster, v.Host)
		}
		moved[v.ID] = v.MayRun() && (v.Host != before.Host || !before.MayRun() || reservesMore(v, &before))
		keep(&before.Config, &v.Config)
		c.upgraded(&before, v)
		if reflect.DeepEqual(before, *v) {
			continue
		}
		e.Changed++
		odd.add(v)
	}
	arrive(f, moved)
	if err := c.unmatched(e, names, clusters); err != nil {
		return err
	}
	return c.refuse(&odd, f)
}

// notRunning explains why a VM that runs does not move from a host to another one, or to any of a cluster; "" where it may.
func notRunning(f *numa.Fleet, from, home *numa.Host) (why string) {
	for i := range f.Hosts {
		if h := &f.Hosts[i]; h.ID == home.ID || home.ID == "" && h.Cluster == home.Cluster {
			if why = numa.NotRunning(from, h); why == "" {
				return ""
			}
		}
	}
	return why
}

// reservesMore reports whether the VM reserves more memory or CPU than before.
func reservesMore(v, before *numa.VM) bool {
	guest, _, _ := vnuma.NewGuest(v)
	was, _, _ := vnuma.NewGuest(before)
	now, then := guest.Needs, was.Needs
	return now.Reserved+now.Overhead > then.Reserved+then.Overhead || now.MHz > then.MHz
}

// unmatched returns the error of a change that matched no VM of the names, or that has a faulty where=; nil for any other.
func (c *Change) unmatched(e *Effect, names []named, clusters map[string]bool) error {
	switch {
	case c.where.Err() != nil:
		return word.Errorf(1, "where=%v", c.where.Err())
	case e.VMs == 0 && c.where != nil:
		return word.Errorf(1, "found no VM for which where= holds")
	case e.VMs == 0 && c.vms != nil && clusters != nil && c.vms.match(names) != nil:
		return word.Errorf(c.vms.col, "found no VM %q in cluster %s: cluster= selects VMs; host=NAME moves them, to a host or a cluster", word.Short(c.vms.text), c.clusters.text)
	case e.VMs == 0 && c.vms != nil:
		return c.vms.none(within("VM", c.clusters), names)
	case e.VMs == 0:
		return word.Errorf(c.vmWords[0].Col, "found no %s", within("VM", c.clusters))
	}
	return nil
}

// setWords gives a VM the settings that the change states.
func (c *Change) setWords(v *numa.VM) error {
	for _, w := range c.vmWords {
		if w.Key == "hw" && c.vms == nil && older(w, v) {
			continue // an upgrade of all: vSphere cannot downgrade
		}
		if err := setVM(v, w, c.Text); err != nil {
			return err
		}
	}
	return nil
}

// uneven collects the VMs whose vCPUs are not divisible by their sockets.
type uneven struct {
	first          *numa.VM
	byHand, unsure int // unsure: perhaps assigned at power on
}

func (u *uneven) add(v *numa.VM) {
	n, cps := v.VCPUs.Value, v.CoresPerSocket.Value
	if cps <= 1 || n%cps == 0 || v.AutoCoresPerSocket.Value {
		return
	}
	hand := v.AutoCoresPerSocket.Known() || v.Hardware.Known() && v.Hardware.Value < vnumaHardware
	if u.first == nil || hand && u.byHand == 0 {
		u.first = v
	}
	if hand {
		u.byHand++
	} else {
		u.unsure++
	}
}

// refuse returns an error if vSphere would reject the number of vCPUs or cores per socket: one has to be a multiple of
// the other. If ESXi may choose the cores per socket itself (B-18) it adds a note.
func (c *Change) refuse(u *uneven, f *numa.Fleet) error {
	sized := slices.IndexFunc(c.vmWords, func(w word.Word) bool { return w.Key == "vcpus" })
	shaped := slices.IndexFunc(c.vmWords, func(w word.Word) bool { return w.Key == "coresPerSocket" })
	if u.first == nil || max(sized, shaped) < 0 { // as it was before
		return nil
	}
	text := fmt.Sprintf("VM %s: %d vCPUs do not divide into sockets of %d cores", u.first.Name, u.first.VCPUs.Value, u.first.CoresPerSocket.Value)
	others := u.byHand
	if others == 0 {
		others = u.unsure
	}
	if others > 1 {
		text += fmt.Sprintf(" (and %d more)", others-1)
	}
	switch {
	case u.byHand == 0:
		f.Notes = append(f.Notes, numa.Note{At: c.Text, Text: text + ": vSphere wants other cores per socket with them unless they are assigned at power on, which is unknown"})
		return nil
	case shaped < 0:
		return word.Errorf(c.vmWords[sized].Col, "%s: say coresPerSocket= too", text)
	case sized < 0:
		return word.Errorf(c.vmWords[shaped].Col, "%s: say vcpus= too, or another coresPerSocket=", text)
	}
	return word.Errorf(c.vmWords[shaped].Col, "%s", text)
}

// homeIn returns the host that VMs move to; nil if they do not move. For a cluster it has no ID: which of the hosts takes them is open.
func (c *Change) homeIn(f *numa.Fleet) (*numa.Host, error) {
	if c.home == nil {
		return nil, nil
	}
	h, err := c.home.oneHost(f)
	if err != nil {
		if in, _ := c.home.clusterIDs(f); len(in) == 1 {
			for id := range in {
				return &numa.Host{Cluster: id}, nil
			}
		}
	}
	return h, err
}

// oneHost returns the only host that p matches.
func (p *namePattern) oneHost(f *numa.Fleet) (*numa.Host, error) {
	names := hostNames(f)
	if idle := p.idle(names); idle != nil {
		return nil, idle.none("host", names)
	}
	switch found := p.match(names); len(found) {
	case 0:
		return nil, p.none("host", names)
	case 1:
		return &f.Hosts[found[0]], nil
	default:
		return nil, word.Errorf(p.col, "found %d hosts %q, want one", len(found), word.Short(p.text))
	}
}

// setVM sets the value of a word for a VM.
func setVM(v *numa.VM, w word.Word, where string) error {
	settings := &v.Settings
	if w.Key == "stored" || strings.EqualFold(w.Key, numa.StoredKey) {
		v.SizeAssumed = false
	}
	switch {
	case w.Key == "stored" && w.Value == "":
		settings.Value = settings.Value.Without(numa.StoredKey, numa.CookieKey)
	case w.Key == "stored":
		size, err := w.Number(1, numa.MaxVCPUs)
		if err != nil {
			return err
		}
		settings.Value = word.WithStored(settings.Value, v, size)
	case numa.KeepSetting(w.Key):
		if w.Value == "" || strings.EqualFold(w.Value, "none") {
			settings.Value = settings.Value.Without(w.Key)
		} else if err := word.VM(v, w, where); err != nil {
			return err
		}
	default:
		return word.VM(v, w, where)
	}
	settings.Origin = also(settings.Origin, where)
	return nil
}

// also returns the origin of a list that the user gave in part. If the rest is unknown, the list stays unknown: the
// user's part counts, and the prediction still assumes the rest.
func also(o numa.Origin, where string) numa.Origin {
	if o.Kind != numa.Unknown && !strings.HasSuffix(o.Where, ", "+where) {
		o.Where += ", " + where
	}
	return o
}

// vnumaHardware is the virtual hardware from which cores per socket can be assigned at
// power on (rule book B-18), and vNUMA be shown with CPU hot add (B-15).
const vnumaHardware = 20

// older reports whether the virtual hardware in w is older than that of the VM.
func older(w word.Word, v *numa.VM) bool {
	hw, err := strconv.Atoi(w.Value)
	return err == nil && v.Hardware.Known() && hw < v.Hardware.Value
}

// upgraded notes settings that an upgrade of the virtual hardware does not change: cores per socket stay as configured
// (B-18), and vNUMA stays hidden with CPU hot add (B-15).
func (c *Change) upgraded(before, v *numa.VM) {
	if v.Hardware.Value < vnumaHardware || !before.Hardware.Known() || before.Hardware.Value >= vnumaHardware {
		return
	}
	if !v.AutoCoresPerSocket.Known() {
		v.AutoCoresPerSocket = numa.AssumedFor(false, c.Text+": an upgrade keeps cores per socket")
	}
	if !v.VNUMAHotAdd.Known() {
		v.VNUMAHotAdd = numa.AssumedFor(false, c.Text+": an upgrade does not switch it on")
	}
}

// keep restores the origin of each fact of after that has the same value in before, because it did not change. Both
// arguments are pointers to structs of facts.
func keep(before, after any) {
	b, a := reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	for i := range a.NumField() {
		was, is := b.Field(i), a.Field(i)
		if is.Kind() != reflect.Struct || was.FieldByName("Origin").Interface() == (numa.Origin{}) {
			continue
		}
		if is.FieldByName("Origin").Interface() == (numa.Origin{}) {
			continue
		}
		x, y := was.FieldByName("Value"), is.FieldByName("Value")
		empty := y.Kind() == reflect.Slice && x.Len()+y.Len() == 0
		if empty || reflect.DeepEqual(x.Interface(), y.Interface()) {
			is.Set(was)
		}
	}
}
