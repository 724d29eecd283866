// Package record writes collected data to files: one for each host and hour, with the columns and the unchanged
// answers, which homenode capture reads. Beside them are the inventory and a list of gaps.
//
//	DIR/meta.json                                   versions, hosts, gaps
//	DIR/inventory-vc01.json                         the last inventory, a snapshot
//	DIR/vc01/esx01.lab/esx01.lab-20261122T10.dsv.zst
//
// In an anonymised recording the folder contains no text of a vCenter or host, apart from the texts that package
// anonymise leaves in an inventory: names are pseudonyms, answers have only numbers, and a reason is one of a
// few sentences.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"example.org/homenode/esxi/product"
	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/serve/collect"
	"example.org/homenode/source/anonymise"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/snapshot"
	"example.org/homenode/source/ticks"
)

// Options control the recording.
type Options struct {
	Every   time.Duration // polling interval of a host: twice as long without an answer is a gap
	Raw     bool          // record all rows of answers, not only those that are read
	Version string        // of homenode, for Meta
	Key     string        // file of the key to the pseudonyms; empty keeps the names
}

// A Recorder writes to one folder. It is a Sink of collectors, and receives their Answers.
type Recorder struct {
	dir  string
	opts Options

	mu    sync.Mutex
	hosts map[[2]string]*host // by vCenter and ID
	meta  *ticks.Meta
	run   *ticks.Run
	err   error // the first error; nothing is written after it
	buf   []byte

	names *anonymise.Pseudonyms // nil keeps the names
	saved int                   // names in the key file
}

// A host is the open file of a host.
type host struct {
	*ticks.HostMeta
	columns []byte // unchanged
	rename  *fetchstats.Renamer
	hour    time.Time
	file    *os.File
	good    int64 // size up to the last complete answer
	synced  time.Time
}

const syncEvery = time.Minute

// Open creates the folder, or continues the recording in it.
func Open(dir string, o Options, now time.Time) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	meta, err := ticks.ReadMeta(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if other, err := os.ReadDir(dir); err != nil {
			return nil, err
		} else if len(other) > 0 {
			return nil, fmt.Errorf("%s: holds %s and no %s: want a new folder, or one of an earlier recording", dir, other[0].Name(), ticks.MetaName)
		}
		meta = ticks.NewMeta()
	case err != nil:
		return nil, err
	}
	r := &Recorder{dir: dir, opts: o, hosts: map[[2]string]*host{}, meta: meta}
	if n := len(meta.Runs); n > 0 && meta.Runs[n-1].Anonymised != (o.Key != "") {
		return nil, fmt.Errorf("%s: holds a recording with %s: want a new folder", dir, map[bool]string{true: "pseudonyms, and this one would have names", false: "names, and this one would have pseudonyms"}[o.Key == ""])
	}
	if o.Key != "" {
		if err := r.openKey(); err != nil {
			return nil, err
		}
	}
	r.run = &ticks.Run{Homenode: o.Version, Begin: now, Every: o.Every.String(), Raw: o.Raw, Anonymised: o.Key != ""}
	r.meta.Runs = append(r.meta.Runs, r.run)
	return r, r.writeMeta(now)
}

// Err returns the first write error; nothing is written after it.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Fleet writes the inventory of a vCenter.
func (r *Recorder) Fleet(vcenter string, f *numa.Fleet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names != nil {
		f = r.names.Fleet(f)
		vcenter = r.names.Source(vcenter)
		if r.fail(r.saveKey()); r.err != nil {
			return
		}
	}
	r.fail(atomicfile.Write(filepath.Join(r.dir, ticks.InventoryName(safe(vcenter))), func(w io.Writer) error { return snapshot.Write(w, f) }))
}

// Tick does nothing: Answer has the source of the tick.
func (r *Recorder) Tick(string, string, *numa.Tick) {}

// Update does nothing: the next inventory contains the change.
func (r *Recorder) Update(string, []numa.Update) {}

