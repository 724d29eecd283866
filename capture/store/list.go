package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/bounded"
)

// The list names the blocks and journals of the folder, so that a missing file is noticed. It is written after new files are created
// and before old ones are removed. Each line has a name, a time before which the file has no sample (0 if unknown), and its size (0 for a growing
// file). The last line has the checksum of the others.
const (
	listName  = "files.list"
	listHead  = "homenode list 1\n"
	listLine  = "%s %d %d\n"
	listEnd   = "sum %08x\n"
	mostLists = 64 << 20 // bytes
)

// A listedFile is one entry of the list.
type listedFile struct {
	name  string
	begin int64 // ms
	size  int64
}

// list writes the list; closed means that the journal does not grow any more. s.mu is locked, or the store is not shared.
func (s *Store) list(closed bool) error {
	b := []byte(listHead)
	for _, x := range s.blocks {
		b = fmt.Appendf(b, listLine, filepath.Base(x.path), x.from, x.size)
	}
	last := ended{path: s.journal.path, begin: s.journal.begins}
	if closed {
		last.size = s.journal.size
	}
	for _, x := range append(s.journal.old, last) {
		b = fmt.Appendf(b, listLine, filepath.Base(x.path), x.begin, x.size)
	}
	return atomicfile.Write(filepath.Join(s.dir, listName), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s"+listEnd, b, checksum(b))
		return err
	})
}

// readList returns the entries of the list. A damaged list is set aside; only a new folder has none.
func (s *Store) readList() (all []listedFile, err error) {
	path := filepath.Join(s.dir, listName)
	b, err := bounded.File(path, mostLists)
	if errors.Is(err, os.ErrNotExist) {
		told := slices.ContainsFunc(s.losses, func(x Loss) bool { return filepath.Base(x.File) == listName })
		if there, err := filepath.Glob(filepath.Join(quoteGlob(s.dir), "*"+journalEnd)); err != nil || len(there) == 0 || told {
			return nil, err
		}
		s.lose(Loss{File: path, Missing: true, Samples: -1})
		return nil, nil
	}
	if errors.Is(err, os.ErrPermission) {
		return nil, err
	}
	end := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n') + 1
	whole := bytes.HasPrefix(b, []byte(listHead)) && string(b[end:]) == fmt.Sprintf(listEnd, checksum(b[:end]))
	if whole {
		for line := range strings.Lines(string(b[len(listHead):end])) {
			var x listedFile
			if _, err := fmt.Sscanf(line, listLine, &x.name, &x.begin, &x.size); err != nil {
				whole = false
			}
			all = append(all, x)
		}
	}
	if !whole {
		return nil, s.aside(Loss{File: path, Samples: -1, Bytes: int64(len(b))})
	}
	return all, nil
}

// missing records a loss for each file of the list that is absent. oldest is the time of the first sample of each journal that is there, in ms.
func (s *Store) missing(all []listedFile, there map[string]bool, oldest map[string]int64) {
	for _, x := range all {
		if there[x.name] {
			continue
		}
		if from, to, ok := timesOf(x.name); ok {
			if !s.covered(from.UnixMilli(), to.UnixMilli()) { // else it was replaced by a block that covers it
				s.lose(Loss{File: filepath.Join(s.dir, x.name), Missing: true, From: from, To: to, Samples: -1})
			}
			continue
		}
		s.lose(Loss{File: filepath.Join(s.dir, x.name), Missing: true, From: x.first(), To: lastOf(x.name, oldest), Samples: -1})
	}
}

// first returns the time before which the file has no sample; zero if unknown.
func (x listedFile) first() time.Time {
	if x.begin <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(x.begin).UTC()
}

// lastOf returns a time after which a journal has no sample: it was written before the next one. oldest has the first sample of each journal, in ms.
func lastOf(name string, oldest map[string]int64) time.Time {
	last := time.Now()
	for _, next := range slices.Sorted(maps.Keys(oldest)) {
		if next > name && oldest[next] > 0 {
			last = time.UnixMilli(oldest[next]).Add(late)
			break
		}
	}
	return last.UTC().Truncate(time.Second)
}

// covered reports whether one block covers a time range.
func (s *Store) covered(from, to int64) bool {
	for _, b := range s.blocks {
		if b.from <= from && to <= b.to {
			return true
		}
	}
	return false
}
