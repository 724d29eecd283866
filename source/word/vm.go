package word

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// vmWords are the keywords of a VM, in the order of messages: those of numa.VMFacts, and those that set more or less than one
// fact.
var vmWords = wordsOf(numa.VMFacts, func(v *numa.VM) *numa.Config { return &v.Config }, words[numa.VM]{
	{"coresPerSocket", coresPerSocket},
	{"cpuReservation", func(v *numa.VM, w Word, where string) error {
		return set(&v.CPUReservation, w, where, reserved(w, func() (int, error) { return w.Number(0, math.MaxInt32) }))
	}},
	{"memoryReservation", func(v *numa.VM, w Word, where string) error {
		return set(&v.MemoryReservation, w, where, reserved(w, func() (numa.Bytes, error) { return w.Bytes(w.Value, numa.MaxVMMemory) }))
	}},
	{"cpuLimit", func(v *numa.VM, w Word, where string) error { return set(&v.CPULimit, w, where, w.limit) }},
	{"memoryLimit", func(v *numa.VM, w Word, where string) error {
		return set(&v.MemoryLimit, w, where, func() (numa.Bytes, error) {
			if strings.EqualFold(w.Value, "none") {
				return -1, nil
			}
			return w.Bytes(w.Value, numa.MaxVMMemory)
		})
	}},
	{"pci", devices},
	{"folder", func(v *numa.VM, w Word, _ string) error { v.Folder = w.Value; return nil }},
	{"tags", func(v *numa.VM, w Word, _ string) error { v.Tags = strings.Split(w.Value, ","); return nil }},
})

// VMKeys are the keywords of VM, except for the keys of settings.
var VMKeys = vmWords.keys()

// VM sets the fact of v that the word states; where is its origin. An unknown word is an error.
func VM(v *numa.VM, w Word, where string) error {
	switch keep := numa.KeepSetting(w.Key); {
	case keep && w.HasValue:
		v.Settings.Value = v.Settings.Value.With(w.Key, w.Value)
		return nil
	case !keep && strings.Contains(w.Key, "."): // no other word has a dot
		return Errorf(w.Col, "found setting %q, want one of numa.*, cpuid.*, sched.* …", Short(w.Key))
	}
	if known, err := vmWords.set(v, w, where); known {
		return err
	}
	return w.Unknown("vm", slices.Concat([]string{"host", "cluster"}, VMKeys, []string{"stored", "settings", "a setting such as numa.vcpu.preferHT"}))
}

func (w Word) vcpus() (int, error) { return w.Number(1, numa.MaxVCPUs) }

// reserved parses an amount, or no reservation in the notations of vSphere and of people.
func reserved[T int | numa.Bytes](w Word, read func() (T, error)) func() (T, error) {
	if slices.Contains([]string{"0", "none", "0mb", "0gb"}, strings.ToLower(w.Value)) {
		return func() (T, error) { return 0, nil }
	}
	return read
}

// limit parses MHz, or none, which vSphere writes as -1.
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

// coresPerSocket parses a number, or auto for "assigned at power on" (rule book B-18).
func coresPerSocket(v *numa.VM, w Word, where string) error {
	if strings.EqualFold(w.Value, "auto") {
		v.CoresPerSocket, v.AutoCoresPerSocket = numa.ReadAt(1, where), numa.ReadAt(true, where)
		return nil
	}
	if w.Value == "0" {
		return Errorf(w.Col, "found %s=0, want a number from 1 to %d, or auto: assigned at power-on, which the API calls 0", Short(w.Key), numa.MaxVCPUs)
	}
	if err := set(&v.CoresPerSocket, w, where, w.vcpus); err != nil {
		return err
	}
	return set(&v.AutoCoresPerSocket, w, where, func() (bool, error) { return false, nil })
}

// WithStored returns the settings after a power-on that chose virtual nodes of size vCPUs for the current VM (rule book B-8,
// B-9).
func WithStored(s numa.Settings, v *numa.VM, size int) numa.Settings {
	n, cps := v.VCPUs.Value, max(1, v.CoresPerSocket.Value)
	cookie := n*10000 + 1
	if v.Hardware.Value >= 16 {
		cookie = n*10000 + cps*10 + 2
	}
	return s.With(numa.StoredKey, strconv.Itoa(size)).With(numa.CookieKey, strconv.Itoa(cookie))
}
