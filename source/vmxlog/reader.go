package vmxlog

import (
	"bytes"
	"fmt"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/vmx"
)

// Limits for the data kept of one log: a log with more is damaged or forged.
const (
	maxFacts    = 200_000
	maxWarnings = 1_000
	maxRuns     = 10_000 // power-ons
	maxSlices   = 4_096
)

// A vm is one VM of a log.
type vm struct {
	name, uuid, path string
	line             int       // first line
	dict             *vmx.Dict // of the last power-on, with later changes
	whole            bool      // dict is complete: an absent setting has its default
	config           numa.Config
	observed         []numa.Observation
}

// A reader is the state between lines.
type reader struct {
	log  *Log
	file *fact.File
	vm   *vm  // the last of log.vms; nil before the first relevant line
	run  *run // the current power-on; nil between two

	enveloped bool // a line had a time stamp: an empty line does not end a VM
	known     int  // relevant lines
	runs      int
	last      int // the last line that is complete, or not part of the settings
	cut       int // the line of settings after which the log is truncated; 0 for none
}

// line parses one line. Most lines are skipped after kindOf. It reports whether the line is part of this log, and not of a wrapped
// text.
func (d *reader) line(n int, line []byte) (own bool) {
	e, stamp, message := open(line)
	if e == bare {
		message = bytes.TrimLeft(message, " \t")
		if len(message) == 0 {
			if !d.enveloped {
				d.last = n
				d.endVM() // the one-liner ends a VM with an empty line
			}
			return false
		}
	} else {
		d.enveloped = true
	}
	own = e != bare || !d.enveloped
	k, rest := kindOf(message)
	if k == nothing {
		if e != rfcID {
			return own
		}
		if k, rest = kindOf(skipID(message)); k == nothing {
			return own
		}
	}
	d.known++
	if k != dict && k != logFor {
		d.last = n
	}
	d.message(k, rest, place{n, len(line) - len(rest), stamp})
	return own
}

// A place is the place of a message: before is the number of bytes before it in the line.
type place struct {
	line, before int
	stamp        []byte
}

// message parses a relevant message.
func (d *reader) message(k kind, rest []byte, p place) {
	switch k {
	case dict:
		d.dictLine(rest, p)
	case logFor:
		d.endRun()
		d.begin(p).begun = true
		d.logFor(rest, p)
	case hostname, hostInfo, hostCPUID, hostNode, winNode:
		if d.run != nil && d.run.placed {
			d.endRun()
		}
		d.begin(p)
		d.hostLine(k, rest, p)
	case configDB:
		d.configDB(rest, p)
	case numVCPUs:
		n := 0
		if at(rest).num(&n).end() {
			d.begin(p).stated = append(d.run.stated, stated{n, p.line, "NumVCPUs"})
			d.fact(p, "vCPUs", n, "")
		}
	case restoring: // a .vmss of a suspended VM, or a .vmsn of a snapshot with memory
		d.resume(p, "checkpoint restored", string(rest))
	case arriving: // KB 436882
		d.resume(p, "arrived by vMotion", string(rest))
	case llc:
		n := 0
		for _, c := range []struct{ lit, name string }{
			{"vLLC size:", "vCPUs of a virtual last-level cache"}, {"maximum vcpus per LLC:", "most vCPUs of a last-level cache"},
		} {
			if at(rest).lit(c.lit).num(&n).end() {
				d.begin(p)
				d.fact(p, c.name, n, "")
			}
		}
	case noCookie:
		d.begin(p).start = numa.FirstStart
		d.fact(p, "cookie", "none", "")
	case numaLine, numaUpper:
		d.begin(p).placed = true
		if !d.numaLine(rest, p) {
			d.warn(p.line, p.before+1, "not understood: %s", clip(rest))
		}
	}
}

// resume records that the VM did not power on but resumed with its existing topology.
func (d *reader) resume(p place, what, text string) {
	d.begin(p).start = numa.CheckpointStart
	d.fact(p, what, strings.ToValidUTF8(text, "\uFFFD"), "")
}

// begin returns the power-on of p, a new one if none is open.
func (d *reader) begin(p place) *run {
	if d.run == nil {
		d.run = &run{line: p.line, factsFrom: len(d.file.Facts)}
	}
	if d.run.stamp == "" {
		d.run.stamp = string(p.stamp)
	}
	return d.run
}

