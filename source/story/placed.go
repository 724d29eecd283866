package story

import (
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

var placedWords = []string{"homes", "local", "remote", "onNode"}

// placed parses the observed place of a VM at the start:
//
//	placed cli3 homes=1 local=95122MB remote=7278MB
//	placed cli  homes=0,1 onNode=16220MB,0
func (p *parser) placed(l *line, ws []word.Word) error {
	if len(ws) < 2 || ws[1].HasValue {
		return word.Errorf(ws[0].Col, "found no VM, want placed VM homes=0 local=60GB remote=4GB")
	}
	i, err := p.vms.one(ws[1], ws[1].Key, ws[1].Col)
	if err != nil {
		return err
	}
	v := &p.story.Fleet.VMs[i]
	again := slices.IndexFunc(p.story.Seen, func(s numa.SeenVM) bool { return s.VM == v.ID })
	switch {
	case !v.MayRun():
		return word.Errorf(ws[1].Col, "found placed %s, which is off at the start", v.Name)
	case v.Host == "":
		return word.Errorf(ws[1].Col, "found placed %s, whose host is unknown", v.Name)
	case again >= 0 && !l.added:
		return word.Errorf(ws[1].Col, "found placed %s again", v.Name)
	}
	seen := numa.SeenVM{VM: v.ID, Host: v.Host, Local: -1, Remote: -1}
	homes := false
	err = each(ws[2:], "placed", placedWords, func(w word.Word) (err error) {
		switch w.Key {
		case "homes":
			homes = true
			seen.Homes, err = nodeSet(w, p.story.Fleet.Hosts[p.hosts.byName[v.Host][0]].Nodes)
		case "local":
			seen.Local, err = amount(w, w.Value)
		case "remote":
			seen.Remote, err = amount(w, w.Value)
		case "onNode":
			err = p.onNode(&seen, w)
		}
		return err
	})
	if err != nil {
		return err
	}
	if !homes {
		return word.Errorf(ws[0].Col, "found no homes=, want homes=0,1, or homes=- for a VM that the NUMA scheduler does not manage")
	}
	if err := split(&seen, ws[0].Col); err != nil {
		return err
	}
	if v.Memory.Known() && seen.Local+seen.Remote > v.Memory.Value {
		return word.Errorf(ws[0].Col, "found %s of %s, which has %s", seen.Local+seen.Remote, v.Name, v.Memory.Value)
	}
	if again >= 0 {
		p.story.Seen[again] = seen
	} else {
		p.story.Seen = append(p.story.Seen, seen)
	}
	return nil
}

// split computes local and remote memory where only that on each node is stated.
func split(s *numa.SeenVM, col int) error {
	if s.OnNode == nil {
		if s.Local < 0 || s.Remote < 0 {
			return word.Errorf(col, "found no local= and remote=, and no onNode=")
		}
		return nil
	}
	local, remote := numa.Bytes(0), numa.Bytes(0)
	for _, n := range s.OnNode {
		if s.Homes.Has(n.Node) {
			local += n.Guest
		} else {
			remote += n.Guest
		}
	}
	if s.Local >= 0 && s.Local != local || s.Remote >= 0 && s.Remote != remote {
		return word.Errorf(col, "found local= or remote= that onNode= contradicts: %s on home nodes, %s on others", local, remote)
	}
	s.Local, s.Remote = local, remote
	return nil
}

// onNode parses the memory on each node of the host, "16220MB,0".
func (p *parser) onNode(s *numa.SeenVM, w word.Word) error {
	i := p.hosts.byName[s.Host][0]
	nodes := p.story.Fleet.Hosts[i].Nodes
	parts := strings.Split(w.Value, ",")
	if !nodes.Known() || len(parts) != len(nodes.Value) {
		return word.Errorf(w.Col, "found memory on %d nodes, %s has %d", len(parts), p.story.Fleet.Hosts[i].Name, len(nodes.Value))
	}
	for k, part := range parts {
		b, err := amount(w, part)
		if err != nil {
			return err
		}
		s.OnNode = append(s.OnNode, numa.MemoryOnNode{Node: nodes.Value[k].ID, Guest: b, Overhead: -1})
	}
	return nil
}

// amount parses memory that can be 0.
func amount(w word.Word, s string) (numa.Bytes, error) {
	if s == "0" {
		return 0, nil
	}
	return w.Bytes(s, numa.MaxVMMemory)
}

// nodeSet parses "0,1" of the nodes, or "-" for none.
func nodeSet(w word.Word, nodes numa.Fact[[]numa.Node]) (set numa.NodeSet, err error) {
	set, err = w.NodeSet(w.Value, numa.MaxNodes)
	for n := range numa.MaxNodes {
		if set.Has(n) && nodes.Known() && !slices.ContainsFunc(nodes.Value, func(o numa.Node) bool { return o.ID == n }) {
			return 0, word.Errorf(w.Col, "found homes=%s, and no node %d of the host", word.Short(w.Value), n)
		}
	}
	return set, err
}
