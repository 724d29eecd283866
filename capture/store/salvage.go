package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// A Loss is a damaged or missing file.
type Loss struct {
	File    string    `json:"file"` // current or former path
	From    time.Time `json:"from,omitzero"`
	To      time.Time `json:"to,omitzero"`
	Samples int64     `json:"samples"`         // lost samples; -1 if unknown
	Bytes   int64     `json:"bytes,omitempty"` // unreadable bytes
	Missing bool      `json:"missing,omitempty"`
}

// String describes the loss.
func (x Loss) String() string {
	when := ""
	switch {
	case x.From.IsZero() && !x.To.IsZero():
		when = " before " + x.To.Format(time.DateTime)
	case !x.From.IsZero():
		when = fmt.Sprintf(" between %s and %s", x.From.Format(time.DateTime), x.To.Format(time.DateTime))
	}
	switch {
	case x.Missing:
		return fmt.Sprintf("%s is missing; samples%s may be lost", x.File, when)
	case x.Samples == 0:
		return fmt.Sprintf("%s was damaged; no sample is lost", x.File)
	case x.Samples > 0:
		return fmt.Sprintf("%s was damaged; %d samples%s are lost", x.File, x.Samples, when)
	}
	return fmt.Sprintf("%s was damaged; samples%s may be lost: %s could not be read", x.File, when, unread(x.Bytes))
}

func unread(bytes int64) string {
	if bytes == 0 {
		return "some of it"
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// lose records and reports a loss.
func (s *Store) lose(x Loss) {
	s.losses = append(s.losses, x)
	if s.o.Lost != nil {
		s.o.Lost(x)
	}
}

// asideIn is the folder for damaged files.
const asideIn = "damaged"

// markSize is the length of every mark.
const markSize = int64(len(pageMark))

// aside sets a damaged file aside and records the loss.
func (s *Store) aside(x Loss) error {
	to, err := SetAside(x.File)
	if err != nil {
		return err
	}
	x.File = to
	s.lose(x)
	return nil
}

// SetAside moves a damaged file into a subfolder beside it, and returns its new path. It overwrites nothing there.
func SetAside(path string) (to string, err error) {
	dir := filepath.Join(filepath.Dir(path), asideIn)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	base := filepath.Base(path)
	to = filepath.Join(dir, base)
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
			break
		}
		to = filepath.Join(dir, fmt.Sprintf("%s.%d", base, n))
	}
	return to, os.Rename(path, to)
}

// Misplaced reports whether the path of a file is something else: a folder, a pipe, a broken link.
func Misplaced(path string) bool {
	info, err := os.Stat(path)
	_, none := os.Lstat(path)
	return none == nil && (err != nil || !info.Mode().IsRegular())
}

// unread sets aside a file that is completely unreadable.
func (s *Store) unread(path string) error {
	x := Loss{File: path, Samples: -1}
	x.From, x.To, _ = timesOf(path)
	return s.aside(x)
}