// dictLine parses the text after "DICT ".
func (d *reader) dictLine(rest []byte, p place) {
	if d.run != nil && d.run.placed {
		d.endRun() // settings precede the topology, so this is another power-on, or VM
	}
	run := d.begin(p)
	if run.dict == nil {
		run.dict = vmx.NewDict()
	}
	run.dictEnd = p.line
	// In DICT --- CONFIGURATION /vmfs/volumes/…/sql01.vmx the settings belong to the VM; other sections have defaults of the host
	// and user.
	if section, ok := bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte("--- ")); ok {
		run.headed = true
		run.defaults = !bytes.HasPrefix(section, []byte("CONFIGURATION")) && !bytes.HasPrefix(section, []byte("COMMAND LINE"))
		if file, ok := bytes.CutPrefix(section, []byte("CONFIGURATION")); ok {
			if path := strings.TrimSpace(string(file)); path != "" && path != "(null)" {
				run.path = path
				d.fact(p, "configuration file", path, "")
			}
		}
		return
	}
	key, value, col, ok, problem := vmx.ParseEntry(rest)
	if !ok {
		d.warn(p.line, p.before+1, "DICT: %s", problem)
		return
	}
	if !vmx.Keeps(key) {
		return
	}
	if problem != "" {
		d.warn(p.line, p.before+col, "DICT %s: %s", key, problem)
	}
	rank := 1
	if run.defaults {
		rank = 0
	}
	text := strings.ToValidUTF8(string(value), "\uFFFD")
	if !d.enveloped && strings.EqualFold(key, "displayName") {
		d.nameOfBlock(text)
	}
	if problem := run.dict.SetRanked(key, text, p.line, p.before+col, rank); problem != "" {
		d.warn(p.line, p.before+col, "DICT %s", problem)
		return
	}
	if e, ok := run.dict.Lookup(key); ok {
		f := run.dict.Fact(e)
		d.fact(place{p.line, p.before + col - 1, nil}, f.Name, f.Value, f.Unit)
	}
}

// nameOfBlock ends the VM if the empty lines of a pasted one-liner output were lost.
func (d *reader) nameOfBlock(name string) {
	if d.vm == nil || d.vm.name == "" || d.vm.name == name {
		return
	}
	run := d.run
	d.run = nil
	d.endVM()
	d.run = run
}

// configDB parses the text after "ConfigDB: Setting ".
func (d *reader) configDB(rest []byte, p place) {
	key, value, col, ok, _ := vmx.ParseEntry(rest)
	if !ok || !vmx.Keeps(key) {
		return
	}
	run := d.begin(p)
	text := strings.ToValidUTF8(string(value), "\uFFFD")
	if len(run.writes) < maxSlices {
		run.writes = append(run.writes, vmx.Entry{Key: key, Value: text, Line: p.line, Col: p.before + col})
	}
	if strings.HasPrefix(strings.ToLower(key), "numa.") {
		run.placed = true
	}
	d.fact(place{p.line, p.before + col - 1, nil}, "written "+key, text, "")
}

// partMark begins the subject of a fact about a part of the VM while its name is unknown.
const partMark = '+'

// fact appends a fact of the VM; the name of the VM is added at the end of the run.
func (d *reader) fact(p place, name string, value any, unit string) {
	d.add(p, "", name, value, unit)
}

func (d *reader) add(p place, subject, name string, value any, unit string) {
	if len(d.file.Facts) < maxFacts {
		d.file.Add(p.line, p.before+1, subject, name, value, unit)
	} else if len(d.file.Facts) == maxFacts {
		d.file.Facts = append(d.file.Facts, fact.Fact{Subject: "file", Name: "facts from here on", Value: "left out", Line: p.line})
	}
}

func (d *reader) warn(line, col int, format string, args ...any) {
	switch n := len(d.file.Warnings); {
	case n < maxWarnings:
		d.file.Warn(line, col, format, args...)
	case n == maxWarnings:
		d.file.Warn(line, 0, "more than %d warnings: the others are left out", maxWarnings)
	}
}

// endVM ends the VM; the following lines belong to another.
func (d *reader) endVM() {
	d.endRun()
	d.vm = nil
}

// endRun ends the power-on and adds it to the VM as an Observation.
func (d *reader) endRun() {
	run := d.run
	d.run = nil
	if run == nil {
		return
	}
	v := d.vmOf(run)
	if d.runs++; d.runs > maxRuns {
		if d.runs == maxRuns+1 {
			d.warn(run.line, 0, "more than %d power-ons: the others are left out", maxRuns)
		}
		return
	}
	if o, ok := d.observe(run, v); ok {
		v.observed = append(v.observed, o)
	}
	subject := "VM"
	if v.name != "" {
		subject = "VM " + v.name
	}
	for i := run.factsFrom; i < len(d.file.Facts); i++ {
		switch f := &d.file.Facts[i]; {
		case f.Subject == "":
			f.Subject = subject
		case f.Subject[0] == partMark:
			f.Subject = subject + " " + f.Subject[1:]
		}
	}
	d.addHost(run)
}

// vmOf returns the VM of a power-on: the previous one, unless a different UUID shows that logs of several VMs were concatenated.
func (d *reader) vmOf(run *run) *vm {
	name, uuid := "", ""
	if run.dict != nil {
		name, uuid = run.dict.Name(), run.dict.UUID()
	}
	if d.vm == nil || uuid != "" && d.vm.uuid != "" && uuid != d.vm.uuid {
		d.log.vms = append(d.log.vms, vm{line: run.line})
		d.vm = &d.log.vms[len(d.log.vms)-1]
	}
	v := d.vm
	if name != "" {
		v.name = name
	}
	if uuid != "" {
		v.uuid = uuid
	}
	if run.path != "" {
		v.path = run.path
	}
	return v
}

func clip(b []byte) string {
	const most = 100
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
