package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	within "example.org/homenode/internal/bounded"
	"example.org/homenode/internal/words"
)

// file visits the contents of f; name is its path.
func (w *walker) file(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, len(zipMagic))
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if magic := string(head[:n]); magic == zipMagic || magic == zipEmpty {
		return w.zip(name, f, info.Size(), 0)
	}
	return w.stream(name, info.Size(), bufio.NewReaderSize(f, buffer), 0)
}

// folder visits the files below path. os.Root confines the walk to it: no target of a symbolic link
// outside is opened.
func (w *walker) folder(path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	parts := &parts{w: w}
	err = fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		full := filepath.ToSlash(filepath.Join(path, filepath.FromSlash(rel)))
		if err != nil {
			return w.damaged(full, err)
		}
		if err := w.enter(path); err != nil {
			return err
		}
		if !d.Type().IsRegular() || !w.opens(full) {
			return nil
		}
		return w.damaged(full, w.fileIn(root, rel, full, parts))
	})
	return errors.Join(err, parts.close(err), root.Close())
}

// opens reports, before it is opened, whether a file of this name can be useful.
func (w *walker) opens(full string) bool {
	base, _, ok := part(full)
	return IsArchive(full) || w.wants(full) || ok && w.wants(base)
}

func (w *walker) fileIn(root *os.Root, rel, full string, parts *parts) error {
	f, err := root.Open(rel)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // replaced since it was listed
		return nil
	}
	return w.inner(full, info.Size(), f, f, -1, parts)
}

// zip visits the members of a zip of size bytes.
func (w *walker) zip(name string, r io.ReaderAt, size int64, depth int) error {
	zr, err := within.Zip(r, size, w.opt.MaxEntries-w.entries)
	if many := (*within.NamesError)(nil); errors.As(err, &many) {
		return w.tooMany(name)
	}
	if err != nil {
		return fmt.Errorf("%s: damaged or cut off: %w", name, err)
	}
	if err := w.more(w.count(name, zr)); err != nil {
		return err
	}
	parts := &parts{w: w}
	err = func() error {
		for _, f := range zr.File {
			if err := w.enter(name); err != nil {
				return err
			}
			rel := Clean(f.Name)
			if !f.Mode().IsRegular() || rel == "" || !w.opens(name+"/"+rel) {
				continue
			}
			full := name + "/" + rel
			if err := w.damaged(full, w.zipMember(full, f, depth, parts)); err != nil {
				return err
			}
		}
		return nil
	}()
	return errors.Join(err, parts.close(err))
}

// count returns how many members of a zip are visited, without those of archives in it and of divided files: its directory tells it before any is read.
func (w *walker) count(name string, zr *zip.Reader) int {
	return words.Count(zr.File, func(f *zip.File) bool {
		full := name + "/" + Clean(f.Name)
		_, _, divided := part(full)
		return f.Mode().IsRegular() && !divided && !IsArchive(full) && w.wants(full)
	})
}

// ErrEncrypted is the error about a member of a zip with a password.
var ErrEncrypted = errors.New("encrypted with a password: extract it first")

func (w *walker) zipMember(full string, f *zip.File, depth int, parts *parts) error {
	if f.Flags&1 != 0 { // general purpose bit 0 (PKWARE APPNOTE 4.4.4)
		return fmt.Errorf("%s: %w", full, ErrEncrypted)
	}
	// No more than the stated size is unpacked: a bomb is refused before its first byte.
	if most := w.opt.RatioFrom; f.UncompressedSize64 > uint64(most) && f.UncompressedSize64/uint64(w.opt.MaxRatio) > f.CompressedSize64 {
		return w.tooPacked(full)
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	in := &counter{n: int64(f.CompressedSize64)}
	return w.inner(full, int64(f.UncompressedSize64), &bounded{w: w, name: full, in: in, r: r}, nil, depth, parts)
}

// innerZip visits a zip inside an archive: its directory is at its end, so it is read into memory,
// within the limit.
func (w *walker) innerZip(full string, size int64, r io.Reader, at io.ReaderAt, depth int) error {
	if at != nil {
		return w.zip(full, at, size, depth)
	}
	b, err := io.ReadAll(io.LimitReader(r, w.spool+1))
	if err != nil {
		return fmt.Errorf("%s: %w", full, err)
	}
	if int64(len(b)) > w.spool {
		return fmt.Errorf("%s: a zip of more than %d bytes inside an archive: unpack the outer one and read the folder", full, w.spool)
	}
	w.spool -= int64(len(b))
	defer func() { w.spool += int64(len(b)) }()
	return w.zip(full, bytes.NewReader(b), int64(len(b)), depth)
}
