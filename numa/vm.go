package numa

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A VM is a virtual machine: its identity, its configuration, and observations of it.
type VM struct {
	// Arrived: a what-if moved it to its host, powered it on or raised its reservations: vSphere admits its reservations after those of the VMs that run there.
	Arrived bool `json:"arrived,omitempty"`

	ID      string   `json:"id"`                // unique in the fleet
	Named   bool     `json:"named,omitempty"`   // ID is the name or UUID: the source states no managed object reference
	Name    string   `json:"name"`              // not unique
	Cluster string   `json:"cluster,omitempty"` // ID of the cluster it can run in
	Host    string   `json:"host,omitempty"`    // ID of the host it is registered on
	Folder  string   `json:"folder,omitempty"`  // inventory path
	UUID    string   `json:"uuid,omitempty"`
	Tags    []string `json:"tags,omitempty"` // by name, sorted
	// Attributes are its custom attributes in vCenter, by name.
	Attributes []Attribute `json:"attributes,omitempty"`
	At         string      `json:"at,omitempty"` // place in the source; Origins are relative to this
	// Doubt says which statements of the source contradict each other, so that a fact is unknown.
	Doubt string `json:"doubt,omitempty"`

	Config

	// Reclaimed is the memory of the VM that is ballooned or swapped, when the source was written.
	Reclaimed Fact[Bytes] `json:"reclaimed,omitzero"`

	// Stated is the layout in its definition, on KVM; nil on ESXi, which determines the layout at power-on.
	Stated *Stated `json:"stated,omitempty"`

	// Observed are the observed topologies, oldest first.
	Observed []Observation `json:"observed,omitempty"`

	// Planned is set of a VM that does not exist yet: a plan or manifest describes it.
	Planned *Planned `json:"planned,omitempty"`
}

// Planned is what a plan or manifest states of a VM beside its configuration.
type Planned struct {
	ID       string  `json:"id"`                 // of the VM in its file; it is judged on several sites under IDs of their own
	File     string  `json:"file"`               // that describes it
	Form     string  `json:"form"`               // of the object that describes it, such as "Terraform"
	Cluster  string  `json:"cluster,omitempty"`  // name of the cluster that it will run in; "" where the plan does not say it
	Host     string  `json:"host,omitempty"`     // name of the host that it will be created on
	Template string  `json:"template,omitempty"` // name or UUID of the VM that it is a clone of
	Unknown  []Later `json:"unknown,omitempty"`  // what is decided later: it stays unknown
}

// Later is an attribute of a planned VM whose value is decided later.
type Later struct {
	Attribute string `json:"attribute"`      // as the plan calls it
	Word      string `json:"word,omitempty"` // of VMFacts; "" for a setting
}

// Clone gives the planned VM what it inherits of its template, but for what its plan decides later.
func (v *VM) Clone(template *Config, where string) {
	for i := range VMFacts {
		p := &VMFacts[i]
		if slices.ContainsFunc(v.Planned.Unknown, func(l Later) bool { return l.Word == p.Word }) {
			own := *template
			p.Fact(&own).Forget()
			template = &own
		}
	}
	v.Inherit(template, where)
}

// Plans reports whether the fleet has a VM that is only planned.
func (f *Fleet) Plans() bool {
	return slices.ContainsFunc(f.VMs, func(v VM) bool { return v.Planned != nil })
}

