package planned

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"example.org/homenode/internal/outside"
	"example.org/homenode/numa"
	"example.org/homenode/source/jsontree"
)

// isTerraform reports whether a file begins as terraform show -json prints a plan or state.
func isTerraform(head []byte) bool {
	head = bytes.TrimLeft(head, "\ufeff \t\r\n")
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"format_version"`)) && bytes.Contains(head, []byte(`"terraform_version"`))
}

// terraformForm is the resource vsphere_virtual_machine.
var terraformForm = &form{name: "Terraform", whole: true, attributes: []attribute{
	{word: "vcpus", path: terraformName("num_cpus")}, {word: "coresPerSocket", path: terraformName("num_cores_per_socket"), auto: true},
	{word: wordNUMANode, path: terraformName("num_cores_per_numa_node")}, {word: "memory", path: terraformName("memory"), unit: "MB"},
	{word: "hotAdd", path: terraformName("cpu_hot_add_enabled")}, {word: "memoryHotAdd", path: terraformName("memory_hot_add_enabled")},
	{word: "hw", path: terraformName("hardware_version"), unset: true}, {word: "latency", path: terraformName("latency_sensitivity")},
	{word: "memoryReservation", path: terraformName("memory_reservation"), unit: "MB"}, {word: "reserveAll", path: terraformName("memory_reservation_locked_to_max")},
	{word: "cpuReservation", path: terraformName("cpu_reservation")}, {word: "cpuLimit", path: "cpu_limit"}, {word: "memoryLimit", path: "memory_limit", unit: "MB"}, {word: "guest", path: "guest_id"},
	{word: "firmware", path: "firmware"}, {word: "iommu", path: "vvtd_enabled"}, {word: wordSettings, path: terraformName("extra_config")},
}}

func terraformName(name string) string { return outside.Attribute("terraform", name) }

// skipped are members of a plan that say nothing about VMs that are created, or say it again.
var skipped = []string{"before", "after", "before_sensitive", "after_sensitive", "sensitive_values", "configuration", "relevant_attributes", "checks", "variables", "resource_drift"}

// A plan is what terraform show -json prints.
type plan struct {
	*reader
	unknown   map[string]*jsontree.Value // attributes that are known after apply, by the address of the resource
	templates map[string]*jsontree.Value // VMs that are read, by UUID
	pools     map[string]string          // clusters by the ID of their resource pool
	hosts     map[string]string          // names by ID
}

// terraform reads a plan, or a state.
func (r *reader) terraform(data []byte) error {
	root, bad := jsontree.Parse(data, 1, skipped...)
	if bad != nil {
		bad.File = r.file
		return bad
	}
	p := &plan{r, map[string]*jsontree.Value{}, map[string]*jsontree.Value{}, map[string]string{}, map[string]string{}}
	for _, c := range root.At("resource_changes").List() {
		p.unknown[c.At("address").Text] = c.At("change", "after_unknown")
	}
	values := root.At("planned_values")
	if values.Kind == 0 {
		values = root.At("values")
	}
	for _, at := range []*jsontree.Value{root.At("prior_state", "values"), values} {
		if err := p.modules(at.At("root_module"), p.data); err != nil {
			return err
		}
	}
	return p.modules(values.At("root_module"), p.machine)
}

// modules calls do for each resource of a module and of those below it.
func (p *plan) modules(module *jsontree.Value, do func(resource *jsontree.Value) error) error {
	for _, resource := range module.At("resources").List() {
		if err := do(resource); err != nil {
			return err
		}
	}
	for _, child := range module.At("child_modules").List() {
		if err := p.modules(child, do); err != nil {
			return err
		}
	}
	return nil
}

// data keeps what VMs refer to by ID.
func (p *plan) data(resource *jsontree.Value) error {
	values := resource.At("values")
	id, name, pool := values.At("id").Text, values.At("name").Text, values.At("resource_pool_id").Text
	switch resource.At("type").Text {
	case "vsphere_virtual_machine":
		if resource.At("mode").Text == "data" {
			p.templates[strings.ToLower(cmp.Or(values.At("uuid").Text, id))] = values
			p.templates[strings.ToLower(id)] = values
		}
	case "vsphere_compute_cluster":
		p.pools[pool] = path.Base(name)
	case "vsphere_resource_pool":
		if cluster, _, below := strings.Cut(strings.TrimPrefix(name, "/"), "/Resources"); below && p.pools[id] == "" {
			p.pools[id] = path.Base(cluster)
		}
	case "vsphere_host":
		p.hosts[id] = cmp.Or(name, values.At("hostname").Text)
	}
	return nil
}

// machine reads a VM that is managed.
func (p *plan) machine(resource *jsontree.Value) error {
	if kind := resource.At("type").Text; kind != "vsphere_virtual_machine" || resource.At("mode").Text == "data" {
		if kind != "" && resource.At("mode").Text != "data" {
			p.left = append(p.left, kind)
		}
		return nil
	}
	values, address := resource.At("values"), resource.At("address").Text
	later := p.unknown[address]
	if later == nil {
		later = &jsontree.Value{}
	}
	v := p.newVM(terraformForm, values.At("name").Text, resource.Line, resource.Col)
	for _, a := range terraformForm.attributes {
		// A version of the virtual hardware that is not stated is that of the template, or of the cluster.
		if n := later.At(a.path); n.Text == "true" && a.word != "hw" && a.word != "guest" {
			v.later(a.path, a.word)
		} else if a.word == wordSettings {
			for i, one := range n.List() {
				if one.Text == "true" && numa.KeepSetting(n.Keys[i]) {
					v.later(a.path+"."+n.Keys[i], "")
				}
			}
		}
	}
	if err := v.read(values); err != nil {
		return err
	}
	v.plan.Cluster, v.plan.Host = p.pools[values.At("resource_pool_id").Text], p.hosts[values.At("host_system_id").Text]
	if values.At("ovf_deploy", "0").Kind != 0 {
		v.note(v.At, "VM %s is deployed from an OVF: what the plan does not state comes from its descriptor", v.Name)
	}
	clone := values.At("clone", "0")
	if clone.Kind == 0 {
		v.done(address)
		return nil
	}
	id := clone.At("template_uuid").Text
	v.defaults() // the provider gives a clone its own defaults, but for what it leaves to the template
	v.plan.Template = cmp.Or(id, "a template that is known after apply")
	if t := p.templates[strings.ToLower(id)]; t != nil {
		v.plan.Template = cmp.Or(t.At("name").Text, id)
		of := (&reader{file: p.file}).newVM(terraformForm, v.plan.Template, t.Line, t.Col)
		if err := of.read(t); err != nil {
			return err
		}
		v.Clone(&of.Config, "template "+v.plan.Template)
	}
	v.done(address)
	return nil
}
