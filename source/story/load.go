package story

import (
	"cmp"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// loadWords are the words of a load.
var loadWords = []string{"cpu", "peak", "noise", "memory", "over", "active", "zero", "common", "image", "asksLarge", "workload"}

// load stores a load line of the start: all are needed to decide which applies to a VM.
func (p *parser) load(l *line, ws []word.Word) error {
	choices, err := p.loadLine(ws)
	if err == nil {
		p.loads = append(p.loads, loadLine{*l, ws[2:], choices})
	}
	return err
}

// loadLine parses "load web*,db01 WORD=VALUE …" and validates the words.
func (p *parser) loadLine(ws []word.Word) ([]choice, error) {
	if len(ws) < 3 {
		return nil, word.Errorf(ws[0].Col, "found no VM or nothing of its load, want load VM cpu=20%% …")
	}
	choices, err := p.vms.choose(ws[1])
	if err != nil {
		return nil, err
	}
	for _, w := range ws[2:] {
		if err := value(w, "load", loadWords); err != nil {
			return nil, err
		}
	}
	return choices, nil
}

// startLoads sets the loads of VMs at the start. Lines about all VMs come first, then those with a
// pattern, then those that name a VM, each kind in its order: each changes the values it names.
func (p *parser) startLoads() error {
	type step struct {
		width  width
		line   *loadLine
		choice *choice
	}
	var steps []step
	for i := range p.loads {
		for j := range p.loads[i].choices {
			c := &p.loads[i].choices[j]
			steps = append(steps, step{c.width, &p.loads[i], c})
		}
	}
	if len(steps) == 0 {
		return nil
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.width, b.width) })
	loads := map[string]numa.Load{}
	for _, l := range p.story.Loads {
		loads[l.VM] = l.Load
	}
	for _, s := range steps {
		for _, i := range s.choice.found {
			v := &p.story.Fleet.VMs[i]
			l, ok := loads[v.ID]
			if !ok {
				l = p.story.Unstated.Value
			}
			if err := changeLoad(&l, s.line.words, v.Name, &v.Config); err != nil {
				return s.line.located(err)
			}
			loads[v.ID] = l
		}
	}
	p.story.Loads = p.story.Loads[:0]
	for i := range p.story.Fleet.VMs {
		if l, ok := loads[p.story.Fleet.VMs[i].ID]; ok {
			p.story.Loads = append(p.story.Loads, numa.VMLoad{VM: p.story.Fleet.VMs[i].ID, Load: l})
		}
	}
	return nil
}

// changeLoad changes the values named in the words. cpu= is the whole demand: without peak= and
// noise=, these return to their defaults. memory= without over= is touched at once.
func changeLoad(l *numa.Load, ws []word.Word, vm string, c *numa.Config) (err error) {
	cols := map[string]int{}
	for _, w := range ws {
		cols[w.Key] = w.Col
	}
	for _, w := range ws { // resets by a word, before any word sets a value
		switch w.Key {
		case "cpu":
			l.CPU = numa.Demand{Peak: defaultPeak}
		case "memory":
			l.Over = 0
		}
	}
	for _, w := range ws {
		if err := loadWord(l, w, vm, c); err != nil {
			return err
		}
	}
	switch {
	case cols["peak"] > 0 && l.CPU.Low == l.CPU.High:
		return word.Errorf(cols["peak"], "found peak= of a load that is always the same, want cpu=5..60%%")
	case cols["over"] > 0 && cols["memory"] == 0:
		return word.Errorf(cols["over"], "found over= without memory=, which is what grows")
	case l.Common > 0 && l.Image == "":
		return word.Errorf(cmp.Or(cols["common"], cols["image"]), "found common= without image=, the name of what VMs have in common")
	case l.Zero+l.Common > 1:
		return word.Errorf(cmp.Or(cols["common"], cols["zero"]), "found more than 100%% of pages that are zero or common")
	}
	return nil
}

func loadWord(l *numa.Load, w word.Word, vm string, c *numa.Config) (err error) {
	switch w.Key {
	case "cpu":
		l.CPU.Low, l.CPU.High, err = demand(w)
	case "peak":
		var ok bool
		if l.CPU.Peak, ok = clock(w.Value); !ok {
			err = word.Errorf(w.Col, "found peak=%q, want a time of day such as 14:00", word.Short(w.Value))
		}
	case "noise":
		l.CPU.Noise, err = w.Share(w.Value, 1)
	case "memory":
		l.Memory, err = touched(w, vm, c)
	case "over":
		l.Over, err = duration(w.Col, w.Value)
	case "active":
		l.Active, err = w.Share(w.Value, 1)
	case "zero":
		l.Zero, err = w.Share(w.Value, 1)
	case "common":
		l.Common, err = w.Share(w.Value, 1)
	case "image":
		if l.Image = w.Value; w.Value == "none" {
			l.Image, l.Common = "", 0
		}
	case "asksLarge":
		l.AsksLarge, err = w.Share(w.Value, 1)
	case "workload":
		l.Workload, err = workload(w)
	default:
		err = w.Unknown("load", loadWords)
	}
	return err
}

// workload parses a class of the cost model, ignoring case.
func workload(w word.Word) (string, error) {
	name := strings.ToLower(w.Value)
	if slices.Contains(numa.Workloads, name) {
		return name, nil
	}
	if near, ok := word.Meant(name, numa.Workloads); ok {
		return "", word.Errorf(w.Col, "found workload=%s, is %s meant?", word.Short(w.Value), near)
	}
	return "", word.Errorf(w.Col, "found workload=%s, want one of %s", word.Short(w.Value), strings.Join(numa.Workloads, ", "))
}

// demand parses "20%" or "5..60%", of each vCPU.
func demand(w word.Word) (low, high float64, err error) {
	from, to, curve := strings.Cut(w.Value, "..")
	if curve && !strings.HasSuffix(from, "%") {
		from += "%"
	}
	if low, err = w.Share(from, 1); err != nil || !curve {
		return low, low, err
	}
	if high, err = w.Share(to, 1); err == nil && low > high {
		err = word.Errorf(w.Col, "found cpu=%s, want the lesser first", word.Short(w.Value))
	}
	return low, high, err
}

// touched parses "24GB", "80%" of the configured memory, or "all".
func touched(w word.Word, vm string, c *numa.Config) (numa.Bytes, error) {
	if strings.EqualFold(w.Value, "all") {
		return -1, nil
	}
	if w.Value == "0" {
		return 0, nil
	}
	if strings.HasSuffix(w.Value, "%") {
		part, err := w.Share(w.Value, 1)
		if err == nil && !c.Memory.Known() {
			err = word.Errorf(w.Col, "found memory=%s of %s, whose memory is unknown", w.Value, vm)
		}
		return numa.Bytes(part * float64(c.Memory.Value)), err
	}
	b, err := w.Bytes(w.Value, numa.MaxVMMemory)
	if err != nil {
		return 0, word.Errorf(w.Col, "found memory=%q, want memory such as 24GB, a share of what is configured such as 80%%, or all", word.Short(w.Value))
	}
	if c.Memory.Known() && b > c.Memory.Value {
		return 0, word.Errorf(w.Col, "found memory=%s, more than the %s of %s", w.Value, c.Memory.Value, vm)
	}
	return b, nil
}
