package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/source/word"
)

// kindNames returns the words of events, in order of the kinds.
func kindNames() []string {
	return words.Texts(numa.EventKinds(), func(k numa.EventKind) string { return k.String() })
}

func kindNamed(name string) (numa.EventKind, bool) {
	i := slices.Index(kindNames(), name)
	return numa.EventKind(max(i, 0)), i >= 0 && name != "load" && name != "talk"
}

// at stores a line about one moment: its meaning depends on earlier events.
func (p *parser) at(l *line, ws []word.Word) error {
	if len(ws) < 3 || ws[1].HasValue {
		return word.Errorf(ws[0].Col, "found no time or no event, want at 42m power-on VM")
	}
	when, err := moment(ws[1].Col, ws[1].Key, p.story.Start)
	if err != nil {
		return err
	}
	if when > p.story.Length {
		return word.Errorf(ws[1].Col, "found %s, after the end of the run at %s", word.Short(ws[1].Key), words.Short(p.story.Length))
	}
	p.events = append(p.events, atLine{
		line: *l, at: when, words: ws[2:],
		rest: strings.TrimSpace(l.text[ws[2].Col-1 : end(l.text, ws)]), note: note(l.text, ws),
	})
	return nil
}

// mostEvents bounds a story: a line with a pattern is an event for each VM. It is a variable for its test.
var mostEvents = 1_000_000

// finish sorts the lines by time and processes them from the start to the end.
func (p *parser) finish() error {
	if err := p.startLoads(); err != nil {
		return err
	}
	slices.SortStableFunc(p.events, func(a, b atLine) int { return cmp.Compare(a.at, b.at) })
	p.story.Events = nil
	st := newState(p.story)
	fixed := p.fixed
	for i := range p.events {
		l := &p.events[i]
		for len(fixed) > 0 && fixed[0].At <= min(l.at, p.story.Length) {
			p.happen(st, fixed[0])
			fixed = fixed[1:]
		}
		if l.at > p.story.Length { // the run was shortened
			break
		}
		events, err := p.event(st, l)
		if err == nil && len(p.story.Events)+len(events) > mostEvents {
			err = word.Errorf(1, "found more than %d events", mostEvents)
		}
		if err != nil {
			return l.place(err)
		}
		for _, e := range events {
			e.At, e.Text, e.Note = l.at, l.rest, l.note
			if !l.added {
				e.Line = l.number
			}
			p.happen(st, e)
		}
	}
	for _, e := range fixed {
		if e.At <= p.story.Length {
			p.happen(st, e)
		}
	}
	if err := p.story.Check(); err != nil {
		return fmt.Errorf("%s: %w", p.story.Name, err)
	}
	return nil
}

// place adds the place to an error of a word; columns of a line from an earlier text are unknown.
func (l *atLine) place(err error) error {
	if e, ok := err.(*numa.SyntaxError); ok && l.moved {
		where := l.file
		if l.number > 0 {
			where = fmt.Sprintf("%s:%d", l.file, l.number)
		}
		return fmt.Errorf("%s: at %s %s: %s", where, words.Short(l.at), word.Short(l.rest), e.Msg)
	}
	return l.located(err)
}

func (p *parser) happen(st *state, e numa.Event) {
	st.follow(&e)
	p.story.Events = append(p.story.Events, e)
}

// event converts a line to its events.
func (p *parser) event(st *state, l *atLine) ([]numa.Event, error) {
	ws := l.words
	kind := numa.EventKind(max(0, slices.Index(kindNames(), ws[0].Key)))
	switch {
	case kind.String() != ws[0].Key || ws[0].HasValue:
		if near, ok := word.Meant(ws[0].Key, kindNames()); ok {
			return nil, word.Errorf(ws[0].Col, "found %q, which is no event; is %s meant?", word.Short(ws[0].Key), near)
		}
		return nil, word.Errorf(ws[0].Col, "found %q, which is no event; want %s", word.Short(ws[0].Key), strings.Join(kindNames(), ", "))
	case kind == numa.TalkChange:
		t, err := p.talk(ws)
		return []numa.Event{{Kind: kind, Talk: &t}}, err
	case len(ws) == 1:
		return nil, word.Errorf(ws[0].Col, "found %s alone, want %s %s", kind, kind, wantAfter(kind))
	case kind == numa.LoadChange:
		return p.loadChange(st, ws)
	case kind >= numa.OptionChange:
		return p.hostEvent(st, kind, ws)
	}
	return p.vmEvent(st, kind, ws, "at "+words.Short(l.at)+" "+l.rest)
}

// wantAfter describes the words that follow the word of an event.
func wantAfter(kind numa.EventKind) string {
	switch kind {
	case numa.VMotion:
		return "VM host=HOST"
	case numa.Resize:
		return "VM vcpus=16 memory=64GB"
	case numa.HotAdd:
		return "VM vcpus=16"
	case numa.LoadChange:
		return "VM cpu=90%"
	case numa.OptionChange:
		return "HOST Numa.PageMigEnable=0"
	case numa.Maintenance, numa.LeaveMaintenance, numa.Fail, numa.Repair:
		return "HOST"
	}
	return "VM"
}

// loadChange changes the load of VMs: values not named in the line are unchanged.
func (p *parser) loadChange(st *state, ws []word.Word) (out []numa.Event, err error) {
	choices, err := p.loadLine(ws)
	if err != nil {
		return nil, err
	}
	for _, i := range inOrder(choices) {
		v := &p.story.Fleet.VMs[i]
		l := *st.vms[i].load
		if err := changeLoad(&l, ws[2:], v.Name, st.vms[i].config); err != nil {
			return nil, err
		}
		out = append(out, numa.Event{Kind: numa.LoadChange, VM: v.ID, Load: &l})
	}
	return out, nil
}