// Answer writes an answer.
func (r *Recorder) Answer(a *collect.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	h := r.host(a.VCenter, a.Host, a.Name)
	if a.Columns {
		if string(a.Text) != string(h.columns) {
			h.columns = append([]byte(nil), a.Text...)
			if r.names != nil {
				h.rename = fetchstats.NewRenamer(h.columns, r.names.VM)
			}
			r.fail(h.close()) // the next answer begins a file
		}
		return
	}
	text := a.Text
	switch {
	case h.rename != nil:
		r.buf = h.rename.Append(r.buf[:0], a.Text)
		text = r.buf
		r.fail(r.saveKey())
	case r.names != nil:
		r.fail(errors.New("found an answer before its columns"))
	case !r.opts.Raw:
		r.buf = fetchstats.Trim(r.buf[:0], a.Text)
		text = r.buf
	}
	if r.err != nil {
		return
	}
	if hour := a.Time.UTC().Truncate(time.Hour); h.file == nil || !hour.Equal(h.hour) {
		if err := errors.Join(h.close(), r.begin(h, hour)); err != nil {
			r.fail(err)
			return
		}
	}
	if open := len(h.Gaps) - 1; open >= 0 && h.Gaps[open].To.IsZero() {
		h.Gaps[open].To = a.Time
	} else if !h.Last.IsZero() && a.Time.Sub(h.Last) > 2*r.opts.Every {
		h.Gaps = append(h.Gaps, ticks.Gap{From: h.Last, To: a.Time, Reason: "no answer"})
	}
	if err := h.write(text); err != nil {
		r.fail(err)
		return
	}
	h.Answers++
	h.Last = a.Time
	if h.First.IsZero() {
		h.First = a.Time
	}
	if time.Since(h.synced) >= syncEvery {
		h.synced = time.Now()
		r.fail(h.file.Sync())
	}
}

// fail stores the first error. r.mu is locked.
func (r *Recorder) fail(err error) {
	if r.err == nil && err != nil {
		r.err = err
	}
}

