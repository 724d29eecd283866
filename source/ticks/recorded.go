package ticks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
)

// MetaName is the file in a folder of homenode record that describes the others.
const MetaName = "meta.json"

// Meta is the contents of that file.
type Meta struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Runs    []*Run `json:"runs"`
}

// A Run is a recording from its start to its end.
type Run struct {
	Homenode   string      `json:"homenode"`
	Begin      time.Time   `json:"begin"`
	Written    time.Time   `json:"written"` // time of the last write
	Ended      bool        `json:"ended"`   // it ended normally
	Every      string      `json:"every"`
	Raw        bool        `json:"raw"`
	Anonymised bool        `json:"anonymised,omitempty"`
	Hosts      []*HostMeta `json:"hosts"`
}

// A HostMeta describes the recorded data of a host.
type HostMeta struct {
	VCenter string    `json:"vcenter"`
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Answers int       `json:"answers"`
	First   time.Time `json:"first,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Files   []string  `json:"files"`
	Gaps    []Gap     `json:"gaps,omitempty"`
}

// A Gap is a time without answers. It is never filled.
type Gap struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to,omitzero"` // zero while it lasts
	Reason string    `json:"reason"`
}

const (
	metaFormat  = "homenode-record"
	metaVersion = 1
	maxMeta     = 64 << 20
)

// NewMeta returns the Meta of a new folder.
func NewMeta() *Meta { return &Meta{Format: metaFormat, Version: metaVersion} }

var errMeta = errors.New("not of a recording, or of another version of homenode")

func parseMeta(b []byte) (*Meta, error) {
	m := &Meta{}
	if err := json.Unmarshal(b, m); err != nil || m.Format != metaFormat || m.Version != metaVersion {
		return nil, errMeta
	}
	return m, nil
}

// ReadMeta returns the Meta of a folder.
func ReadMeta(dir string) (*Meta, error) {
	name := filepath.Join(dir, MetaName)
	b, err := bounded.File(name, maxMeta)
	if err != nil {
		return nil, err
	}
	m, err := parseMeta(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// InventoryName returns the file in such a folder with the inventory of a vCenter, whose name must be a valid file name.
func InventoryName(vcenter string) string { return "inventory-" + vcenter + ".json" }

// Inventories returns the inventories in a folder of homenode record; none in any other.
func Inventories(dir string) (paths []string) {
	if _, err := ReadMeta(dir); err != nil {
		return nil
	}
	all, _ := os.ReadDir(dir) // list as much as possible
	for _, f := range all {
		if isInventory(f.Name()) {
			paths = append(paths, filepath.Join(dir, f.Name()))
		}
	}
	return paths
}

func isInventory(base string) bool {
	is, _ := path.Match(InventoryName("*"), base)
	return is
}

// besides handles a file of an unsupported format: it is skipped unless it belongs to a recording.
func (l *lister) besides(name string, read func() (io.ReadCloser, error)) {
	name = filepath.ToSlash(name)
	base := path.Base(name)
	if base == MetaName {
		if m := metaIn(read); m != nil {
			l.metas = append(l.metas, recorded{path.Dir(name), m})
			return
		}
	}
	if isInventory(base) {
		l.inventories = append(l.inventories, path.Dir(name))
		return
	}
	l.passed++
}

func metaIn(read func() (io.ReadCloser, error)) *Meta {
	r, err := read()
	if err != nil {
		return nil
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxMeta))
	if err != nil {
		return nil
	}
	m, _ := parseMeta(b)
	return m
}

// A recorded is a folder of homenode record.
type recorded struct {
	dir  string
	meta *Meta
}

// ofRecordings adds to Sources the facts of their recordings: the host, and the reasons for missing answers. It
// returns a text for hosts without any.
func (l *lister) ofRecordings(sources []Source) (silent []string) {
	for _, in := range l.inventories {
		if !slices.ContainsFunc(l.metas, func(r recorded) bool { return r.dir == in }) {
			l.passed++
		}
	}
	for _, r := range l.metas {
		silent = append(silent, r.silent()...)
		for i := range sources {
			s := &sources[i]
			folder := path.Dir(filepath.ToSlash(s.Files[0]))
			for _, run := range r.meta.Runs {
				for _, h := range run.Hosts {
					if !slices.ContainsFunc(h.Files, func(f string) bool { return path.Dir(path.Join(r.dir, f)) == folder }) {
						continue
					}
					s.Host, s.Known = h.Name, true
					for _, g := range h.Gaps {
						s.notes = append(s.notes, fmt.Sprintf("%s: host %s: no answer %s", r.dir, h.Name, g.text()))
					}
				}
			}
		}
	}
	return silent
}

func (g Gap) text() string {
	to := "to the end"
	if !g.To.IsZero() {
		to = "to " + g.To.UTC().Format(time.DateTime)
	}
	return fmt.Sprintf("from %s %s: %s", g.From.UTC().Format(time.DateTime), to, g.Reason)
}

// silent lists the hosts without answers, grouped by reason.
func (r recorded) silent() (texts []string) {
	answered, seen := map[[2]string]bool{}, map[[2]string]bool{}
	var hosts keyed.Lists[string, string]
	for _, run := range r.meta.Runs {
		for _, h := range run.Hosts {
			answered[[2]string{h.VCenter, h.ID}] = answered[[2]string{h.VCenter, h.ID}] || h.Answers > 0
		}
	}
	for _, run := range slices.Backward(r.meta.Runs) {
		for _, h := range run.Hosts {
			k := [2]string{h.VCenter, h.ID}
			if answered[k] || seen[k] {
				continue
			}
			seen[k] = true
			why := "no reason is known"
			if len(h.Gaps) > 0 {
				why = h.Gaps[len(h.Gaps)-1].Reason
			}
			hosts.Add(why, h.Name)
		}
	}
	for why, names := range hosts.All() {
		texts = append(texts, fmt.Sprintf("%s: no answer of %s was recorded: %s", r.dir, words.Few(names), why))
	}
	return texts
}

// nothingRecorded is the error for recordings without any answer.
func nothingRecorded(path string, silent []string) error {
	if silent == nil {
		silent = []string{path + ": no host was found: it ended before the inventory was read"}
	}
	return errors.New("nothing was recorded: " + strings.Join(silent, "; "))
}
