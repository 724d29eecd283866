package noeffect

import "strings"

// known lists the numa.* settings of a VM (B-10).
var known = []string{
	"numa.vcpu.min", "numa.vcpu.maxPerVirtualNode", "numa.vcpu.maxPerMachineNode", "numa.vcpu.maxPerClient",
	"numa.vcpu.coresPerNode", "numa.vcpu.followcorespersocket", "numa.vcpu.preferHT", "numa.autosize",
	"numa.autosize.once", "numa.autosize.cookie", "numa.autosize.vcpu.maxPerVirtualNode", "numa.consolidate",
	"numa.allowHotadd", "numa.nodeAffinity", "numa.LocalityWeightActionAffinity",
}

// mostEdits is how many letters a misspelt setting differs by: a doubled letter, two
// letters in the wrong order, a plural.
const mostEdits = 2

// alike returns the known setting that key is probably meant to be; nothing when key
// is known itself, no numa setting, or like none.
func alike(key string) string {
	key = strings.ToLower(key)
	if !strings.HasPrefix(key, "numa") {
		return ""
	}
	best, least := "", mostEdits+1
	for _, k := range known {
		d := distance(key, strings.ToLower(k))
		if d == 0 {
			return ""
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns how many letters must be put in, taken out or changed to make b of
// a (Levenshtein), one row at a time.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
