package report

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"homenode/numa"
	"homenode/output/draw/svg"
	"homenode/output/draw/topo"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// verdictOf answers the question of the page in one sentence; rest says what that
// leaves open.
func verdictOf(r *rules.Result) (verdict, rest string) {
	vms, hosts := worstOf(r)
	high, medium := vms[finding.High], vms[finding.Medium]
	judged := plural(r.VMs, "VM")
	switch {
	case r.VMs == 0:
		verdict = "No VM could be judged."
	case high == 0 && medium == 0:
		verdict = fmt.Sprintf("None of %s loses anything to NUMA that settings could avoid.", judged)
	case high == 0:
		verdict = fmt.Sprintf("None of %s loses much to NUMA; %s a little, or will after a move.", judged, verb(medium, "loses", "lose"))
	case medium == 0:
		verdict = verb(high, "of "+judged+" loses", "of "+judged+" lose") + " to NUMA."
	default:
		verdict = fmt.Sprintf("%s to NUMA; %s a little, or will after a move.", verb(high, "of "+judged+" loses", "of "+judged+" lose"), verb(medium, "more loses", "more lose"))
	}
	var parts []string
	if fine := r.VMs - high - medium; high+medium > 0 && fine > 0 {
		parts = append(parts, fmt.Sprintf("The other %s nothing urgent.", verb(fine, "needs", "need")))
	}
	if n := hosts[finding.High] + hosts[finding.Medium]; n > 0 {
		parts = append(parts, fmt.Sprintf("%s findings of medium or high severity.", verb(n, "host itself has", "hosts themselves have")))
	}
	if n := len(r.Fleet.VMs) - r.VMs - templates(r.Fleet); n > 0 {
		parts = append(parts, fmt.Sprintf("%s could not be judged: see the notes.", plural(n, "VM")))
	}
	return verdict, strings.Join(parts, " ")
}

// verb returns "1 loses" or "1,204 lose".
func verb(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// worstOf counts VMs and hosts by the severity of the worst finding about each.
func worstOf(r *rules.Result) (vms, hosts [finding.High + 1]int) {
	seen := map[string]bool{}
	for i := range r.Findings { // highest severity first
		f := &r.Findings[i]
		switch {
		case f.VMID != "" && !seen["vm "+f.VMID]:
			seen["vm "+f.VMID] = true
			vms[f.Severity]++
		case f.VMID == "" && !seen["host "+f.HostID]:
			seen["host "+f.HostID] = true
			hosts[f.Severity]++
		}
	}
	return vms, hosts
}

func templates(f *numa.Fleet) int {
	n := 0
	for i := range f.VMs {
		if f.VMs[i].Template.Or(false) {
			n++
		}
	}
	return n
}

// htmlDrawing is a drawing with what it stands for.
type htmlDrawing struct {
	ID    string
	About string
	SVG   template.HTML
}

// draw draws one host of each kind and the VMs with findings of high severity. It
// returns the drawings' IDs by VM.
func (p *htmlReport) draw(r *rules.Result, o HTMLOptions) (map[string]string, error) {
	for _, c := range r.Clusters {
		for _, k := range c.Kinds {
			if len(p.Kinds) == o.MostHosts {
				p.KindsCut++
				continue
			}
			h := tellingHost(r, k)
			about := ClusterTitle(c) + ": the only host of its kind"
			if n := len(k.Hosts); n > 1 {
				about = fmt.Sprintf("%s: one of %s hosts of its kind (%s)", ClusterTitle(c), thousands(n), rule.HostNames(k.Hosts))
			}
			d, err := drawingOf(topo.OfHost(r, h), about)
			if err != nil {
				return nil, err
			}
			p.Kinds = append(p.Kinds, d)
		}
	}
	vms := map[string]*rule.VM{}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			vms[v.ID] = v
		}
	}
	drawn := map[string]string{}
	for i := range r.Findings {
		f := &r.Findings[i]
		v := vms[f.VMID]
		if f.Severity < finding.High || v == nil || drawn[v.ID] != "" {
			continue
		}
		if len(p.Drawn) == o.MostVMs {
			delete(vms, v.ID) // counted once
			p.DrawnCut++
			continue
		}
		d, err := drawingOf(topo.OfVM(v, faultyHost(v)), f.Rule+": "+f.Title)
		if err != nil {
			return nil, err
		}
		p.Drawn = append(p.Drawn, d)
		drawn[v.ID] = d.ID
	}
	return drawn, nil
}

func drawingOf(d *topo.Drawing, about string) (htmlDrawing, error) {
	var b bytes.Buffer
	err := svg.Draw(&b, d, svg.Options{Inline: true})
	return htmlDrawing{d.ID, about, template.HTML(b.String())}, err
}

// tellingHost returns the host of the kind with the most findings of high
// severity, the first of equals.
func tellingHost(r *rules.Result, k *rule.Kind) *numa.Host {
	high := map[string]int{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity == finding.High {
			high[f.HostID]++
		}
	}
	best := k.Hosts[0]
	for _, h := range k.Hosts {
		if high[h.ID] > high[best.ID] {
			best = h
		}
	}
	return best
}

// faultyHost returns a host on which the VM's fault shows, its own when it does
// there.
func faultyHost(v *rule.VM) *numa.Host {
	on := &v.On[0]
	for i := range v.On {
		l := &v.On[i].Layout
		_, spans := l.Spanning()
		if spans || l.Memory.Remote > 0 || l.Wide() && !l.GuestSeesNUMA() {
			on = &v.On[i]
			break
		}
	}
	if on.Kind == v.Home {
		return v.Host
	}
	return on.Kind.Hosts[0]
}
