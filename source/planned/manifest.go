package planned

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/jsontree"
	"example.org/homenode/source/text"
)

// A kind is one of objects of Kubernetes that describe VMs of vSphere.
type kind struct {
	group, kind string
	at          []string // of what describes the VM
	form        *form
}

// sizes are attributes of machines that Cluster API's provider for vSphere, OpenShift and EKS Anywhere share. 0 is the value of the template
// (cluster-api-provider-vsphere, VirtualMachineCloneSpec; openshift/api, VSphereMachineProviderSpec).
var sizes = []attribute{{word: "vcpus", path: "numCPUs", unset: true}, {word: "memory", path: "memoryMiB", unit: "MB", unset: true}}

var (
	clusterAPI = &form{name: "Cluster API", attributes: append(slices.Clip(sizes), attribute{word: "coresPerSocket", path: "numCoresPerSocket", unset: true},
		attribute{word: "hw", path: "hardwareVersion"}, attribute{word: "guest", path: "os"}, attribute{word: wordSettings, path: "customVMXKeys"})}
	openShift    = &form{name: "OpenShift", attributes: append(slices.Clip(sizes), attribute{word: "coresPerSocket", path: "numCoresPerSocket", unset: true})}
	eksAnywhere  = &form{name: "EKS Anywhere", attributes: append(slices.Clip(sizes), attribute{word: "guest", path: "osFamily"})}
	machineClass = &form{name: "VM Operator", attributes: []attribute{
		{word: "memoryReservation", path: "policies.resources.requests.memory"},
		{word: "vcpus", path: "configSpec.numCPUs"}, {word: "coresPerSocket", path: "configSpec.numCoresPerSocket", auto: true},
		{word: "memory", path: "configSpec.memoryMB", unit: "MB"}, {word: "hotAdd", path: "configSpec.cpuHotAddEnabled"},
		{word: "memoryHotAdd", path: "configSpec.memoryHotAddEnabled"}, {word: "reserveAll", path: "configSpec.memoryReservationLockedToMax"},
		{word: "hw", path: "configSpec.version"}, {word: wordNUMANode, path: "configSpec.virtualNuma.coresPerNumaNode"},
		{word: wordSettings, path: "configSpec.extraConfig"},
		{word: "vcpus", path: "hardware.cpus"}, {word: "memory", path: "hardware.memory"}, // these win over those of configSpec
	}}
	machine = &form{name: "VM Operator", attributes: []attribute{{word: "hw", path: "minHardwareVersion", unset: true}}}
)

// kinds are those that are read.
var kinds = []kind{
	{"infrastructure.cluster.x-k8s.io", "VSphereMachineTemplate", []string{"spec", "template", "spec"}, clusterAPI},
	{"infrastructure.cluster.x-k8s.io", "VSphereMachine", []string{"spec"}, clusterAPI},
	{"infrastructure.cluster.x-k8s.io", "VSphereVM", []string{"spec"}, clusterAPI},
	{"machine.openshift.io", "MachineSet", []string{"spec", "template", "spec", "providerSpec", "value"}, openShift},
	{"machine.openshift.io", "Machine", []string{"spec", "providerSpec", "value"}, openShift},
	{"machine.openshift.io", "ControlPlaneMachineSet", []string{"spec", "template", "machines_v1beta1_machine_openshift_io", "spec", "providerSpec", "value"}, openShift},
	{"anywhere.eks.amazonaws.com", "VSphereMachineConfig", []string{"spec"}, eksAnywhere},
	{"vmoperator.vmware.com", "VirtualMachineClass", []string{"spec"}, machineClass},
	{"vmoperator.vmware.com", "VirtualMachine", []string{"spec"}, machine},
	{"vmware.infrastructure.cluster.x-k8s.io", "VSphereMachineTemplate", []string{"spec", "template", "spec"}, machine}, // Cluster API of a supervisor
	{"vmware.infrastructure.cluster.x-k8s.io", "VSphereMachine", []string{"spec"}, machine},
}

// groups are those of the kinds, with the slash before a version.
var groups = func() (out []string) {
	for _, k := range kinds {
		out = append(out, k.group+"/")
	}
	return out
}()

// isManifest reports whether a text has an object of one of the groups. What else is in them the reader tells.
func isManifest(head []byte) bool {
	for line := range strings.Lines(string(head)) {
		line = strings.TrimLeft(line, " -\t{\"")
		version, ok := strings.CutPrefix(line, "apiVersion")
		for _, group := range groups {
			if ok && strings.HasPrefix(strings.TrimLeft(version, `": '`), group) {
				return true
			}
		}
	}
	return false
}

// kindOf returns the kind of an object; nil for one that describes no VM of vSphere.
func kindOf(object *jsontree.Value) *kind {
	group, _, _ := strings.Cut(object.At("apiVersion").Text, "/")
	for i := range kinds {
		k := &kinds[i]
		if k.group != group || k.kind != object.At("kind").Text {
			continue
		}
		spec := object.At(k.at...)
		if k.form == openShift && spec.At("kind").Text != "VSphereMachineProviderSpec" && spec.At("workspace").Kind == 0 {
			return nil // of another cloud
		}
		return k
	}
	return nil
}

// manifests reads objects of Kubernetes: documents, and items of lists.
func (r *reader) manifests(data []byte) error {
	var docs []yaml.Node
	if err := yaml.Load(data, &docs, yaml.WithAllDocuments()); err != nil {
		return r.malformed(data, err)
	}
	var objects []*jsontree.Value
	for i := range docs {
		t := &tree{}
		doc := t.value(&docs[i], 0)
		if t.full {
			return r.errorf(docs[i].Line, docs[i].Column, "found more than %d values, or %d levels", mostValues, mostDeep)
		}
		objects = append(objects, members(doc)...)
	}
	classes := map[string]*jsontree.Value{}
	for _, o := range objects {
		if k := kindOf(o); k != nil && k.form == machineClass {
			classes[o.At("metadata", "name").Text] = o
		}
	}
	for _, o := range objects {
		k := kindOf(o)
		if k == nil {
			if name := o.At("kind").Text; name != "" {
				r.left = append(r.left, name)
			}
			continue
		}
		if err := r.manifest(k, o, classes); err != nil {
			return err
		}
	}
	return nil
}

