package steps

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

const syscallAbout = "getppid, 1,000 times a sample"

// systemCall requests the parent's ID, which the kernel answers immediately.
func systemCall(ctx context.Context, o *Options) ([]float64, error) {
	few := *o
	few.Samples = min(o.Samples, 1000)
	return batch(ctx, &few, 1000, func() error {
		_, _, e := unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
		if e != 0 {
			return e
		}
		return nil
	})
}

func dataSync(ctx context.Context, o *Options) ([]float64, error) {
	return writes(ctx, o, func(f *os.File) error { return unix.Fdatasync(int(f.Fd())) })
}

// memoryFiles are file systems that keep files in memory.
var memoryFiles = map[int64]string{unix.TMPFS_MAGIC: "tmpfs", unix.RAMFS_MAGIC: "ramfs"}

// InMemory returns the kind of file system that keeps the files of dir in memory; "" for another kind.
func InMemory(dir string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", err
	}
	return memoryFiles[int64(s.Type)], nil
}
