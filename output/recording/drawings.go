package recording

import (
	"fmt"
	"strings"

	"example.org/homenode/capture"
	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/timeline"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	verdict "example.org/homenode/rules/verdict/recording"
)

// mostHosts and mostDrawn are the maximum numbers of hosts and VMs that a page draws.
const (
	mostHosts = 24
	mostDrawn = 20
)

// drawings returns the drawings of a page: the hosts and the VMs with findings, the worst
// first. It records them in r.drawn.
func (r *report) drawings() []answer.Drawing {
	o := r.drawing()
	var hosts, vms []answer.Drawing
	matter := r.Weighted(0)
	if r.o.VM != "" {
		matter = r.Weighted(len(r.VMs))
	}
	for _, rec := range r.WeightedHosts()[:min(len(r.Recordings), mostHosts)] {
		r.drawn[timeline.HostID(rec)] = true
		hosts = append(hosts, drawnHost(rec, o))
	}
	left := 0
	for _, v := range matter {
		if s, _ := v.Worst(); s == finding.Info && r.o.VM == "" {
			continue
		}
		if len(vms) == mostDrawn {
			left++
			continue
		}
		r.drawn[timeline.VMID(v.Rec, v.VM)] = true
		about := v.Label
		if n := len(v.Findings); n > 0 {
			about = v.Findings[0].Rule + ": " + v.Findings[0].Title
			if n > 1 {
				about += ", and " + words.Plural(n-1, "more finding")
			}
		}
		vms = append(vms, drawnVM(v, about, o))
	}
	group(hosts, "Hosts over time", "How busy the cores of each NUMA node were, its free memory, and the home nodes of VMs: those with findings, then those with the most remote memory.",
		len(r.Recordings)-len(hosts), "more host is", "more hosts are")
	group(vms, "VMs over time", "Home nodes, N%L, local and remote memory, migrations and waiting time of the VMs with findings, the worst first.", left,
		"more VM with findings is", "more VMs with findings are")
	return append(hosts, vms...)
}

// group adds a heading to drawings, and a sentence with the number of omitted ones.
func group(all []answer.Drawing, heading, lead string, left int, one, many string) {
	if len(all) == 0 {
		return
	}
	all[0].Heading, all[0].Lead = heading, lead
	if left > 0 {
		all[len(all)-1].Cut = words.Verb(left, one, many) + " not drawn here: the table names all."
	}
}

func drawnHost(rec *capture.Recording, o timeline.Options) answer.Drawing {
	return answer.Drawing{About: rec.Host, Wide: true, Picture: func() *picture.Picture { return timeline.Host(rec, o) }}
}

func drawnVM(v *verdict.VM, about string, o timeline.Options) answer.Drawing {
	return answer.Drawing{About: about, Wide: true, Picture: func() *picture.Picture { return timeline.VM(v.Rec, v.VM, o) }}
}

// drawing returns the options of drawings. A simulation has the events of the story and the
// performance index.
func (r *report) drawing() timeline.Options {
	o := timeline.Options{Findings: r.Findings, Label: func(v *capture.VM) string { return r.lives[v].Label }, Blind: func(v *capture.VM) bool { return r.lives[v].Blind }}
	if r.sim == nil {
		return o
	}
	o.Simulated, o.Moment = true, r.o.Moment
	o.Events, o.Speed = r.sim.Events, r.sim.LifeSpeed
	return o
}

// CaptureDrawing returns the drawing of one recorded host or VM over time, with its findings.
// The name of a VM is that in tables, optionally with its host: esx07/sql01. The name can be
// empty if there is one host.
func CaptureDrawing(w *rules.Watched, name string) (*answer.Answer, error) {
	r := newReport(verdict.Of(w), nil, Options{})
	return r.one("capture", name)
}

// one returns the answer with the drawing of one host or VM.
func (r *report) one(command, name string) (*answer.Answer, error) {
	o := r.drawing()
	var names, found []string
	var drawing answer.Drawing
	take := func(full string, d answer.Drawing) { found, drawing = append(found, full), d }
	for _, rec := range r.Recordings {
		names = append(names, rec.Host)
		if name == rec.Host || name == "" {
			take(rec.Host, drawnHost(rec, o))
		}
	}
	for _, v := range r.VMs {
		full := v.Rec.Host + "/" + v.Label
		names = append(names, v.Label)
		if name == v.Label || name == full || name == v.Name || name == v.Rec.Host+"/"+v.Name {
			take(full, drawnVM(v, full, o))
		}
	}
	seen := r.Words.Seen
	switch {
	case len(found) == 1:
		return &answer.Answer{Command: command, Drawings: []answer.Drawing{drawing}}, nil
	case len(found) > 1 && name == "":
		return nil, fmt.Errorf("%d hosts were %s: name one with --vm: %s", len(found), seen, strings.Join(found[:min(len(found), 10)], ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("%q could be each of %s", name, strings.Join(found, ", "))
	case name == "":
		return nil, fmt.Errorf("no host was %s", seen)
	}
	return nil, fmt.Errorf("no host or VM %q was %s%s", name, seen, alike.After(name, names))
}
