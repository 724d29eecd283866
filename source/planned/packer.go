package planned

import (
	"bytes"
	"fmt"
	"strings"

	"example.org/homenode/internal/outside"
	"example.org/homenode/source/jsontree"
)

// isPacker reports whether a file begins as a template of Packer with a builder for vSphere.
func isPacker(head []byte) bool {
	head = bytes.TrimLeft(head, "\ufeff \t\r\n")
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"builders"`)) && bytes.Contains(head, []byte(`"vsphere-`))
}

func packerName(name string) string { return outside.Attribute("packer", name) }

// packerForm is the builder vsphere-iso, packerClone is vsphere-clone, whose template decides what it does not state.
var (
	packerForm = &form{name: "Packer", whole: true, attributes: []attribute{
		{word: "vcpus", path: packerName("CPUs"), unset: true}, {word: "coresPerSocket", path: packerName("cpu_cores"), unset: true}, {word: "hotAdd", path: packerName("CPU_hot_plug")},
		{word: "memory", path: packerName("RAM"), unit: "MB", unset: true}, {word: "memoryHotAdd", path: packerName("RAM_hot_plug")},
		{word: "memoryReservation", path: packerName("RAM_reservation"), unit: "MB"}, {word: "reserveAll", path: packerName("RAM_reserve_all")},
		{word: "cpuReservation", path: packerName("CPU_reservation")}, {word: "cpuLimit", path: "CPU_limit"}, {word: "hw", path: packerName("vm_version"), unset: true},
		{word: "guest", path: "guest_os_type"}, {word: "firmware", path: "firmware"}, {word: wordSettings, path: packerName("configuration_parameters")},
	}}
	packerClone = &form{name: "Packer", attributes: packerForm.attributes}
)

// packer reads the builders of a template.
func (r *reader) packer(data []byte) error {
	root, bad := jsontree.Parse(data, 1)
	if bad != nil {
		bad.File = r.file
		return bad
	}
	for i, b := range root.At("builders").List() {
		f := packerForm
		switch kind := b.At("type").Text; kind {
		case "vsphere-iso":
		case "vsphere-clone":
			f = packerClone
		default:
			r.left = append(r.left, "a builder "+kind)
			continue
		}
		for _, n := range b.List() { // variables have defaults here
			n.Text = user(n.Text, root.At("variables"))
		}
		settings := b.At("configuration_parameters")
		for _, n := range settings.List() {
			n.Text = user(n.Text, root.At("variables"))
		}
		name := b.At("vm_name").Text
		if name == "" || open(name) {
			name = fmt.Sprintf("builder %d", i+1)
			if own := b.At("name").Text; own != "" {
				name = own
			}
		}
		v := r.newVM(f, name, b.Line, b.Col)
		if err := v.read(b); err != nil {
			return err
		}
		for to, key := range map[*string]string{&v.plan.Cluster: "cluster", &v.plan.Host: "host", &v.plan.Template: "template"} {
			if text := b.At(key).Text; !open(text) {
				*to = text
			}
		}
		v.done(name)
	}
	return nil
}

// user returns the default of the variable that a text names, {{user `cpus`}}; another text as it is.
func user(text string, variables *jsontree.Value) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "{{")
	inner, closed := strings.CutSuffix(inner, "}}")
	name, is := strings.CutPrefix(strings.TrimSpace(inner), "user")
	if !ok || !closed || !is {
		return text
	}
	if value := variables.At(strings.Trim(name, " `\"")); value.Text != "" {
		return value.Text
	}
	return text
}
