// Package archive walks the files of an argument: one file, a folder, a .tar, .tgz, .zip, .gz or
// .zst, or a vm-support bundle, whose big files are divided into parts (name.FRAG-00000, -00001,
// …). Everything is streamed: nothing is unpacked to disk, and unwanted members are not copied.
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

	within "example.org/homenode/internal/bounded"
	"example.org/homenode/internal/words"
)

// Options select the members for Walk and set its limits. The zero value reads everything within
// the default limits.
type Options struct {
	// Want selects the members to visit, by the name that Visit gets. nil means all. It is not
	// called for a file that is itself the path of Walk.
	Want func(name string) bool
	// Damaged is called for an unreadable member; Walk continues after it. nil means that the first one ends Walk.
	Damaged func(name string, err error)

	// Stop is asked at each member; its error ends Walk. nil means never.
	Stop func() error

	MaxEntries int   // members of all archives together; 0 means 1,000,000
	MaxVisits  int   // members that are visited; 0 means 20,000, of which readers keep what they say
	MaxBytes   int64 // unpacked bytes of all archives together; 0 means 256 GiB
	// MaxRatio is the largest ratio of unpacked to packed size of an archive, checked beyond 256
	// MiB; 0 means 250. Logs have 10 to 40; a zip bomb more.
	MaxRatio int64
	// Spool is the memory for parts that arrive out of order and for a zip inside an archive; 0 means 32 MiB.
	Spool int64
	// RatioFrom is the number of unpacked bytes from which MaxRatio is checked; 0 means 256 MiB. Who keeps members in memory takes less.
	RatioFrom int64
}

// A Visit reads one member. name is the path of the walk, a slash and the name in it; size is in
// bytes, -1 when it is unknown before the end; r need not be read to its end. A member compressed
// with gzip or zstd alone is unpacked: Plain returns the name without that extension. Visits are
// never parallel, but one that reads a divided file is suspended while the members between its parts are visited.
type Visit func(name string, size int64, r io.Reader) error

// Walk calls visit for the members at path. Archives in an archive are opened one level deep;
// deeper ones are ignored, and so are symbolic links. An error of visit ends Walk and is returned
// unchanged. When an archive is truncated, the error names the member where it ended; the members
// before it were visited.
func Walk(path string, opt Options, visit Visit) error {
	return visited(opt, visit, func(w *walker) error { return w.walk(path) })
}

// WalkFile is Walk for the contents of an open file; name replaces its path in messages and member names.
func WalkFile(f *os.File, name string, opt Options, visit Visit) error {
	return visited(opt, visit, func(w *walker) error { return w.file(f, name) })
}

func visited(opt Options, visit Visit, all func(*walker) error) error {
	opt.bound()
	w := &walker{opt: opt, visit: visit, spool: opt.Spool}
	err := all(w)
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
	f, err := within.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(w.file(f, path), f.Close())
}

// bound sets the default limits.
func (opt *Options) bound() {
	setDefault(&opt.MaxEntries, 1_000_000)
	setDefault(&opt.MaxVisits, 20_000)
	setDefault(&opt.MaxBytes, 256<<30)
	setDefault(&opt.MaxRatio, 250)
	setDefault(&opt.RatioFrom, ratioFrom)
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

// ErrMany means that a folder or archive has more files than are read: then none of them is.
var ErrMany = errors.New("name the files that are meant")

// maxName bounds the names of members in messages, in bytes.
const maxName = 1024

// Clean returns the name of a member without parts that could mislead a reader of messages or lead
// out of a folder: no .., no leading slash, no backslashes, no control characters, at most 1024 bytes.
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

// An errBound is a limit of Options that was reached: it ends Walk, even with Damaged.
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
	visits  int
	bytes   int64 // unpacked
	spool   int64 // remaining
}

// final reports whether err ends Walk.
func final(err error) bool {
	var bound *errBound
	var visited *errVisit
	return errors.As(err, &bound) || errors.As(err, &visited)
}

// damaged passes the error of a member to the caller.
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
	if w.opt.Stop != nil {
		if err := w.opt.Stop(); err != nil {
			return &errVisit{err}
		}
	}
	return nil
}

func (w *walker) tooMany(archive string) error {
	return &errBound{fmt.Sprintf("%s: more than %d members: not read further", archive, w.opt.MaxEntries)}
}

// member passes one member to the caller; its error is the caller's.
func (w *walker) member(name string, size int64, r io.Reader) error {
	w.visits++
	if err := w.more(0); err != nil {
		return err
	}
	if err := w.visit(name, size, r); err != nil {
		return &errVisit{err}
	}
	return nil
}

// more returns an error where so many further visits are too many.
func (w *walker) more(visits int) error {
	if w.visits+visits > w.opt.MaxVisits {
		return &errVisit{fmt.Errorf("found more than %s to read: %w", words.Plural(w.opt.MaxVisits, "file"), ErrMany)}
	}
	return nil
}