// members returns the items of a list of objects, or of a Template of OpenShift; another object as it is.
func members(doc *jsontree.Value) []*jsontree.Value {
	for _, key := range []string{"items", "objects"} {
		if list := doc.At(key); list.Kind == jsontree.List {
			return list.List()
		}
	}
	return []*jsontree.Value{doc}
}

// manifest reads the VM of an object. One of a class of the same file has what the class states.
func (r *reader) manifest(k *kind, object *jsontree.Value, classes map[string]*jsontree.Value) error {
	name, spec := object.At("metadata", "name").Text, object.At(k.at...)
	v := r.newVM(k.form, name, object.Line, object.Col)
	if class := spec.At("className"); k.form == machine {
		switch of := classes[class.Text]; {
		case of != nil:
			v.form, v.site.form = machineClass, machineClass
			if err := v.read(of.At("spec")); err != nil {
				return err
			}
		case class.Text != "":
			v.later("spec.className "+class.Text, "vcpus")
		}
		if hw := spec.At("minHardwareVersion"); hw.Kind != 0 {
			if err := v.take(machine.attributes[0], hw); err != nil {
				return err
			}
		}
	} else if err := v.read(spec); err != nil {
		return err
	}
	if devices := spec.At("pciDevices"); len(devices.Keys) > 0 {
		r.note(v.At, "VM %s has PCI devices by passthrough: on which node of a host they are is unknown", v.Name)
	}
	if k.form != machineClass && k.form != machine {
		v.plan.Template = spec.At("template").Text
		pool := cmp.Or(spec.At("resourcePool").Text, spec.At("workspace", "resourcePool").Text)
		v.plan.Cluster = clusterOf(pool)
		if open(v.plan.Cluster) || strings.Contains(v.plan.Cluster, "*") { // any
			v.plan.Cluster = ""
		}
	}
	v.done(cmp.Or(name, fmt.Sprintf("%s at line %d", k.kind, object.Line)))
	return nil
}

// clusterOf returns the cluster of the path of a resource pool: /dc/host/prod-a/Resources/pool, or prod-a/Resources.
func clusterOf(pool string) string {
	if cluster, _, ok := strings.Cut(pool, "/Resources"); ok {
		return path.Base(cluster)
	}
	if _, cluster, ok := strings.Cut(pool, "/host/"); ok {
		cluster, _, _ = strings.Cut(cluster, "/")
		return cluster
	}
	return ""
}

// malformed gives an error of the YAML library the form of ours, and says how a template is read.
func (r *reader) malformed(data []byte, err error) error {
	e := &numa.SyntaxError{File: r.file, Line: 1, Col: 1, Msg: err.Error()}
	if at, ok := errors.AsType[*yaml.LoadError](err); ok {
		e.Line, e.Col, e.Msg = max(1, at.Mark.Line), max(1, at.Mark.Column), words.Join(": ", at.ContextMsg, at.Message)
	}
	if strings.Contains(string(data), "{{") {
		e.Msg += "; a template is read once it is rendered: helm template, kustomize build, clusterctl generate"
	}
	return e
}

// Bounds of a believable document.
const (
	mostValues = 200_000
	mostDeep   = 64
)

// A tree makes of nodes of YAML what jsontree makes of JSON.
type tree struct {
	values int
	full   bool
}

func (t *tree) value(n *yaml.Node, depth int) *jsontree.Value {
	if t.values++; t.values > mostValues || depth > mostDeep || n == nil {
		t.full = t.full || n != nil
		return &jsontree.Value{}
	}
	switch {
	case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		return t.value(n.Content[0], depth)
	case n.Kind == yaml.AliasNode:
		return t.value(n.Alias, depth+1)
	}
	v := &jsontree.Value{Line: n.Line, Col: n.Column}
	add := func(key string, of *jsontree.Value) {
		if v.Members[key] == nil {
			v.Keys = append(v.Keys, key)
		}
		v.Members[key] = of
	}
	switch n.Kind {
	case yaml.MappingNode:
		v.Kind, v.Members = jsontree.Object, map[string]*jsontree.Value{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if of := t.value(n.Content[i+1], depth+1); n.Content[i].Value != "<<" {
				add(n.Content[i].Value, of)
			} else {
				for _, key := range of.Keys {
					if v.Members[key] == nil {
						add(key, of.Members[key])
					}
				}
			}
		}
	case yaml.SequenceNode:
		v.Kind, v.Members = jsontree.List, map[string]*jsontree.Value{}
		for i, one := range n.Content {
			add(strconv.Itoa(i), t.value(one, depth+1))
		}
	case yaml.ScalarNode:
		v.Text = n.Value
		switch n.Tag {
		case "!!null":
			v.Kind, v.Text = jsontree.Null, ""
		case "!!bool":
			v.Kind = jsontree.Bool
		case "!!int", "!!float":
			v.Kind = jsontree.Number
		default:
			v.Kind = jsontree.String
		}
	}
	return v
}

// quantity reads memory such as 64Gi.
func quantity(s string) (numa.Bytes, bool) {
	n, ok := text.Quantity(s)
	if !ok || n <= 0 || n >= float64(numa.MaxVMMemory)*2 {
		return 0, false
	}
	return numa.Bytes(n), true
}
