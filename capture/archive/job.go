package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"homenode/numa"
	"homenode/source/ticks"
)

// A Job is what has to be read in one go of an archive, as it was when the archive was
// listed: a file, or several that follow each other. Whoever reads it reads those files
// or says that they are others now.
type Job struct {
	Name   string `json:"name"` // of the first file
	Format string `json:"format"`
	Host   string `json:"host,omitempty"`  // for hosts that are named nowhere
	Known  bool   `json:"known,omitempty"` // as in ticks.Source
	Files  []File `json:"files"`
	Infos  []File `json:"infos,omitempty"` // as in ticks.Source
}

// A File is one file of an archive.
type File struct {
	Path     string `json:"path"`     // below the root, with /
	Size     int64  `json:"size"`     // bytes
	Modified int64  `json:"modified"` // seconds since 1970: what every file system keeps
}

// A Listing is what lies in an archive.
type Listing struct {
	Jobs   []Job       // by path of the first file
	Passed int         // files of no format that is read
	Failed []numa.Note // files and folders that could not be looked at
}

// Scan lists an archive. It follows no links. Files and folders whose names begin with a
// dot are left out: they are snapshots of file servers, and what others are writing.
func Scan(root string) (*Listing, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(root); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s: found a file, want the folder of an archive", root)
	}
	list, err := ticks.List(root)
	if err != nil {
		return nil, err
	}
	out := &Listing{Passed: list.Passed}
	for _, f := range list.Failed {
		below, err := filepath.Rel(root, f.Name)
		if err != nil {
			return nil, err
		}
		if below = filepath.ToSlash(below); !hidden(below) {
			n := numa.Note{Text: strings.ReplaceAll(errorOf(f.Err), f.Name, below)}
			if !strings.Contains(n.Text, below) {
				n.At = below
			}
			out.Failed = append(out.Failed, n)
		}
	}
	for i := range list.Sources {
		s := &list.Sources[i]
		j := Job{Format: s.Format, Host: s.Host, Known: s.Known}
		if j.Files, err = out.statAll(root, s.Files); err != nil {
			return nil, err
		}
		all := len(j.Files)
		j.Files = slices.DeleteFunc(j.Files, func(f File) bool { return hidden(f.Path) })
		out.Passed += all - len(j.Files)
		if len(j.Files) == 0 {
			continue
		}
		if j.Infos, err = out.statAll(root, s.Infos); err != nil {
			return nil, err
		}
		j.Name = j.Files[0].Path
		out.Jobs = append(out.Jobs, j)
	}
	slices.SortFunc(out.Jobs, func(a, b Job) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// statAll returns the files as they are now. One that is gone since it was listed, as when
// captures are rotated, has failed.
func (l *Listing) statAll(root string, paths []string) (files []File, err error) {
	for _, p := range paths {
		below, err := filepath.Rel(root, p)
		if err != nil {
			return nil, err
		}
		below = filepath.ToSlash(below)
		info, err := os.Stat(p)
		if err != nil {
			l.Failed = append(l.Failed, numa.Note{At: below, Text: errorOf(err)})
			continue
		}
		files = append(files, File{Path: below, Size: info.Size(), Modified: info.ModTime().Unix()})
	}
	return files, nil
}

// hidden reports whether a file or a folder above it is.
func hidden(path string) bool { return strings.HasPrefix(path, ".") || strings.Contains(path, "/.") }

// check refuses a job that Scan cannot have made: who wrote it into the queue does not decide
// what else of a worker's machine is read.
func (j *Job) check() error {
	if len(j.Files) == 0 {
		return errors.New("found a task without files")
	}
	for _, f := range slices.Concat(j.Files, j.Infos) {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return fmt.Errorf("found the path %q in the task, want one below the root", f.Path)
		}
	}
	return nil
}

// source returns the files of the job below root, or why they are not those files. grown
// names those that are longer by now.
func (j *Job) source(root string) (s *ticks.Source, grown []string, err error) {
	s = &ticks.Source{Name: j.path(root, j.Name), Format: j.Format, Host: j.Host, Known: j.Known}
	below, err := os.OpenRoot(root) // no link leads out of it
	if err != nil {
		return nil, nil, err
	}
	defer below.Close()
	for _, set := range []struct {
		files []File
		to    *[]string
	}{{j.Files, &s.Files}, {j.Infos, &s.Infos}} {
		for _, f := range set.files {
			info, err := below.Lstat(filepath.FromSlash(f.Path))
			var lstat *fs.PathError
			if errors.As(err, &lstat) {
				return nil, nil, fmt.Errorf("%s: lstat: %w", f.Path, lstat.Err)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
			}
			size, at := info.Size(), info.ModTime().Unix()
			switch {
			case !info.Mode().IsRegular():
				return nil, nil, fmt.Errorf("%s: is no file", f.Path)
			case size > f.Size:
				grown = append(grown, f.Path)
			case size != f.Size || at != f.Modified:
				return nil, nil, fmt.Errorf("%s: changed since it was listed: found %d bytes of %s, want %d of %s", f.Path, size, date(at), f.Size, date(f.Modified))
			}
			*set.to = append(*set.to, j.path(root, f.Path))
			s.Size += size
		}
	}
	return s, grown, nil
}

func (j *Job) path(root, below string) string { return filepath.Join(root, filepath.FromSlash(below)) }

// names returns what replaces the paths of this machine by those below the root.
func (j *Job) names(root string) *strings.Replacer {
	files := slices.Concat(j.Files, j.Infos)
	slices.SortFunc(files, func(a, b File) int { // a.csv.gz before a.csv
		return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), cmp.Compare(a.Path, b.Path))
	})
	var pairs []string
	for _, f := range files {
		pairs = append(pairs, j.path(root, f.Path), f.Path)
	}
	return strings.NewReplacer(pairs...)
}

// errorOf returns what an error says without the path that is named anyway.
func errorOf(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Op + ": " + e.Err.Error()
	}
	return err.Error()
}

func date(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }
