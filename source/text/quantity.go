package text

import (
	"strconv"
	"strings"
)

// suffixes are those of quantities of Kubernetes (apimachinery, pkg/api/resource), without those above 2^40.
var suffixes = map[string]float64{"m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}

// Quantity parses memory in bytes such as 64Gi, or CPUs such as 1500m: 1.5.
func Quantity(s string) (float64, bool) {
	digits := strings.TrimRight(s, "mkKMGTi")
	n, err := strconv.ParseFloat(digits, 64)
	factor, ok := suffixes[s[len(digits):]]
	if err != nil || !ok || !(n >= 0 && n*factor < 1<<60) {
		return 0, false
	}
	return n * factor, true
}
