package qemu

import (
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// pageSize matches the page size at the end of a path component: "hugepages1G", "1048576kB", "huge_2M".
var pageSize = pattern.Of(`(?i)([0-9]+)([kmg])i?b?(?:[^a-z0-9]|$)`)

// pageAt returns the huge page size of a file at a path (mem-path), 0 for ordinary pages. A path does not prove that hugetlbfs is
// mounted there: the usual mount points are recognised by their names, before the part that libvirt appends, which contains the name of
// the VM.
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
