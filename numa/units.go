package numa

import "fmt"

// Bytes is an amount of memory. Inside the program memory is always in bytes;
// MB and GB appear only in sources and reports.
type Bytes int64

// Binary sizes. ESXi tools and the vSphere Client write MB and GB for these.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
)

// PageSize is the page size in which ESXi counts memory.
const PageSize = 4 * KiB

// Whole rounds down to a size that people write and vSphere takes: whole GB, below one a multiple of 4 MB.
func (b Bytes) Whole() Bytes {
	unit := GiB
	if b < unit {
		unit = 4 * MiB
	}
	return b / unit * unit
}

// String formats b as the vSphere Client does: binary units, written MB, GB and TB, with one decimal if the
// amount is not whole.
func (b Bytes) String() string {
	abs := b
	if abs < 0 {
		abs = -abs
	}
	for _, u := range []struct {
		size Bytes
		name string
	}{{TiB, "TB"}, {GiB, "GB"}, {MiB, "MB"}, {KiB, "KB"}} {
		// An administrator writes 1536 GB and 131072 MB, but 2 TB: use a larger unit only if the value is
		// exact.
		if abs >= u.size && (b%u.size == 0 || u.size != TiB) {
			if b%u.size == 0 {
				return fmt.Sprintf("%d %s", b/u.size, u.name)
			}
			return fmt.Sprintf("%.1f %s", float64(b)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d B", int64(b))
}
