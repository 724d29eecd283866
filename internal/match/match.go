// Package match pairs what is in two lists although names and IDs may have changed between them.
package match

// Pairs pairs objects by their keys, each a list of keys with the surest first: "" is
// unknown, and every object has as many. A key counts where one object of either side that is
// not yet paired has it. refuse, which may be nil, takes a pair back. The pairs hold indexes of
// a and b, those of surer keys first.
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

// unique returns the index of each key that one of the unmatched objects alone has.
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
