package bundle

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/hostcmd"
	"example.org/homenode/source/text"
	"example.org/homenode/source/vmx"
	"example.org/homenode/source/vmxlog"
)

// mostWarnings is the maximum number of warnings of one file that become notes; the rest are
// counted.
const mostWarnings = 5

// A collector gathers the documents of a walk. It does not keep their individual facts.
type collector struct {
	configs []config
	logs    []logFile
	outputs []output
	notes   []numa.Note
	unread  []string
	broken  error // the first error in unread
	other   int   // files with the name of a log that are not logs
}

// Damaged is returned if no file could be read; the notes name each file.
type Damaged struct {
	error
	Notes  []numa.Note
	Unread []string
}

// Unwrap returns the error of the first file.
func (e *Damaged) Unwrap() error { return e.error }

// A config is a .vmx.
type config struct {
	name string
	vm   numa.VM
}

// A logFile is a vmware.log.
type logFile struct {
	name  string
	vms   []numa.VM
	paths []string // paths of their .vmx, as in the log
	hosts []numa.Host
}

func (c *collector) note(at, format string, args ...any) {
	c.notes = append(c.notes, numa.Note{At: at, Text: fmt.Sprintf(format, args...)})
}

// visit reads one file. Damage becomes a note, and the walk continues.
func (c *collector) visit(name string, size int64, r io.Reader) error {
	switch useOf(name) {
	case vmxFile:
		c.config(name, r)
	case vmLog:
		c.log(name, r)
	case command:
		c.command(name, r)
	default:
		in := bufio.NewReaderSize(r, text.HeadSize)
		head, err := in.Peek(text.HeadSize)
		if err != nil && err != io.EOF {
			c.damage(name, err)
			return nil
		}
		switch {
		case vmxlog.Detect(head):
			c.log(name, in)
		case vmx.Detect(head):
			c.config(name, in)
		case isOutput(head):
			c.command(name, in)
		default:
			c.other++
		}
	}
	return nil
}

func isOutput(head []byte) bool {
	_, ok := hostcmd.Detect(head)
	return ok
}

func (c *collector) config(name string, r io.Reader) {
	v, err := vmx.Read(name, r)
	c.damage(name, err)
	if v == nil {
		return
	}
	c.warnings(v.File())
	vm := v.VM()
	if base := path.Base(archive.Plain(name)); vm.Name == base { // without displayName
		vm.Name = strings.TrimSuffix(base, path.Ext(base))
	}
	c.configs = append(c.configs, config{name, vm})
}

func (c *collector) log(name string, r io.Reader) {
	l, err := vmxlog.Read(name, r)
	c.damage(name, err)
	if l == nil {
		return
	}
	c.warnings(l.File())
	c.logs = append(c.logs, logFile{name, l.VMs(), l.Paths(), l.Hosts})
}

// damage adds a note for the error of a file.
func (c *collector) damage(name string, err error) {
	if err != nil {
		c.broken = cmp.Or(c.broken, numa.Located(name, err))
		c.unread = append(c.unread, name)
		c.notes = append(c.notes, numa.NoteOf(name, "not read, or in part only: ", err))
	}
}

func (c *collector) warnings(f *fact.File) {
	for i, w := range f.Warnings {
		if i == mostWarnings {
			c.note(f.Name, "%d more warnings: homenode explain FILE shows them", len(f.Warnings)-i)
			return
		}
		c.note(f.At(w.Line, w.Col), "%s", w.Text)
	}
}
