// Package snapshot saves fleets as JSON and reads them back, so that an analysis
// can run without access to vCenter. The form is versioned; its schema is
// snapshot.schema.json beside this file.
package snapshot

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"sort"
	"strconv"

	"homenode/numa"
)

// Schema is the JSON Schema of the form.
//
//go:embed snapshot.schema.json
var Schema []byte

// Format is the first field of every snapshot, Version its version. A program
// reads its own version and the older ones.
const (
	Format  = "homenode-snapshot"
	Version = 1
)

// Write writes the fleet, one object a line: a line is what an error names and
// what a diff shows.
func Write(w io.Writer, f *numa.Fleet) error {
	bw := bufio.NewWriter(w)
	fmt.Fprintf(bw, "{\n\"format\": %q,\n\"version\": %d,\n", Format, Version)
	enc := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			panic("snapshot: a fleet always encodes: " + err.Error())
		}
		return b
	}
	fmt.Fprintf(bw, "\"source\": %s,\n\"collected\": %s,\n", enc(f.Source), enc(f.Collected))
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

// ReadFile reads the snapshot at path.
func ReadFile(path string) (*numa.Fleet, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	fleet, err := Read(path, f)
	return fleet, errors.Join(err, f.Close())
}

// Read reads a snapshot object by object, so that its text is never in memory as a
// whole. name stands in errors.
func Read(name string, r io.Reader) (*numa.Fleet, error) {
	d := &reader{lex: newLexer(name, r)}
	if err := d.read(); err != nil {
		return nil, err
	}
	if d.fleet.Check() != nil {
		return nil, d.firstFault()
	}
	return &d.fleet, nil
}

// The decoders of the lists, made once.
var (
	decodeNote    = decoderOf(reflect.TypeFor[numa.Note]())
	decodeCluster = decoderOf(reflect.TypeFor[numa.Cluster]())
	decodeHost    = decoderOf(reflect.TypeFor[numa.Host]())
	decodeVM      = decoderOf(reflect.TypeFor[numa.VM]())
)

type reader struct {
	lex     *lexer
	fleet   numa.Fleet
	format  string
	version int
	seen    map[string]bool       // keys of the file
	at      map[string][]position // where each object of a list starts
}

func (d *reader) read() error {
	d.seen, d.at = map[string]bool{}, map[string][]position{}
	l := d.lex
	err := l.object("{", func(k []byte) error {
		key := string(k)
		if d.seen[key] {
			return l.fail("found %q twice", key)
		}
		if d.seen["end"] {
			return l.fail(`found %q after "end"`, shorten(key))
		}
		d.seen[key] = true
		return d.field(key)
	})
	if err != nil {
		return err
	}
	for _, key := range []string{"format", "version", "source", "clusters", "hosts", "vms", "end"} {
		if !d.seen[key] {
			return l.failAt(l.here(), "found no %q: the file is cut short", key)
		}
	}
	if l.peek(); l.pos < l.end {
		return l.fail("found more after the end")
	}
	if l.err != io.EOF {
		return l.ended()
	}
	return nil
}

func (d *reader) field(key string) error {
	l := d.lex
	switch {
	case key == "format" || key == "version":
	case d.format == "" || d.version == 0:
		return l.fail("found %q before format and version: this is no %s", shorten(key), Format)
	case !slices.Contains([]string{"source", "collected", "notes", "clusters", "hosts", "vms", "end"}, key):
		return l.unknownKey([]byte(key))
	}
	if err := l.colon(); err != nil {
		return err
	}
	l.peek()
	var err error
	switch key {
	case "format":
		err = d.readFormat()
	case "version":
		err = d.readVersion()
	case "source":
		err = decodeString(l, reflect.ValueOf(&d.fleet.Source).Elem())
	case "collected":
		err = decodeString(l, reflect.ValueOf(&d.fleet.Collected).Elem())
	case "notes":
		err = list(d, key, decodeNote, &d.fleet.Notes)
	case "clusters":
		err = list(d, key, decodeCluster, &d.fleet.Clusters)
	case "hosts":
		err = list(d, key, decodeHost, &d.fleet.Hosts)
	case "vms":
		err = list(d, key, decodeVM, &d.fleet.VMs)
	case "end":
		err = l.keyword("true", "true")
	}
	return in(key, err)
}

func (d *reader) readFormat() error {
	if d.lex.peek() != '"' {
		return d.lex.wanted(strconv.Quote(Format))
	}
	s, err := d.lex.str()
	if err != nil {
		return err
	}
	if d.format = string(s); d.format != Format {
		return d.lex.fail("found %q, want %q", shorten(d.format), Format)
	}
	return nil
}

func (d *reader) readVersion() error {
	if err := decodeInt(d.lex, reflect.ValueOf(&d.version).Elem()); err != nil {
		return err
	}
	if d.version > Version {
		return d.lex.fail("found version %d, this program reads up to %d: use a newer homenode", d.version, Version)
	}
	if d.version < 1 {
		return d.lex.fail("found version %d, the oldest is 1", d.version)
	}
	return nil
}

func list[T any](d *reader, key string, decode decoder, to *[]T) error {
	return d.lex.sequence('[', ']', "a list", func(i int) error {
		d.lex.peek()
		d.at[key] = append(d.at[key], d.lex.at)
		var zero T
		*to = append(*to, zero)
		return inItem(i, decode(d.lex, reflect.ValueOf(&(*to)[i]).Elem()))
	})
}

// firstFault returns what Check says of the fleet, with the place of the object it
// says it of. Objects refer to earlier ones only, VMs to hosts and hosts to
// clusters, so the fault is in the last object of the shortest part that has one.
func (d *reader) firstFault() error {
	f := &d.fleet
	c, h := len(f.Clusters), len(f.Hosts)
	part := func(n int) *numa.Fleet {
		return &numa.Fleet{Clusters: f.Clusters[:min(n, c)], Hosts: f.Hosts[:min(max(n-c, 0), h)], VMs: f.VMs[:max(n-c-h, 0)]}
	}
	n := sort.Search(c+h+len(f.VMs), func(n int) bool { return part(n).Check() != nil })
	key, i := "clusters", n-1
	switch {
	case n > c+h:
		key, i = "vms", n-1-c-h
	case n > c:
		key, i = "hosts", n-1-c
	}
	err := d.lex.failAt(d.at[key][i], "%v", part(n).Check())
	return in(key, inItem(i, err))
}
