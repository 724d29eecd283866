// Package confront puts what was observed of a VM beside what the model predicts
// for it, and looks for the reason when the two differ. It computes; rules judge.
package confront

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/numa"
)

// A Place is a host, or several of one shape, that the VM may have run on.
type Place struct {
	Names   []string // of its hosts
	Machine vnuma.Machine
}

// A Result is one observation beside the prediction.
type Result struct {
	Observation *numa.Observation
	Host        string // name of the first host of the Place that it is predicted on
	Event       vnuma.Event
	Guest       vnuma.Guest  // with the settings that were in force
	Layout      vnuma.Layout // predicted
	Fields      []Field      // what could be compared
	// Open says why nothing, or not all, could be compared.
	Open []string
	// Reasons are what would make the prediction agree, the most likely first: a
	// host that it was powered on elsewhere, a setting changed since, a conflict of
	// sources decided the other way. Empty when it agrees, or nothing explains it.
	Reasons []string
	// Other are settings that the observation states otherwise than the inventory.
	Other []Setting
}

// A Field is one observed quantity beside the predicted one, or beside the one that a definition states.
type Field struct {
	Name      string `json:"name"` // in the field's words: "virtual nodes (VPDs)"
	Predicted string `json:"predicted"`
	Observed  string `json:"observed"`
	Agrees    bool   `json:"agrees"`
	At        string `json:"at,omitempty"` // where it was observed
}

// A Setting is one that the observation and the inventory state differently.
type Setting struct {
	Name      string `json:"name"`
	Observed  string `json:"observed"`
	Inventory string `json:"inventory"`
}

// Comparable reports whether anything could be compared.
func (r *Result) Comparable() bool { return len(r.Fields) > 0 }

// Agrees reports whether all that could be compared agrees.
func (r *Result) Agrees() bool { return r.Comparable() && Agree(r.Fields) }

// Agree reports whether all fields do.
func Agree(fields []Field) bool {
	return !slices.ContainsFunc(fields, func(f Field) bool { return !f.Agrees })
}

// Check confronts the observation o of v. places are the hosts that v can run on,
// that of v first; the observation's own host, when it names one of them, comes
// before that.
func Check(v *numa.VM, o *numa.Observation, places []Place, ch vnuma.Choices) Result {
	// A setting that a log does not name had its default then, unless the log is an
	// excerpt: the inventory's value stands in when the default does not fit.
	inventory := over(&o.Config, &v.Config, false)
	if logged := lastLogged(v, o); logged != nil { // it runs with those, unless it was power-cycled since
		then := over(logged, &v.Config, true)
		if r := check(v, o, then, places, ch); r.Agrees() {
			return r
		}
		return check(v, o, inventory, places, ch)
	}
	r := check(v, o, over(&o.Config, &v.Config, true), places, ch)
	if r.Agrees() || inventory.CPUHotAdd.Value == r.Guest.HotAdd {
		return r
	}
	if other := check(v, o, inventory, places, ch); other.Agrees() {
		return other
	}
	return r
}

// lastLogged returns the settings of the newest power-on that a log tells of, for an
// observation that states none itself: a guest and the scheduler show what the last
// power-on made. nil when there is none, or it is not older.
func lastLogged(v *numa.VM, o *numa.Observation) *numa.Config {
	if o.Config.VCPUs.Known() {
		return nil
	}
	at, dated := o.Instant()
	var last *numa.Config
	for i := range v.Observed { // oldest first
		log := &v.Observed[i]
		if log.By != numa.ByVMwareLog || !log.Config.VCPUs.Known() {
			continue
		}
		if then, ok := log.Instant(); dated && ok && then.After(at) {
			continue
		}
		last = &log.Config
	}
	return last
}

func check(v *numa.VM, o *numa.Observation, config numa.Config, places []Place, ch vnuma.Choices) Result {
	r := Result{Observation: o}
	seen := *v
	seen.Config = config
	r.Other = otherSettings(&o.Config, &v.Config)
	if then, now := config.CPUHotAdd, v.CPUHotAdd; then.Origin.Kind == numa.Assumed && now.Known() && then.Value != now.Value {
		r.Other = append(r.Other, Setting{"CPU hot add, which the log does not name", fmt.Sprint(then.Value), fmt.Sprint(now.Value)})
	}
	guest, problems, err := vnuma.NewGuest(&seen)
	r.Guest = guest
	r.Open = append(r.Open, problems...)
	switch {
	case err != nil:
		r.Open = append(r.Open, err.Error())
		return r
	case len(places) == 0:
		r.Open = append(r.Open, "no host that it can run on is known")
		return r
	}
	here, stranger := 0, false
	if o.Host != "" {
		if i := slices.IndexFunc(places, func(p Place) bool {
			return slices.ContainsFunc(p.Names, func(n string) bool { return numa.SameHost(n, o.Host) })
		}); i >= 0 {
			here = i
		} else {
			stranger = true
			r.Open = append(r.Open, fmt.Sprintf("it ran on %s, which is not among the hosts known here: predicted for %s", o.Host, places[0].name()))
		}
	}
	r.Host = places[here].name()
	if today := places[here].Machine.Release; o.Release.Known() && o.Release.Value.Base() != today.Base() {
		places = r.then(places)
		if !stranger {
			r.Other = append(r.Other, Setting{"release of the host", o.Release.Value.String(), today.String()})
		}
	}
	r.Event = eventOf(o)
	m := &places[here].Machine
	r.Layout = vnuma.Predict(&guest, m, &vnuma.Case{Event: r.Event, Choices: ch, Ran: true})
	r.compare(v)
	if !r.Comparable() {
		r.Open = append(r.Open, "the observation holds no topology")
	} else if !r.Agrees() {
		if stranger {
			r.tryCheckpoint()
		}
		if stranger && len(r.Reasons) == 0 {
			r.Reasons = append(r.Reasons, fmt.Sprintf("it ran on %s, whose nodes are not known here", o.Host))
		}
		r.explain(v, places, here, ch)
	}
	return r
}

