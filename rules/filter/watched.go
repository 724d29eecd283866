package filter

import (
	"fmt"
	"slices"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// Watched returns the matching part of assessed recordings. Filters by clusters, folders, tags
// and conditions need the inventory, because a recording does not contain these. Findings about
// matching objects that the filter hides are muted, so that no verdict contradicts them.
func (f *Filter) Watched(w *rules.Watched) (*rules.Watched, error) {
	if f == nil {
		return w, nil
	}
	if w.Fleet == nil && (f.cluster != nil || f.folder != nil || f.tag != nil || f.condition != nil) {
		return nil, fmt.Errorf("%s: recordings state neither cluster nor folder, tag or setting: give the inventory with --fleet", f)
	}
	f.condition.Reset()
	out := *w
	out.Filter, out.Recordings, out.Joined, out.Muted = f.String(), nil, map[*capture.VM]*rule.VM{}, nil
	part := f.partOf(w, &out)
	if err := f.condition.Err(); err != nil {
		return nil, fmt.Errorf("--select: %w", err)
	}
	strange := f.stranger(func() names { return namesRecorded(w) })
	if len(out.Recordings) == 0 {
		return nil, nothing("no VM or host of the recordings matches "+f.String()+f.condition.Unknown(), strange)
	}
	keep := func(x *finding.Finding) bool {
		return part.has(x) && f.finding(x) && (x.VM != "" || !f.aboutVMs())
	}
	out.Judgement = f.judgement(&w.Judgement, keep)
	mute := func(x *finding.Finding) {
		if part.has(x) && !keep(x) {
			out.Muted = append(out.Muted, rules.Muted{Finding: *x, Why: rules.MutedFilter})
		}
	}
	for i := range w.Findings {
		mute(&w.Findings[i])
	}
	for i := range w.Suppressed {
		mute(&w.Suppressed[i].Finding)
	}
	for _, m := range w.Muted {
		if part.has(&m.Finding) {
			out.Muted = append(out.Muted, m)
		}
	}
	out.Notes = slices.DeleteFunc(slices.Clone(w.Notes), func(n numa.Note) bool { return part.leftOut(n.At) })
	if text := f.condition.Unknown(); text != "" {
		out.Notes = append(out.Notes, numa.Note{Text: "--select" + text})
	}
	if strange != nil {
		out.Notes = append(out.Notes, numa.Note{Text: strange.Error()})
	}
	return &out, nil
}

// partOf fills out with the matching recordings of w.
func (f *Filter) partOf(w, out *rules.Watched) *recorded {
	part := &recorded{all: w.Recordings, vms: map[life]bool{}, hosts: map[string]bool{}}
	for _, rec := range w.Recordings {
		one := *rec
		one.VMs = nil
		var joined []*rule.VM
		for i := range rec.VMs {
			v := &rec.VMs[i]
			if in := w.Joined[v]; f.recorded(rec, v, in, w) {
				one.VMs, joined = append(one.VMs, *v), append(joined, in)
				part.vms[life{rec.Host, v.Name, v.GID, v.Nth}] = true
			}
		}
		for i, in := range joined {
			if in != nil {
				out.Joined[&one.VMs[i]] = in
			}
		}
		if len(one.VMs) > 0 || f.host.Allow(rec.Host) && f.cluster == nil && !f.aboutVMs() {
			out.Recordings = append(out.Recordings, &one)
			part.hosts[rec.Host] = true
		}
	}
	return part
}

// A life identifies a recorded VM.
type life struct {
	host, vm string
	gid      int64
	nth      int
}

// recorded is the matching part of recordings.
type recorded struct {
	all   []*capture.Recording
	vms   map[life]bool
	hosts map[string]bool // by the names of recordings
}

// has reports whether the finding is about a matching VM or host, or about the host of a
// matching VM.
func (r *recorded) has(x *finding.Finding) bool {
	host := x.Host
	if !slices.ContainsFunc(r.all, func(rec *capture.Recording) bool { return rec.Host == host }) { // the inventory has another name for it
		if i := slices.IndexFunc(r.all, func(rec *capture.Recording) bool { return numa.SameHost(rec.Host, host) }); i >= 0 {
			host = r.all[i].Host
		}
	}
	if x.VM != "" {
		return r.vms[life{host, x.VM, x.GID, x.Nth}]
	}
	return r.hosts[host]
}

// leftOut reports whether this is a host that does not match.
func (r *recorded) leftOut(host string) bool {
	return !r.hosts[host] && slices.ContainsFunc(r.all, func(rec *capture.Recording) bool { return rec.Host == host })
}

// recorded reports whether a recorded VM matches; in is its assessment in the inventory, or
// nil.
func (f *Filter) recorded(rec *capture.Recording, v *capture.VM, in *rule.VM, w *rules.Watched) bool {
	names := recordedNames(rec, v)
	if in == nil {
		return f.host.Allow(rec.Host) && f.vm.Named(names[0], names[1:]...) && f.cluster == nil && f.folder == nil && f.tag == nil && f.condition == nil
	}
	cluster := w.Fleet.Fleet.ClusterName(in.Cluster)
	return f.host.Allow(rec.Host) && f.vm.Named(v.Name, append(names, in.ID, cluster+"/"+v.Name)...) && f.cluster.Allow(cluster) &&
		f.folder.Allow(in.Folder) && f.tag.Allow(labels(in.VM)...) && f.condition.Holds(in.VM, cluster, in.Host)
}

// recordedNames returns the names of a recorded VM.
func recordedNames(rec *capture.Recording, v *capture.VM) []string {
	return []string{v.Name, v.Distinct(), rec.Host + "/" + v.Name, rec.Host + "/" + v.Distinct()}
}
