package bundle

import (
	"bufio"
	"errors"
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
	other   int // files that only looked like a log by their name
}

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
			c.note(name, "not read: %v", err)
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

// damage notes the error of a file, once: errors that name the place already do.
func (c *collector) damage(name string, err error) {
	var syntax *numa.SyntaxError
	switch {
	case err == nil:
	case errors.As(err, &syntax):
		c.note(numa.Place(syntax.File, syntax.Line, syntax.Col), "not read: %s", syntax.Msg)
	default:
		c.note(name, "read in part only: %v", err)
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
