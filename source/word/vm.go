package word

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
)

// vmWords are the words of a VM that set one fact, in the order of messages.
var vmWords = words[numa.VM]{
	{"vcpus", fact(func(v *numa.VM) *numa.Fact[int] { return &v.VCPUs }, Word.vcpus)},
	{"coresPerSocket", coresPerSocket},
	{"memory", fact(func(v *numa.VM) *numa.Fact[numa.Bytes] { return &v.Memory }, Word.vmMemory)},
	{"hotAdd", fact(func(v *numa.VM) *numa.Fact[bool] { return &v.CPUHotAdd }, Word.truth)},
	{"memoryHotAdd", fact(func(v *numa.VM) *numa.Fact[bool] { return &v.MemoryHotAdd }, Word.truth)},
	{"vnumaHotAdd", fact(func(v *numa.VM) *numa.Fact[bool] { return &v.VNUMAHotAdd }, Word.truth)},
	{"hw", fact(func(v *numa.VM) *numa.Fact[int] { return &v.Hardware }, within(3, 99))},
	{"guest", fact(func(v *numa.VM) *numa.Fact[string] { return &v.GuestOS }, Word.anything)},
	{"product", fact(func(v *numa.VM) *numa.Fact[string] { return &v.Product }, Word.anything)},
	{"power", fact(func(v *numa.VM) *numa.Fact[numa.PowerState] { return &v.Power }, oneOf[numa.PowerState]("on", "off", "suspended"))},
	{"template", fact(func(v *numa.VM) *numa.Fact[bool] { return &v.Template }, Word.truth)},
	{"latency", fact(func(v *numa.VM) *numa.Fact[string] { return &v.LatencySensitivity }, oneOf[string]("low", "normal", "medium", "high"))},
	{"virtualThreads", fact(func(v *numa.VM) *numa.Fact[int] { return &v.VirtualThreads }, within(1, 2))},
	{"firmware", fact(func(v *numa.VM) *numa.Fact[string] { return &v.Firmware }, oneOf[string]("bios", "efi"))},
	{"iommu", fact(func(v *numa.VM) *numa.Fact[bool] { return &v.IOMMU }, Word.truth)},
	{"cpuAffinity", fact(func(v *numa.VM) *numa.Fact[[]int] { return &v.CPUAffinity }, Word.list)},
	{"memoryAffinity", fact(func(v *numa.VM) *numa.Fact[[]int] { return &v.MemoryAffinity }, Word.list)},
	{"cpuReservation", fact(func(v *numa.VM) *numa.Fact[int] { return &v.CPUReservation }, within(0, math.MaxInt32))},
	{"cpuLimit", fact(func(v *numa.VM) *numa.Fact[int] { return &v.CPULimit }, Word.limit)},
	{"memoryReservation", fact(func(v *numa.VM) *numa.Fact[numa.Bytes] { return &v.MemoryReservation }, Word.vmMemory)},
	{"reserveAll", fact(func(v *numa.VM) *numa.Fact[bool] { return &v.MemoryReservationLocked }, Word.truth)},
	{"pci", devices},
	{"folder", func(v *numa.VM, w Word, _ string) error { v.Folder = w.Value; return nil }},
	{"tags", func(v *numa.VM, w Word, _ string) error { v.Tags = strings.Split(w.Value, ","); return nil }},
}

// VMKeys are the words that VM understands; beside them set:KEY.
var VMKeys = vmWords.keys()

// VM sets the fact of v that the word states, as read at where. A word that no VM
// knows is an error.
func VM(v *numa.VM, w Word, where string) error {
	if key, ok := strings.CutPrefix(w.Key, "set:"); ok && w.HasValue {
		if !numa.KeepSetting(key) {
			return Errorf(w.Col, "found setting %q, want one of numa.*, cpuid.*, sched.* …", Short(key))
		}
		v.Settings.Value = v.Settings.Value.With(key, w.Value)
		return nil
	}
	if known, err := vmWords.set(v, w, where); known {
		return err
	}
	return w.Unknown("vm", slices.Concat([]string{"host", "cluster"}, VMKeys, []string{"stored", "settings", "set:KEY"}))
}

func (w Word) vcpus() (int, error) { return w.Number(1, numa.MaxVCPUs) }

func (w Word) vmMemory() (numa.Bytes, error) { return w.Bytes(w.Value, numa.MaxVMMemory) }

// limit reads MHz, or none, which vSphere writes as -1.
func (w Word) limit() (int, error) {
	if strings.EqualFold(w.Value, "none") {
		return -1, nil
	}
	n, err := strconv.Atoi(w.Value)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return 0, Errorf(w.Col, "found %s=%q, want a number of MHz, or none", Short(w.Key), Short(w.Value))
	}
	return n, nil
}

// coresPerSocket reads a number, or auto for "assigned at power on" (rule book B-18).
func coresPerSocket(v *numa.VM, w Word, where string) error {
	if strings.EqualFold(w.Value, "auto") {
		v.CoresPerSocket, v.AutoCoresPerSocket = numa.ReadAt(1, where), numa.ReadAt(true, where)
		return nil
	}
	if err := set(&v.CoresPerSocket, w, where, w.vcpus); err != nil {
		return err
	}
	return set(&v.AutoCoresPerSocket, w, where, func() (bool, error) { return false, nil })
}

// The settings that hold the size of the last power-on (rule book B-8).
const (
	StoredKey = "numa.autosize.vcpu.maxPerVirtualNode"
	CookieKey = "numa.autosize.cookie"
)

// WithStored returns the settings as a power-on leaves them that sized virtual nodes
// of size vCPUs for the VM as it is (rule book B-8, B-9).
func WithStored(s numa.Settings, v *numa.VM, size int) numa.Settings {
	n, cps := v.VCPUs.Value, max(1, v.CoresPerSocket.Value)
	cookie := n*10000 + 1
	if v.Hardware.Value >= 16 {
		cookie = n*10000 + cps*10 + 2
	}
	return s.With(StoredKey, strconv.Itoa(size)).With(CookieKey, strconv.Itoa(cookie))
}