// clear sets aside misplaced entries of the folder, and records the losses.
func (s *Store) clear(names ...string) error {
	for _, name := range names {
		if ext := filepath.Ext(name); name != lockName && name != listName && ext != blockEnd && ext != journalEnd && ext != tmpEnd {
			continue
		}
		if path := filepath.Join(s.dir, name); Misplaced(path) {
			if err := s.unread(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// timesOf returns the times in the name of a block; false without them.
func timesOf(name string) (from, to time.Time, ok bool) {
	var a, b int64
	if _, err := fmt.Sscanf(filepath.Base(name), blockForm, &a, &b); err != nil {
		return from, to, false
	}
	return time.UnixMilli(a).UTC(), time.UnixMilli(b).UTC(), a < b
}

// loadBlocks opens and checks the blocks, and saves the intact parts of damaged ones.
func (s *Store) loadBlocks() error {
	unfinished, err := filepath.Glob(filepath.Join(quoteGlob(s.dir), "*"+tmpEnd))
	if err != nil {
		return err
	}
	for _, path := range unfinished {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	paths, err := filepath.Glob(filepath.Join(quoteGlob(s.dir), "*"+blockEnd))
	if err != nil {
		return err
	}
	for i, path := range paths {
		b, err := openBlock(path, s.zip)
		if err == nil {
			if err = s.check(b); err == nil {
				s.blocks = append(s.blocks, b)
				continue
			}
			err = errors.Join(err, b.file.Close())
		}
		if errors.Is(err, syscall.EIO) || errors.Is(err, errOther) {
			if err := s.unread(path); err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, errDamaged) {
			return err
		}
		if err := s.salvage(path, b, i == len(paths)-1); err != nil {
			return err
		}
	}
	slices.SortFunc(s.blocks, func(a, b *block) int { return cmp.Compare(a.from, b.from) })
	return s.removeMerged()
}

// removeMerged removes blocks whose merged replacement was written just before the process ended.
func (s *Store) removeMerged() (err error) {
	s.blocks = slices.DeleteFunc(s.blocks, func(b *block) bool {
		for _, x := range s.blocks {
			if x != b && x.from <= b.from && b.to <= x.to {
				err = errors.Join(err, s.retire(b))
				return true
			}
		}
		return false
	})
	return err
}

// check reads a block completely.
func (s *Store) check(b *block) error {
	found := scanned{}
	scan(b.file, b.size, s.zip, &found, func(*entry) {})
	if found.lost > 0 || found.samples != b.samples {
		return fmt.Errorf("%w: %d of %d samples are whole", errDamaged, found.samples, b.samples)
	}
	return nil
}

// salvage rewrites the intact parts of a block and sets the damaged one aside. b is nil if its index is damaged. If nothing in the newest block
// is intact, journals may still have some of it.
func (s *Store) salvage(path string, b *block, newest bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w, err := s.create()
	if err != nil {
		return err
	}
	found := scanned{}
	scan(f, info.Size(), s.zip, &found, func(e *entry) { w.add(e.labels, e.chunks) })
	x := Loss{File: path, Bytes: found.lost}
	timed := false
	switch x.From, x.To, timed = timesOf(path); {
	case !timed: // its time range is unknown
		x.Samples = -1
		return errors.Join(w.abandon(), s.aside(x))
	case newest && found.samples == 0:
		x.Samples = -1
	case b != nil:
		x.Samples = b.samples - found.samples
	case found.lost > 0 || !found.index:
		x.Samples = -1
	}
	if err := f.Close(); err != nil {
		return errors.Join(err, w.abandon())
	}
	if err := s.aside(x); err != nil {
		return errors.Join(err, w.abandon())
	}
	saved, err := w.finish(s.dir, x.To.UnixMilli())
	if err == nil && saved != nil {
		s.blocks = append(s.blocks, saved)
	}
	return err
}

// scanned is the result of a scan.
type scanned struct {
	samples int64 // intact samples
	lost    int64 // bytes outside intact parts
	index   bool  // it reached the index
}

// scan reads a block from its beginning, page by page, and calls f with every intact series. After a damaged or unreadable part it searches for
// the next page.
func scan(file *os.File, size int64, zip *packer, found *scanned, f func(*entry)) {
	if !begins(file, blockHead) {
		found.lost++ // also if no page is missing
	}
	at := int64(len(blockHead))
	for at < size {
		entries, next, err := readPage(file, at, size, zip)
		if err != nil {
			mark, there := nextMark(file, at, size, pageMark, indexMark)
			if there == at && mark == indexMark && endsWith(file, at, size) {
				found.index = true
				return
			}
			if there == at { // the part at this mark is damaged
				_, there = nextMark(file, at+1, size, pageMark, indexMark)
			}
			found.lost += there - at
			at = there
			continue
		}
		for i := range entries {
			if err := entries[i].load(file); err != nil {
				for _, n := range entries[i].sizes {
					found.lost += int64(n)
				}
				continue
			}
			for k := range entries[i].chunks {
				found.samples += entries[i].chunks[k].samples()
			}
			f(&entries[i])
		}
		at = next
	}
}

// endsWith reports whether the index that begins at an offset is the end of a block.
func endsWith(file *os.File, at, size int64) bool {
	var frame [frameSize]byte
	_, err := file.ReadAt(frame[:], at)
	return err == nil && at+frameSize+int64(binary.LittleEndian.Uint32(frame[4:]))+tailSize == size
}

// nextMark returns the next of several marks and its offset, or the end of the file without one. Unreadable parts have no marks.
func nextMark(file io.ReaderAt, at, size int64, marks ...string) (mark string, there int64) {
	const window = 1 << 20
	buf := make([]byte, window)
	for ; at < size; at += window - markSize + 1 {
		n, _ := file.ReadAt(buf[:min(window, size-at)], at)
		first := n
		for _, m := range marks {
			if i := bytes.Index(buf[:n], []byte(m)); i >= 0 && i < first {
				mark, first = m, i
			}
		}
		if mark != "" {
			return mark, at + int64(first)
		}
	}
	return "", size
}
