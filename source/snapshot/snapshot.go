// Package snapshot saves fleets as JSON and reads them back, so that an analysis can run without
// access to vCenter or virsh. The format is versioned; its schema is
// docs/schema/homenode-snapshot.json, which the tests generate.
package snapshot

import (
	"bufio"
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/strict"
)

// Format is the first field of every snapshot, Version its version. A program reads its own version
// and older ones.
const (
	Format  = "homenode-snapshot"
	Version = 1
)

// Write writes the fleet with one object per line, so that errors and diffs refer to objects.
func Write(w io.Writer, f *numa.Fleet) error {
	bw := bufio.NewWriter(texttab.EscapedJSON(w))
	fmt.Fprintf(bw, "{\n\"format\": %q,\n\"version\": %d,\n", Format, Version)
	enc := func(v any) []byte {
		b, err := stdjson.Marshal(v)
		if err != nil {
			panic("snapshot: a fleet always encodes: " + err.Error())
		}
		return b
	}
	fmt.Fprintf(bw, "\"source\": %s,\n\"collected\": %s,\n", enc(f.Source), enc(f.Collected))
	if f.VCenter != "" {
		fmt.Fprintf(bw, "\"vcenterInstance\": %s,\n", enc(f.VCenter))
	}
	if f.Part != nil {
		fmt.Fprintf(bw, "\"part\": %s,\n", enc(f.Part))
	}
	if f.Hypervisor != numa.ESXi {
		fmt.Fprintf(bw, "\"hypervisor\": %s,\n", enc(f.Hypervisor))
	}
	if f.Unread != nil {
		fmt.Fprintf(bw, "\"unread\": %s,\n", enc(f.Unread))
	}
	writeList(bw, "notes", len(f.Notes), func(i int) []byte { return enc(f.Notes[i]) })
	writeList(bw, "clusters", len(f.Clusters), func(i int) []byte { return enc(f.Clusters[i]) })
	writeList(bw, "hosts", len(f.Hosts), func(i int) []byte { return enc(&f.Hosts[i]) })
	writeList(bw, "vms", len(f.VMs), func(i int) []byte { return enc(&f.VMs[i]) })
	bw.WriteString("\"end\": true\n}\n")
	return bw.Flush() // the first error of all writes
}

func writeList(w *bufio.Writer, name string, n int, item func(int) []byte) {
	fmt.Fprintf(w, "%q: [", name)
	for i := range n {
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteByte('\n')
		w.Write(item(i))
	}
	w.WriteString("\n],\n")
}

// Detect reports whether path is a snapshot, possibly damaged: its first field is its format.
func Detect(path string) bool {
	return bytes.Contains(bounded.Head(path, 256), []byte(`"`+Format))
}

// ReadFile reads the snapshot at path.
func ReadFile(path string) (*numa.Fleet, error) {
	f, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	fleet, err := read(path, f, size)
	return fleet, errors.Join(err, f.Close())
}

var statesKVM = pattern.Of(`"hypervisor":\s*"` + string(numa.KVM) + `"`)

// OfKVM reports whether the file at path is a snapshot of KVM hosts: this is stated before the
// objects.
func OfKVM(path string) bool {
	before, _, _ := bytes.Cut(bounded.Head(path, 64<<10), []byte(`"hosts": [`))
	return statesKVM.Match(before)
}

// Read reads a snapshot object by object, so that its text is never completely in memory. name is
// used in errors.
func Read(name string, from io.Reader) (*numa.Fleet, error) { return read(name, from, 0) }

// read is Read of a text of so many bytes; 0 if that is unknown.
func read(name string, from io.Reader, size int64) (*numa.Fleet, error) {
	text := bufio.NewReaderSize(from, 64<<10)
	const bom = "\ufeff" // some Windows editors write a byte order mark
	if start, _ := text.Peek(len(bom)); string(start) == bom {
		text.Discard(len(bom))
	}
	r := &reader{name: name, size: size, lines: strict.NewLines(text), seen: map[string]bool{}, at: map[string][]position{}}
	if err := json.UnmarshalRead(r.lines, r, rules()); err != nil {
		return nil, r.locate(err)
	}
	if r.fleet.Check() != nil {
		return nil, r.firstFault()
	}
	return &r.fleet, nil
}

type position struct{ line, col int }

type reader struct {
	name    string
	size    int64 // of the text; 0 if unknown
	lines   *strict.Lines
	fleet   numa.Fleet
	format  string
	version int
	end     bool
	seen    map[string]bool       // keys of the file
	at      map[string][]position // where each object of a list starts
}

