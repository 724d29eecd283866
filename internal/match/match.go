// Package match pairs the objects of two lists although names and IDs may have changed between them.
package match

// Pairs pairs objects by their keys. Each object has a list of keys of equal length, the surest
// first; "" is unknown. A key counts when exactly one unpaired object on each side has it. refuse,
// which may be nil, rejects a pair. The pairs are indexes of a and b, those of surer keys first.
func Pairs(a, b [][]string, refuse func(round, i, j int) bool) (pairs [][2]int) {
	if len(a) == 0 {
		return nil
	}
	inA, inB := make([]bool, len(a)), make([]bool, len(b))
	for round := range a[0] {
		left, right := unique(a, inA, round), unique(b, inB, round)
		for i := range a {
			j, ok := right[a[i][round]]
			if k, once := left[a[i][round]]; !ok || !once || k != i || refuse != nil && refuse(round, i, j) {
				continue
			}
			pairs = append(pairs, [2]int{i, j})
			inA[i], inB[j] = true, true
		}
	}
	return pairs
}

// unique returns the index of each key that exactly one of the unmatched objects has.
func unique(all [][]string, matched []bool, round int) map[string]int {
	out := make(map[string]int, len(all))
	twice := map[string]bool{}
	for i := range all {
		key := all[i][round]
		if matched[i] || key == "" {
			continue
		}
		if _, has := out[key]; has {
			twice[key] = true
		}
		out[key] = i
	}
	for key := range twice {
		delete(out, key)
	}
	return out
}
