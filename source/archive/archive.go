// Package archive walks over the files that an administrator hands in: one file, a
// folder, a .tar, .tgz, .zip, .gz or .zst, or a vm-support bundle, whose big files
// are divided into parts (name.FRAG-00000, -00001, …). Everything is streamed:
// nothing is unpacked to disk, and members that are not wanted are not copied.
package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Options say what Walk reads and where it stops. The zero value reads all within
// the default bounds.
type Options struct {
	// Want says which members are visited, by the name that Visit gets. nil means
	// all. A file that is itself the path of Walk is not asked for.
	Want func(name string) bool
	// Damaged is told of a member that cannot be read; Walk goes on behind it. nil
	// means that the first one ends Walk.
	Damaged func(name string, err error)

	MaxEntries int   // members of all archives together; 0 means 1,000,000
	MaxBytes   int64 // unpacked bytes of all archives together; 0 means 256 GiB
	// MaxRatio is how many times its packed size an archive unpacks to, judged
	// beyond 256 MiB; 0 means 250. Logs pack 10 to 40 times; a zip bomb more.
	MaxRatio int64
	// Spool is the memory for parts that come out of order and for a zip inside an
	// archive; 0 means 32 MiB.
	Spool int64
}

// A Visit reads one member. name is the path that was walked, a slash and the name
// in it; size is in bytes, -1 when it is not known before the end; r need not be
// read to its end. What is packed with gzip or zstd alone is unpacked: Plain tells
// the name without that ending. Visits are never parallel, but one that reads a
// divided file stands still while the members between its parts are visited.
type Visit func(name string, size int64, r io.Reader) error

// Walk calls visit for the members of what lies at path. Archives in an archive
// are opened one level deep; deeper ones are left alone, and so are symbolic
// links. An error of visit ends Walk and is returned as it is. When an archive is
// cut off, the error names the member where it ended; what was visited before stays.
func Walk(path string, opt Options, visit Visit) error {
	return visited(opt, visit, func(w *walker) error { return w.walk(path) })
}

// WalkFile is Walk for what an open file holds, which name is the path of in messages and members.
func WalkFile(f *os.File, name string, opt Options, visit Visit) error {
	return visited(opt, visit, func(w *walker) error { return w.file(f, name) })
}

func visited(opt Options, visit Visit, all func(*walker) error) error {
	opt.bound()
	err := all(&walker{opt: opt, visit: visit, spool: opt.Spool})
	var of *errVisit
	if errors.As(err, &of) {
		return of.err
	}
	return err
}

func (w *walker) walk(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return w.folder(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(w.file(f, path), f.Close())
}

// bound sets the bounds that are not given.
func (opt *Options) bound() {
	setDefault(&opt.MaxEntries, 1_000_000)
	setDefault(&opt.MaxBytes, 256<<30)
	setDefault(&opt.MaxRatio, 250)
	setDefault(&opt.Spool, 32<<20)
}

func setDefault[T int | int64](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

// Plain returns the name without .gz or .zst.
func Plain(name string) string {
	for _, ext := range []string{".gz", ".zst"} {
		if len(name) > len(ext) && strings.EqualFold(name[len(name)-len(ext):], ext) {
			return name[:len(name)-len(ext)]
		}
	}
	return name
}

// IsArchive reports whether a file of this name is opened as an archive.
func IsArchive(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc([]string{".tgz", ".tar", ".tar.gz", ".zip", ".tar.zst", ".tzst"}, func(ext string) bool { return strings.HasSuffix(lower, ext) })
}

// maxName bounds the names of members in messages, in bytes.
const maxName = 1024

// Clean returns the name of a member without what could mislead a reader of
// messages or lead out of a folder: no .., no leading slash, no backslashes, no
// control characters, at most 1024 bytes.
func Clean(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Cf, r):
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	return name
}

// errBound is a bound of Options that was reached: it ends Walk, even with Damaged.
type errBound struct{ msg string }

func (e *errBound) Error() string { return e.msg }

// errVisit carries an error of visit to the end of Walk.
type errVisit struct{ err error }

func (e *errVisit) Error() string { return e.err.Error() }
func (e *errVisit) Unwrap() error { return e.err }

// A walker holds the state of one Walk.
type walker struct {
	opt     Options
	visit   Visit
	entries int
	bytes   int64 // unpacked
	spool   int64 // that is left
}

// final reports whether err ends Walk.
func final(err error) bool {
	var bound *errBound
	var visited *errVisit
	return errors.As(err, &bound) || errors.As(err, &visited)
}

// damaged hands err of a member to the caller.
func (w *walker) damaged(name string, err error) error {
	if err == nil || w.opt.Damaged == nil || final(err) {
		return err
	}
	w.opt.Damaged(name, err)
	return nil
}

func (w *walker) wants(name string) bool { return w.opt.Want == nil || w.opt.Want(name) }

// enter counts a member.
func (w *walker) enter(archive string) error {
	if w.entries++; w.entries > w.opt.MaxEntries {
		return w.tooMany(archive)
	}
	return nil
}

func (w *walker) tooMany(archive string) error {
	return &errBound{fmt.Sprintf("%s: more than %d members: not read further", archive, w.opt.MaxEntries)}
}

// member hands one member to the caller; its error is the caller's.
func (w *walker) member(name string, size int64, r io.Reader) error {
	if err := w.visit(name, size, r); err != nil {
		return &errVisit{err}
	}
	return nil
}