// A Config contains the settings of a VM that affect its NUMA topology.
type Config struct {
	Template Fact[bool]       `json:"template,omitzero"`
	Power    Fact[PowerState] `json:"power,omitzero"`
	GuestOS  Fact[string]     `json:"guestOS,omitzero"` // guest ID or full name
	// Product is the software in the guest as stated by its owner: "SQL Server 2022 Standard". Use Software to read it.
	Product  Fact[string] `json:"product,omitzero"`
	Hardware Fact[int]    `json:"hardware,omitzero"` // virtual hardware version; 19 for vmx-19

	VCPUs Fact[int] `json:"vcpus,omitzero"`
	// CoresPerSocket is cpuid.coresPerSocket as configured. With AutoCoresPerSocket it is the value that the last power-on chose (rule book B-18).
	CoresPerSocket     Fact[int]   `json:"coresPerSocket,omitzero"`
	AutoCoresPerSocket Fact[bool]  `json:"autoCoresPerSocket,omitzero"` // "assigned at power on"
	Memory             Fact[Bytes] `json:"memory,omitzero"`
	CPUHotAdd          Fact[bool]  `json:"cpuHotAdd,omitzero"`    // vcpu.hotadd
	MemoryHotAdd       Fact[bool]  `json:"memoryHotAdd,omitzero"` // mem.hotadd
	// VNUMAHotAdd is vnumaOnCpuHotaddExposed: vNUMA in spite of CPU hot add (B-15).
	VNUMAHotAdd Fact[bool] `json:"vnumaHotAdd,omitzero"`
	// CoresPerNUMANode is the "NUMA Nodes" setting of 8.0, in cores per vNUMA
	// node; with AutoCoresPerNUMANode it was assigned at power on (B-18).
	CoresPerNUMANode     Fact[int]  `json:"coresPerNUMANode,omitzero"`
	AutoCoresPerNUMANode Fact[bool] `json:"autoCoresPerNUMANode,omitzero"`

	CPUAffinity             Fact[[]int]  `json:"cpuAffinity,omitzero"`        // PCPU numbers; empty means none
	MemoryAffinity          Fact[[]int]  `json:"memoryAffinity,omitzero"`     // NUMA node numbers; empty means none
	LatencySensitivity      Fact[string] `json:"latencySensitivity,omitzero"` // low, normal, medium, high
	VirtualThreads          Fact[int]    `json:"virtualThreads,omitzero"`     // vCPUs per virtual core: 2 with virtual hyper-threading (8.0)
	Firmware                Fact[string] `json:"firmware,omitzero"`           // bios or efi
	IOMMU                   Fact[bool]   `json:"iommu,omitzero"`              // the guest has a virtual IOMMU (vvtd.enable), required for more than 127 vCPUs (B-32)
	CPUReservation          Fact[int]    `json:"cpuReservation,omitzero"`     // MHz
	CPULimit                Fact[int]    `json:"cpuLimit,omitzero"`           // MHz; -1 means none
	MemoryReservation       Fact[Bytes]  `json:"memoryReservation,omitzero"`
	MemoryLimit             Fact[Bytes]  `json:"memoryLimit,omitzero"`             // -1 means none
	MemoryReservationLocked Fact[bool]   `json:"memoryReservationLocked,omitzero"` // "reserve all guest memory"

	// FaultTolerance is off, primary or secondary. While it is on, vSphere reserves all memory of the VM and does not change its settings.
	FaultTolerance Fact[string] `json:"faultTolerance,omitzero"`
	Encrypted      Fact[bool]   `json:"encrypted,omitzero"` // vSphere encrypts its files
	TPM            Fact[bool]   `json:"tpm,omitzero"`       // it has a virtual TPM

	// Devices are the PCI devices of its host that are assigned to the VM.
	Devices Fact[[]Device] `json:"devices,omitzero"`

	// Settings are the numa.*, cpuid.*, sched.* and related entries of the configuration (extraConfig, .vmx), including the stored autosize and
	// cookie. Unknown if the source does not contain such entries (RVTools).
	Settings Fact[Settings] `json:"settings,omitzero"`
	// SizeAssumed: the settings are unknown, but for the stored size among them, which the last power-on of the VM is assumed to have written.
	SizeAssumed bool `json:"sizeAssumed,omitempty"`
}

// The settings in which ESXi stores the size of a virtual node and the vCPUs that it was chosen for.
const (
	StoredKey = "numa.autosize.vcpu.maxPerVirtualNode"
	CookieKey = "numa.autosize.cookie"
)

// AssumeStored adds a stored size and its cookie to the unknown settings; 0 removes those that were assumed before.
func (c *Config) AssumeStored(size, cookie int) {
	if c.SizeAssumed {
		c.Settings.Value = c.Settings.Value.Without(StoredKey, CookieKey)
	}
	if c.SizeAssumed = size > 0; c.SizeAssumed {
		c.Settings.Value = c.Settings.Value.With(StoredKey, strconv.Itoa(size)).With(CookieKey, strconv.Itoa(cookie))
	}
}

// SettingOrigin returns the origin of an advanced setting.
func (c *Config) SettingOrigin(key string) Origin {
	if c.SizeAssumed && (strings.EqualFold(key, StoredKey) || strings.EqualFold(key, CookieKey)) {
		return Origin{Assumed, "the last power-on of the VM stored it"}
	}
	return c.Settings.Origin
}

// A PowerState is the power state of a VM.
type PowerState string

// The power states of a VM.
const (
	PoweredOn  PowerState = "on"
	PoweredOff PowerState = "off"
	Suspended  PowerState = "suspended"
)

// An Attribute is a custom attribute of a VM: the owner, a cost centre.
type Attribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ProductLabel is the name of the custom attribute, and the prefix of tags, with the product in a guest.
const ProductLabel = "product"

// Software returns the product in the guest: the stated one, else the custom attribute "product", else the tag "product:SQL Server 2022 Standard".
func (v *VM) Software() Fact[string] {
	if v.Product.Known() {
		return v.Product
	}
	for _, a := range v.Attributes {
		if strings.EqualFold(a.Name, ProductLabel) {
			return ReadAt(a.Value, "custom attribute "+a.Name)
		}
	}
	for _, tag := range v.Tags {
		if label, text, ok := strings.Cut(tag, ":"); ok && strings.EqualFold(strings.TrimSpace(label), ProductLabel) {
			return ReadAt(strings.TrimSpace(text), "tag "+tag)
		}
	}
	return Fact[string]{}
}

