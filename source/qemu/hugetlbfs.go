package qemu

import (
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
	"homenode/numa/pattern"
)

// pageSize matches the size of pages at the end of a word of a path: "hugepages1G", "1048576kB", "huge_2M".
var pageSize = pattern.Of(`(?i)([0-9]+)([kmg])i?b?(?:[^a-z0-9]|$)`)

// pageAt returns the size of the huge pages of a file at a path (mem-path), 0 for ordinary pages. No path says that hugetlbfs is mounted
// there: the usual ones do by their names, before what libvirt puts below them, which has the name of the VM.
func pageAt(path string) numa.Bytes {
	path, _, _ = strings.Cut(path, "/libvirt/qemu")
	parts := strings.Split(path, "/")
	huge := slices.IndexFunc(parts, func(part string) bool { return strings.Contains(strings.ToLower(part), "huge") })
	if huge < 0 {
		return 0
	}
	for _, part := range parts[huge:] {
		found := pageSize.FindStringSubmatch(part)
		if found == nil {
			continue
		}
		n, err := strconv.Atoi(found[1])
		unit := numa.Bytes(1) << (10 * (1 + strings.Index("kmg", strings.ToLower(found[2]))))
		if size := numa.Bytes(n) * unit; err == nil && n < 1<<24 && (&numa.Pool{Size: size}).Huge() && size&(size-1) == 0 {
			return size
		}
	}
	return numa.DefaultPage
}
