package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"homenode/internal/testdeps"
	"homenode/numa"
)

// An optimum is what testdata/exact.py finds.
type optimum struct {
	Proven bool  `json:"proven"`
	VCPUs  int64 `json:"vcpus"`
	Hosts  int   `json:"hosts"` // 0 where not all VMs fit
}

// exactly solves problems, or skips the test.
func exactly(t *testing.T, problems []*Problem, seconds float64) (out []optimum) {
	t.Helper()
	python := testdeps.Python(t)
	var in, stdout, stderr bytes.Buffer
	for _, p := range problems {
		in.Write(exactJSON(t, p, seconds))
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/exact.py")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 3 {
			t.Skip("no OR-Tools: scripts/test-deps installs it")
		}
		t.Fatalf("exact.py: %v\n%s", err, stderr.String())
	}
	for d := json.NewDecoder(&stdout); d.More(); {
		var o optimum
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	if len(out) != len(problems) {
		t.Fatalf("%d answers to %d problems", len(out), len(problems))
	}
	return out
}

// exactJSON is the form that exact.py reads, with memory in MiB: the VMs that some host takes, on the hosts
// that are not spare.
func exactJSON(t *testing.T, p *Problem, seconds float64) []byte {
	t.Helper()
	type obj = map[string]any
	m, err := newModel(p)
	if err != nil {
		t.Fatal(err)
	}
	vms, hosts := []obj{}, []obj{}
	for _, k := range m.packed {
		v, it := &p.VMs[k], &m.items[k]
		var cells []obj
		for _, c := range it.cells {
			cells = append(cells, obj{"vcpus": c.vcpus, "parts": c.cpu, "memory": numa.Bytes(c.mem) / numa.MiB})
		}
		vms = append(vms, obj{"cells": cells, "exclusive": v.Exclusive, "share": v.Share, "page": v.Page / numa.MiB, "group": v.Group, "vcpus": it.vcpus})
	}
	for _, kind := range m.kinds {
		for _, h := range kind {
			var nodes []obj
			for i, n := range p.Hosts[h].Nodes {
				pages := obj{}
				memory := n.Memory - n.KeptMemory
				for _, g := range n.Pages {
					pages[fmt.Sprint(int64(g.Size/numa.MiB))] = numa.Bytes(g.Count) * g.Size / numa.MiB
					memory -= numa.Bytes(g.Count) * g.Size
				}
				nodes = append(nodes, obj{"cores": m.cores[int(m.first[h])+i], "memory": memory / numa.MiB, "pages": pages})
			}
			hosts = append(hosts, obj{"nodes": nodes})
		}
	}
	out, err := json.Marshal(obj{"vms": vms, "hosts": hosts, "core": m.core, "seconds": seconds})
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// TestExact compares plans with what OR-Tools proves.
func TestExact(t *testing.T) {
	var problems []*Problem
	for seed := range uint64(200) {
		problems = append(problems, instance(seed))
	}
	for i, o := range exactly(t, problems, 20) {
		plan, err := Make(problems[i])
		if err != nil {
			t.Fatal(err)
		}
		mark := ""
		if o.VCPUs != plan.VCPUs || o.Hosts > 0 && o.Hosts != plan.Used {
			mark = "<<<"
		}
		if o.VCPUs < plan.VCPUs {
			mark = "WRONG"
		}
		t.Logf("%3d: %2d VMs %d hosts: exact %v, plan %d vCPUs on %d, bound %v %s", i, len(problems[i].VMs), len(problems[i].Hosts), o, plan.VCPUs, plan.Used, plan.Bound, mark)
	}
}