// Latency returns the latency sensitivity, and the name of its setting: the advanced setting if the source has no level.
func (c *Config) Latency() (level Fact[string], name string) {
	if c.LatencySensitivity.Known() {
		return c.LatencySensitivity, "latency sensitivity"
	}
	const key = "sched.cpu.latencySensitivity"
	if s, ok := c.Settings.Value.Lookup(key); ok {
		return Fact[string]{Value: s, Origin: c.Settings.Origin}, key
	}
	return Fact[string]{}, key
}

// LatencyHigh reports whether the latency sensitivity is High: each vCPU has an exclusive PCPU.
func (c *Config) LatencyHigh() bool {
	level, _ := c.Latency()
	return strings.EqualFold(strings.TrimSpace(level.Value), "high")
}

// Resident returns the memory of the VM that a host can hold: at most its limit.
func (c *Config) Resident() Bytes {
	if limit, ok := c.LimitedTo(); ok {
		return limit
	}
	return c.Memory.Value
}

// LimitedTo returns the memory limit of the VM if it is below its memory: ESXi balloons, compresses or swaps the memory above it, whatever the host
// has free (vSphere Resource Management, resource allocation limit, GUID-117972E3).
func (c *Config) LimitedTo() (limit Bytes, ok bool) {
	limit = c.MemoryLimit.Value
	return limit, c.MemoryLimit.Known() && limit > 0 && c.Memory.Known() && limit < c.Memory.Value
}

// Unreserved returns the memory of the VM that is known not to be reserved; 0 if all is reserved or if it is unknown.
func (c *Config) Unreserved() Bytes {
	if c.AllReserved() || !c.MemoryReservation.Known() || !c.Memory.Known() {
		return 0
	}
	return max(0, c.Memory.Value-c.MemoryReservation.Value)
}

// ReservationKnown reports whether the reserved amount of memory is known.
func (c *Config) ReservationKnown() bool {
	return c.AllReserved() || c.MemoryReservation.Known() && c.Memory.Known()
}

// StatedOn reports whether the source states that the VM runs.
func (v *VM) StatedOn() bool { return v.Power.Origin.Kind == Read && v.Power.Value == PoweredOn }

// MayRun reports whether the VM runs as far as is known: it is no template, and a power state that is not stated counts as on.
func (c *Config) MayRun() bool {
	return !c.Template.Or(false) && c.Power.Or(PoweredOn) == PoweredOn
}

// A Setting is one advanced setting of a VM or host.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Settings are advanced settings in the order of their keys.
type Settings []Setting

// Lookup returns the value of the setting with this key, ignoring case.
func (s Settings) Lookup(key string) (value string, ok bool) {
	for i := range s {
		if strings.EqualFold(s[i].Key, key) {
			return s[i].Value, true
		}
	}
	return "", false
}

// With returns the settings with key set to value, in the order of their keys; s is not changed.
func (s Settings) With(key, value string) Settings {
	out := append(s.Without(key), Setting{Key: key, Value: value})
	slices.SortStableFunc(out, func(a, b Setting) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// Without returns the settings except those with one of the keys, ignoring case; s is not changed.
func (s Settings) Without(keys ...string) (out Settings) {
	for _, one := range s {
		if !slices.ContainsFunc(keys, func(key string) bool { return strings.EqualFold(one.Key, key) }) {
			out = append(out, one)
		}
	}
	return out
}

// settingPrefixes are the prefixes of settings that may affect NUMA (rule book B-10); the rest of a VM's configuration is discarded.
var settingPrefixes = []string{"numa.", "cpuid.", "sched.", "vmx.reboot.", "vcpu.", "monitor.", "monitor_control.", "chipset."}

// FaultTolerant reports whether the VM is one of a pair under Fault Tolerance.
func (c *Config) FaultTolerant() bool {
	return c.FaultTolerance.Known() && c.FaultTolerance.Value != FTOff
}

// AllReserved reports whether all memory of the VM is reserved: by its own setting, or by Fault Tolerance, which enforces it (vSphere
// Availability 6.7, Turn On Fault Tolerance).
func (c *Config) AllReserved() bool { return c.MemoryReservationLocked.Value || c.FaultTolerant() }

// The values of Config.FaultTolerance.
const (
	FTOff       = "off"
	FTPrimary   = "primary"
	FTSecondary = "secondary"
)

// KeepSetting reports whether the VM setting with this key belongs in a fleet.
func KeepSetting(key string) bool {
	return slices.ContainsFunc(settingPrefixes, func(p string) bool { return len(key) >= len(p) && strings.EqualFold(key[:len(p)], p) })
}
