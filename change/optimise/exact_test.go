package optimise

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"example.org/homenode/internal/testdeps"
)

// An optimum is what testdata/exact.py finds.
type optimum struct {
	Optimal bool  `json:"optimal"`
	Total   int64 `json:"total"`
}

// exactJSON is the form that exact.py reads.
func exactJSON(t *testing.T, p *Problem) []byte {
	t.Helper()
	type m = map[string]any
	var hosts, vms []m
	for _, h := range p.Hosts {
		var nodes []m
		for _, n := range h.Nodes {
			nodes = append(nodes, m{"cores": n.Cores, "memory": n.Memory})
		}
		hosts = append(hosts, m{"nodes": nodes, "memory": h.Memory, "vcpus": h.VCPUs, "kind": h.Kind})
	}
	for _, v := range p.VMs {
		var shapes [][]m
		for _, s := range v.Shapes {
			var fits []m
			for _, f := range s.Fits {
				fits = append(fits, m{"ok": f.OK, "managed": f.Managed, "clients": f.Clients, "far": f.Far})
			}
			shapes = append(shapes, fits)
		}
		vms = append(vms, m{"host": v.Host, "memory": v.Memory, "vcpus": v.VCPUs, "demand": v.Demand, "allowed": v.Allowed, "shapes": shapes})
	}
	w := newModel(p).weights
	out, err := json.Marshal(m{"hosts": hosts, "vms": vms, "apart": p.Apart, "together": p.Together, "nplus1": p.NPlus1,
		"weights": m{"remote": w.Remote, "far": w.Far, "ready": w.Ready, "move": w.Move, "cycle": w.Cycle}})
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// heldOut is the first seed of problems with which nothing was tuned: choose another one after a change of the search that they led to.
const heldOut = 900_000

// small returns generated problems of up to 12 VMs on 3 hosts. N+1 is asked only of
// those that begin with it, because the exact solver knows no "as bad as before".
func small(first uint64, count int) (out []*Problem) {
	for seed := range uint64(count) {
		p := instance(first+seed, 4+int(seed%9), 2+int(seed%2))
		m := newModel(p)
		p.NPlus1 = p.NPlus1 && !slices.ContainsFunc(m.short, func(n int64) bool { return n > 0 })
		out = append(out, p)
	}
	return out
}

// TestExact compares proposals with the optimum of a solver that may also choose the home
// nodes: a lower bound for what ESXi's own placement allows.
func TestExact(t *testing.T) {
	problems := small(heldOut, 300)
	var texts [][]byte
	for _, p := range problems {
		texts = append(texts, exactJSON(t, p))
	}
	var exact []int64
	for i, o := range testdeps.Exact[optimum](t, texts) {
		if !o.Optimal {
			t.Fatalf("problem %d: no optimum", i)
		}
		exact = append(exact, o.Total)
	}
	optimal, within, nplus1, shares := 0, 0, 0, []float64{}
	var before, after, least int64
	for i, p := range problems {
		got := solve(t, p, Options{})
		if got.After.Total < exact[i] || got.Bound.Total > got.After.Total {
			t.Errorf("problem %d: total %d, the exact one is %d, the bound %d", i, got.After.Total, exact[i], got.Bound.Total)
		}
		gap := got.After.Total - exact[i]
		if gap == 0 {
			optimal++
		}
		if gap*100 <= got.Before.Total-exact[i] {
			within++
		}
		if p.NPlus1 {
			nplus1++
		}
		if possible := got.Before.Total - exact[i]; possible > 0 {
			shares = append(shares, float64(gap)/float64(possible))
		}
		before, after, least = before+got.Before.Total, after+got.After.Total, least+exact[i]
		t.Logf("problem %2d: %2d VMs, %d hosts: before %6d, after %6d, exact %6d, bound %6d, %d steps", i, len(p.VMs), len(p.Hosts), got.Before.Total, got.After.Total, exact[i], got.Bound.Total, len(got.Steps))
	}
	slices.Sort(shares)
	t.Logf("of what could be saved, median %.1f %% and at most %.1f %% is left", 100*shares[len(shares)/2], 100*shares[len(shares)-1])
	// Pinned, so that a change of the search shows. What is missing is ESXi's own
	// placement, order of moves and, in a few, the search: TestBrute tells them apart.
	got := fmt.Sprintf("%d with N+1; %d optimal, %d within 1 %%; before %d, after %d, exact %d", nplus1, optimal, within, before, after, least)
	t.Logf("%d problems: %s", len(problems), got)
	if want := "48 with N+1; 114 optimal, 170 within 1 %; before 45102384, after 14271840, exact 12750448"; got != want {
		t.Errorf("%d problems: %s; want %s", len(problems), got, want)
	}
}
