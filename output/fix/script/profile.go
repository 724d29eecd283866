package script

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// packerNames are the arguments of the Packer builder vsphere-iso (plugin vmware/vsphere).
var packerNames = map[numa.EditKind]string{numa.EditVCPUs: "CPUs", numa.EditCoresPerSocket: "cpu_cores", numa.EditCPUHotAdd: "CPU_hot_plug",
	numa.EditMemory: "RAM", numa.EditMemoryHotAdd: "RAM_hot_plug", numa.EditHardware: "vm_version",
	numa.EditMemoryReservation: "RAM_reservation", numa.EditReserveAll: "RAM_reserve_all", numa.EditCPUReservation: "CPU_reservation", numa.EditExtraConfig: "configuration_parameters"}

// A block is the planned settings of VMs of one size on hosts of one kind.
type block struct {
	hosts         []string
	vcpus, memory string
	edits         []numa.Edit
	rules         []string
	vms           []string
}

// Profile prints the edits of the plan as values for templates of new VMs: for Packer, Terraform and a note. It has one block for each kind of host and
// set of values, with the rules as the reason. Settings that no change edits are not included.
func Profile(w io.Writer, p *fix.Plan) error {
	var b bytes.Buffer
	comment(&b, "", fmt.Sprintf("Values for new VMs, from the plan %s of %s, made %s by %s.", p.ID, p.Source, p.Made, p.By),
		"For each kind of host the edits that the plan makes there: a block for Packer (vsphere-iso), one for Terraform, and a note for the template.",
		"They fit VMs of that many vCPUs on these hosts. This file is no configuration: take the arguments over.", cite("packer", p), cite("terraform", p))
	comment(&b, "", p.Notes...)
	for i, x := range blocks(p) {
		b.WriteString("\n")
		comment(&b, "", "Hosts "+words.List(x.hosts)+vcpusOf(x), "As for "+words.List(x.vms)+".")
		for _, id := range x.rules {
			comment(&b, "", id+": "+titleOf(id))
		}
		for _, text := range notes(x.edits) {
			comment(&b, "", "Note: "+text)
		}
		comment(&b, "", unsettable(x.edits)...)
		label := hcl(fmt.Sprintf("profile-%d", i+1))
		if packer := arguments("packer", exclusive(fixed(x.edits)), packerNames); packer != "" {
			fmt.Fprintf(&b, "source \"vsphere-iso\" %s {\n%s}\n\n", label, packer)
			fmt.Fprintf(&b, "resource \"vsphere_virtual_machine\" %s {\n%s}\n", label, arguments("terraform", whole(fixed(x.edits), x.memory), terraformNames))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// blocks groups the changes of VMs, in the order of the plan.
func blocks(p *fix.Plan) []*block {
	var out []*block
	at := map[string]*block{}
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.VM == nil {
			continue
		}
		x := block{memory: after(c, numa.EditMemory)}
		if len(c.Layout) > 0 {
			x.hosts = c.Layout[0].Hosts
		} else if c.VM.Host != "" {
			x.hosts = []string{c.VM.Host}
		}
		for _, k := range c.Basis {
			if k.Name == string(numa.EditVCPUs) {
				x.vcpus = k.Value
			}
		}
		for _, e := range c.Edits {
			if !stored(e) { // a new VM has no stored values
				x.edits = append(x.edits, numa.Edit{Kind: e.Kind, Key: e.Key, To: e.To})
			}
		}
		if x.edits == nil {
			continue
		}
		key := fmt.Sprintf("%q %q %#v", x.hosts, x.vcpus, x.edits)
		if at[key] == nil {
			at[key] = &x
			out = append(out, &x)
		}
		of := at[key]
		of.vms = append(of.vms, c.VM.Name)
		for _, id := range c.Findings {
			of.rules = words.Once(of.rules, id)
		}
	}
	for _, x := range out {
		slices.Sort(x.rules)
	}
	return out
}

func vcpusOf(x *block) string {
	if x.vcpus == "" {
		return "."
	}
	return ", VMs of " + x.vcpus + " vCPUs."
}

func titleOf(id string) string {
	if i := slices.IndexFunc(rules.All, func(r *rule.Rule) bool { return r.ID == id }); i >= 0 {
		return rules.All[i].Title
	}
	return ""
}

// exclusive removes the memory reservation if the edits reserve all memory, because the builder rejects both (plugin vmware/vsphere,
// HardwareConfig.Prepare).
func exclusive(edits []numa.Edit) []numa.Edit {
	if !slices.ContainsFunc(edits, func(e numa.Edit) bool { return e.Kind == numa.EditReserveAll && on(e) }) {
		return edits
	}
	return slices.DeleteFunc(edits, func(e numa.Edit) bool { return e.Kind == numa.EditMemoryReservation })
}

// fixed returns the edits that are possible in templates.
func fixed(edits []numa.Edit) []numa.Edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e numa.Edit) bool {
		return unsaid(numa.Edit{Kind: e.Kind, Key: e.Key, From: e.To, To: e.To}) != "" || e.Kind == numa.EditCoresPerSocket && e.To.Text == "0"
	})
}

// notes formats the edits for the notes of a template.
func notes(edits []numa.Edit) []string {
	var out []string
	for _, e := range edits {
		switch {
		case e.Kind == numa.EditExtraConfig && e.To.Text == "":
			out = append(out, e.Key+" is not set")
		case (e.Kind == numa.EditCoresPerSocket || e.Kind == numa.EditCoresPerNUMANode) && e.To.Text == "0":
			out = append(out, e.Name()+" is assigned at power-on")
		case e.Kind == numa.EditCPUAffinity && e.To.Text == "":
			out = append(out, "no CPU affinity")
		default:
			out = append(out, e.Name()+" = "+e.To.Text)
		}
	}
	return out
}

// unsettable lists the edits without an argument in Packer and in Terraform.
func unsettable(edits []numa.Edit) []string {
	var names []string
	for _, e := range edits {
		if terraformNames[e.Kind] == "" || e.Kind == numa.EditCoresPerSocket && e.To.Text == "0" {
			names = append(names, e.Name())
		}
	}
	if names == nil {
		return nil
	}
	return []string{"Neither Packer nor Terraform has an argument for " + strings.Join(names, ", ") + ": set it in the template by hand."}
}