// openKey reads an existing key to continue with it: of this recording, or of a snapshot.
func (r *Recorder) openKey() error {
	dir, err1 := filepath.Abs(r.dir)
	file, err2 := filepath.Abs(r.opts.Key)
	below, err3 := filepath.Rel(dir, file)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if filepath.IsLocal(below) {
		return fmt.Errorf("%s: the key would be given away with the folder: want a file outside of it", r.opts.Key)
	}
	r.names = &anonymise.Pseudonyms{Public: product.Public}
	f, err := bounded.Open(r.opts.Key)
	if errors.Is(err, os.ErrNotExist) {
		if len(r.meta.Runs) > 0 {
			return fmt.Errorf("%w: the recording goes on with its key alone", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	key, err := anonymise.ReadKey(r.opts.Key, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	for _, run := range r.meta.Runs {
		for _, h := range run.Hosts {
			if !key.Knows(h.Name) {
				return fmt.Errorf("%s: does not know %s: it is the key to another recording", r.opts.Key, h.Name)
			}
		}
	}
	r.names = key.Pseudonyms(product.Public)
	r.saved = r.names.Len()
	return nil
}

// saveKey saves the key after it has grown, before any file that needs it. r.mu is locked.
func (r *Recorder) saveKey() error {
	n := r.names.Len()
	if n == r.saved {
		return nil
	}
	write := atomicfile.Write
	if r.saved == 0 {
		write = atomicfile.WriteNew // mode 0600
	}
	if err := write(r.opts.Key, r.names.Key().Write); err != nil {
		return err
	}
	r.saved = n
	return nil
}

// plain returns the reason for a missing answer, without any name.
func plain(reason string) string {
	switch reason {
	case "privilege":
		return "the account lacks a privilege"
	case "timeout":
		return "no answer in time"
	case "no service", "gone":
		return "vCenter does not list its service Esxtop"
	case "answer":
		return "what it says is no answer of the service Esxtop"
	case "refused", "expired", "vcenter", "":
		return "vCenter does not answer, or refuses"
	}
	return "it does not answer"
}

// host returns the state of a host. r.mu is locked.
func (r *Recorder) host(vcenter, id, name string) *host {
	k := [2]string{vcenter, id}
	h := r.hosts[k]
	if h == nil {
		if r.names != nil {
			vcenter, id, name = r.names.Source(vcenter), r.names.Host(id), r.names.Host(name)
			r.fail(r.saveKey())
		}
		h = &host{HostMeta: &ticks.HostMeta{VCenter: vcenter, ID: id, Name: name, Files: []string{}}}
		r.hosts[k] = h
		r.run.Hosts = append(r.run.Hosts, h.HostMeta)
	}
	return h
}

// begin begins the file of an hour with the columns. It never changes an existing file, which may end within an
// answer.
func (r *Recorder) begin(h *host, hour time.Time) error {
	folder := filepath.Join(safe(h.VCenter), safe(h.Name))
	if err := os.MkdirAll(filepath.Join(r.dir, folder), 0o700); err != nil {
		return err
	}
	for n := 1; ; n++ {
		name := safe(h.Name) + "-" + hour.Format("20060102T15")
		if n > 1 {
			name += fmt.Sprintf("-%d", n)
		}
		path := filepath.Join(folder, name+".dsv.zst")
		f, err := os.OpenFile(filepath.Join(r.dir, path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		h.file, h.good, h.hour, h.synced = f, 0, hour, time.Now()
		h.Files = append(h.Files, filepath.ToSlash(path))
		if h.rename != nil {
			return h.write(h.rename.Columns())
		}
		return h.write(h.columns)
	}
}

// write appends one frame, or leaves the file unchanged.
func (h *host) write(text []byte) error {
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text[:n:n], '\n')
	}
	frame := archive.Pack(nil, append(text[:len(text):len(text)], '\n')) // a blank line ends an answer
	n, err := h.file.Write(frame)
	if err != nil {
		return errors.Join(err, h.file.Truncate(h.good))
	}
	h.good += int64(n)
	return nil
}

func (h *host) close() error {
	if h.file == nil {
		return nil
	}
	f := h.file
	h.file = nil
	return errors.Join(f.Sync(), f.Close())
}

// Note records gaps and their reasons from the collection status. It writes meta.json.
func (r *Recorder) Note(all []collect.Status, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range all {
		s := &all[i]
		for j := range s.Hosts {
			x := &s.Hosts[j]
			h := r.host(s.Name, x.ID, x.Name)
			why := x.Failing
			if why == "" && !s.Up {
				why = s.Error
			}
			if why == "" {
				continue
			}
			if r.names != nil {
				why = plain(x.Reason)
			}
			if open := len(h.Gaps) - 1; open >= 0 && h.Gaps[open].To.IsZero() {
				h.Gaps[open].Reason = why
				continue
			}
			from := h.Last
			if from.IsZero() {
				from = r.run.Begin
			}
			h.Gaps = append(h.Gaps, ticks.Gap{From: from, Reason: why})
		}
	}
	r.fail(r.writeMeta(now))
}

// writeMeta writes meta.json. r.mu is locked.
func (r *Recorder) writeMeta(now time.Time) error {
	r.run.Written = now
	return atomicfile.Write(filepath.Join(r.dir, ticks.MetaName), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r.meta)
	})
}

// Close ends the recording.
func (r *Recorder) Close(now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.hosts {
		r.fail(h.close())
		if h.Answers == 0 && len(h.Gaps) == 0 {
			h.Gaps = []ticks.Gap{{From: r.run.Begin, To: now, Reason: "the recording ended before its turn"}}
		}
	}
	r.run.Ended = r.err == nil
	r.fail(r.writeMeta(now))
	return r.err
}

// Names returns the number of names in the key.
func (r *Recorder) Names() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.saved
}

// Hosts returns the recorded data of each host.
func (r *Recorder) Hosts() (all []ticks.HostMeta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.run.Hosts {
		all = append(all, *h)
	}
	return all
}

// mostName is the maximum length of a file name that a name becomes, so that no file system refuses it.
const mostName = 100

// safe returns a name as a file name.
func safe(name string) string {
	s := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' {
			return c
		}
		return '_'
	}, name)
	if strings.Trim(s, ".") == "" {
		s = "_" + s
	}
	return s[:min(len(s), mostName)]
}
