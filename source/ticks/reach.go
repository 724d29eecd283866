package ticks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/source/archive"
)

// A reach is the set of readable files: all of this machine, or those of a file system in which untrusted users may choose.
type reach struct{ fs fs.FS }

func (in reach) stat(p string) (fs.FileInfo, error) {
	if in.fs == nil {
		return os.Stat(p)
	}
	return fs.Stat(in.fs, p)
}

func (in reach) open(p string) (io.ReadCloser, error) {
	if in.fs == nil {
		return os.Open(p)
	}
	return in.fs.Open(p)
}

func (in reach) walk(root string, visit fs.WalkDirFunc) error {
	if in.fs == nil {
		return filepath.WalkDir(root, visit)
	}
	return fs.WalkDir(in.fs, root, visit)
}

// archive visits the members of an archive.
func (in reach) archive(name string, o archive.Options, visit archive.Visit) error {
	if in.fs == nil {
		return archive.Walk(name, o, visit)
	}
	f, err := in.fs.Open(name)
	if err != nil {
		return err
	}
	file, ok := f.(*os.File)
	if !ok {
		return errors.Join(fmt.Errorf("%s: found no file of this machine", name), f.Close())
	}
	return errors.Join(archive.WalkFile(file, name, o, visit), f.Close())
}

// bounds returns the limits for compressed input: files named by the user may unpack to any size, as they are not stored.
func (in reach) bounds() archive.Options {
	if in.fs == nil {
		return unbounded
	}
	return archive.Options{MaxEntries: bounded.MostNames, MaxVisits: bounded.MostNames}
}

// part returns a file as a part of a Source.
func (in reach) part(p string) part {
	s := stampOf(p)
	if info, err := in.stat(p); err == nil {
		s.written = info.ModTime().UTC()
	}
	return part{p, s, func() (io.ReadCloser, error) { return in.open(p) }}
}
