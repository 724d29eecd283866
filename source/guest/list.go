package guest

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/source/text"
)

// number reads a whole number from 0 to most.
func number(s string, most int) (n int, ok bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n <= most && s[0] != '+' && s[0] != '-'
}

// cpuList parses a list: "0,2,4-7", "0-62:2" (every second), "0 1 2" (numactl) or a mask "0xf"
// (lscpu -x). An empty list is no error.
func cpuList(s string) ([]int, error) {
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		return cpuMask(digits)
	}
	var cpus []int
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		span, strideText, hasStride := strings.Cut(part, ":")
		lowText, highText, isRange := strings.Cut(span, "-")
		low, ok := number(lowText, maxCPU)
		high, stride := low, 1
		if isRange && ok {
			high, ok = number(highText, maxCPU)
		}
		if hasStride && ok {
			stride, ok = number(strideText, maxCPU)
		}
		if !ok || high < low || stride == 0 {
			return nil, fmt.Errorf("found %q, want CPU numbers such as 0-3,8", text.Short(part))
		}
		for c := low; c <= high; c += stride {
			if len(cpus) == maxCPU {
				return nil, fmt.Errorf("found more than %d CPUs", maxCPU)
			}
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

func cpuMask(digits string) ([]int, error) {
	digits = strings.ReplaceAll(digits, ",", "")
	var cpus []int
	for i := len(digits) - 1; i >= 0; i-- {
		nibble, err := strconv.ParseUint(digits[i:i+1], 16, 8)
		base := 4 * (len(digits) - 1 - i)
		if err != nil || base >= maxCPU {
			return nil, fmt.Errorf("found %q, want a hexadecimal mask of CPUs", text.Short("0x"+digits))
		}
		for bit := range 4 {
			if nibble>>bit&1 == 1 {
				cpus = append(cpus, base+bit)
			}
		}
	}
	return cpus, nil
}
