package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/size"
	"example.org/homenode/size/fit"
)

// Room returns the answer how many more VMs of a shape fit on the hosts of a cluster.
func Room(c *Context, r *fit.Free) *answer.Answer {
	out := &answer.Answer{Command: "size fit", Result: r}
	out.Question = fmt.Sprintf("size fit: room for VMs of %s in %s, %s", &r.Shape, c.Cluster.Name, c.Source)
	var hosts []fit.Outcome // for the assumptions about their reserves
	for i := range r.Hosts {
		hosts = append(hosts, fit.Outcome{Reserve: r.Hosts[i].Nodes[0].Reserve})
	}
	out.Assumed = append(c.assumed([]fit.Shape{r.Shape}, hosts), answer.Assumption{What: "home nodes now", Value: "predicted", Origin: unit.Assumed, Source: "C-4", Note: "VMs placed in the order of the inventory, all memory touched; another order can leave more room"})
	line := fmt.Sprintf("%s with all memory local, at up to %s", words.Verb(r.Total, "more VM of "+r.Shape.Name+" fits", "more VMs of "+r.Shape.Name+" fit"), c.ratio())
	switch {
	case len(r.Failed) == 0:
	case r.Homeless > 0:
		line += "; none safely: " + Homeless(r)
	default:
		has := "has"
		if len(r.Failed) > 1 {
			has = "have"
		}
		line += fmt.Sprintf("; %d when %s %s failed", r.WithFailed, strings.Join(r.Failed, ", "), has)
	}
	out.Verdict = []string{line + ".", c.limits(r)}
	if c.Cluster.Away > 0 {
		out.Verdict = append(out.Verdict, fmt.Sprintf("This is the room of %s: %s on hosts that the source does not describe.", words.Plural(len(c.Cluster.Hosts), "host"), words.Verb(c.Cluster.Away, "VM runs", "VMs run")))
	}
	t := answer.Table{
		Name: "room", Columns: size.Columns("host", "type", ">VMs now", ">more", "binds", "free vCPUs of nodes", "free memory of nodes"),
		Foot: []string{bindsFoot + " OVER: vCPUs of its VMs beyond the limit."},
	}
	listed := slices.Clone(r.Hosts)
	if len(listed) > mostHosts && !c.Details {
		slices.SortStableFunc(listed, func(a, b fit.HostFree) int { return cmp.Compare(b.More, a.More) })
		t.Title = fmt.Sprintf("the %d hosts with most room, of %d (--details)", mostHosts, len(listed))
		listed = listed[:mostHosts]
	}
	for _, h := range listed {
		t.Add(roomRow(&h)...)
	}
	out.Tables = []answer.Table{t}
	out.Drawings = c.room(r, line)
	out.Note(roomLocalAs(r)...)
	if r.Homeless > 0 {
		out.Note("hosts also run VMs with remote memory: " + c.remote(r.Failed[0]) + " that")
	}
	if r.Unspared > 0 {
		out.Note(words.Plural(r.Unspared, "host") + " without enough other hosts in the same cluster: no failure is counted there, since VMs restart only in their cluster")
	}
	out.Note(r.Notes...)
	c.sourceNotes(out)
	return out
}

// remote names the commands that accept remote memory after the failure of a host; optimise has one cluster.
func (c *Context) remote(failed string) string {
	assess := words.Command(slices.Concat([]string{"homenode", "assess"}, c.Words, []string{"--what-if", "lose-host=" + failed})...)
	if c.Cluster.Apart > 1 || c.Cluster.Alone > 0 {
		return assess + " accepts"
	}
	return assess + " and " + words.Command(slices.Concat([]string{"homenode", "optimise"}, c.Words, []string{"--cluster", c.Cluster.Name, "--n-plus-1"})...) + " accept"
}

// Homeless describes the failure after which no other host has room for some VMs with all their memory local.
func Homeless(r *fit.Free) string {
	when := strings.Join(r.Failed, ", ") + " fails, "
	whose := "of its VMs"
	if len(r.Failed) > 1 {
		when, whose = strings.Join(r.Failed, ", ")+" fail, ", "of their VMs"
	}
	return "if " + when + words.Verb(r.Homeless, whose+", placed as ESXi does, finds", whose+", placed as ESXi does, find") + " no other host with all memory local and enough vCPUs"
}

// limits names the limits that one more VM exceeds, and on how many hosts.
func (c *Context) limits(r *fit.Free) string {
	var parts []string
	for _, limit := range []struct {
		binds fit.Limit
		text  string
	}{{fit.Memory, "memory"}, {fit.Cores, c.ratio()}, {fit.Both, c.ratio() + " and memory"}} {
		n := 0
		for i := range r.Hosts {
			if r.Hosts[i].Binds == limit.binds {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s on %s", limit.text, words.Plural(n, "host")))
		}
	}
	if parts == nil {
		return "No host can run it."
	}
	return "The limit is " + strings.Join(parts, ", ") + "."
}

// roomLocalAs describes how to configure the VMs where they are not local by default.
func roomLocalAs(r *fit.Free) []string {
	var all grouped
	for i := range r.Hosts {
		if h := &r.Hosts[i]; h.LocalAs != nil {
			all.add(h.Host, fmt.Sprintf("%s is local as %s (%s), 0 by default, on %%s", escaped(r.Shape.Name), h.LocalAs, h.LocalAs.Rule), 1)
		}
	}
	return all.lines()
}

// mostHosts is the maximum number of hosts listed without --details.
const mostHosts = 16

// roomRow returns the row of one host.
func roomRow(h *fit.HostFree) []string {
	var vcpus, memory []string
	for _, n := range h.Nodes {
		free := fmt.Sprint(n.RestVCPUs)
		if n.RestVCPUs < 0 {
			free = fmt.Sprintf("0 (%d over)", -n.RestVCPUs)
		}
		vcpus, memory = append(vcpus, free), append(memory, whole(n.RestMemory))
	}
	binds := string(h.Binds)
	if h.Why != "" {
		binds = h.Why
	}
	return []string{h.Host, h.Type, fmt.Sprint(h.VMs), fmt.Sprint(h.More), binds, strings.Join(vcpus, ", "), strings.Join(memory, ", ")}
}
