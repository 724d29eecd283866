// Package vmxlog reads vmware.log. At every power-on, the vmx process of a VM writes to it the
// settings (DICT lines) and the resulting virtual NUMA topology (rule book B-8, B-23). The
// package supports the logs of ESX and ESXi 4 to 9, those of the hosted products, which share
// the code, and the output of the known vmdumper one-liner, which contains the NUMA lines of
// several VMs without time stamps. A log is read once, line by line; irrelevant lines are
// skipped after their first bytes.
package vmxlog

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// Format is the format name of a File of this package.
const Format = "vmware.log"

// A Log is the content of one vmware.log.
type Log struct {
	// Hosts are the hosts that the log names as its own. A Name that is not stated is "", and
	// only hosted products state Nodes.
	Hosts []numa.Host

	vms  []vm
	file fact.File
}

// File returns the facts of the log, in its order.
func (l *Log) File() *fact.File { return &l.file }

// VMs returns the VMs of the log in its order: one, unless it is the output of the vmdumper
// one-liner. Config is the configuration of the last power-on with the later changes by the vmx
// process; Observed has one Observation for each power-on. The ID is the UUID or, without one,
// the path of the .vmx or the name.
func (l *Log) VMs() []numa.VM {
	var out []numa.VM
	used := map[string]bool{}
	for i := range l.vms {
		v := &l.vms[i]
		if v.dict == nil && len(v.observed) == 0 {
			continue // a block without data
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

// Paths returns the path of the .vmx of each VM as written in the log, in the order of VMs; ""
// if unknown.
func (l *Log) Paths() []string {
	var out []string
	for i := range l.vms {
		if v := &l.vms[i]; v.dict != nil || len(v.observed) > 0 {
			out = append(out, v.path)
		}
	}
	return out
}

// Read reads a vmware.log. name is used only in places and messages. The error is a
// *numa.SyntaxError if the file contains no part of a vmware.log; if r fails or the settings
// are truncated, Read returns the data before it with the error.
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

// IsName reports whether ESXi gives such a name to a log of a VM: vmware.log, vmware-3.log.
func IsName(base string) bool {
	n, ok := strings.CutPrefix(base, "vmware")
	n, isLog := strings.CutSuffix(n, ".log")
	return ok && isLog && (n == "" || n[0] == '-' && len(n) > 1 && strings.Trim(n[1:], "0123456789") == "")
}

// Detect reports whether head, the beginning of a file, is probably a vmware.log.
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
