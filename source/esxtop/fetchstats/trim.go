package fetchstats

import (
	"bytes"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// Trim appends an answer to dst without unused rows: the list of objects, interrupts, disks, and vCPU rows of other
// worlds. A Series makes the same tick of it.
func Trim(dst, answer []byte) []byte {
	keep, counters := true, false
	for line := range bytes.Lines(answer) {
		switch {
		case bytes.HasPrefix(line, []byte("==")):
			keep, counters = true, bytes.HasPrefix(line, []byte(values))
		case !counters:
			keep = bytes.HasPrefix(line, []byte("|Server|")) // a parser recognises an answer by a row
		case line[0] == '|':
			name, rest, _ := bytes.Cut(line[1:], []byte("|"))
			keep = used[string(name)] != "" && (string(name) != "VCPU" || bytes.Contains(rest, []byte("|vmx-vcpu")))
		}
		if keep {
			dst = append(dst, line...)
		}
	}
	return dst
}

// A Renamer writes answers as Trim does, with other names of VMs: a Series makes the same ticks of them except for
// the names. Other texts, and values that do not match their column, are left empty, so that no name leaks.
type Renamer struct {
	columns []byte
	schema  schema
	vm      func(name string) string
	record  record
	trimmed []byte
}

// NewRenamer parses the CounterInfo of the answers.
func NewRenamer(columns []byte, vm func(name string) string) *Renamer {
	r := &Renamer{vm: vm}
	for line := range bytes.Lines(columns) {
		line = bytes.TrimSpace(line)
		if name, fields, ok := schemaRow(line); ok && used[name] != "" {
			r.schema.add(name, fields)
			r.columns = append(append(r.columns, line...), '\n')
		}
	}
	return r
}

// Columns returns the CounterInfo of the output of Append.
func (r *Renamer) Columns() []byte { return r.columns }

// Append appends an answer to dst.
func (r *Renamer) Append(dst, answer []byte) []byte {
	r.trimmed = Trim(r.trimmed[:0], answer)
	counters := false
	for line := range bytes.Lines(r.trimmed) {
		line = bytes.TrimSpace(line)
		switch {
		case string(line) == objects:
			dst = append(dst, objects+"\n"...)
		case string(line) == values:
			counters = true
			dst = append(dst, values+"\n"...)
		case counters && len(line) > 0 && line[0] == '|':
			name, _, _ := bytes.Cut(line[1:], []byte("|"))
			if fields := r.schema.types[string(name)]; fields != nil {
				dst = r.row(dst, row{name: string(name), text: line}, fields)
			}
		}
	}
	return dst
}

func (r *Renamer) row(dst []byte, in row, fields []field) []byte {
	c := &r.record
	read := c.open(&r.schema, in)
	isVM := false
	if read && in.name == "SchedGroup" {
		isVM, _ = c.flag("IsVM")
	}
	dst = append(append(dst, '|'), in.name...)
	for i, f := range fields {
		dst = append(dst, '|')
		var cell []byte
		if read {
			cell = c.cells[i]
		}
		switch {
		case f.kind == "STR" || f.kind == "CSTR":
			dst = append(dst, r.text(in.name+"."+f.name, string(cell), isVM)...)
		case len(bytes.Trim(cell, "-0123456789")) == 0:
			dst = append(dst, cell...)
		}
	}
	return append(dst, "|\n"...)
}

var (
	groupForm = pattern.Of(`^vmm?\.\d+$`)
	worldForm = pattern.Of(`^vmx-vcpu-\d+`)
)

// text returns the replacement for a text of an answer.
func (r *Renamer) text(field, is string, isVM bool) string {
	switch field {
	case "SchedGroup.GroupName":
		if groupForm.MatchString(is) {
			return is
		}
	case "SchedGroup.VMName":
		if isVM && is != "" {
			return r.vm(is)
		}
	case "VCPU.WorldName":
		if number := worldForm.FindString(is); number != "" {
			return number
		}
		return "vmx-vcpu" // Trim omitted the others
	case "PMem.SchedStateStr":
		var state numa.MemoryState
		if state.UnmarshalText([]byte(is)) == nil {
			return is
		}
	}
	return ""
}
