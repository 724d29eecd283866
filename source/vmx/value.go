package vmx

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

func asInt(s string) (any, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return n, err == nil
}

func asBool(s string) (any, bool) { return parseTruth(strings.TrimSpace(s)) }

func asText(s string) (any, bool) { return s, true }

// parseTruth parses a truth value as the vmx process does.
func parseTruth(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "1", "yes", "on", "y", "t":
		return true, true
	case "false", "0", "no", "off", "n", "f":
		return false, true
	}
	return false, false
}

// A setter stores the value of a key; problem describes the expected form if the value is invalid. An
// empty value means that the key was removed.
type setter func(c *numa.Config, s, where string) (problem string)

// setting returns a setter for the fact at to.
func setting[T any](want string, to func(*numa.Config) *numa.Fact[T], read func(s string) (T, bool)) setter {
	return func(c *numa.Config, s, where string) string {
		if s == "" {
			return ""
		}
		v, ok := read(s)
		if !ok {
			return want
		}
		*to(c) = numa.ReadAt(v, where)
		return ""
	}
}

// wordOf returns the word for a fact, by its type. The file contains memory in MiB.
func wordOf(p *numa.Property[numa.Config]) word {
	w := word{key: p.VMX, name: p.Name, unit: p.Unit}
	switch p.Fact(&numa.Config{}).(type) {
	case *numa.Fact[int]:
		w.value, w.set = asInt, number(p.Least, int(p.Most), in[int](p))
	case *numa.Fact[bool]:
		w.value, w.set = asBool, setting("TRUE or FALSE", in[bool](p), parseTruth)
	case *numa.Fact[numa.Bytes]:
		w.unit = "MiB"
		w.value, w.set = asInt, megabytes(int64(p.Least), in[numa.Bytes](p))
	case *numa.Fact[[]int]:
		w.value, w.set = asText, setting("numbers such as 0-3,8, or all", in[[]int](p), numbers)
	case *numa.Fact[string]:
		w.value, w.set = asText, oneOf(p.Only, in[string](p))
	}
	switch p.VMX {
	case "sched.cpu.max":
		w.set = limit
	case "sched.mem.max": // in MB, "unlimited" by default (libvirt, src/vmx/vmx.c)
		w.set = setting("MB, or -1 for none", in[numa.Bytes](p), func(s string) (numa.Bytes, bool) {
			n, ok := amountOrNone(s, int64(numa.MaxVMMemory/numa.MiB))
			return max(-1, numa.Bytes(n)*numa.MiB), ok
		})
	case "encryption.keySafe": // its value is a key, and is never shown
		there := func(string) (bool, bool) { return true, true }
		w.value, w.set = func(string) (any, bool) { return true, true }, setting("", in[bool](p), there)
	}
	return w
}

// in returns the fact of a property in a configuration.
func in[T any](p *numa.Property[numa.Config]) func(*numa.Config) *numa.Fact[T] {
	return func(c *numa.Config) *numa.Fact[T] { return p.Fact(c).(*numa.Fact[T]) }
}

// oneOf returns a setter for one of the values, ignoring case; for any text if there are none.
func oneOf(values []string, to func(*numa.Config) *numa.Fact[string]) setter {
	if values == nil {
		return setting("", to, func(s string) (string, bool) { return s, true })
	}
	last := len(values) - 1
	return setting(strings.Join(values[:last], ", ")+" or "+values[last], to, func(s string) (string, bool) {
		s = strings.ToLower(s)
		return s, slices.Contains(values, s)
	})
}

func number(least, most int, to func(*numa.Config) *numa.Fact[int]) setter {
	return setting(fmt.Sprintf("a number from %d to %d", least, most), to, func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n, err == nil && n >= least && n <= most
	})
}

// megabytes returns a setter for an amount in MiB.
func megabytes(least int64, to func(*numa.Config) *numa.Fact[numa.Bytes]) setter {
	const most = int64(numa.MaxVMMemory / numa.MiB)
	return setting(fmt.Sprintf("MB from %d to %d", least, most), to, func(s string) (numa.Bytes, bool) {
		n, err := strconv.ParseInt(s, 10, 64)
		return numa.Bytes(n) * numa.MiB, err == nil && n >= least && n <= most
	})
}

// limit parses MHz.
var limit = setting("MHz, or -1 for none", func(c *numa.Config) *numa.Fact[int] { return &c.CPULimit }, func(s string) (int, bool) {
	n, ok := amountOrNone(s, math.MaxInt32)
	return int(n), ok
})

// amountOrNone parses a limit: -1 and "unlimited" mean none.
func amountOrNone(s string, most int64) (int64, bool) {
	if strings.EqualFold(s, "unlimited") {
		return -1, true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= -1 && n <= most
}

// mostListed is the maximum number of PCPUs in an affinity: no host has more.
const mostListed = 4096

// numbers parses a list such as "0-3,8"; "all" means none.
func numbers(s string) ([]int, bool) {
	if strings.EqualFold(s, "all") {
		return []int{}, true
	}
	return text.Numbers(s, mostListed, mostListed)
}

// coresPerNode parses the NUMA nodes set in the vSphere Client, which writes 0 for "assigned at power
// on".
func coresPerNode(c *numa.Config, s, where string) string {
	if s == "0" {
		c.AutoCoresPerNUMANode = numa.ReadAt(true, where)
		return ""
	}
	problem := number(1, numa.MaxVCPUs, func(c *numa.Config) *numa.Fact[int] { return &c.CoresPerNUMANode })(c, s, where)
	if c.CoresPerNUMANode.Known() {
		c.AutoCoresPerNUMANode = numa.DerivedFrom(false, "numa.vcpu.coresPerNode is set")
	}
	return problem
}

// shown shortens a value for a message.
func shown(s string) string { return string(clip([]byte(s))) }
