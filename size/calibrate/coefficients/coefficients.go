// Package coefficients stores I/O costs measured on the user's own hardware: the file that homenode
// size calibrate writes and the other size commands read.
package coefficients

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/iocost"
)

// DefaultFile is the file in the working directory that is read when none is named.
const DefaultFile = "homenode-size.json"

// Identification of the file.
const (
	format  = "homenode-coefficients"
	version = 1
)

// A File is a set of the user's own costs. No kind occurs twice.
type File struct {
	Name    string // as given
	Entries []Entry
}

// An Entry is the cost of one kind of I/O, with its derivation.
type Entry struct {
	iocost.Point
	Method   string   `json:"method"`             // how the range was derived
	Sources  []string `json:"sources"`            // file names without folders
	Measured []string `json:"measured,omitempty"` // times stated in the files
}

// Points returns the costs without their derivation.
func (f *File) Points() []iocost.Point {
	out := make([]iocost.Point, len(f.Entries))
	for i := range f.Entries {
		out[i] = f.Entries[i].Point
	}
	return out
}

// Load reads the file at path. Errors name the file, with line and column where they can.
func Load(path string) (*File, error) {
	text, err := bounded.File(path, bounded.List)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// Merge adds entries to the file; each replaces the entry of its kind. It returns the numbers of
// new and replaced entries.
func (f *File) Merge(entries []Entry) (added, replaced int) {
	for _, e := range entries {
		i := slices.IndexFunc(f.Entries, func(old Entry) bool { return old.Kind == e.Kind })
		if i < 0 {
			f.Entries = append(f.Entries, e)
			added++
			continue
		}
		f.Entries[i] = e
		replaced++
	}
	slices.SortFunc(f.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), -cmp.Compare(a.Random, b.Random), cmp.Compare(a.Block, b.Block), -cmp.Compare(a.Read, b.Read))
	})
	return added, replaced
}

// Write writes the file atomically.
func (f *File) Write(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		enc := json.NewEncoder(texttab.EscapedJSON(w))
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			Format  string  `json:"format"`
			Version int     `json:"version"`
			Points  []Entry `json:"points"`
		}{format, version, f.Entries})
	})
}

// Save merges entries into the file at path, which may be missing, and writes it. With replace, the
// existing content is neither read nor kept.
func Save(path string, entries []Entry, replace bool) (f *File, added, replaced int, err error) {
	f = &File{Name: path}
	if !replace {
		old, err := Load(path)
		switch {
		case err == nil:
			f = old
		case !errors.Is(err, fs.ErrNotExist):
			return nil, 0, 0, fmt.Errorf("%w (--replace starts anew)", err)
		}
	}
	added, replaced = f.Merge(rounded(entries))
	for i := range f.Entries {
		if err := f.Entries[i].joins(f.Entries[:i]); err != nil {
			return nil, 0, 0, fmt.Errorf("%w (--replace starts anew)", err)
		}
	}
	return f, added, replaced, f.Write(path)
}

// joins returns an error unless the entry measures the same CPU as the others of its path: the cost
// of a host exceeds the part that a guest sees.
func (e *Entry) joins(others []Entry) error {
	for i := range others {
		if o := &others[i]; o.Path == e.Path && o.Scope != e.Scope {
			return fmt.Errorf("%s is of %ss, %s of %ss: no curve goes through both", o.Kind, o.Scope, e.Kind, e.Scope)
		}
	}
	return nil
}

// rounded returns entries rounded to a tenth of a cycle: further digits depend on the processor that divided.
func rounded(entries []Entry) []Entry {
	out := slices.Clone(entries)
	for i := range out {
		round(&out[i].PerIO)
		if n := out[i].Network; n != nil {
			c := *n
			round(&c)
			out[i].Network = &c
		}
	}
	return out
}

func round(f *unit.Figure[unit.Cycles]) {
	for _, v := range []*unit.Cycles{&f.Value, &f.Low, &f.High} {
		*v = unit.Cycles(math.Round(float64(*v)*10) / 10)
	}
}

// check returns the fault of an entry.
func (e *Entry) check() error {
	switch {
	case e.Path != iocost.NVMe && e.Path != iocost.VSANESA:
		return fmt.Errorf("path: found %q, want %s or %s", e.Path, iocost.NVMe, iocost.VSANESA)
	case e.Block < 1 || e.Block > numa.TiB:
		return fmt.Errorf("block: found %d, want 1 byte to 1 TiB", e.Block)
	case !(e.Read >= 0 && e.Read <= 1):
		return fmt.Errorf("read: found %v, want a share, 0 to 1", float64(e.Read))
	case !(e.Random >= 0 && e.Random <= 1):
		return fmt.Errorf("random: found %v, want a share, 0 to 1", float64(e.Random))
	case e.Runs < 1:
		return fmt.Errorf("runs: found %d, want 1 or more", e.Runs)
	case !(e.Core >= 0):
		return fmt.Errorf("core: found %v, want hertz, or 0 for not known", float64(e.Core))
	case e.Scope != iocost.Host && e.Scope != iocost.Guest:
		return fmt.Errorf("scope: found %q, want host or guest", e.Scope)
	case e.PerIO.Value <= 0:
		return fmt.Errorf("perIO: found %v cycles, want more than 0", float64(e.PerIO.Value))
	}
	if err := checkFigure("perIO", &e.PerIO); err != nil || e.Network == nil {
		return err
	}
	if err := checkFigure("network", e.Network); err != nil {
		return err
	}
	if e.Network.Value >= e.PerIO.Value {
		return fmt.Errorf("network: found %v cycles, want less than the whole cost of %v", float64(e.Network.Value), float64(e.PerIO.Value))
	}
	return nil
}

func checkFigure(name string, f *unit.Figure[unit.Cycles]) error {
	for _, v := range []unit.Cycles{f.Low, f.Value, f.High} {
		if !(v >= 0) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("%s: found %v cycles, want 0 or more", name, float64(v))
		}
	}
	if !(f.Low <= f.Value && f.Value <= f.High) {
		return fmt.Errorf("%s: found a value of %v outside its range, %v to %v", name, float64(f.Value), float64(f.Low), float64(f.High))
	}
	return nil
}
