package vmx

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
)

// A word is a key with its own fact in a numa.Config.
type word struct {
	key  string // as in VMware files
	name string // standard technical term
	unit string
	// value returns the value in the form of a Fact of the file.
	value func(s string) (any, bool)
	set   setter
}

// words are the keys of rule book B-10 and of the .vmx reference that affect a topology and are more than advanced settings: those of
// numa.VMFacts, and the NUMA nodes set in the vSphere Client.
var words = func() []word {
	out := []word{{key: "numa.vcpu.coresPerNode", name: "cores per vNUMA node", value: asInt, set: coresPerNode}}
	for i := range numa.VMFacts {
		if p := &numa.VMFacts[i]; p.VMX != "" {
			out = append(out, wordOf(p))
		}
	}
	return out
}()

var wordsByKey = func() map[string]*word {
	m := map[string]*word{}
	for i := range words {
		m[strings.ToLower(words[i].key)] = &words[i]
	}
	return m
}()

func keyword(lowerKey string) *word { return wordsByKey[lowerKey] }

// Config returns the settings of d; the origin of each is "line N". A malformed value stays unknown, with a warning in file. With
// defaults, absent keys get the default of the vmx process: set it only if d is a complete configuration.
func (d *Dict) Config(defaults bool, file *fact.File) numa.Config {
	var c numa.Config
	settings := numa.Settings{}
	first := 0
	for _, e := range d.Entries() {
		k := strings.ToLower(e.Key)
		if w := keyword(k); w != nil {
			if problem := w.set(&c, strings.TrimSpace(e.Value), "line "+strconv.Itoa(e.Line)); problem != "" {
				file.Warn(e.Line, e.Col, "%s: found %q, want %s", e.Key, shown(e.Value), problem)
			}
		}
		if identity[k] != "" && strings.Contains(k, "uuid") && canonicalUUID(e.Value) == "" && e.Value != "" {
			file.Warn(e.Line, e.Col, "%s: found %q, want 32 hexadecimal digits", e.Key, shown(e.Value))
		}
		// A key with its own fact is not an advanced setting, as in the vSphere API.
		if numa.KeepSetting(e.Key) && k != "vcpu.hotadd" && k != "cpuid.corespersocket" {
			settings = append(settings, numa.Setting{Key: e.Key, Value: e.Value})
			first = cmp.Or(first, e.Line)
		}
	}
	d.devices(&c, file)
	slices.SortStableFunc(settings, func(a, b numa.Setting) int {
		return strings.Compare(strings.ToLower(a.Key), strings.ToLower(b.Key))
	})
	switch {
	case first > 0:
		c.Settings = numa.ReadAt(settings, fmt.Sprintf("lines from %d on", first))
	case defaults:
		c.Settings = numa.ReadAt(settings, "no such entry")
	}
	d.units(&c, file)
	if defaults {
		d.setDefaults(&c)
	}
	return c
}

// units removes a reservation that is not in MHz: sched.cpu.units can be percent.
func (d *Dict) units(c *numa.Config, file *fact.File) {
	e, ok := d.Lookup("sched.cpu.units")
	if !ok || e.Value == "" || strings.EqualFold(e.Value, "mhz") {
		return
	}
	file.Warn(e.Line, e.Col, "sched.cpu.units: found %q, want mhz: CPU reservation and limit stay unknown", shown(e.Value))
	c.CPUReservation, c.CPULimit = numa.Fact[int]{}, numa.Fact[int]{}
}

// setDefaults sets the defaults of the vmx process for absent keys: for a reservation "0 (the default minimum)" (VMware, GSX Server 3
// administration guide, page 338).
func (d *Dict) setDefaults(c *numa.Config) {
	absent := func(key string) bool { _, ok := d.Lookup(key); return !ok }
	if absent("numvcpus") {
		c.VCPUs = numa.AssumedFor(1, "numvcpus is not there: 1 by default")
	}
	if absent("vcpu.hotadd") {
		c.CPUHotAdd = numa.AssumedFor(false, "vcpu.hotadd is not there: off by default")
	}
	if absent("mem.hotadd") {
		c.MemoryHotAdd = numa.AssumedFor(false, "mem.hotadd is not there: off by default")
	}
	if absent("sched.cpu.min") {
		c.CPUReservation = numa.AssumedFor(0, "sched.cpu.min is not there: 0 by default")
	}
	if absent("sched.mem.min") {
		c.MemoryReservation = numa.AssumedFor(numa.Bytes(0), "sched.mem.min is not there: 0 by default")
	}
	if absent("sched.mem.pin") {
		c.MemoryReservationLocked = numa.AssumedFor(false, "sched.mem.pin is not there: off by default")
	}
	automatic := c.Hardware.Value >= 20 // B-18: in older versions, cores per socket are never automatic
	switch {
	case !absent("cpuid.coresPerSocket"):
		if automatic && c.CoresPerSocket.Known() {
			c.AutoCoresPerSocket = numa.DerivedFrom(false, "cpuid.coresPerSocket is set")
		}
	case automatic:
		c.AutoCoresPerSocket = numa.AssumedFor(true, "cpuid.coresPerSocket is not there: assigned at power-on with hardware 20")
		// The host stores the choice of the last power-on.
		if e, ok := d.Lookup("cpuid.coresPerSocket.cookie"); ok {
			if n, err := strconv.Atoi(e.Value); err == nil && n > 0 && n <= numa.MaxVCPUs {
				c.CoresPerSocket = numa.ReadAt(n, "line "+strconv.Itoa(e.Line))
			}
		}
	default:
		c.CoresPerSocket = numa.AssumedFor(1, "cpuid.coresPerSocket is not there: 1 by default")
	}
}
