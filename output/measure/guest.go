// Package measure has the answers of homenode measure: words, tables and drawings of a
// measured.Result.
package measure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// Answer returns the result as an answer. Its JSON is the file of measured.Write.
func Answer(r *measured.Result) *answer.Answer {
	a := &answer.Answer{Command: "measure", Title: title(r), Verdict: verdict(r), Facts: facts(r), Result: r}
	a.Tables = slices.DeleteFunc([]answer.Table{compared(r), nodes(r), caches(r), levels(r), matrix("latency", "Latency from node to node (ns)", r.Latency), matrix("bandwidth", "Read bandwidth from node to node (GB/s)", r.Bandwidth),
		threads(r), loaded(r), pairs(r), groups(r), steps(r), checks(r), missing(r)}, func(t answer.Table) bool { return len(t.Rows) == 0 })
	a.Drawings = drawings(r)
	for _, reason := range r.Trust.Reasons {
		a.Note(reason)
	}
	if r.Cores != nil && r.Cores.Note != "" {
		a.Note(r.Cores.Note)
	}
	if !r.Trust.OK {
		a.Next = append(a.Next, "homenode measure")
	}
	return a
}

func title(r *measured.Result) string {
	if r.Name != "" {
		return "Measured in " + r.Name
	}
	return "Measured in this guest"
}

// verdict describes the topology in the guest, the measured latencies, and their reliability.
func verdict(r *measured.Result) []string {
	out := []string{sees(r)}
	if s := memory(r); s != "" {
		out = append(out, s)
	}
	if r.Hidden != nil {
		out = append(out, r.Hidden.Says)
		if r.Hidden.Probability > 0 {
			out = append(out, simulated(r.Hidden))
		}
	}
	if len(r.Compared) > 0 {
		out = append(out, predicted(r))
	}
	if !r.Trust.OK {
		why := "see the notes"
		if len(r.Trust.Reasons) > 0 {
			why = r.Trust.Reasons[0]
		}
		out = append(out, "Do not rely on these figures: "+why+".")
	}
	return out
}

// predicted compares the guest with the prediction, in one sentence.
func predicted(r *measured.Result) string {
	count := map[string]int{}
	for _, c := range r.Compared {
		count[c.Verdict]++
	}
	s := fmt.Sprintf("As predicted: %d of %d", count[measured.Agrees], len(r.Compared))
	if n := count[measured.Differs]; n > 0 {
		s += fmt.Sprintf("; %d differ", n)
	}
	if n := count[measured.NotSeen]; n > 0 {
		s += fmt.Sprintf("; %d cannot be seen from inside", n)
	}
	return s + "."
}

// sees describes the topology of the kernel, in one sentence.
func sees(r *measured.Result) string {
	t := &r.Machine.Topology
	online := words.Count(t.Processors, func(p machine.Processor) bool { return p.Online })
	s := fmt.Sprintf("The guest sees %s with %s", nodesText(t), words.Plural(online, "vCPU"))
	if t.Sockets > 0 {
		s += " in " + words.Plural(t.Sockets, "socket")
	}
	if t.ThreadsPerCore > 1 {
		s += fmt.Sprintf(", %d threads a core", t.ThreadsPerCore)
	}
	return s + "."
}

func nodesText(t *machine.Topology) string {
	if len(t.Nodes) == 0 {
		return "no NUMA nodes"
	}
	only := words.Count(t.Nodes, func(n machine.Node) bool { return n.MemoryOnly })
	s := words.Plural(len(t.Nodes), "NUMA node")
	if only > 0 {
		s += fmt.Sprintf(" (%d without processors)", only)
	}
	return s
}

// memory describes the speed of memory, in one sentence; "" if it was not measured.
func memory(r *measured.Result) string {
	local, far := r.MemoryLatency()
	if len(local) == 0 {
		return ""
	}
	s := "A load from memory takes " + between(local)
	if len(far) > 0 {
		s = "A load from the own node takes " + between(local) + ", from another one " + between(far)
	}
	return s + "."
}

// between formats a range of latencies in ns.
func between(ns []float64) string {
	low, high := fmt.Sprintf("%.0f", slices.Min(ns)), fmt.Sprintf("%.0f", slices.Max(ns))
	if low == high {
		return low + " ns"
	}
	return low + " to " + high + " ns"
}

