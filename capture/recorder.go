package capture

import (
	"fmt"
	"strings"
	"time"

	"example.org/homenode/numa"
)

// A Recorder makes a Recording of one host from its ticks in time order. Its memory grows with
// the number of VMs and nodes, not with the number of ticks. A tick with the same VMs as the
// previous one allocates nothing.
//
// Every tick is processed alone and together with the previous tick. States (home nodes,
// memory, node loads in comparisons) last until the next tick. The states of the last tick, and
// those before a gap longer than Options.Gap or before the VM is gone, last for no time. Rates
// (ready, co-stop, used, load of nodes) cover Tick.Since, or else the time since the previous
// tick unless that is a gap. Otherwise they cover no time, and only their peaks count.
// Migrations count at the tick that states them. An event between two ticks (a spill) needs
// both, without a gap.
//
// A VM that is missing from some ticks and returns with its GID and name has one life with a
// hole, in which nothing is counted. With another GID it is another life. Times have
// millisecond resolution.
type Recorder struct {
	rec    Recording
	host   string // as the source names it
	stated stated
	nodes  map[int]int // index in rec.Nodes, by ID
	lives  []*life
	byKey  map[key]*life

	tick, before *numa.Tick // this tick and the previous one; their memory is used in turn
	calm         calm
	here, there  []*life // of the VMs of tick and before, by index
	file         File    // current file; its ticks and warnings are counted in rec.Files once it has a tick
	opened       bool    // file is the last of rec.Files
	refused      refused
	begun        bool
	finished     bool
}

// A life is a VM during recording.
type life struct {
	VM
	raw   string  // its name in the source
	tick  int     // number of the last tick that contains it, from 1
	index int     // index among the VMs of that tick
	calm  pending // the ticks that are not recorded yet
}

// A key identifies a VM.
type key struct {
	gid  int64
	name string
	nth  int // index among the VMs of one GID and name in one tick
}

// NewRecorder returns a Recorder that counts by these limits; it panics if Check rejects them.
func NewRecorder(o Options) *Recorder {
	if err := o.Check(); err != nil {
		panic(err)
	}
	return &Recorder{
		rec:   Recording{Options: o, Files: []File{}},
		nodes: map[int]int{},
		byKey: map[key]*life{},
		tick:  &numa.Tick{}, before: &numa.Tick{},
	}
}

// Open sets the file of the following ticks. A file without ticks is dropped.
func (r *Recorder) Open(name, format string) {
	r.refused.tell(r)
	r.file, r.opened = File{Name: valid(name), Format: valid(format)}, false
}

// Warn adds a warning to the current file.
func (r *Recorder) Warn(text string) {
	f := r.current()
	f.Warnings = append(f.Warnings, valid(text))
}

// LeaveOut adds the number of rows that were omitted before they became ticks; cut means that
// the source could not be read completely.
func (r *Recorder) LeaveOut(rows int, cut bool) {
	f := r.current()
	f.Left += rows
	f.Cut = f.Cut || cut
}

// current returns the current file.
func (r *Recorder) current() *File {
	if r.opened {
		return &r.rec.Files[len(r.rec.Files)-1]
	}
	return &r.file
}

// Add records the next tick. A tick that is not later than the previous one is skipped, with a
// warning for the file. It panics if the tick is of another host.
func (r *Recorder) Add(t *numa.Tick) {
	r.begin(t.Host)
	at := t.Time.Truncate(resolution).UTC()
	if wrong, ok := r.rec.accepts(at); !ok {
		r.refused.add(t.Line, at, wrong)
		r.calm.lost = true
		return
	}
	r.settle(t, at)
	keep(r.tick, t, r.calm.now)
	r.tick.Host = r.rec.Host
	r.add()
	r.tick, r.before = r.before, r.tick
	r.here, r.there = r.there, r.here
}

// begin sets the host at the first tick, and adds the file of a tick.
func (r *Recorder) begin(host string) {
	switch {
	case r.finished:
		panic("capture: a tick after the Recording")
	case !r.begun:
		r.begun, r.host, r.rec.Host = true, strings.Clone(host), valid(host)
	case r.host != host:
		panic("capture: a tick of " + host + " for the Recorder of " + r.host)
	}
	if !r.opened && r.file.Name != "" {
		r.rec.addFile(r.file)
		r.opened = true
	}
}

