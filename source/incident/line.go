package incident

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/numa"
	"homenode/source/word"
)

// host is one host with all that happens on it.
type host struct {
	name                   string
	free, minFree, state   track
	memory, shared, common track
	nodes                  []*node
	vms                    []*vm
}

// node is one NUMA node.
type node struct {
	id                             int
	memory, free, used, util, busy track
}

// vm is one VM, through all its lives.
type vm struct {
	name   string
	tracks map[string]*track // by the words of vmQuantities
	onNode []track           // guest memory by node
	flips  []flip
}

// flip is a home node that changes back and forth.
type flip struct {
	at, length, each time.Duration
	homes            []numa.NodeSet
}

// The quantities of VMs, by how their values are written.
var (
	vmBytes  = []string{"memory", "local", "remote", "granted", "consumed", "active", "shared", "saved", "zero", "hint", "large", "balloon", "swapped"}
	vmShares = []string{"ready", "costop", "used", "run"}
	vmCounts = []string{"gid", "vcpus", "percent", "moves", "balance", "loadSwap", "localityMoves", "localitySwap", "fairness"}
)

// vmWords are all words of a vm line.
var vmWords = slices.Concat([]string{"on", "off", "homes", "flips", "each", "for", "over", "nodes"}, vmBytes, vmShares, vmCounts)

// most is how much memory an incident has at most.
const most = 1024 * numa.TiB

