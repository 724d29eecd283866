package numa

import (
	"cmp"
	"slices"
	"strings"
)

// A VM is a virtual machine: its identity, its configuration, and observations of it.
type VM struct {
	ID      string   `json:"id"`                // unique in the fleet
	Name    string   `json:"name"`              // not unique
	Cluster string   `json:"cluster,omitempty"` // ID of the cluster it can run in
	Host    string   `json:"host,omitempty"`    // ID of the host it is registered on
	Folder  string   `json:"folder,omitempty"`  // inventory path
	UUID    string   `json:"uuid,omitempty"`
	Tags    []string `json:"tags,omitempty"` // by name, sorted
	// Attributes are the custom attributes that vCenter keeps of it, by name.
	Attributes []Attribute `json:"attributes,omitempty"`
	At         string      `json:"at,omitempty"` // where the source describes it; Origins are relative to this

	Config

	// Stated is the layout that its definition states, on KVM; nil on ESXi, which decides at power-on.
	Stated *Stated `json:"stated,omitempty"`

	// Observed are the topologies that were seen of it, oldest first.
	Observed []Observation `json:"observed,omitempty"`
}

// A Config holds the settings of a VM that decide its NUMA topology.
type Config struct {
	Template Fact[bool]       `json:"template,omitzero"`
	Power    Fact[PowerState] `json:"power,omitzero"`
	GuestOS  Fact[string]     `json:"guestOS,omitzero"` // guest ID or full name
	// Product is the software in the guest that its owner states: "SQL Server 2022
	// Standard". Readers ask Software.
	Product  Fact[string] `json:"product,omitzero"`
	Hardware Fact[int]    `json:"hardware,omitzero"` // virtual hardware version; 19 for vmx-19

	VCPUs Fact[int] `json:"vcpus,omitzero"`
	// CoresPerSocket is cpuid.coresPerSocket as configured. With
	// AutoCoresPerSocket it is what the last power-on chose (rule book B-18).
	CoresPerSocket     Fact[int]   `json:"coresPerSocket,omitzero"`
	AutoCoresPerSocket Fact[bool]  `json:"autoCoresPerSocket,omitzero"` // "assigned at power on"
	Memory             Fact[Bytes] `json:"memory,omitzero"`
	CPUHotAdd          Fact[bool]  `json:"cpuHotAdd,omitzero"`    // vcpu.hotadd
	MemoryHotAdd       Fact[bool]  `json:"memoryHotAdd,omitzero"` // mem.hotadd
	// VNUMAHotAdd is vnumaOnCpuHotaddExposed: vNUMA although CPU hot add is on (B-15).
	VNUMAHotAdd Fact[bool] `json:"vnumaHotAdd,omitzero"`
	// CoresPerNUMANode is the "NUMA Nodes" setting of 8.0, in cores per vNUMA
	// node; with AutoCoresPerNUMANode it was assigned at power on (B-18).
	CoresPerNUMANode     Fact[int]  `json:"coresPerNUMANode,omitzero"`
	AutoCoresPerNUMANode Fact[bool] `json:"autoCoresPerNUMANode,omitzero"`

	CPUAffinity             Fact[[]int]  `json:"cpuAffinity,omitzero"`        // PCPU numbers; empty means none
	MemoryAffinity          Fact[[]int]  `json:"memoryAffinity,omitzero"`     // NUMA node numbers; empty means none
	LatencySensitivity      Fact[string] `json:"latencySensitivity,omitzero"` // low, normal, medium, high
	VirtualThreads          Fact[int]    `json:"virtualThreads,omitzero"`     // vCPUs of a virtual core: 2 with virtual hyper-threading (8.0)
	Firmware                Fact[string] `json:"firmware,omitzero"`           // bios or efi
	IOMMU                   Fact[bool]   `json:"iommu,omitzero"`              // the guest is shown an IOMMU (vvtd.enable); more than 127 vCPUs need it (B-32)
	CPUReservation          Fact[int]    `json:"cpuReservation,omitzero"`     // MHz
	CPULimit                Fact[int]    `json:"cpuLimit,omitzero"`           // MHz; -1 means none
	MemoryReservation       Fact[Bytes]  `json:"memoryReservation,omitzero"`
	MemoryReservationLocked Fact[bool]   `json:"memoryReservationLocked,omitzero"` // "reserve all guest memory"

	// FaultTolerance is off, primary or secondary. While it is on, vSphere reserves all memory of the VM and changes none of its settings.
	FaultTolerance Fact[string] `json:"faultTolerance,omitzero"`
	Encrypted      Fact[bool]   `json:"encrypted,omitzero"` // vSphere encrypts its files
	TPM            Fact[bool]   `json:"tpm,omitzero"`       // it has a virtual TPM

	// Devices are the PCI devices of its host that the VM has, where there are any.
	Devices Fact[[]Device] `json:"devices,omitzero"`

	// Settings are the numa.*, cpuid.*, sched.* and related entries of the
	// configuration (extraConfig, .vmx), the stored autosize and cookie among
	// them. Unknown when the source carries no such entries (RVTools).
	Settings Fact[Settings] `json:"settings,omitzero"`
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

// ProductLabel is the custom attribute, and the prefix of tags, that state the product in a guest.
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

// Latency returns the latency sensitivity, and the name of the setting behind it: the advanced setting where the source has no level.
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

// LatencyHigh reports whether the latency sensitivity is High: each vCPU has a PCPU of its own.
func (c *Config) LatencyHigh() bool {
	level, _ := c.Latency()
	return strings.EqualFold(strings.TrimSpace(level.Value), "high")
}

// Unreserved returns the memory of the VM that is known not to be reserved; 0 when all is reserved or when it is unknown.
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

// With returns the settings with key set to value, in the order of their keys; s is unchanged.
func (s Settings) With(key, value string) Settings {
	out := append(s.Without(key), Setting{Key: key, Value: value})
	slices.SortStableFunc(out, func(a, b Setting) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// Without returns the settings except those with one of the keys, ignoring case; s is unchanged.
func (s Settings) Without(keys ...string) (out Settings) {
	for _, one := range s {
		if !slices.ContainsFunc(keys, func(key string) bool { return strings.EqualFold(one.Key, key) }) {
			out = append(out, one)
		}
	}
	return out
}

// settingPrefixes are the prefixes of settings that can matter to NUMA (rule book B-10); the rest of a VM's configuration is discarded.
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
	for _, p := range settingPrefixes {
		if len(key) >= len(p) && strings.EqualFold(key[:len(p)], p) {
			return true
		}
	}
	return false
}
