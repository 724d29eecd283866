package qemu

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// writeInitrd writes the guest's initial file system: the program for process 1, the program that it runs, and
// further files.
func (g Guest) writeInitrd(name, pid1 string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := &archive{w: bufio.NewWriter(f), dirs: map[string]bool{".": true}}
	w.copy("pid1", pid1)
	w.copy("program", g.Run[0])
	w.file("args", []byte(strings.Join(g.Run[1:], "\x00")))
	w.file("env", []byte(strings.Join(g.Env, "\x00")))
	for _, name := range slices.Sorted(maps.Keys(g.Files)) {
		w.copy(strings.TrimPrefix(path.Clean(name), "/"), g.Files[name])
	}
	w.entry("TRAILER!!!", 0, 0)
	if w.err == nil {
		w.err = w.w.Flush()
	}
	if err := f.Close(); w.err == nil {
		w.err = err
	}
	return w.err
}

// An archive is a cpio archive in the kernel's "newc" format. It keeps the first error.
type archive struct {
	w     *bufio.Writer
	dirs  map[string]bool // existing folders
	inode int
	err   error
}

const (
	dirMode  = 0o040755
	fileMode = 0o100755 // all are executable
	align    = 4
)

// entry writes the header of a file or folder; the content follows.
func (a *archive) entry(name string, mode, size int) {
	if a.err != nil {
		return
	}
	a.inode++
	// magic, inode, mode, user, group, links, time, size, device, device of a special file, length of the name, sum
	head := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, len(name)+1, 0, name)
	_, a.err = a.w.WriteString(head)
	a.pad(len(head))
}

func (a *archive) pad(written int) {
	if a.err == nil {
		_, a.err = a.w.Write(make([]byte, (align-written%align)%align))
	}
}

// parents adds the parent folders of a file.
func (a *archive) parents(name string) {
	if dir := path.Dir(name); !a.dirs[dir] {
		a.parents(dir)
		a.dirs[dir] = true
		a.entry(dir, dirMode, 0)
	}
}

func (a *archive) file(name string, content []byte) {
	a.parents(name)
	a.entry(name, fileMode, len(content))
	if a.err == nil {
		_, a.err = a.w.Write(content)
	}
	a.pad(len(content))
}

// copy adds a file of this machine.
func (a *archive) copy(name, from string) {
	if a.err != nil {
		return
	}
	f, err := os.Open(from)
	if err != nil {
		a.err = err
		return
	}
	defer f.Close()
	var info fs.FileInfo
	if info, a.err = f.Stat(); a.err != nil {
		return
	}
	a.parents(name)
	a.entry(name, fileMode, int(info.Size()))
	if a.err == nil {
		_, a.err = io.CopyN(a.w, f, info.Size())
	}
	a.pad(int(info.Size()))
}
