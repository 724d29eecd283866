// Package confront compares the observations of a VM with the model's prediction, and finds the reason
// for a difference. It only computes; rules make the assessment.
package confront

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A Place is a host, or several with the same layout, that the VM may have run on.
type Place struct {
	Names   []string // of its hosts
	Machine vnuma.Machine
}

// A Result is one observation and its prediction.
type Result struct {
	Observation *numa.Observation
	Host        string // name of the first host of the Place for the prediction
	Event       vnuma.Event
	Guest       vnuma.Guest  // with the settings at that time
	Layout      vnuma.Layout // predicted
	Fields      []Field      // compared quantities
	// Open contains the reasons why nothing, or not everything, could be compared.
	Open []string
	// Reasons are changes that would make the prediction agree, the most likely first: another host at
	// power-on, a setting changed since, another decision in a conflict of sources. Empty if it agrees,
	// or nothing explains the difference.
	Reasons []string
	// Other are settings that differ between the observation and the inventory.
	Other []Setting
}

// A Field is one observed quantity and the predicted one, or the one in a definition.
type Field struct {
	Name      string `json:"name"` // technical term: "virtual nodes (VPDs)"
	Predicted string `json:"predicted"`
	Observed  string `json:"observed"`
	Agrees    bool   `json:"agrees"`
	At        string `json:"at,omitempty"` // source of the observation
}

// A Setting differs between the observation and the inventory.
type Setting struct {
	Name      string `json:"name"`
	Observed  string `json:"observed"`
	Inventory string `json:"inventory"`
}

// Comparable reports whether anything could be compared.
func (r *Result) Comparable() bool { return len(r.Fields) > 0 }

// Agrees reports whether all compared quantities agree.
func (r *Result) Agrees() bool { return r.Comparable() && Agree(r.Fields) }

// Agree reports whether all fields do.
func Agree(fields []Field) bool {
	return !slices.ContainsFunc(fields, func(f Field) bool { return !f.Agrees })
}

// Check compares the observation o of v with the prediction. places are the hosts that v can run on, its
// own first; the observation's own host, if it is one of them, has priority.
func Check(v *numa.VM, o *numa.Observation, places []Place, ch vnuma.Choices) Result {
	if last := vnuma.PowerOnSeen(v); v.SizeAssumed && (last == nil || last == o || o.By == numa.ByVMwareLog) {
		bare := *v // a size that was assumed because of this observation proves nothing
		bare.AssumeStored(0, 0)
		v = &bare
	}
	// A setting that is missing in a log had its default then, unless the log is an excerpt: the value
	// of the inventory is used if the default does not fit.
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

// lastLogged returns the settings of the newest power-on in a log, for an observation without settings:
// the layout in a guest and in the scheduler is that of the last power-on. nil if there is none, or it
// is not older.
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

// then returns the places with the release of the observation, because the rules of that release
// determined the layout.
func (r *Result) then(places []Place) []Place {
	old := slices.Clone(places)
	for i := range old {
		m, ok := old[i].Machine.WithRelease(r.Observation.Release.Value)
		if !ok {
			r.Open = append(r.Open, fmt.Sprintf("the host ran %s, for which no rules are known: predicted for %s", r.Observation.Release.Value, places[i].Machine.Release))
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

// eventOf returns the event before the observation. The layout in a log is that of the logged start; the
// layout in a guest or the scheduler is that of the last power-on.
func eventOf(o *numa.Observation) vnuma.Event {
	switch o.Start {
	case numa.FirstStart:
		return vnuma.FirstPowerOn
	case numa.CheckpointStart:
		return vnuma.Resume
	}
	return vnuma.PowerCycle
}

// over returns the facts of a, and those of b that a lacks. With defaults, a default of the vmx process
// counts as a fact of a.
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
	c.SizeAssumed = c.SizeAssumed && !a.Settings.Known()
	return c
}

func take[T any](to *numa.Fact[T], f numa.Fact[T], defaults bool) {
	if f.Known() && (f.Origin.Kind != numa.Assumed || defaults || !to.Known()) {
		*to = f
	}
}

// otherSettings lists the settings of the observation that differ from the inventory. Stored sizes are
// written by the host and not included.
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
