package queue

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"homenode/numa"
)

// A Job is one file of an archive as it was when the archive was listed. Whoever reads it
// reads that file or says that it is another one now.
type Job struct {
	Path     string `json:"path"`     // below the root, with /
	Size     int64  `json:"size"`     // bytes
	Modified int64  `json:"modified"` // seconds since 1970: what every file system keeps
}

// Scan lists the files of an archive by path. Names that begin with a dot are passed
// over: they are snapshots of file servers and what others are writing. Links are passed
// over too: what they lead to inside the archive is listed itself, and notes name those
// that lead out of it.
func Scan(root string) (jobs []Job, notes []numa.Note, err error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	err = fs.WalkDir(dir.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == ".":
			return err
		case err != nil: // a folder that cannot be read does not end the archive
			notes = append(notes, numa.Note{At: p, Text: errorOf(err)})
			return nil
		case p != "." && strings.HasPrefix(path.Base(p), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			if _, err := dir.Stat(p); err != nil {
				notes = append(notes, numa.Note{At: p, Text: "is a link that leads out of the archive or nowhere: passed over"})
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			notes = append(notes, numa.Note{At: p, Text: errorOf(err)})
			return nil
		}
		jobs = append(jobs, Job{Path: p, Size: info.Size(), Modified: info.ModTime().Unix()})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Path, b.Path) })
	return jobs, notes, nil
}

// errorOf returns what an error says without the path that a note names anyway.
func errorOf(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Op + ": " + e.Err.Error()
	}
	return err.Error()
}

// open opens the file of the job, or says why it is not that file. A file that has grown
// since is the same one: it is read as far as it went.
func (j *Job) open(root string) (f *os.File, r io.Reader, err error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	f, err = dir.Open(j.Path)
	if err != nil {
		return nil, nil, errors.New(errorOf(err))
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, errors.New(errorOf(err))
	}
	switch size, at := info.Size(), info.ModTime().Unix(); {
	case !info.Mode().IsRegular():
		err = errors.New("is no file")
	case size > j.Size:
		return f, io.LimitReader(f, j.Size), nil
	case size != j.Size || at != j.Modified:
		err = fmt.Errorf("changed since it was listed: found %d bytes of %s, want %d of %s", size, stamp(at), j.Size, stamp(j.Modified))
	default:
		return f, f, nil
	}
	f.Close()
	return nil, nil, err
}

func stamp(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }
