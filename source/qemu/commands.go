package qemu

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/definition"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// program matches the name of QEMU in a command, wrapper the name of a preceding command with its own options.
var (
	program = pattern.Of(`^(?:qemu-system-[a-z0-9_]+|qemu-kvm|kvm)$`)
	wrapper = pattern.Of(`^(?:taskset|numactl|nice|ionice|chrt|sudo|env|setsid|nohup)$`)
)

// commandIn returns the index of a QEMU command in a line, after the columns of ps and wrapper commands; -1 if there is none.
func commandIn(line string) int {
	wrapped := false
	for _, at := range word.Regexp().FindAllStringIndex(line, -1) {
		w := strings.Trim(line[at[0]:at[1]], `'"`)
		switch base := path.Base(w); {
		case program.MatchString(base):
			return at[0]
		case wrapper.MatchString(base):
			wrapped = true
		case strings.HasPrefix(w, "#"), len(w) > 1 && w[0] == '-' && !wrapped:
			return -1
		}
	}
	return -1
}

// launcher reports whether a line has a wrapper command and no options of QEMU: the command of QEMU follows.
func launcher(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && commandIn(line) < 0 && wrapper.MatchString(path.Base(words[0]))
}

// A file contains one VM for each command, or only the options of one VM.
type file struct {
	name   string
	now    *arguments
	before string // commands before that of QEMU, on lines of their own
	broken bool   // the options of now are invalid
	vms    []fact.Document
	widths []int // of the lines of vms, 0 for commands of several lines
	cut    int   // width of a line that breaks off, such as one of ps in a narrow terminal; 0 without one
	widest int   // width of the longest line with a command
	err    error // the first error
}

func (f *file) begin(line int) {
	in := &fact.File{Name: f.name, Format: "arguments of QEMU"}
	f.now, f.broken = &arguments{VM: definition.New(in, max(1, line), 1), begun: line, backends: map[string]backing{}, pins: map[int]pin{}}, false
	f.now.s = f.now.Stated
	f.now.s.Platform, f.now.s.Dies, f.now.s.Threads = "QEMU", 1, 1
}

// fail records the error of a VM; the others are not affected. Each VM after the first with one becomes a document without a layout.
func (f *file) fail(line, col int, format string, args ...any) {
	f.broken = true
	text := fmt.Sprintf(format, args...)
	if f.err == nil {
		f.err = &numa.SyntaxError{File: f.name, Line: line, Col: col, Msg: text}
		return
	}
	vm := f.now.VM
	vm.Line, vm.Col, vm.Stated, vm.Why, vm.Name = line, col, nil, text, cmp.Or(vm.Name, f.lineName())
	f.vms, f.widths = append(f.vms, vm), append(f.widths, 0)
}

// lineName is the name of a VM whose command states none.
func (f *file) lineName() string {
	base := path.Base(f.name)
	return fmt.Sprintf("%s line %d", strings.TrimSuffix(base, path.Ext(base)), f.now.begun)
}

// cutLines marks VMs whose lines are as wide as one that breaks off, the widest: a terminal cuts all lines at its width.
func (f *file) cutLines() {
	for i, width := range f.widths {
		if width > 0 && width == f.cut && width == f.widest {
			f.vms[i].(*definition.VM).Cut = true
		}
	}
}

// Read reads the arguments of VMs: of a single one, or one command for each, as listed by ps.
func Read(name string, r io.Reader) ([]fact.Document, error) {
	f := &file{name: name}
	f.begin(0)
	lines := text.NewLines(io.LimitReader(r, maxFile))
	continued := false // by the next line
	for lines.Scan() {
		line, from := lines.Text(), 0
		if at := commandIn(line); at >= 0 {
			if f.now.begun > 0 || f.now.smp > 0 {
				f.end()
				f.begin(lines.Line())
			}
			f.now.begun, from, f.now.width = lines.Line(), at, len(line)
			f.widest = max(f.widest, len(line))
		} else if first := strings.TrimSpace(line); f.now.begun > 0 && !continued && !strings.HasPrefix(first, "-") && !strings.HasPrefix(first, "#") {
			continue // another process
		}
		bare, open := strings.CutSuffix(strings.TrimSpace(line), `\`)
		if continued = open; open && from == 0 && launcher(bare) {
			f.before += bare + " "
			continue
		}
		f.options(line, lines.Line(), from)
	}
	if err := lines.Err(); err != nil {
		return f.vms, err
	}
	f.end()
	f.cutLines()
	return f.vms, f.err
}

// options parses the options of a line from an index on.
func (f *file) options(line string, number, from int) {
	a := f.now
	if a.line = number; number != a.begun {
		a.width = 0
	}
	a.launched(f.before + line)
	f.before = ""
	found := word.Regexp().FindAllStringIndex(line, -1)
	for i, at := range found {
		option := line[at[0]:at[1]]
		if strings.HasPrefix(option, "#") {
			break
		}
		if at[0] < from || !strings.HasPrefix(option, "-") || f.broken {
			continue
		}
		value, last := "", i+1 >= len(found) // value stays empty for an option without one, such as -S
		if i+1 < len(found) {
			if next := line[found[i+1][0]:found[i+1][1]]; !strings.HasPrefix(next, "-") && next != `\` {
				value, last = strings.Trim(next, `'"`), i+2 >= len(found)
			}
		}
		option = "-" + strings.TrimLeft(option, "-")
		a.File().Add(number, at[0]+1, "VM", option, value, "")
		err := fmt.Errorf("found %s without a value behind it", option)
		if value != "" || unnamed[option] == "" {
			err = a.add(option, value)
		}
		if err == nil && last && a.width > 0 {
			err = a.unused(option, value)
		}
		switch {
		case err != nil && last && a.width > 0:
			f.cut = max(f.cut, a.width)
			f.fail(number, at[0]+1, "%v, at the end of the line, which may be cut off: ps -ww lists whole lines", err)
		case err != nil:
			f.fail(number, at[0]+1, "%v", err)
		}
	}
}

// limits finds what QEMU does not start. Options without a command may lack those of the machine and the processor.
func (a *arguments) limits() {
	l := definition.Limits{Machine: a.machine, VCPUs: a.all, Clusters: a.topology["clusters"], Dies: a.s.Dies, Memory: max(a.s.Shape.Memory, a.most), More: "-cpu host, or phys-bits,",
		CPU: [2]int{max(1, a.smp), 1}, Size: [2]int{max(1, a.size), 1}}
	if a.begun > 0 {
		l.Default = "pc"
	}
	if a.begun > 0 || a.cpu != "" {
		l.Bits = definition.BitsOf(a.cpu)
	}
	a.Limits(l)
}

// end completes the current VM.
func (f *file) end() {
	a, s := f.now, f.now.s
	if f.broken || a.begun > 0 && a.File().Facts == nil { // a command without options, such as grep
		return
	}
	if a.smp == 0 {
		if s.Shape.Memory == 0 {
			f.fail(max(1, a.begun), 1, "found no -smp and no -m")
			return
		}
		s.Sockets, s.Cores, a.all, a.levels = 1, 1, 1, [6]int{1, 1, 1, 1, 1, 1} // as QEMU does
	} else {
		a.shape()
	}
	for range max(0, min(a.all, most)-len(s.CPUs)) {
		s.CPUs = append(s.CPUs, a.host)
	}
	for vcpu, pin := range a.pins {
		if vcpu < len(s.CPUs) {
			s.CPUs[vcpu], s.Pins = pin.cpus, append(s.Pins, numa.Pinned{VCPU: vcpu, At: pin.at})
		}
	}
	a.oldMemory()
	if a.latency > 0 && !a.hmat { // parse_numa_node, parse_numa_hmat_lb in hw/core/numa.c
		a.Stray(a.latency, 1, true, "-numa states an initiator, latencies or caches, and -machine states no hmat=on: QEMU refuses it")
	}
	switch {
	case s.Most() < a.all && a.now > s.Most(): // reported by a check
	case s.Most() != a.all:
		a.Stray(a.smp, 1, true, "a topology of %d vCPUs, and %d vCPUs: QEMU refuses it", s.Most(), a.all)
	case a.nodes != nil:
		a.cells()
		a.distances()
	default:
		s.Page = a.page
		for id, b := range a.backends {
			if b.size == s.Shape.Memory && !slices.ContainsFunc(a.modules, func(m module) bool { return m.backend == id }) { // of -machine memory-backend
				s.Page, s.Bound, s.Taken = b.page, []numa.Bound{b.bound}, b.taken
			}
		}
	}
	s.Taken = s.Taken || a.taken
	if s.Page == numa.DefaultPage {
		s.Page, s.DefaultPage = 0, true
	}
	a.limits()
	a.Close(a.all, a.now)
	if a.Stated != nil {
		a.addModules()
	}
	a.File().Sort()
	if len(f.vms) > 0 && a.Name == "" {
		a.Name = f.lineName()
	}
	f.vms, f.widths = append(f.vms, a.VM), append(f.widths, a.width)
}
