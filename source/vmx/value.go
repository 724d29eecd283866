package vmx

import (
	"fmt"
	"strconv"
	"strings"

	"homenode/numa"
)

func asInt(s string) (any, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return n, err == nil
}

func asBool(s string) (any, bool) { return parseTruth(strings.TrimSpace(s)) }

func asText(s string) (any, bool) { return s, true }

// parseTruth reads a truth value as the vmx process does.
func parseTruth(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "1", "yes", "on", "y", "t":
		return true, true
	case "false", "0", "no", "off", "n", "f":
		return false, true
	}
	return false, false
}

// number returns a setter of a whole number; an empty value is a removed key.
func number(least, most int, to func(*numa.Config) *numa.Fact[int]) func(*numa.Config, string, string) string {
	return func(c *numa.Config, s, where string) string {
		if s == "" {
			return ""
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return fmt.Sprintf("a number from %d to %d", least, most)
		}
		*to(c) = numa.ReadAt(n, where)
		return ""
	}
}

// megabytes returns a setter of an amount that the file has in MiB.
func megabytes(least int64, to func(*numa.Config) *numa.Fact[numa.Bytes]) func(*numa.Config, string, string) string {
	return func(c *numa.Config, s, where string) string {
		if s == "" {
			return ""
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < least || n > int64(numa.MaxVMMemory/numa.MiB) {
			return fmt.Sprintf("MB from %d to %d", least, numa.MaxVMMemory/numa.MiB)
		}
		*to(c) = numa.ReadAt(numa.Bytes(n)*numa.MiB, where)
		return ""
	}
}

func truth(to func(*numa.Config) *numa.Fact[bool]) func(*numa.Config, string, string) string {
	return func(c *numa.Config, s, where string) string {
		if s == "" {
			return ""
		}
		b, ok := parseTruth(s)
		if !ok {
			return "TRUE or FALSE"
		}
		*to(c) = numa.ReadAt(b, where)
		return ""
	}
}

func coresPerNode(c *numa.Config, s, where string) string {
	problem := number(1, numa.MaxVCPUs, func(c *numa.Config) *numa.Fact[int] { return &c.CoresPerNUMANode })(c, s, where)
	if c.CoresPerNUMANode.Known() {
		c.AutoCoresPerNUMANode = numa.DerivedFrom(false, "numa.vcpu.coresPerNode is set")
	}
	return problem
}

// limit reads MHz; -1 and "unlimited" mean none.
func limit(c *numa.Config, s, where string) string {
	if strings.EqualFold(s, "unlimited") {
		s = "-1"
	}
	if number(-1, 1<<31-1, func(c *numa.Config) *numa.Fact[int] { return &c.CPULimit })(c, s, where) != "" {
		return "MHz, or -1 for none"
	}
	return ""
}

func latency(c *numa.Config, s, where string) string {
	switch l := strings.ToLower(s); l {
	case "":
	case "low", "normal", "medium", "high":
		c.LatencySensitivity = numa.ReadAt(l, where)
	default:
		return "low, normal, medium or high"
	}
	return ""
}

// mostListed is how many PCPUs an affinity names: no host has more.
const mostListed = 4096

// affinity returns a setter of a list such as "0-3,8"; "all" means none.
func affinity(want string, to func(*numa.Config) *numa.Fact[[]int]) func(*numa.Config, string, string) string {
	return func(c *numa.Config, s, where string) string {
		if s == "" {
			return ""
		}
		list := []int{}
		if !strings.EqualFold(s, "all") {
			for part := range strings.SplitSeq(s, ",") {
				from, upTo, isRange := strings.Cut(strings.TrimSpace(part), "-")
				a, err := strconv.Atoi(from)
				b := a
				if err == nil && isRange {
					b, err = strconv.Atoi(upTo)
				}
				if err != nil || a < 0 || b < a || b >= mostListed || len(list)+b-a >= mostListed {
					return want + ", or all"
				}
				for n := a; n <= b; n++ {
					list = append(list, n)
				}
			}
		}
		*to(c) = numa.ReadAt(list, where)
		return ""
	}
}

// shown shortens a value that a message quotes.
func shown(s string) string { return string(clip([]byte(s))) }
