package vmx

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/source/fact"
)

// A word is a key that has a fact of its own in a numa.Config.
type word struct {
	key  string // as VMware writes it
	name string // in the field's words
	unit string
	// value returns the value as a Fact of the file shows it.
	value func(s string) (any, bool)
	set   setter
}

// words are the keys of rule book B-10 and of the .vmx reference that decide a
// topology and are more than advanced settings.
var words = []word{
	{key: "virtualHW.version", name: "hardware version", value: asInt, set: number(1, 99, func(c *numa.Config) *numa.Fact[int] { return &c.Hardware })},
	{key: "guestOS", name: "guest OS", value: asText, set: anything(func(c *numa.Config) *numa.Fact[string] { return &c.GuestOS })},
	{key: "numvcpus", name: "vCPUs", value: asInt, set: number(1, numa.MaxVCPUs, func(c *numa.Config) *numa.Fact[int] { return &c.VCPUs })},
	{key: "cpuid.coresPerSocket", name: "cores per socket", value: asInt, set: number(1, numa.MaxVCPUs, func(c *numa.Config) *numa.Fact[int] { return &c.CoresPerSocket })},
	{key: "memSize", name: "memory", unit: "MiB", value: asInt, set: megabytes(1, func(c *numa.Config) *numa.Fact[numa.Bytes] { return &c.Memory })},
	{key: "firmware", name: "firmware", value: asText, set: firmware},
	{key: "vvtd.enable", name: "virtual IOMMU", value: asBool, set: truth(func(c *numa.Config) *numa.Fact[bool] { return &c.IOMMU })},
	{key: "vcpu.hotadd", name: "CPU hot add", value: asBool, set: truth(func(c *numa.Config) *numa.Fact[bool] { return &c.CPUHotAdd })},
	{key: "mem.hotadd", name: "memory hot add", value: asBool, set: truth(func(c *numa.Config) *numa.Fact[bool] { return &c.MemoryHotAdd })},
	// B-15: the .vmx form of vnumaOnCpuHotaddExposed.
	{key: "numa.allowHotadd", name: "vNUMA with CPU hot add", value: asBool, set: truth(func(c *numa.Config) *numa.Fact[bool] { return &c.VNUMAHotAdd })},
	{key: "numa.vcpu.coresPerNode", name: "cores per vNUMA node", value: asInt, set: coresPerNode},
	{key: "sched.cpu.affinity", name: "CPU affinity", value: asText, set: affinity("PCPUs such as 0-3,8", func(c *numa.Config) *numa.Fact[[]int] { return &c.CPUAffinity })},
	{key: "sched.mem.affinity", name: "memory affinity", value: asText, set: affinity("NUMA nodes such as 0,1", func(c *numa.Config) *numa.Fact[[]int] { return &c.MemoryAffinity })},
	{key: "sched.cpu.latencySensitivity", name: "latency sensitivity", value: asText, set: latency},
	{key: "sched.cpu.min", name: "CPU reservation", unit: "MHz", value: asInt, set: number(0, math.MaxInt32, func(c *numa.Config) *numa.Fact[int] { return &c.CPUReservation })},
	{key: "sched.cpu.max", name: "CPU limit", unit: "MHz", value: asInt, set: limit},
	{key: "sched.mem.min", name: "memory reservation", unit: "MiB", value: asInt, set: megabytes(0, func(c *numa.Config) *numa.Fact[numa.Bytes] { return &c.MemoryReservation })},
	{key: "sched.mem.pin", name: "reserve all guest memory", value: asBool, set: truth(func(c *numa.Config) *numa.Fact[bool] { return &c.MemoryReservationLocked })},
}

var wordsByKey = func() map[string]*word {
	m := map[string]*word{}
	for i := range words {
		m[strings.ToLower(words[i].key)] = &words[i]
	}
	return m
}()

func keyword(lowerKey string) *word { return wordsByKey[lowerKey] }

// Config returns the settings of d; the origin of each is "line N". What is
// malformed stays unknown and is a warning in file. With defaults, absent keys
// get the value that the vmx process assumes: only a caller that
// knows d to be a whole configuration may ask for that.
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
		// What has a fact of its own is no advanced setting, as in the vSphere API.
		if numa.KeepSetting(e.Key) && k != "vcpu.hotadd" && k != "cpuid.corespersocket" {
			settings = append(settings, numa.Setting{Key: e.Key, Value: e.Value})
			if first == 0 {
				first = e.Line
			}
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

// units drops a reservation that is not in MHz: sched.cpu.units can be percent.
func (d *Dict) units(c *numa.Config, file *fact.File) {
	e, ok := d.Lookup("sched.cpu.units")
	if !ok || e.Value == "" || strings.EqualFold(e.Value, "mhz") {
		return
	}
	file.Warn(e.Line, e.Col, "sched.cpu.units: found %q, want mhz: CPU reservation and limit stay unknown", shown(e.Value))
	c.CPUReservation, c.CPULimit = numa.Fact[int]{}, numa.Fact[int]{}
}

// setDefaults fills in what the vmx process assumes for keys that are not there.
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
	automatic := c.Hardware.Value >= 20 // B-18: before, cores per socket are never automatic
	switch {
	case !absent("cpuid.coresPerSocket"):
		if automatic && c.CoresPerSocket.Known() {
			c.AutoCoresPerSocket = numa.DerivedFrom(false, "cpuid.coresPerSocket is set")
		}
	case automatic:
		c.AutoCoresPerSocket = numa.AssumedFor(true, "cpuid.coresPerSocket is not there: assigned at power-on with hardware 20")
		// The host writes down what the last power-on chose.
		if e, ok := d.Lookup("cpuid.coresPerSocket.cookie"); ok {
			if n, err := strconv.Atoi(e.Value); err == nil && n > 0 && n <= numa.MaxVCPUs {
				c.CoresPerSocket = numa.ReadAt(n, "line "+strconv.Itoa(e.Line))
			}
		}
	default:
		c.CoresPerSocket = numa.AssumedFor(1, "cpuid.coresPerSocket is not there: 1 by default")
	}
}
