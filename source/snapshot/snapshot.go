// Package snapshot saves fleets as JSON and reads them back, so that an analysis
// can run without access to vCenter. The form is versioned; its schema is
// snapshot.schema.json beside this file.
package snapshot

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

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

// A SyntaxError says where a snapshot is malformed.
type SyntaxError struct {
	File      string
	Line, Col int    // from 1; Col in bytes
	Path      string // of the object: vms[12]
	Msg       string
}

// Error returns file:line:col: path: message.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Col)
	if e.Path != "" {
		s += e.Path + ": "
	}
	return s + e.Msg
}

// Read reads a snapshot object by object, so that its text is never in memory as a
// whole. name stands in errors.
func Read(name string, r io.Reader) (*numa.Fleet, error) {
	lines := &lineCounter{r: r}
	d := &reader{name: name, dec: json.NewDecoder(lines), lines: lines}
	d.dec.DisallowUnknownFields()
	if err := d.read(); err != nil {
		return nil, err
	}
	if err := d.fleet.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &d.fleet, nil
}

type reader struct {
	name    string
	dec     *json.Decoder
	lines   *lineCounter
	fleet   numa.Fleet
	format  string
	version int
	end     bool
}

func (d *reader) read() error {
	if err := d.delim('{', ""); err != nil {
		return err
	}
	for d.dec.More() {
		t, err := d.dec.Token()
		if err != nil {
			return d.fail("", err)
		}
		if err := d.field(t.(string)); err != nil { // inside an object More promises a key
			return err
		}
	}
	if err := d.delim('}', ""); err != nil {
		return err
	}
	if !d.end {
		return d.fail("", errors.New(`found no "end": the file is cut short`))
	}
	if _, err := d.dec.Token(); err != io.EOF {
		return d.fail("", errors.New("found more after the end"))
	}
	return nil
}

func (d *reader) field(key string) error {
	switch key {
	case "format":
		if err := d.value(key, &d.format); err != nil {
			return err
		}
		if d.format != Format {
			return d.fail(key, fmt.Errorf("found %q, want %q", d.format, Format))
		}
		return nil
	case "version":
		if err := d.value(key, &d.version); err != nil {
			return err
		}
		if d.version > Version {
			return d.fail(key, fmt.Errorf("found version %d, this program reads up to %d: use a newer homenode", d.version, Version))
		}
		if d.version < 1 {
			return d.fail(key, fmt.Errorf("found version %d, want 1 to %d", d.version, Version))
		}
		return nil
	}
	if d.format == "" || d.version == 0 {
		return d.fail(key, fmt.Errorf("found it before format and version: this is no %s", Format))
	}
	switch key {
	case "source":
		return d.value(key, &d.fleet.Source)
	case "collected":
		return d.value(key, &d.fleet.Collected)
	case "notes":
		return list(d, key, &d.fleet.Notes)
	case "clusters":
		return list(d, key, &d.fleet.Clusters)
	case "hosts":
		return list(d, key, &d.fleet.Hosts)
	case "vms":
		return list(d, key, &d.fleet.VMs)
	case "end":
		return d.value(key, &d.end)
	}
	return d.fail(key, errors.New("found a field that no snapshot has"))
}

func (d *reader) value(path string, v any) error {
	if err := d.dec.Decode(v); err != nil {
		return d.fail(path, err)
	}
	return nil
}

func list[T any](d *reader, key string, to *[]T) error {
	if err := d.delim('[', key); err != nil {
		return err
	}
	for i := 0; d.dec.More(); i++ {
		var v T
		if err := d.dec.Decode(&v); err != nil {
			return d.fail(fmt.Sprintf("%s[%d]", key, i), err)
		}
		*to = append(*to, v)
	}
	return d.delim(']', key)
}

func (d *reader) delim(want json.Delim, path string) error {
	t, err := d.dec.Token()
	if err != nil {
		return d.fail(path, err)
	}
	if t != want {
		return d.fail(path, fmt.Errorf("found %v, want %v", t, want))
	}
	return nil
}

// fail returns err with the position the decoder has reached.
func (d *reader) fail(path string, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	off := d.dec.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		off = max(off, syntax.Offset)
	}
	line, col := d.lines.position(off)
	return &SyntaxError{d.name, line, col, path, err.Error()}
}

// lineCounter remembers where lines start in what passes through it.
type lineCounter struct {
	r      io.Reader
	passed int64
	starts []int64 // offsets after each newline
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i := 0; ; {
		k := bytes.IndexByte(p[i:n], '\n')
		if k < 0 {
			break
		}
		i += k + 1
		c.starts = append(c.starts, c.passed+int64(i))
	}
	c.passed += int64(n)
	return n, err
}

func (c *lineCounter) position(off int64) (line, col int) {
	line, start := 1, int64(0)
	for _, s := range c.starts {
		if s > off {
			break
		}
		line, start = line+1, s
	}
	return line, int(off-start) + 1
}
