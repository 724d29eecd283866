package fetchstats

import "bytes"

// Trim appends an answer to dst without the rows that are not read: the list of objects, interrupts,
// disks, and of vCPUs the worlds that are none. A Series makes the same tick of it.
func Trim(dst, answer []byte) []byte {
	keep, counters := true, false
	for line := range bytes.Lines(answer) {
		switch {
		case bytes.HasPrefix(line, []byte("==")):
			keep, counters = true, bytes.HasPrefix(line, []byte(values))
		case !counters:
			keep = bytes.HasPrefix(line, []byte("|Server|")) // a reader knows an answer by a row
		case line[0] == '|':
			name, rest, _ := bytes.Cut(line[1:], []byte("|"))
			keep = used[string(name)] != "" && (string(name) != "VCPU" || bytes.Contains(rest, []byte("|vmx-vcpu")))
		}
		if keep {
			dst = append(dst, line...)
		}
	}
	return dst
}
