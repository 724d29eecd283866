package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/planned"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

const hosts = `release 8.0U3
cluster prod-a
host esx[01-04] nodes=2 cores=16 memory=512GB
cluster prod-b
host esx[11-14] nodes=2 cores=32 memory=1024GB release=7.0U3
cluster prod-c
host esx[21-22] nodes=2 cores=16 memory=512GB
cluster none
host lone nodes=1 cores=8 memory=64GB
cluster prod-a
vm golden vcpus=4 memory=8GB hw=15 hotAdd=on template=yes power=off
vm other vcpus=8 memory=8GB
`

// machines returns YAML of machines of Cluster API: name and what its spec has, one a line.
func machines(specs ...string) string {
	var b strings.Builder
	for _, s := range specs {
		name, spec, _ := strings.Cut(s, " ")
		fmt.Fprintf(&b, "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: VSphereMachine\nmetadata: {name: %s}\nspec:\n  %s\n", name, strings.ReplaceAll(spec, "; ", "\n  "))
	}
	return b.String()
}

// judged reads planned VMs, places them on the hosts, and judges them.
func judged(t testing.TB, name, text, on string, models ...numa.Host) (*rules.Result, []*VM) {
	t.Helper()
	plan, err := planned.ReadBytes(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	fleet := plan
	if on != "" {
		real, err := scenario.Read("fleet", []byte(on))
		if err != nil {
			t.Fatal(err)
		}
		if fleet, err = numa.Merge([]numa.Part{{Name: "plan", Fleet: plan}, {Name: "fleet", Fleet: real}}); err != nil {
			t.Fatal(err)
		}
	}
	if fleet, err = Place(fleet, models); err != nil {
		t.Fatal(err)
	}
	r := rules.Run(fleet, rules.Options{})
	return r, Judge(r)
}

// TestPlace: each planned VM is judged on every site with other hosts, or on the one that its plan names; a clone has what its template has.
func TestPlace(t *testing.T) {
	r, vms := judged(t, "m.yaml", machines(
		"anywhere numCPUs: 12; memoryMiB: 8192",
		"named numCPUs: 12; memoryMiB: 8192; resourcePool: /dc/host/prod-c/Resources",
		"gone numCPUs: 12; memoryMiB: 8192; resourcePool: /dc/host/prod-x/Resources",
		"clone memoryMiB: 8192; template: golden; resourcePool: prod-a/Resources",
		"stranger numCPUs: 2; memoryMiB: 8192; template: nobody; resourcePool: prod-a/Resources",
		"later numCPUs: ${CPUS}; memoryMiB: 8192; template: golden",
	), hosts)
	var got []string
	for _, v := range vms {
		line := fmt.Sprintf("%s %d:", v.Name, v.VCPUs)
		for _, p := range v.On {
			line += " " + p.Site + " " + p.Layout
		}
		got = append(got, line)
	}
	want := []string{"anywhere 12: prod-a 1×12 prod-b 1×12 lone 2×6 sees 1×12", "named 12: prod-c 1×12", "gone 12: prod-a 1×12 prod-b 1×12 lone 2×6 sees 1×12", "clone 4: prod-a 1×4", "stranger 2: prod-a 1×2", "later 0:"}
	for i := range want { // what a VM of 12 gets on 8 cores is for the model to say
		got[i], want[i], _ = cutLone(got[i], want[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("placed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var notes []string
	for _, n := range r.Fleet.Notes {
		notes = append(notes, n.String())
	}
	wantNotes := []string{
		"prod-a: stands for prod-c too: the hosts are alike",
		"m.yaml:17:1: VM gone: its plan names prod-x, which is not among the hosts: it is judged on all of them",
		"m.yaml:33:1: VM stranger: the fleet has no template nobody: what it inherits is unknown",
	}
	for _, n := range wantNotes {
		if !slices.Contains(notes, n) {
			t.Errorf("no note %q in\n%s", n, strings.Join(notes, "\n"))
		}
	}
	for i := range r.Fleet.VMs {
		v := &r.Fleet.VMs[i]
		hw := fmt.Sprintf("%s %d %s", v.Hardware.Origin.Kind, v.Hardware.Value, v.Hardware.Origin.Where)
		switch want := map[string]string{
			"anywhere on prod-a": "assumed 21 nothing states it: the version with which ESXi 8.0 U3 creates VMs",
			"anywhere on prod-b": "assumed 19 nothing states it: the version with which ESXi 7.0 U3 creates VMs",
			"clone":              "derived 15 template golden",
		}[strings.TrimPrefix(v.ID, "plan/")]; {
		case want != "" && hw != want:
			t.Errorf("%s: hardware %s, want %s", v.ID, hw, want)
		case v.Name == "clone" && !v.CPUHotAdd.Value:
			t.Errorf("%s: hot add %v, want that of the template", v.ID, v.CPUHotAdd)
		case v.Name == "other" || v.Name == "golden":
			t.Errorf("%s: a VM that exists is judged", v.Name)
		}
	}
	for i := range r.Findings {
		if r.Findings[i].VMID == "" {
			t.Errorf("a finding about a host: %s", r.Findings[i].Message)
		}
	}
}

// cutLone takes away what both say of the host lone, whose layout another package tests.
func cutLone(got, want string) (string, string, bool) {
	g, _, a := strings.Cut(got, " lone ")
	w, _, b := strings.Cut(want, " lone ")
	return g, w, a && b
}

// TestDepends: what the guest sees depends on the host, and another size would not.
func TestDepends(t *testing.T) {
	const two = "release 8.0U3\ncluster prod-a\nhost a1 nodes=2 cores=16 memory=512GB\ncluster prod-b\nhost b1 nodes=2 cores=32 memory=1024GB\n"
	for spec, want := range map[string]string{
		"vm numCPUs: 32; memoryMiB: 65536; numCoresPerSocket: 1": "2 nodes of 16 on prod-a, 1 node of 32 on prod-b; 16 or 34 vCPUs would be alike",
		"vm numCPUs: 8; memoryMiB: 65536":                        "",
	} {
		if _, vms := judged(t, "m.yaml", machines(spec), two); vms[0].Depends() != want {
			t.Errorf("%s: %q, want %q", spec, vms[0].Depends(), want)
		}
	}
}

// TestModels: without a fleet host models are the sites, and without planned VMs they are refused.
func TestModels(t *testing.T) {
	real := given.Fleet(t, "models", []byte("cluster none\nhost model nodes=2 cores=8 memory=128GB release=8.0U3\n"))
	model := real.Hosts[0]
	_, vms := judged(t, "m.yaml", machines("vm numCPUs: 16; memoryMiB: 65536"), "", model)
	if on := vms[0].On; len(on) != 1 || on[0].Site != "model" || on[0].Sees != "2 nodes of 8" {
		t.Errorf("%+v", on)
	}
	other := model
	other.ID, other.Name = "other", "other"
	kvm := &numa.Fleet{Hypervisor: numa.KVM, VMs: []numa.VM{{ID: "a", Name: "a"}}}
	if got, err := Place(kvm, []numa.Host{model, other}); err != nil || len(got.VMs) != 2 || got.VMs[1].Host != "other" || got.VMs[1].ID != "a on other" { // such as VMs of KubeVirt
		t.Errorf("%v %+v", err, got)
	}
	if _, err := Place(real, []numa.Host{model}); err == nil || !strings.HasPrefix(err.Error(), "found no planned VM: host models are for VMs that do not exist yet; explain --on ") {
		t.Error(err)
	}
}

// TestPatch: the diff of a class that two VMs have.
func TestPatch(t *testing.T) {
	const text = `apiVersion: vmoperator.vmware.com/v1alpha5
kind: VirtualMachineClass
metadata:
  name: db
spec:
  hardware:
    cpus: 24 # sized in May
    memory: 96Gi
  configSpec:
    cpuHotAddEnabled: true
    numCoresPerSocket: 1
---
apiVersion: vmoperator.vmware.com/v1alpha5
kind: VirtualMachine
metadata: {name: db01}
spec:
  className: db`
	r, vms := judged(t, "db.yaml", text, "cluster c\nhost h nodes=2 cores=16 memory=512GB release=7.0U3\n")
	if len(vms) != 2 || len(vms[0].Lines) != 1 || vms[0].Lines[0].Text != "cpuHotAddEnabled: false" || vms[0].Lines[0].At != "db.yaml:10:23" {
		t.Fatalf("%+v", vms[0])
	}
	p, err := PatchOf(r, "db.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	const want = `--- a/db.yaml
+++ b/db.yaml
@@ -7,7 +7,7 @@
     cpus: 24 # sized in May
     memory: 96Gi
   configSpec:
-    cpuHotAddEnabled: true
+    cpuHotAddEnabled: false
     numCoresPerSocket: 1
 ---
 apiVersion: vmoperator.vmware.com/v1alpha5
`
	if p.Diff != want || p.Cannot != nil {
		t.Errorf("%s\nwant\n%s\n%v", p.Diff, want, p.Cannot)
	}
	if got := string(p.Changed()); got != strings.Replace(text, "Enabled: true", "Enabled: false", 1) {
		t.Errorf("changed to\n%s", got)
	}
}

// TestMade: a plan is made of files that are edited: its lines are named, and it stays as it is.
func TestMade(t *testing.T) {
	plan := string(planOf(4))
	r, _ := judged(t, "plan.json", strings.ReplaceAll(plan, `"num_cpus":2,`, `"num_cpus":32,`), "cluster c\nhost h nodes=2 cores=16 memory=512GB release=7.0U3\n")
	p, err := PatchOf(r, "plan.json", []byte(plan))
	if err != nil || p.Diff != "" || !slices.Equal(p.Lines, []string{"vsphere_virtual_machine.vm[0]: cpu_hot_add_enabled = false"}) {
		t.Errorf("%v %q %q", err, p.Diff, p.Lines)
	}
}

// TestDisagree: a cure for one cluster where another one wants something else is named, and is no line to change.
func TestDisagree(t *testing.T) {
	const class = "apiVersion: vmoperator.vmware.com/v1alpha5\nkind: VirtualMachineClass\nmetadata: {name: db}\nspec:\n  hardware: {cpus: 24, memory: 96Gi}\n  configSpec:\n    cpuHotAddEnabled: true\n    numCoresPerSocket: %d\n"
	const two = "release 7.0U3\ncluster a\nhost a1 nodes=2 cores=16 memory=512GB\ncluster b\nhost b1 nodes=4 cores=8 memory=512GB\n"
	for cores, want := range map[int]string{
		1:  "cpuHotAddEnabled: false | ",
		24: "numCoresPerSocket: 12, cpuHotAddEnabled: false | coresPerSocket = 8 for b: other hosts want 12",
	} {
		_, vms := judged(t, "db.yaml", fmt.Sprintf(class, cores), two)
		var lines []string
		for _, l := range vms[0].Lines {
			lines = append(lines, l.Text)
		}
		if got := strings.Join(lines, ", ") + " | " + strings.Join(vms[0].Cannot, "; "); got != want {
			t.Errorf("%d cores per socket: %s, want %s", cores, got, want)
		}
	}
}

// TestOff: a VM that does not power on is told the line that lets it.
func TestOff(t *testing.T) {
	_, vms := judged(t, "m.yaml", machines("vm numCPUs: 6; memoryMiB: 65536; numCoresPerSocket: 4"), "cluster c\nhost h nodes=2 cores=16 memory=512GB release=7.0U3\n")
	if v := vms[0]; v.On[0].Sees != "does not power on" || len(v.Lines) != 1 || !strings.HasPrefix(v.Lines[0].Text, "numCoresPerSocket: ") || v.Lines[0].At != "m.yaml:8:22" {
		t.Errorf("%+v", vms[0])
	}
}

// TestSharedLines: a line that several VMs share stands once, and not at all where they need different values.
func TestSharedLines(t *testing.T) {
	line := func(attribute, text, at string) planned.Line {
		return planned.Line{Attribute: attribute, Text: text, At: at}
	}
	vms := []*VM{
		{Name: "a", At: "f:1:1", Lines: []planned.Line{line("hot", "hot: false", "f:9:3"), line("cores", "cores: 12", "f:8:3"), line("nodes", "nodes: 2", "")}},
		{Name: "b", At: "f:2:1", Lines: []planned.Line{line("hot", "hot: false", "f:9:3"), line("cores", "cores: 0", "f:8:3"), line("nodes", "nodes: 2", "")}},
	}
	changes, conflicts := Changes(vms)
	if got, want := fmt.Sprint(changes), "[{[a b] f:9:3 hot: false} {[a] f:1:1 nodes: 2} {[b] f:2:1 nodes: 2}]"; got != want {
		t.Errorf("changes %s, want %s", got, want)
	}
	if want := []string{"f:8:3: VMs share this line and need different values; cores: 12 for a; cores: 0 for b"}; !slices.Equal(conflicts, want) {
		t.Errorf("conflicts %q, want %q", conflicts, want)
	}
}
