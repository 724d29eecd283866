package topo_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestDrawingIsTable demands of random hosts that the drawing of a VM alone on a host has as much memory on other home nodes, on
// none of them and on none of the host's as the table and the findings say, and its caption too.
func TestDrawingIsTable(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 1))
	cases := map[string]int{}
	for range 3000 {
		text := randomAlone(r)
		f := given.Fleet(t, "in", []byte(text))
		res := rules.Run(f, rules.Options{})
		v := res.Clusters[0].VMs[0]
		l := &v.On[0].Layout
		m := &l.Memory
		d := topo.OfVM(v, &f.Hosts[0], vnuma.Choices{})
		if d == nil || len(d.Loose) > 0 {
			continue
		}
		var crossed, remote, nowhere numa.Bytes
		drawn := 0
		for _, n := range d.Nodes {
			drawn += len(n.Clients)
			for _, c := range n.Clients {
				crossed, remote, nowhere = crossed+c.Crossed, remote+c.Remote, nowhere+c.Nowhere
			}
		}
		if drawn < l.PPDs.Len() { // the rest is drawn together
			continue
		}
		if m.Placement == vnuma.Interleaved { // all of it is spread: none crosses
			crossed = m.Crossed
		}
		if far := m.Remote + m.First; remote != far || nowhere != m.Nowhere || crossed != m.Crossed {
			t.Errorf("%sdrawn %v remote, %v crossed, %v nowhere; predicted %v + %v, %v, %v", text, remote, crossed, nowhere, m.Remote, m.First, m.Crossed, m.Nowhere)
		}
		if caption := strings.Join(d.Caption, "\n"); m.Nowhere > 0 && !strings.Contains(caption, m.Nowhere.String()+" do") {
			t.Errorf("%s%v lack; the caption says %s", text, m.Nowhere, caption)
		}
		for what, is := range map[string]bool{"crossed": m.Crossed > 0, "remote": m.Remote > 0, "nowhere": m.Nowhere > 0, "joined": m.Joins(), "both": m.Crossed > 0 && m.Nowhere > 0} {
			if is {
				cases[what]++
			}
		}
	}
	for _, what := range []string{"crossed", "remote", "nowhere", "joined", "both"} {
		if cases[what] < 30 {
			t.Errorf("%d cases of memory %s: too few to show anything", cases[what], what)
		}
	}
}

// randomAlone returns a scenario of a VM of about the size of one node, some or all of its host.
func randomAlone(r *rand.Rand) string {
	nodes := 1 << r.IntN(3)
	node, cores := 64<<r.IntN(4), 8+2*r.IntN(12) // GB
	vcpus := 1 + r.IntN(2*nodes*cores)
	memory := node * 1024 / 4 * (1 + r.IntN(4*nodes+3))
	if r.IntN(2) == 0 {
		memory += r.IntN(node*256) &^ 3
	}
	more := []string{"", "", " numa.vcpu.maxPerClient=4", " hotAdd=on", " numa.vcpu.preferHT=TRUE", " numa.nodeAffinity=0", fmt.Sprintf(" coresPerSocket=%d", 1+r.IntN(8))}[r.IntN(7)]
	release := []string{"4.1", "5.5", "6.5", "7.0U3", "8.0U3", "9.0"}[r.IntN(6)]
	return fmt.Sprintf("release %s\nhost h nodes=%d cores=%d memory=%dGB\nvm v host=h vcpus=%d memory=%dMB%s\n", release, nodes, cores, nodes*node, vcpus, memory, more)
}
