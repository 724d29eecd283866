// Package shelf has the captures that the pages of a server may open: files of a folder that was allowed, and files that somebody sent,
// which are kept in a private folder for a day.
package shelf

import (
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

	"homenode/internal/texttab"
	"homenode/numa"
)

// Of what a shelf holds.
const (
	mostListed = 2000           // files of the folder that are listed
	deepest    = 4              // folders below the allowed one
	mostSent   = 20             // files that were sent: the oldest goes
	sentFor    = 24 * time.Hour // how long one is kept
	longest    = 120            // bytes of the name of a sent file
)

// sent begins the names of files that were sent. A name of the folder that begins so is not listed.
const sent = "sent:"

// A File can be opened by its name.
type File struct {
	Name string // of the folder with slashes; of what was sent "sent:" before it
	Size int64  // bytes
	Time time.Time
}

// A Shelf holds captures. Its methods may be called at the same time.
type Shelf struct {
	limit int64

	mu   sync.Mutex
	dir  string   // the allowed folder; "" for none
	root *os.Root // of dir
	own  string   // the private folder; "" until something is sent
	sent []File   // the oldest first
	now  func() time.Time
}

// New returns a shelf over a folder, "" for none. limit is how many bytes a file may have that is sent; 0 takes none.
func New(dir string, limit int64) (*Shelf, error) {
	s := &Shelf{limit: limit, now: time.Now}
	if dir == "" {
		return s, nil
	}
	var err error
	if s.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	s.dir, err = filepath.Abs(dir)
	return s, err
}

// Close removes what was sent.
func (s *Shelf) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.own != "" {
		err = os.RemoveAll(s.own)
		s.own, s.sent = "", nil
	}
	if s.root != nil {
		err = errors.Join(err, s.root.Close())
		s.root = nil
	}
	return err
}

// Limit returns how many bytes a file may have that is sent; 0 when none is taken.
func (s *Shelf) Limit() numa.Bytes { return numa.Bytes(s.limit) }

// List returns what can be opened: what was sent, the latest first, then the files of the folder by name. cut says that there are more.
func (s *Shelf) List() (files []File, cut bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clean()
	files = slices.Clone(s.sent)
	slices.Reverse(files)
	if s.root == nil {
		return files, false, nil
	}
	n := 0
	err = fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil || d.Type()&fs.ModeSymlink != 0:
			return nil // what cannot be read, and what leads elsewhere
		case d.IsDir():
			if strings.Count(name, "/") >= deepest || name != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") || !plain(name):
			return nil
		}
		if n++; n > mostListed {
			cut = true
			return fs.SkipAll
		}
		info, err := d.Info()
		if err == nil {
			files = append(files, File{name, info.Size(), info.ModTime()})
		}
		return nil
	})
	return files, cut, err
}

// plain reports whether a name of the folder shows as it is, and is no name of what was sent.
func plain(name string) bool { return texttab.Line(name) == name && !strings.HasPrefix(name, sent) }

// ErrUnknown is the error for a name that nothing on the shelf has.
var ErrUnknown = errors.New("no capture has this name")

// Path returns where the file of a name lies. The folder has no way out: neither "..", an absolute path nor a symbolic link leads to it.
func (s *Shelf) Path(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clean()
	if strings.HasPrefix(name, sent) {
		if !slices.ContainsFunc(s.sent, func(f File) bool { return f.Name == name }) {
			return "", ErrUnknown
		}
		return filepath.Join(s.own, strings.TrimPrefix(name, sent)), nil
	}
	if s.root == nil || name == "." || !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) || !plain(name) {
		return "", ErrUnknown
	}
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := s.root.Lstat(filepath.FromSlash(name[:i]))
		switch {
		case err != nil:
			return "", ErrUnknown
		case i == len(name) && !info.Mode().IsRegular(), i < len(name) && !info.IsDir():
			return "", fmt.Errorf("the capture %s is no file: symbolic links and folders are not opened", name[:i])
		}
	}
	return filepath.Join(s.dir, filepath.FromSlash(name)), nil
}

// ErrLarge is the error for a file that has more bytes than may be sent.
var ErrLarge = errors.New("the file is larger than may be sent")

// Add keeps a file that is sent under a name of its own, and returns that.
func (s *Shelf) Add(name string, r io.Reader) (string, error) {
	if s.limit <= 0 {
		return "", errors.New("this server takes no files")
	}
	own, err := s.folder()
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(own, "*-"+cleanName(name)) // mode 0600
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, io.LimitReader(r, s.limit+1))
	err = errors.Join(err, f.Close())
	if err == nil && n > s.limit {
		err = ErrLarge
	}
	if err == nil && n == 0 {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == "" { // closed meanwhile, and all removed
		return "", errors.New("the server ends")
	}
	one := File{sent + filepath.Base(f.Name()), n, s.now()}
	s.sent = append(s.sent, one)
	s.clean()
	return one.Name, nil
}

// Remove removes a file that was sent.
func (s *Shelf) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.sent, func(f File) bool { return f.Name == name })
	if i < 0 {
		return ErrUnknown
	}
	s.remove(i)
	return nil
}

// clean removes what is too old or too much.
func (s *Shelf) clean() {
	for len(s.sent) > 0 && (len(s.sent) > mostSent || s.now().Sub(s.sent[0].Time) > sentFor) {
		s.remove(0)
	}
}

func (s *Shelf) remove(i int) {
	_ = os.Remove(filepath.Join(s.own, strings.TrimPrefix(s.sent[i].Name, sent))) // Close removes the folder
	s.sent = slices.Delete(s.sent, i, i+1)
}

// folder returns the private folder, for its owner alone.
func (s *Shelf) folder() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == "" {
		own, err := os.MkdirTemp("", "homenode-captures-") // mode 0700
		if err != nil {
			return "", err
		}
		s.own = own
	}
	return s.own, nil
}

// cleanName returns what a stranger calls a file as a name that any system takes: its letters, digits, dots, hyphens and underscores.
// Readers tell archives by how names end.
func cleanName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.' && b.Len() > 0, r == '-' && b.Len() > 0, r == '_':
			b.WriteRune(r)
		}
	}
	out := strings.TrimRight(b.String(), ".")
	if len(out) > longest {
		out = out[len(out)-longest:]
	}
	if out == "" {
		return "capture"
	}
	return out
}
