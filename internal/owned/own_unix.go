//go:build unix

package owned

import (
	"os"
	"syscall"
)

// own reports whether this user or root owns the file.
func own(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}

// lent reports whether root owns the file and this user is another.
func lent(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0 && os.Geteuid() != 0
}
