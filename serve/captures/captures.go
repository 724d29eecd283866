// Package captures gives pages access to captures: files below a folder set at server start, and uploads. Pages use names only; nothing
// outside is opened, whatever the name or a symbolic link.
package captures

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"example.org/homenode/source/archive"
)

const (
	// UploadLimit is the maximum size of an upload to homenode serve, in bytes.
	UploadLimit = 200 << 20
	// Kept is the lifetime of an upload.
	Kept = 24 * time.Hour
	// mostUploads limits the number of uploads at a time.
	mostUploads = 20
	// mostListed limits the captures of the folder in a list.
	mostListed = 5000
	// mostName limits the length of an upload's name, in bytes.
	mostName = 120
	prefix   = "upload-"
	temps    = "homenode-captures-" // prefix of temporary folders
	taken    = "demo"               // name of the generated capture
)

// ErrTooLarge means that an upload exceeds the limit.
var ErrTooLarge = errors.New("the file is larger than this server takes")

// ErrUnknown means that no capture has the name.
var ErrUnknown = errors.New("no capture is named so")

// An Entry is a capture: a file, or a folder with files.
type Entry struct {
	Name     string // name for requests
	Size     int64  // in bytes; for a folder the sum of its files
	Written  time.Time
	Files    int       // number of files in a folder; 0 for a file
	Uploaded bool      // false for captures of the folder
	Until    time.Time // expiry of an upload
}

// A Shelf manages captures. It is safe for concurrent use.
type Shelf struct {
	limit int64
	dir   *os.Root // nil for none

	mu      sync.Mutex
	temp    *os.Root // folder of uploads; nil before the first
	uploads []*upload
	coming  int           // uploads in progress
	old     []*time.Timer // timers that remove uploads of earlier servers
	closed  bool
}

// An upload is a file in its own folder.
type upload struct {
	Entry
	folder string
	end    *time.Timer
}

