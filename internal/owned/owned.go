// Package owned checks that a file belongs to this user and that others cannot write it.
package owned

import (
	"errors"
	"fmt"
	"os"
)

// Check returns an error when somebody else may have written an open file: it is not regular, another user owns it, or others may write it. On
// systems without Unix owners it only checks that the file is regular.
func Check(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	if os.PathSeparator != '/' {
		return nil
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("others may write it (mode %04o), so it is not trusted: look at it, then chmod 600 it", mode)
	}
	if !own(info) {
		return errors.New("another user owns it, so it is not trusted")
	}
	return nil
}

// Secret reports whether others than the owner can read nothing of a file. A file of root that its group may read is one too for a process that is not
// root's: so Kubernetes mounts secrets. True where the system has no owners of the Unix kind.
func Secret(info os.FileInfo) bool {
	mode := info.Mode().Perm()
	return os.PathSeparator != '/' || mode&0o077 == 0 || mode&0o037 == 0 && lent(info)
}