// then returns the places with the release that the observation states: the rules
// of its day made what it shows.
func (r *Result) then(places []Place) []Place {
	old := slices.Clone(places)
	for i := range old {
		m, ok := old[i].Machine.WithRelease(r.Observation.Release.Value)
		if !ok {
			r.Open = append(r.Open, fmt.Sprintf("the host ran %s, of which no rules are known: predicted for %s", r.Observation.Release.Value, places[i].Machine.Release))
			return places
		}
		old[i].Machine = m
	}
	return old
}

func (p *Place) name() string {
	if len(p.Names) == 0 {
		return "a host"
	}
	return p.Names[0]
}

// eventOf returns the event that the observation follows. What stands in a log was
// made at that start; a guest or the scheduler shows what the last power-on made.
func eventOf(o *numa.Observation) vnuma.Event {
	switch o.Start {
	case numa.FirstStart:
		return vnuma.FirstPowerOn
	case numa.CheckpointStart:
		return vnuma.Resume
	}
	return vnuma.PowerCycle
}

// over returns the facts of a, and those of b where a has none. With defaults, a
// default that the vmx process takes counts as a fact of a.
func over(a, b *numa.Config, defaults bool) numa.Config {
	c := *b
	take(&c.GuestOS, a.GuestOS, false)
	take(&c.Hardware, a.Hardware, false)
	take(&c.VCPUs, a.VCPUs, false)
	take(&c.CoresPerSocket, a.CoresPerSocket, false)
	take(&c.AutoCoresPerSocket, a.AutoCoresPerSocket, false)
	take(&c.Memory, a.Memory, false)
	take(&c.CPUHotAdd, a.CPUHotAdd, defaults)
	take(&c.MemoryHotAdd, a.MemoryHotAdd, false)
	take(&c.VNUMAHotAdd, a.VNUMAHotAdd, false)
	take(&c.CoresPerNUMANode, a.CoresPerNUMANode, false)
	take(&c.AutoCoresPerNUMANode, a.AutoCoresPerNUMANode, false)
	take(&c.CPUAffinity, a.CPUAffinity, false)
	take(&c.MemoryAffinity, a.MemoryAffinity, false)
	take(&c.LatencySensitivity, a.LatencySensitivity, false)
	take(&c.VirtualThreads, a.VirtualThreads, false)
	take(&c.Settings, a.Settings, false)
	return c
}

func take[T any](to *numa.Fact[T], f numa.Fact[T], defaults bool) {
	if f.Known() && (f.Origin.Kind != numa.Assumed || defaults) || !to.Known() {
		*to = f
	}
}

// otherSettings lists what the observation was configured with and the inventory
// has otherwise. Stored sizes are written by the host and not counted.
func otherSettings(a, b *numa.Config) []Setting {
	var out []Setting
	differ(&out, "vCPUs", a.VCPUs, b.VCPUs)
	differ(&out, "cores per socket", a.CoresPerSocket, b.CoresPerSocket)
	differ(&out, "memory", a.Memory, b.Memory)
	differ(&out, "CPU hot add", a.CPUHotAdd, b.CPUHotAdd)
	differ(&out, "virtual hardware", a.Hardware, b.Hardware)
	if !a.Settings.Known() || !b.Settings.Known() {
		return out
	}
	keys := map[string]bool{}
	for _, s := range slices.Concat(a.Settings.Value, b.Settings.Value) {
		key := strings.ToLower(s.Key)
		if strings.HasPrefix(key, "numa.") && !strings.HasPrefix(key, "numa.autosize.") {
			keys[s.Key] = true
		}
	}
	sorted := make([]string, 0, len(keys))
	for key := range keys {
		sorted = append(sorted, key)
	}
	slices.SortFunc(sorted, func(x, y string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(x), strings.ToLower(y)), cmp.Compare(x, y))
	})
	sorted = slices.CompactFunc(sorted, strings.EqualFold)
	for _, key := range sorted {
		x, _ := a.Settings.Value.Lookup(key)
		y, _ := b.Settings.Value.Lookup(key)
		if !strings.EqualFold(strings.TrimSpace(x), strings.TrimSpace(y)) {
			out = append(out, Setting{key, orUnset(x), orUnset(y)})
		}
	}
	return out
}

func differ[T comparable](out *[]Setting, name string, a, b numa.Fact[T]) {
	if a.Origin.Kind == numa.Read && b.Known() && b.Origin.Kind != numa.Assumed && a.Value != b.Value {
		*out = append(*out, Setting{name, fmt.Sprint(a.Value), fmt.Sprint(b.Value)})
	}
}

func orUnset(s string) string {
	if s == "" {
		return "unset"
	}
	return s
}