// inOrder returns the objects of the choices, each once, in the order of the fleet.
func inOrder(choices []choice) []int {
	var out []int
	for _, c := range choices {
		out = append(out, c.found...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hostEvent parses set, maintenance, leave-maintenance, fail and repair.
func (p *parser) hostEvent(st *state, kind numa.EventKind, ws []word.Word) (out []numa.Event, err error) {
	choices, err := p.hosts.choose(ws[1])
	if err != nil {
		return nil, err
	}
	options, err := options(kind, ws)
	if err != nil {
		return nil, err
	}
	for _, i := range inOrder(choices) {
		if err := st.canHost(kind, p.story.Fleet, i, ws[1].Col); err != nil {
			return nil, err
		}
		out = append(out, numa.Event{Kind: kind, Host: p.story.Fleet.Hosts[i].ID, Options: slices.Clone(options)})
	}
	return out, nil
}

// options parses the options of a set line, "Numa.PageMigEnable=0 LPage.LPageAlwaysTryForNPT=0".
func options(kind numa.EventKind, ws []word.Word) (out numa.Settings, err error) {
	for _, w := range ws[2:] {
		switch {
		case kind != numa.OptionChange:
			return nil, w.Unknown(kind.String(), nil)
		case !numa.KeepOption(w.Key):
			return nil, word.Errorf(w.Col, "found option %q, want one of Numa.*, LPage.*, Mem.* or a kernel setting about NUMA", word.Short(w.Key))
		case !w.HasValue || w.Value == "":
			return nil, word.Errorf(w.Col, "found option %s without a value", word.Short(w.Key))
		}
		// A name without similar ones may be an option missing in the rule book.
		if near, exact := alike.Of(w.Key, numa.OptionNames()); near != "" && !exact {
			return nil, word.Errorf(w.Col, "found option %s; is %s meant?", word.Short(w.Key), near)
		}
		out = out.With(w.Key, w.Value)
	}
	if kind == numa.OptionChange && out == nil {
		return nil, word.Errorf(ws[0].Col, "found no option, want set HOST Numa.PageMigEnable=0")
	}
	return out, nil
}

// vmEvent parses events of VMs. For a pattern, VMs to which the event cannot happen are skipped,
// such as those that are off already; for a VM named explicitly it is an error. where is the origin
// of the facts in the line.
func (p *parser) vmEvent(st *state, kind numa.EventKind, ws []word.Word, where string) (out []numa.Event, err error) {
	choices, err := p.vms.choose(ws[1])
	if err != nil {
		return nil, err
	}
	target, col, link, dirty, err := p.target(kind, ws)
	if err != nil {
		return nil, err
	}
	named := map[int]bool{}
	for _, c := range choices {
		for _, i := range c.found {
			named[i] = named[i] || c.width == byItsName
		}
	}
	var first error
	for _, i := range inOrder(choices) {
		if err := st.can(kind, p.story.Fleet, i, target, cmp.Or(col, ws[1].Col)); err != nil {
			if named[i] {
				return nil, err
			}
			first = cmp.Or(first, err)
			continue
		}
		e := numa.Event{Kind: kind, VM: p.story.Fleet.VMs[i].ID, Link: link, Dirty: dirty}
		if target >= 0 {
			e.Host = p.story.Fleet.Hosts[target].ID
		}
		if kind == numa.Resize || kind == numa.HotAdd {
			if e.Config, err = resized(kind, &p.story.Fleet.VMs[i], st.vms[i].config, ws[2:], where); err != nil {
				return nil, err
			}
		}
		out = append(out, e)
	}
	if out == nil {
		return nil, first
	}
	return out, nil
}

// target returns the host of a power-on or vMotion, -1 for none, and the column of its word; for a
// vMotion also the rates of its network and of the guest's writes, in bytes a second.
func (p *parser) target(kind numa.EventKind, ws []word.Word) (host, col int, link, dirty numa.Bytes, err error) {
	host = -1
	if kind == numa.Resize || kind == numa.HotAdd {
		if len(ws) == 2 {
			err = word.Errorf(ws[0].Col, "found nothing to change, want %s %s", kind, wantAfter(kind))
		}
		return
	}
	var known []string
	switch kind {
	case numa.PowerOn:
		known = []string{"host"}
	case numa.VMotion:
		known = []string{"host", "link", "dirty"}
	}
	dirtyCol := 0
	err = each(ws[2:], kind.String(), known, func(w word.Word) (err error) {
		switch w.Key {
		case "link":
			link, err = rate(w)
		case "dirty":
			dirtyCol = w.Col
			dirty, err = rate(w)
		default:
			col = w.Col
			host, err = p.hosts.one(w, w.Value, w.Col)
		}
		return err
	})
	switch {
	case err != nil:
	case kind == numa.VMotion && host < 0:
		err = word.Errorf(ws[0].Col, "found no host=, want vmotion VM host=HOST")
	case dirty > 0 && link == 0:
		err = word.Errorf(dirtyCol, "found dirty= without link=: the time of a vMotion follows from both")
	}
	return
}

// rate parses traffic, link=25Gbps or dirty=300MB/s, as bytes a second.
func rate(w word.Word) (numa.Bytes, error) {
	r, err := unit.ParseBitRate(w.Value)
	if err != nil {
		return 0, word.Errorf(w.Col, "%s: %v", w.Key, err)
	}
	return max(1, numa.Bytes(r/unit.BytePerSecond)), nil
}
