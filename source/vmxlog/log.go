// Package vmxlog reads vmware.log, in which the vmx process of a VM writes at
// every power-on the settings it found (DICT lines) and the virtual NUMA topology
// it made of them (rule book B-8, B-23). It reads the logs of ESX and ESXi 4 to
// 9, of the hosted products, which share the code, and the output of the known
// vmdumper one-liner, which holds the NUMA lines of several VMs without time
// stamps. A log is read once, line by line; lines of no interest cost a look at
// their first bytes.
package vmxlog

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"homenode/numa"
	"homenode/source/fact"
	"homenode/source/text"
)

// Format is what a File of this package calls its format.
const Format = "vmware.log"

// A Log is what one vmware.log states.
type Log struct {
	// Hosts are the machines that the log says it ran on, as far as it says: a
	// Name that is "" was not stated, and Nodes are those of hosted products only.
	Hosts []numa.Host

	vms  []vm
	file fact.File
}

// File returns what the log states, in its order.
func (l *Log) File() *fact.File { return &l.file }

// VMs returns the VMs of the log in its order: one, unless it is the output of
// the vmdumper one-liner. Config is the one of the last power-on with what the
// vmx process wrote since; Observed is the life of the VM, one Observation a
// power-on. The ID is its UUID or, without one, the path of its .vmx or its name.
func (l *Log) VMs() []numa.VM {
	var out []numa.VM
	used := map[string]bool{}
	for i := range l.vms {
		v := &l.vms[i]
		if v.dict == nil && len(v.observed) == 0 {
			continue // a block without anything to say
		}
		n := numa.VM{Name: v.name, UUID: v.uuid, At: l.file.Name, Config: v.config, Observed: v.observed}
		if n.Name == "" && v.path != "" {
			n.Name = strings.TrimSuffix(path.Base(v.path), path.Ext(v.path))
		}
		if n.Name == "" {
			n.Name = path.Base(l.file.Name)
			if len(out) > 0 {
				n.Name = numa.Place(n.Name, v.line, 0)
			}
		}
		switch {
		case v.uuid != "":
			n.ID = v.uuid
		case v.path != "":
			n.ID = v.path
		default:
			n.ID = n.Name
		}
		for id, k := n.ID, 2; used[n.ID]; k++ {
			n.ID = fmt.Sprintf("%s#%d", id, k)
		}
		used[n.ID] = true
		out = append(out, n)
	}
	return out
}

// Paths returns the path of the .vmx of each VM, in the order of VMs, as the log
// names it; "" where it does not.
func (l *Log) Paths() []string {
	var out []string
	for i := range l.vms {
		if v := &l.vms[i]; v.dict != nil || len(v.observed) > 0 {
			out = append(out, v.path)
		}
	}
	return out
}

// Read reads a vmware.log. name is used in places and messages only. The error is
// a *numa.SyntaxError when nothing of a vmware.log is in it; when r fails midway or the
// settings are cut off, what was read before it is returned with the error.
func Read(name string, r io.Reader) (*Log, error) {
	d := &reader{log: &Log{file: fact.File{Name: name, Format: Format}}}
	d.file = &d.log.file
	lines := text.NewLines(r)
	for lines.Scan() {
		if d.line(lines.Line(), lines.Bytes()) && !lines.Open() {
			d.last = lines.Line()
		}
	}
	d.endVM()
	if err := lines.Err(); err != nil {
		return d.log, numa.Located(name, err)
	}
	switch {
	case d.cut > 0 && d.enveloped:
		return d.log, &numa.SyntaxError{File: name, Line: d.cut, Msg: "the log is cut off within the settings: those that it does not state are unknown, and not at their defaults"}
	case d.known > 0:
	case d.enveloped:
		d.warn(0, 0, "no DICT and no numa line: they are written at power-on, look into the older logs of the VM")
	default:
		return nil, &numa.SyntaxError{File: name, Line: 1, Msg: "found no line of a vmware.log"}
	}
	return d.log, nil
}

// IsName reports whether ESXi gives a log of a VM this name: vmware.log, vmware-3.log.
func IsName(base string) bool {
	n, ok := strings.CutPrefix(base, "vmware")
	n, isLog := strings.CutSuffix(n, ".log")
	return ok && isLog && (n == "" || n[0] == '-' && len(n) > 1 && strings.Trim(n[1:], "0123456789") == "")
}

// Detect reports whether a file that begins with head looks like a vmware.log.
func Detect(head []byte) bool {
	lines := text.NewLines(bytes.NewReader(head))
	for n := 0; n < 200 && lines.Scan(); n++ {
		e, _, message := open(lines.Bytes())
		if e == bare {
			message = bytes.TrimLeft(message, " \t")
		}
		switch k, rest := kindOf(message); k {
		case nothing, hostname, numVCPUs, hostNode:
		case dict:
			if bytes.IndexByte(rest, '=') > 0 || bytes.HasPrefix(rest, []byte("--- ")) {
				return true
			}
		case numaUpper: // lscpu has a heading "NUMA:"
			if e != bare || bytes.HasPrefix(message, []byte("NUMA and VCPU ")) || bytes.HasPrefix(message, []byte("NUMA: automatic ")) {
				return true
			}
		default:
			return true
		}
	}
	return false
}
