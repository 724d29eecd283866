package incident

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// host is one host with all its events.
type host struct {
	name string
	tracks
	nodes []*node
	vms   []*vm
}

// node is one NUMA node.
type node struct {
	id int
	tracks
}

// vm is one VM with all its power-ons.
type vm struct {
	name string
	tracks
	onNode []track // guest memory by node
	flips  []flip
}

// flip is a home node that alternates between several nodes.
type flip struct {
	at, length, each time.Duration
	homes            []numa.NodeSet
}

// named returns the element of the list for which same is true, or appends a new one.
func named[T any](list *[]*T, same func(*T) bool, made func() *T) (one *T, fresh bool) {
	i := slices.IndexFunc(*list, same)
	if i >= 0 {
		return (*list)[i], false
	}
	*list = append(*list, made())
	return (*list)[len(*list)-1], true
}

func (p *parser) hostLine(at time.Duration, name word.Word, words []word.Word) error {
	p.host, _ = named(&p.in.hosts, func(h *host) bool { return h.name == name.Key }, func() *host { return &host{name: name.Key, tracks: tracks{}} })
	return stateAll(hostQuantities, p.host.tracks, "host", at, words)
}

func (p *parser) nodeLine(at time.Duration, id word.Word, words []word.Word) error {
	if p.host == nil {
		return word.Errorf(id.Col, "found a node before any host")
	}
	number, err := strconv.Atoi(id.Key)
	if err != nil || number < 0 || number >= numa.MaxNodes {
		return word.Errorf(id.Col, "found %q, want a node number below %d", word.Short(id.Key), numa.MaxNodes)
	}
	n, _ := named(&p.host.nodes, func(n *node) bool { return n.id == number }, func() *node { return &node{number, tracks{}} })
	return stateAll(nodeQuantities, n.tracks, "node", at, words)
}

// stateAll applies the words of a line about a host or a node.
func stateAll[T any](list []quantity[T], ts tracks, line string, at time.Duration, words []word.Word) error {
	over, words, err := over(words)
	for i := 0; i < len(words) && err == nil; i++ {
		var known bool
		if known, err = state(list, ts, words[i], at, over); !known {
			err = words[i].Unknown(line, append(wordsOf(list), "over"))
		}
	}
	return err
}

func (p *parser) vmLine(at time.Duration, name word.Word, words []word.Word) error {
	if p.host == nil {
		return word.Errorf(name.Col, "found a VM before any host")
	}
	v, fresh := named(&p.host.vms, func(v *vm) bool { return v.name == name.Key }, func() *vm { return &vm{name: name.Key, tracks: tracks{}} })
	over, words, err := over(words)
	if err != nil {
		return err
	}
	if fresh { // it runs from its first line on
		v.of("gid").set(at, 0, float64(1000+len(p.host.vms)-1))
		v.of("on").set(at, 0, 1)
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

// mostHomes is the upper bound of node numbers: a set of nodes is stored as a number of a
// track.
const mostHomes = 52

func (v *vm) set(at, over time.Duration, w word.Word, f *flip) (err error) {
	switch {
	case !w.HasValue && w.Key == "on":
		v.of("on").set(at, 0, 1)
	case !w.HasValue && w.Key == "off":
		v.of("on").set(at, 0, 0)
	case w.Key == "homes":
		var homes numa.NodeSet
		if homes, err = w.NodeSet(w.Value, mostHomes); err == nil {
			v.of("homes").set(at, 0, float64(homes))
		}
	case w.Key == "flips":
		for one := range strings.SplitSeq(w.Value, "|") {
			homes, err := w.NodeSet(one, mostHomes)
			if err != nil {
				return err
			}
			f.homes = append(f.homes, homes)
		}
	case w.Key == "each":
		f.each, err = word.Duration(w.Col, w.Value)
	case w.Key == "for":
		f.length, err = word.Duration(w.Col, w.Value)
	case w.Key == "nodes":
		for i, one := range strings.Split(w.Value, ",") {
			for len(v.onNode) <= i {
				v.onNode = append(v.onNode, track{})
			}
			w.Value = one
			if err := v.onNode[i].read(size, w, at, over); err != nil {
				return err
			}
		}
	default:
		var known bool
		if known, err = state(vmQuantities, v.tracks, w, at, over); !known {
			err = w.Unknown("vm", append([]string{"on", "off", "homes", "flips", "each", "for", "over", "nodes"}, wordsOf(vmQuantities)...))
		}
	}
	return err
}

// over removes over= from the words and returns its value.
func over(words []word.Word) (time.Duration, []word.Word, error) {
	i := slices.IndexFunc(words, func(w word.Word) bool { return w.Key == "over" })
	if i < 0 {
		return 0, words, nil
	}
	d, err := word.Duration(words[i].Col, words[i].Value)
	return d, slices.Concat(words[:i], words[i+1:]), err
}
