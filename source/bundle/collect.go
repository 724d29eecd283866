package bundle

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"

	"homenode/numa"
	"homenode/source/archive"
	"homenode/source/fact"
	"homenode/source/hostcmd"
	"homenode/source/text"
	"homenode/source/vmx"
	"homenode/source/vmxlog"
)

// mostWarnings of one file become notes; the others are counted.
const mostWarnings = 5

// A collector gathers the documents of a walk. It keeps what they say, not their
// facts one by one.
type collector struct {
	configs []config
	logs    []logFile
	outputs []output
	notes   []numa.Note
	unread  []string
	broken  error // of the first of them
	other   int   // files that only looked like a log by their name
}

// Damaged is the error of files none of which could be read; the notes name each.
type Damaged struct {
	error
	Notes  []numa.Note
	Unread []string
}

// Unwrap returns the error of the first.
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
	paths []string // of their .vmx, as the log names them
	hosts []numa.Host
}

func (c *collector) note(at, format string, args ...any) {
	c.notes = append(c.notes, numa.Note{At: at, Text: fmt.Sprintf(format, args...)})
}

// visit reads one file. Damage is noted; the walk goes on.
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

// damage notes the error of a file.
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
