// Package parquet writes ticks as a folder of Parquet files in long form, a row for each value,
// that DuckDB, Spark, Polars and others read as one table (docs/reference/parquet.md).
//
//	DIR/host=esx01.example.com/day=2026-11-21/part-<id>.parquet
//
// A Writer writes one input, and its id is derived from the input. Writing the same input
// again, for example by the successor of a dead worker, replaces its files, so nothing counts
// twice. A file appears under its name, complete, when the Writer is closed.
package parquet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/capture/export/series"
	"example.org/homenode/numa"
)

// MaxOpen is the number of files that a Writer fills at a time. An input of one host in time
// order needs one; an input that alternates between more hosts than this gets more and smaller
// files.
const MaxOpen = 4

// A Writer writes the ticks of one input.
type Writer struct {
	dir, id  string
	most     int // rows in a file; a tick is not split
	counters []string
	open     []*part // most recently used first
	parts    []*part // finished: complete, under a temporary name
	count    map[string]int
	err      error // of the first Add that failed; Close then fails too
}

// ID returns an id for New: 32 hexadecimal digits derived from texts that identify an input,
// such as the name of the file. Equal texts give equal ids.
func ID(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// PartID returns the id of an input's files in a lake, for New. It is the same whenever the
// files are read again, whatever the other options: they are written once. A file with another
// first tick is another input, even under the same name.
func PartID(first *numa.Tick, files ...string) string {
	return ID(append(files, first.Host, first.Time.UTC().Format(time.RFC3339Nano))...)
}

// New returns a Writer into dir, which it creates if necessary. The id becomes part of file
// names: up to 64 letters, digits, - and _.
func New(dir, id string) (*Writer, error) {
	if !validID(id) {
		return nil, fmt.Errorf("id %q: want 1 to 64 letters, digits, - and _", id)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, id: id, most: rowsPerFile, count: map[string]int{}}
	for _, c := range series.All() {
		w.counters = append(w.counters, c.Name)
	}
	return w, nil
}

func validID(id string) bool {
	for _, c := range []byte(id) {
		if !plain(c) || c == '.' {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// Add writes the values of the tick; file is its source. The first error is final: later calls
// and Close return it again, and no file appears.
func (w *Writer) Add(file string, t *numa.Tick) error {
	if w.err == nil {
		w.err = w.add(file, t)
	}
	return w.err
}

func (w *Writer) add(file string, t *numa.Tick) error {
	host := text(t.Host)
	p, err := w.part(host, t.Time)
	if err != nil {
		return err
	}
	r := row{Time: t.Time.UnixMilli(), Host: host, File: text(file)}
	if t.Line > 0 {
		r.Line = p.number(int64(t.Line))
	}
	var gid *int64
	last, lastNode := -2, -2
	for v := range series.Values(t) {
		if v.VM != last || v.Node != lastNode {
			r.Kind, r.Entity, r.GID, r.Node = series.Host, host, nil, nil
			if v.Node >= 0 {
				r.Node = p.number(int64(v.Node))
				r.Kind, r.Entity = series.Node, strconv.Itoa(v.Node)
			}
			if v.VM >= 0 {
				vm := &t.VMs[v.VM]
				if v.VM != last {
					gid = nil
					if vm.GID >= 0 {
						gid = p.number(vm.GID)
					}
				}
				r.Kind, r.Entity, r.GID = series.VM, text(vm.Name), gid
			}
			last, lastNode = v.VM, v.Node
		}
		r.Counter, r.Value = w.counters[v.Counter], v.Number
		if err := p.write(&r); err != nil {
			return fmt.Errorf("write %s: %w", p.path, err)
		}
	}
	return p.settle()
}

// text returns s as UTF-8, which Parquet's strings require. Invalid bytes become U+FFFD.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// part returns the open file of the host and day.
func (w *Writer) part(host string, at time.Time) (*part, error) {
	day := at.Unix() / 86400
	if at.Unix() < 0 {
		return nil, fmt.Errorf("tick of host %s at %s: found a time before 1970", host, at.UTC().Format(time.RFC3339))
	}
	for i, p := range w.open {
		if p.day != day || p.host != host {
			continue
		}
		if p.written >= w.most {
			if err := w.finish(p); err != nil {
				return nil, err
			}
			w.open = slices.Delete(w.open, i, i+1)
			break
		}
		copy(w.open[1:i+1], w.open[:i])
		w.open[0] = p
		return p, nil
	}
	folder, err := hostFolder(host)
	if err != nil {
		return nil, err
	}
	if len(w.open) == MaxOpen {
		if err := w.finish(w.open[MaxOpen-1]); err != nil {
			return nil, err
		}
		w.open = w.open[:MaxOpen-1]
	}
	folder = filepath.Join(w.dir, folder, "day="+at.UTC().Format(time.DateOnly))
	p, err := create(folder, w.name(w.count[folder]))
	if err != nil {
		return nil, err
	}
	w.count[folder]++
	p.host, p.day = host, day
	w.open = append([]*part{p}, w.open...)
	return p, nil
}

// name returns the name of the n-th file in a folder.
func (w *Writer) name(n int) string {
	if n == 0 {
		return "part-" + w.id + ".parquet"
	}
	return "part-" + w.id + "." + strconv.Itoa(n) + ".parquet"
}

func (w *Writer) finish(p *part) error {
	if err := p.close(); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	w.parts = append(w.parts, p)
	return nil
}

// Close finishes the files and renames them. After an error no new file appears, unless a
// rename failed: writing the input again then completes all of them.
func (w *Writer) Close() error {
	for len(w.open) > 0 && w.err == nil {
		w.err = w.finish(w.open[len(w.open)-1])
		if w.err == nil {
			w.open = w.open[:len(w.open)-1]
		}
	}
	if w.err != nil {
		w.Abort()
		return w.err
	}
	for i, p := range w.parts {
		if w.err = os.Rename(p.file.Name(), p.path); w.err != nil {
			w.parts = w.parts[i:]
			w.Abort()
			return w.err
		}
	}
	w.parts = nil
	w.err = w.tidy()
	if w.err != nil {
		return w.err
	}
	w.err = os.ErrClosed
	return nil
}

// tidy removes leftovers of earlier runs over the same input from the folders of this run:
// files beyond the last one, and unfinished files of a killed run.
func (w *Writer) tidy() error {
	for folder, n := range w.count {
		for ; ; n++ {
			err := os.Remove(filepath.Join(folder, w.name(n)))
			if errors.Is(err, os.ErrNotExist) {
				break
			}
			if err != nil {
				return err
			}
		}
		for _, pattern := range []string{"." + w.name(0) + ".*.tmp", ".part-" + w.id + ".*.parquet.*.tmp"} {
			left, err := fs.Glob(os.DirFS(folder), pattern)
			if err != nil {
				return err
			}
			for _, name := range left {
				os.Remove(filepath.Join(folder, name)) // hidden: if it stays, it is not read
			}
		}
	}
	return nil
}

// Abort removes the files of an unclosed Writer. The folders stay. After Close it does nothing.
func (w *Writer) Abort() {
	for _, p := range w.open {
		p.file.Close()
		os.Remove(p.file.Name())
	}
	for _, p := range w.parts {
		os.Remove(p.file.Name())
	}
	w.open, w.parts = nil, nil
	if w.err == nil {
		w.err = os.ErrClosed
	}
}