func facts(r *measured.Result) []answer.Fact {
	id := &r.Machine.Identity
	var out []answer.Fact
	add := func(name, text string) {
		if text != "" {
			out = append(out, answer.Fact{Name: name, Text: text})
		}
	}
	add("machine", words.Join(" · ", id.CPU, id.OS, id.Kernel, hypervisor(id)))
	if c := r.Clock; c != nil {
		s := fmt.Sprintf("%s at %s", c.Counter, unit.Hz(c.CounterHz))
		if c.CoreHzHigh > 0 {
			s += fmt.Sprintf(" · core at %s to %s", unit.Hz(c.CoreHzLow), unit.Hz(c.CoreHzHigh))
		}
		add("clock", s)
	}
	add("limits", strings.Join(r.Machine.Limits.Partial, "; "))
	if t := &r.Machine.Topology; t.Possible > len(t.Processors) || t.HotAddMemory > 0 {
		add("hot add", hotAdd(t))
	}
	if l := r.Lost; l != nil {
		add("time lost", fmt.Sprintf("%s to the host or interrupts, %s to other threads of the guest, in %s watched; steal says %s",
			unit.Share(l.ByHost), unit.Share(l.ByGuest), unit.Seconds(l.Seconds), unit.Share(l.Steal)))
	}
	add("measured", fmt.Sprintf("%s · %s · %.0f s", r.Started.Format("2006-01-02 15:04 MST"), r.Profile, r.Seconds))
	return out
}

func hypervisor(id *machine.Identity) string {
	switch {
	case id.Hypervisor.Known():
		return "guest of " + id.Hypervisor.Value
	case id.Virtualised.Known() && !id.Virtualised.Value:
		return "no guest: the machine itself"
	}
	return ""
}

// hotAdd describes signs of hot add. With CPU hot add ESXi hides NUMA from the guest.
func hotAdd(t *machine.Topology) string {
	var out []string
	if t.Possible > len(t.Processors) {
		out = append(out, fmt.Sprintf("the kernel is prepared for %d processors and sees %d: CPU hot add may be on, which hides NUMA on ESXi", t.Possible, len(t.Processors)))
	}
	if t.HotAddMemory > 0 {
		out = append(out, fmt.Sprintf("the firmware reserves %s for memory hot add", t.HotAddMemory))
	}
	return strings.Join(out, "; ")
}

func nodes(r *measured.Result) answer.Table {
	t := answer.Table{Name: "nodes", Title: "Nodes as the guest sees them", Columns: answer.Columns(">node", ">vCPUs", "which", ">memory", "distances", "firmware states")}
	for _, n := range r.Machine.Topology.Nodes {
		distance := words.Texts(n.Distance, strconv.Itoa)
		size := ""
		if n.Size.Known() {
			size = n.Size.Value.String()
		}
		t.Add(strconv.Itoa(n.ID), strconv.Itoa(len(n.CPUs)), words.Ranges(n.CPUs), size, strings.Join(distance, " "), access(n.Access))
	}
	return t
}

// access formats HMAT data.
func access(all []machine.Access) string {
	var out []string
	for _, a := range all {
		if a.ReadLatency == 0 && a.ReadBandwidth == 0 {
			continue
		}
		s := fmt.Sprintf("from node %s:", words.Ranges(a.Initiators))
		if a.ReadLatency > 0 {
			s += fmt.Sprintf(" %d ns", a.ReadLatency)
		}
		if a.ReadBandwidth > 0 {
			s += fmt.Sprintf(" %d MB/s", a.ReadBandwidth)
		}
		out = words.Once(out, s)
	}
	return strings.Join(out, "; ")
}

// caches lists the caches reported to the guest, with one row per kind.
func caches(r *measured.Result) answer.Table {
	t := answer.Table{Name: "caches", Title: "Caches as the guest sees them", Columns: answer.Columns("cache", ">size", ">how many", ">vCPUs of one")}
	type kind struct {
		level int
		form  string
		size  numa.Bytes
		cpus  int
	}
	var caches keyed.Lists[kind, int]
	for i, c := range r.Machine.Topology.Caches {
		caches.Add(kind{c.Level, c.Type, c.Size, len(c.CPUs)}, i)
	}
	for k, alike := range caches.All() {
		t.Add(words.Join(" ", fmt.Sprintf("L%d", k.level), k.form), sizeText(int64(k.size)), strconv.Itoa(len(alike)), strconv.Itoa(k.cpus))
	}
	return t
}

// sizeText formats bytes as a memory size; "" for 0.
func sizeText(n int64) string {
	if n == 0 {
		return ""
	}
	return numa.Bytes(n).String()
}

// simulated states how often such an answer is right. It rounds in the unfavourable direction.
func simulated(h *measured.Hidden) string {
	return fmt.Sprintf("In simulated guests of this size such an answer was right in %.1f %% or more; guests with one node were said to have several, or far pages, in %.1f %% or less.",
		math.Floor(1000*h.Probability)/10, math.Ceil(1000*h.FalseAlarms)/10)
}