func (p *parser) hostLine(at time.Duration, name word.Word, words []word.Word) error {
	i := slices.IndexFunc(p.in.hosts, func(h *host) bool { return h.name == name.Key })
	if i < 0 {
		i = len(p.in.hosts)
		p.in.hosts = append(p.in.hosts, &host{name: name.Key})
	}
	h := p.in.hosts[i]
	p.host = h
	over, words, err := over(words)
	if err != nil {
		return err
	}
	for _, w := range words {
		switch w.Key {
		case "free":
			err = setBytes(&h.free, at, over, w)
		case "minFree":
			err = setBytes(&h.minFree, at, over, w)
		case "memory":
			err = setBytes(&h.memory, at, over, w)
		case "shared": // by page sharing, the VMkernel's included
			err = setBytes(&h.shared, at, over, w)
		case "common":
			err = setBytes(&h.common, at, over, w)
		case "state":
			var s numa.MemoryState
			if err := s.UnmarshalText([]byte(w.Value)); err != nil {
				return word.Errorf(w.Col, "found %q, want high, clear, soft, hard or low", word.Short(w.Value))
			}
			h.state.set(at, 0, float64(s))
		default:
			return unknown(w, "host", []string{"free", "minFree", "state", "memory", "shared", "common", "over"})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) nodeLine(at time.Duration, id word.Word, words []word.Word) error {
	if p.host == nil {
		return word.Errorf(id.Col, "found a node before any host")
	}
	number, err := strconv.Atoi(id.Key)
	if err != nil || number < 0 || number >= numa.MaxNodes {
		return word.Errorf(id.Col, "found %q, want a node number below %d", word.Short(id.Key), numa.MaxNodes)
	}
	i := slices.IndexFunc(p.host.nodes, func(n *node) bool { return n.id == number })
	if i < 0 {
		i = len(p.host.nodes)
		p.host.nodes = append(p.host.nodes, &node{id: number})
	}
	n := p.host.nodes[i]
	over, words, err := over(words)
	if err != nil {
		return err
	}
	for _, w := range words {
		switch w.Key {
		case "memory":
			err = setBytes(&n.memory, at, over, w)
		case "free":
			err = setBytes(&n.free, at, over, w)
		case "busy": // of cores
			err = setShare(&n.busy, at, over, w)
		case "util": // of PCPUs
			err = setShare(&n.util, at, over, w)
		case "used": // of PCPUs, scaled by frequency
			err = setShare(&n.used, at, over, w)
		default:
			return unknown(w, "node", []string{"memory", "free", "busy", "util", "used", "over"})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) vmLine(at time.Duration, name word.Word, words []word.Word) error {
	if p.host == nil {
		return word.Errorf(name.Col, "found a VM before any host")
	}
	i := slices.IndexFunc(p.host.vms, func(v *vm) bool { return v.name == name.Key })
	fresh := i < 0
	if fresh {
		i = len(p.host.vms)
		p.host.vms = append(p.host.vms, &vm{name: name.Key, tracks: map[string]*track{}})
	}
	v := p.host.vms[i]
	over, words, err := over(words)
	if err != nil {
		return err
	}
	if fresh { // it runs from its first line on
		v.track("gid").set(at, 0, float64(1000+i))
		v.track("on").set(at, 0, 1)
	}
	var f flip
	for _, w := range words {
		if err := v.set(at, over, w, &f); err != nil {
			return err
		}
	}
	if f.homes != nil {
		if f.each <= 0 || f.length <= 0 {
			return word.Errorf(name.Col, "found flips without each= and for=")
		}
		f.at = at
		v.flips = append(v.flips, f)
	}
	return nil
}

// track returns the quantity with this name.
func (v *vm) track(name string) *track {
	t := v.tracks[name]
	if t == nil {
		t = &track{}
		v.tracks[name] = t
	}
	return t
}

func (v *vm) set(at, over time.Duration, w word.Word, f *flip) (err error) {
	switch {
	case !w.HasValue && (w.Key == "on" || w.Key == "off"):
		on := 0.0
		if w.Key == "on" {
			on = 1
		}
		v.track("on").set(at, 0, on)
	case w.Key == "homes":
		var homes numa.NodeSet
		if homes, err = nodes(w.Col, w.Value); err == nil {
			v.track("homes").set(at, 0, float64(homes))
		}
	case w.Key == "flips":
		for one := range strings.SplitSeq(w.Value, "|") {
			homes, err := nodes(w.Col, one)
			if err != nil {
				return err
			}
			f.homes = append(f.homes, homes)
		}
	case w.Key == "each":
		f.each, err = duration(w.Col, w.Value)
	case w.Key == "for":
		f.length, err = duration(w.Col, w.Value)
	case w.Key == "nodes":
		for i, one := range strings.Split(w.Value, ",") {
			for len(v.onNode) <= i {
				v.onNode = append(v.onNode, track{})
			}
			if err := setBytes(&v.onNode[i], at, over, word.Word{Key: w.Key, Value: one, HasValue: true, Col: w.Col}); err != nil {
				return err
			}
		}
	case slices.Contains(vmBytes, w.Key):
		err = setBytes(v.track(w.Key), at, over, w)
	case slices.Contains(vmShares, w.Key):
		err = setShare(v.track(w.Key), at, over, w)
	case slices.Contains(vmCounts, w.Key) && w.Value == word.Unknown:
		v.track(w.Key).forget(at)
	case slices.Contains(vmCounts, w.Key):
		n, err := w.Number(0, 1<<31-1)
		if err != nil {
			return err
		}
		v.track(w.Key).set(at, 0, float64(n))
	default:
		return unknown(w, "vm", vmWords)
	}
	return err
}

// unknown is the error for a word that a line does not know.
func unknown(w word.Word, line string, known []string) error {
	if near, ok := word.Meant(w.Key, known); ok {
		return word.Errorf(w.Col, "found %q, which no %s line knows; is %s meant?", word.Short(w.Key), line, near)
	}
	return word.Errorf(w.Col, "found %q, which no %s line knows; want %s", word.Short(w.Key), line, strings.Join(known, ", "))
}

// over takes over= out of the words.
func over(words []word.Word) (time.Duration, []word.Word, error) {
	i := slices.IndexFunc(words, func(w word.Word) bool { return w.Key == "over" })
	if i < 0 {
		return 0, words, nil
	}
	d, err := duration(words[i].Col, words[i].Value)
	return d, slices.Concat(words[:i], words[i+1:]), err
}

// nodes reads "0,1", or "-" for none.
func nodes(col int, s string) (set numa.NodeSet, err error) {
	if s == "-" {
		return 0, nil
	}
	for one := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(one)
		if err != nil || n < 0 || n >= 52 { // a set is kept as a number of a track
			return 0, word.Errorf(col, "found %q, want node numbers below 52 like 0,1 or - for none", word.Short(s))
		}
		set |= numa.SetOf(n)
	}
	return set, nil
}

func setBytes(t *track, at, over time.Duration, w word.Word) error {
	if w.Value == word.Unknown {
		t.forget(at)
		return nil
	}
	if w.Value == "0" {
		t.set(at, over, 0)
		return nil
	}
	b, err := w.Bytes(w.Value, most)
	if err == nil {
		t.set(at, over, float64(b))
	}
	return err
}

// setShare reads "5%" or "0.5%".
func setShare(t *track, at, over time.Duration, w word.Word) error {
	if w.Value == word.Unknown {
		t.forget(at)
		return nil
	}
	number, ok := strings.CutSuffix(w.Value, "%")
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || n < 0 || n > 1000 {
		return word.Errorf(w.Col, "found %q, want a share like 5%%", word.Short(w.Value))
	}
	t.set(at, over, n/100)
	return nil
}
