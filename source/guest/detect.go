package guest

import (
	"bytes"
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// Lines that begin or identify an output. A line of the lscpu text form is recognised by keys
// that no other tool prints.
var (
	lscpuLine    = pattern.Of(`^(?:CPU op-mode\(s\)|On-line CPU\(s\) (?:list|mask)|Thread\(s\) per core|Core\(s\) per socket|Socket\(s\)|NUMA node\(s\)|NUMA node\d+ CPU\(s\)|Hypervisor vendor):|^[^:]+:\s+32-bit, 64-bit$`)
	lscpuFirst   = pattern.Of(`^(?:Architecture|CPU\(s\)|Byte Order|Address sizes|Vendor ID):`)
	parseHeader  = pattern.Of(`^#\s?(?:[A-Za-z]\w*,)*CPU(?:,\w*)*$`)
	numactlLine  = pattern.Of(`^(?:available: \d+ nodes?\b|node \d+ cpus:|No NUMA (?:available|support available) on this system)`)
	coreinfoLine = pattern.Of(`^(?:Coreinfo v\d|Logical to Physical Processor Map:|Logical Processor to (?:Socket|NUMA Node|Cache|Group) Map:|Approximate Cross-NUMA Node Access Cost\b|No NUMA nodes\.$|No NUMA configured\.$|Maximum implemented CPUID leaves:)`)
	jsonFirst    = pattern.Of(`^\{(?:\s*"(?:lscpu|cpus)"|\s*$)`)
	jsonWhole    = pattern.Of(`(?m)^\s*\{\s*"(?:(lscpu)"\s*:\s*\[\s*\{\s*"field"|cpus"\s*:\s*\[\s*\{[^{}]*"cpu")`)
)

// formOf returns the form of output that a line can begin, or "".
func formOf(l string) string {
	if key, value, ok := strings.Cut(l, ":"); ok && len(key) <= 80 {
		l = english(key) + ":" + value
	}
	switch {
	case l == "":
		return ""
	case coreinfoLine.MatchString(l):
		return Coreinfo
	case numactlLine.MatchString(l):
		return Numactl
	case lscpuLine.MatchString(l), lscpuFirst.MatchString(l):
		return Lscpu
	case isColumnHeader(l):
		return LscpuColumns
	case strings.HasPrefix(l, "# The following is the parsable format"), parseHeader.MatchString(l):
		return LscpuParse
	case jsonFirst.MatchString(l):
		return LscpuJSON
	}
	return ""
}

// Detect returns the form of the first output in the beginning of a file, which is decoded text
// of up to 64 KiB. It is stricter than Read, so that it rejects the output of other tools.
func Detect(head []byte) (format string, ok bool) {
	for raw := range bytes.Lines(head) {
		l := text.Trim(1, strings.TrimRight(string(raw), "\r\n")).Text
		if key, _, _ := strings.Cut(l, ":"); lscpuFirst.MatchString(english(key)+":") || strings.HasPrefix(l, "{") {
			continue
		}
		if _, prompt := text.CutPrompt(l, "lscpu"); prompt {
			continue
		}
		if form := formOf(l); form != "" {
			return form, true
		}
	}
	if m := jsonWhole.Regexp().FindSubmatch(head); m != nil {
		if len(m[1]) > 0 {
			return LscpuJSON, true
		}
		return LscpuRows, true
	}
	return "", false
}