// Open returns the captures below dir, empty for none, and accepts uploads of at most limit bytes, 0 for none.
func Open(dir string, limit int64) (*Shelf, error) {
	s := &Shelf{limit: limit}
	if limit > 0 {
		s.sweep()
	}
	if dir == "" {
		return s, nil
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() { // opening a pipe would wait
		return nil, fmt.Errorf("%s: it is no folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s.dir = root
	return s, nil
}

// sweep removes the uploads of killed servers, a day after the last upload of each.
func (s *Shelf) sweep() {
	of := os.TempDir()
	all, _ := os.ReadDir(of) // unreadable folders are not removed
	for _, d := range all {
		info, err := d.Info()
		if err != nil || !d.IsDir() || !strings.HasPrefix(d.Name(), temps) {
			continue
		}
		folder := filepath.Join(of, d.Name())
		if left := time.Until(info.ModTime().Add(Kept)); left > 0 {
			s.old = append(s.old, time.AfterFunc(left, func() {
				if now, err := os.Lstat(folder); err == nil && now.ModTime().Equal(info.ModTime()) { // else its server is running
					_ = os.RemoveAll(folder)
				}
			}))
			continue
		}
		_ = os.RemoveAll(folder)
	}
}

// Limit returns the maximum size of an upload in bytes; 0 if uploads are not accepted.
func (s *Shelf) Limit() int64 { return s.limit }

// Close removes the uploads.
func (s *Shelf) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var errs []error
	for _, u := range s.uploads {
		u.end.Stop()
	}
	for _, one := range s.old {
		one.Stop()
	}
	s.uploads = nil
	if s.temp != nil {
		errs = append(errs, os.RemoveAll(s.temp.Name()), s.temp.Close())
		s.temp = nil
	}
	if s.dir != nil {
		errs = append(errs, s.dir.Close())
	}
	return errors.Join(errs...)
}

// List returns the captures: uploads first, newest first, then the files of the folder and the subfolders with several files, by name.
// left is the number of omitted files: links that lead out of the folder, or files beyond the limit.
func (s *Shelf) List() (all []Entry, left int, err error) {
	s.mu.Lock()
	for _, u := range slices.Backward(s.uploads) {
		all = append(all, u.Entry)
	}
	s.mu.Unlock()
	if s.dir == nil {
		return all, 0, nil
	}
	var of []Entry
	folders := map[string]*Entry{}
	err = fs.WalkDir(s.dir.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return errors.New("the folder of captures cannot be read")
		case left+len(of) >= 4*mostListed:
			return fs.SkipAll
		case err != nil || !utf8.ValidString(name):
			left++
			return nil
		case name != "." && hidden(name):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		info, err := s.dir.Stat(name) // follows links that stay inside
		if err != nil || !info.Mode().IsRegular() || len(of) >= mostListed {
			left++
			return nil
		}
		of = append(of, Entry{Name: name, Size: info.Size(), Written: info.ModTime()})
		if d.Type().IsRegular() {
			f := folders[path.Dir(name)]
			if f == nil {
				f = &Entry{Name: path.Dir(name)}
				folders[f.Name] = f
			}
			f.Files++
			f.Size += info.Size()
			if info.ModTime().After(f.Written) {
				f.Written = info.ModTime()
			}
		}
		return nil
	})
	for _, f := range folders {
		if f.Files > 1 {
			of = append(of, *f)
		}
	}
	slices.SortFunc(of, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return append(all, of...), left, err
}

// hidden reports whether a file of the folder is neither listed nor opened: its name is ambiguous, or it or a parent folder begins with
// a dot.
func hidden(name string) bool {
	return name[0] == '.' && name != "." || strings.Contains(name, "/.") || name[0] == '-' || name == taken
}

// Take stores an upload under this name for a day. An upload that is too large or incomplete leaves nothing behind.
func (s *Shelf) Take(name string, r io.Reader) (*Entry, error) {
	temp, err := s.reserve()
	if err != nil {
		return nil, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	u := &upload{folder: prefix + hex.EncodeToString(random[:])}
	u.Name = u.folder + "/" + named(name)
	err = s.write(temp, u, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.coming--
	if s.closed {
		return nil, errors.New("the server ends")
	}
	if err != nil {
		return nil, errors.Join(err, temp.RemoveAll(u.folder))
	}
	u.Uploaded, u.Written, u.Until = true, time.Now(), time.Now().Add(Kept)
	u.end = time.AfterFunc(Kept, func() { _ = s.Remove(u.Name) })
	s.uploads = append(s.uploads, u)
	return &u.Entry, nil
}

// reserve reserves a slot for an upload, and returns its folder.
func (s *Shelf) reserve() (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.limit <= 0 || s.closed:
		return nil, errors.New("this server takes no uploads")
	case len(s.uploads)+s.coming >= mostUploads:
		return nil, fmt.Errorf("%d uploads are kept here: remove one first", mostUploads)
	}
	if s.temp != nil && len(s.uploads)+s.coming == 0 {
		if _, err := os.Stat(s.temp.Name()); err != nil { // another server removed it as abandoned
			_ = s.temp.Close()
			s.temp = nil
		}
	}
	if s.temp == nil {
		dir, err := os.MkdirTemp("", temps) // mode 0700
		if err == nil {
			s.temp, err = os.OpenRoot(dir)
		}
		if err != nil {
			return nil, bare(err)
		}
	}
	s.coming++
	return s.temp, nil
}

// write writes the content of an upload.
func (s *Shelf) write(temp *os.Root, u *upload, r io.Reader) error {
	if err := temp.Mkdir(u.folder, 0o700); err != nil {
		return bare(err)
	}
	f, err := temp.OpenFile(u.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return bare(err)
	}
	n, err := io.Copy(f, io.LimitReader(r, s.limit+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("the upload did not come to its end: %w", bare(err))
	}
	if n > s.limit {
		return ErrTooLarge
	}
	u.Size = n
	return nil
}

// bare returns an error without paths of this machine.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// named returns a safe file name for a name from a client.
func named(name string) string {
	name = path.Base(archive.Clean(filepath.ToSlash(name)))
	if len(name) > mostName { // the end shows the format
		name = strings.ToValidUTF8(name[len(name)-mostName:], "")
	}
	if name = strings.TrimLeft(name, "."); name == "/" || name == "" { // files whose names begin with a dot are not opened
		return "capture"
	}
	return name
}

// Remove removes an upload.
func (s *Shelf) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.uploads, func(u *upload) bool { return u.Name == name })
	if i < 0 {
		return ErrUnknown
	}
	u := s.uploads[i]
	u.end.Stop()
	s.uploads = slices.Delete(s.uploads, i, i+1)
	return s.temp.RemoveAll(u.folder)
}

// Only returns a file system with these names and the files below them, for one request. Each name must exist.
func (s *Shelf) Only(names ...string) (fs.FS, error) {
	o := only{s, names}
	for _, name := range names {
		if _, err := o.Stat(name); err != nil {
			return nil, fmt.Errorf("%q: %w", name, ErrUnknown)
		}
	}
	return o, nil
}

// root returns the root that contains a name.
func (s *Shelf) root(name string) (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.uploads, func(u *upload) bool { return u.Name == name }) {
		return s.temp, nil
	}
	if s.dir == nil || s.closed {
		return nil, fs.ErrNotExist
	}
	return s.dir, nil
}

// only is the file system of one request.
type only struct {
	s     *Shelf
	names []string
}

func (o only) at(op, name string) (*os.Root, error) {
	allowed := fs.ValidPath(name) && !hidden(name) && slices.ContainsFunc(o.names, func(n string) bool { return name == n || n == "." || strings.HasPrefix(name, n+"/") })
	if !allowed {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	root, err := o.s.root(name)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return root, nil
}

// Stat describes a file or folder.
func (o only) Stat(name string) (fs.FileInfo, error) {
	root, err := o.at("stat", name)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(name)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	return info, err
}

// Open opens a file or folder. Anything else, such as a pipe, could block.
func (o only) Open(name string) (fs.File, error) {
	if _, err := o.Stat(name); err != nil {
		return nil, err
	}
	root, err := o.at("open", name)
	if err != nil {
		return nil, err
	}
	return root.Open(name)
}