// UnmarshalJSONFrom reads the file. Here and below, json adds the place of the last token to the
// errors of this package.
func (r *reader) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if err := open(d, '{', "an object"); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := r.field(d, key.String()); err != nil {
			return err
		}
	}
	for _, key := range []string{"format", "version", "source", "clusters", "hosts", "vms", "end"} {
		if !r.seen[key] {
			return fmt.Errorf("found no %q: the file is cut short", key)
		}
	}
	_, err := d.ReadToken()
	return err
}

// field reads the value of a key.
func (r *reader) field(d *jsontext.Decoder, key string) error {
	f := &r.fleet
	value, ok := map[string]any{
		"format": &r.format, "version": &r.version, "source": &f.Source, "collected": &f.Collected, "vcenterInstance": &f.VCenter, "hypervisor": &f.Hypervisor, "part": &f.Part, "unread": &f.Unread,
		"notes": &list[numa.Note]{r, key, &f.Notes}, "clusters": &list[numa.Cluster]{r, key, &f.Clusters},
		"hosts": &list[numa.Host]{r, key, &f.Hosts}, "vms": &list[numa.VM]{r, key, &f.VMs}, "end": &r.end,
	}[key]
	switch {
	case r.end:
		return errors.New(`found after "end"`)
	case key != "format" && key != "version" && (r.format == "" || r.version == 0):
		return fmt.Errorf("found before format and version: this is no %s", Format)
	case !ok:
		return json.ErrUnknownName
	}
	r.seen[key] = true
	if err := json.UnmarshalDecode(d, value); err != nil {
		return err
	}
	switch {
	case key == "format" && r.format != Format:
		return fmt.Errorf("found format %.40q, want %q", r.format, Format)
	case key == "version" && r.version > Version:
		return fmt.Errorf("found version %d, this program reads up to %d: use a newer homenode", r.version, Version)
	case key == "version" && r.version < 1:
		return fmt.Errorf("found version %d, the oldest is 1", r.version)
	case key == "hypervisor" && f.Hypervisor != numa.ESXi && f.Hypervisor != numa.KVM:
		return fmt.Errorf("found hypervisor %.40q, want %q, or no field for ESXi", f.Hypervisor, numa.KVM)
	case key == "end" && !r.end:
		return errors.New(`found "end" of false, want true`)
	}
	return nil
}

// A list is a list of objects of the file.
type list[T any] struct {
	r     *reader
	key   string
	items *[]T
}

// UnmarshalJSONFrom reads the objects one by one and keeps their positions.
func (l *list[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if err := open(d, '[', "a list"); err != nil {
		return err
	}
	from := d.InputOffset()
	for d.PeekKind() != ']' {
		line, col := l.r.lines.Place(next(d))
		l.r.at[l.key] = append(l.r.at[l.key], position{line, col})
		l.grow(d.InputOffset() - from)
		if err := json.UnmarshalDecode(d, &(*l.items)[len(*l.items)-1]); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// sampled is the number of VMs whose size in the file tells how many there are.
const sampled = 256

// grow adds a zero item; the items before it have so many bytes. Memory for VMs, which are most of a fleet, is taken for as many as the file can have: copies
// of a growing list would be garbage of several times its size.
func (l *list[T]) grow(bytes int64) {
	n := len(*l.items)
	if left := l.r.size - bytes; l.key == "vms" && n >= sampled && n == cap(*l.items) && left > 0 {
		*l.items = slices.Grow(*l.items, int(left/(bytes/int64(n)))+n/8)
	}
	*l.items = slices.Grow(*l.items, 1)[:n+1]
}

// firstFault returns the first error of Check with the place of its object. Objects refer only to
// earlier ones (VMs to hosts, hosts to clusters), so the error is in the last object of the shortest
// invalid prefix.
func (r *reader) firstFault() error {
	f := &r.fleet
	c, h := len(f.Clusters), len(f.Hosts)
	part := func(n int) *numa.Fleet {
		return &numa.Fleet{Clusters: f.Clusters[:min(n, c)], Hosts: f.Hosts[:min(max(n-c, 0), h)], VMs: f.VMs[:max(n-c-h, 0)]}
	}
	n := sort.Search(c+h+len(f.VMs), func(n int) bool { return part(n).Check() != nil })
	at := slices.Concat(r.at["clusters"], r.at["hosts"], r.at["vms"])[n-1]
	return &numa.SyntaxError{File: r.name, Line: at.line, Col: at.col, Msg: part(n).Check().Error()}
}
