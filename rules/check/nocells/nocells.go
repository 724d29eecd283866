// Package nocells finds VMs wider than a node whose guests see one node.
package nocells

import (
	_ "embed"
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/shape"
)

//go:embed nocells.md
var page string

// Rule is K011.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	needed, ok := v.Undivided() // within one node see K004
	if !ok {
		return
	}
	cores, memory, _ := v.Largest()
	nodes := 0
	for _, n := range v.Host.Nodes.Value {
		if n.Cores > 0 {
			nodes++
		}
	}
	var over []string
	severity := finding.Medium // if Linux can still keep it on one node
	if s.VCPUs > cores {
		what := "core"
		if s.Dedicated {
			what = "logical CPU"
		}
		over = append(over, fmt.Sprintf("%s for its %s", words.Plural(cores, what), words.Plural(s.VCPUs, "vCPU")))
	}
	if s.VCPUs > v.RoomOf(0).Threads {
		severity = finding.High
	}
	if memory > 0 && s.Shape.Memory > memory {
		over = append(over, fmt.Sprintf("%s for its %s", memory, s.Shape.Memory))
		severity = finding.High
	}
	p.Report(finding.Finding{
		Severity: severity,
		Message:  fmt.Sprintf("a node of %s has %s: no cells are stated, and the guest sees one node", v.Host.Name, strings.Join(over, ", ")),
		Advice:   advice(v, needed, nodes, nodes*cores, severity),
		Evidence: []finding.Evidence{p.At("vCPUs", fmt.Sprint(s.VCPUs), s.VCPUsAt), p.At("memory", s.Shape.Memory.String(), s.MemoryAt), p.Nodes()},
	})
}

// advice describes how to show several nodes to the guest of a VM: KubeVirt cannot state cells.
func advice(v *rule.StatedVM, needed, nodes, cores int, severity finding.Severity) string {
	s := v.Stated
	cells, each := fmt.Sprintf("State %s, each on a node", words.Plural(max(needed, v.Equal()), "cell")), "state a cell for each node"
	if v.Equal() == 0 {
		cells = fmt.Sprintf("State %s as their nodes hold them: %s", words.Plural(needed, "cell"), v.Unequal())
	} else if of, _ := v.CellsToBe(s.VCPUs); !shape.Within(of, s.PerSocket()) { // otherwise K008
		if t, ok := v.TopologyToBe(s.VCPUs, s.VCPUs); ok {
			cells += ", with " + t.Topology()
		} else {
			cells += ", and use " + v.Others()
		}
	}
	if s.Platform == "KubeVirt" {
		cells = "Let the guest see the nodes of its CPUs: dedicatedCpuPlacement, numa.guestMappingPassthrough and memory.hugepages"
		each = "let the guest see its nodes (numa.guestMappingPassthrough)"
	}
	switch beyond := v.BeyondHost(); {
	case needed > nodes && s.VCPUs > cores:
		return fmt.Sprintf("%s are more than %s holds, a core each: use fewer, and %s", words.Plural(s.VCPUs, "vCPU"), v.Host.Name, each)
	case beyond != "":
		return beyond + "; " + each
	case severity == finding.Medium && s.Platform != "KubeVirt":
		return cells + ", or pin it inside a node, whose cores its vCPUs then share"
	}
	return cells
}