func (r *Recorder) add() {
	m := moment{options: &r.rec.Options, file: r.file.Name, tick: r.tick}
	var p pair
	first := r.rec.Ticks == 0
	if !first {
		p = newPair(&r.rec.Options, r.before, r.tick)
		r.rec.pair(&p)
	}
	r.rec.tick(&m)
	r.count(r.tick.Time)
	r.stated.tick(r.tick)
	for i := range r.tick.Nodes {
		t := &r.tick.Nodes[i]
		n := r.node(t.ID, i)
		if !first {
			n.rates(t, p.rates())
		}
		n.tick(&m, t)
	}
	r.here = r.here[:0]
	moves := int64(0)
	for i := range r.tick.VMs {
		t := &r.tick.VMs[i]
		if r.calm.now[i] {
			l := r.there[i]
			l.tick = r.rec.Ticks
			used := each(t, t.Used)
			l.Used.see(used, m.tick.Time)
			l.Used.last(used, m.tick.Since)
			r.here = append(r.here, l)
			continue
		}
		moves += t.Moves.All // 0 if not stated
		r.stated.vmTick(t)
		l := r.life(t, i)
		var before *numa.VMTick
		if l.tick == r.rec.Ticks-1 && !first {
			before = &r.before.VMs[l.index]
		}
		if !first {
			l.pair(&p, before, t)
		}
		l.VM.tick(&m, t)
		l.tick, l.index = r.rec.Ticks, i
		r.here = append(r.here, l)
		r.calm.next[i] = r.calm.next[i] && before != nil && before.Has == t.Has && t.Has&numa.HasUsed != 0 && !awaits(m.options, t)
	}
	r.rec.Moves.add(m.tick.Time, moves, m.options.Window)
	r.calm.passed(&p)
	if first {
		r.rec.FirstTick = clone(r.tick)
	}
}

// count counts a tick of the file.
func (r *Recorder) count(at time.Time) {
	if !r.opened {
		return
	}
	f := &r.rec.Files[len(r.rec.Files)-1]
	if f.Ticks == 0 {
		f.First = at
	}
	f.Last = at
	f.Ticks++
}

// node returns the node with an ID, which usually has the same index as in the previous tick.
func (r *Recorder) node(id, i int) *Node {
	if i < len(r.rec.Nodes) && r.rec.Nodes[i].ID == id {
		return &r.rec.Nodes[i]
	}
	i, ok := r.nodes[id]
	if !ok {
		i = len(r.rec.Nodes)
		r.nodes[id] = i
		r.rec.Nodes = append(r.rec.Nodes, newNode(id))
	}
	return &r.rec.Nodes[i]
}

// life returns the VM of a tick, which usually has the same index as in the previous tick. It
// sets the tick's name to the stored copy.
func (r *Recorder) life(t *numa.VMTick, i int) *life {
	if i < len(r.there) {
		l := r.there[i]
		if l.GID == t.GID && l.raw == t.Name && l.Nth == 0 && l.tick < r.rec.Ticks {
			t.Name = l.Name
			return l
		}
	}
	raw := t.Name
	k := key{gid: t.GID, name: raw}
	for ; ; k.nth++ {
		l := r.byKey[k]
		if l == nil {
			k.name = valid(raw)
			l = r.byKey[k]
		}
		if l == nil {
			l = &life{VM: VM{GID: t.GID, Name: k.name, Nth: k.nth}}
			r.byKey[k] = l
			r.lives = append(r.lives, l)
		}
		if l.tick < r.rec.Ticks {
			if l.raw != raw {
				l.raw = strings.Clone(raw)
			}
			t.Name = l.Name
			return l
		}
	}
}

// Recording returns the recording, or nil without any tick. The Recorder must not be used
// afterwards.
func (r *Recorder) Recording() *Recording {
	r.refused.tell(r)
	r.finished = true
	if r.rec.Ticks == 0 {
		return nil
	}
	r.record()
	rec := r.rec
	rec.LastTick = clone(r.before)
	rec.Lacks = r.stated.lacks()
	rec.Nodes = append([]Node{}, rec.Nodes...)
	rec.VMs = make([]VM, 0, len(r.lives))
	for _, l := range r.lives {
		rec.VMs = append(rec.VMs, l.VM)
	}
	rec.finish()
	return &rec
}

// A refused counts the skipped ticks of a file.
type refused struct {
	count int
	first string
}

func (f *refused) add(line int, at time.Time, wrong string) {
	f.count++
	if f.count > 1 {
		return
	}
	if line > 0 {
		f.first = fmt.Sprintf(":%d:1", line)
	}
	f.first += fmt.Sprintf(": found a tick whose time, %s, %s: it is left out", at.Format(time.RFC3339Nano), wrong)
}

// tell adds the warning about skipped ticks at the end of a file.
func (f *refused) tell(r *Recorder) {
	if f.count > 0 {
		text := r.file.Name + f.first
		if f.count > 1 {
			text += fmt.Sprintf(" (and %d more)", f.count-1)
		}
		r.Warn(text)
		r.LeaveOut(f.count, false)
	}
	*f = refused{}
}
