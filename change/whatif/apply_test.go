package whatif_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/memory"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/random"
)

const small = `release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=18 memory=1024GB build=21930508
vm db01 host=esx01 vcpus=20 coresPerSocket=2 memory=64GB hotAdd=on hw=19 numa.vcpu.min=9 numa.vcpu.preferHT=TRUE
vm db02 host=esx02 vcpus=8 memory=32GB hw=19
cluster test
host old01 release=6.7U3 nodes=4 packages=2 cores=8 memory=512GB
vm db01-test host=old01 vcpus=4 memory=16GB hw=14
`

func fleet(t testing.TB, text string) *numa.Fleet {
	t.Helper()
	f, err := scenario.Read("fleet.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func demoFleet(t testing.TB) *numa.Fleet {
	t.Helper()
	f, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func parse(t testing.TB, texts ...string) []whatif.Change {
	t.Helper()
	var out []whatif.Change
	for _, text := range texts {
		c, err := whatif.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func apply(t testing.TB, f *numa.Fleet, texts ...string) (*numa.Fleet, []whatif.Effect) {
	t.Helper()
	before := dump(t, f)
	out, effects, err := whatif.Apply(t.Context(), f, parse(t, texts...), vnuma.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	if dump(t, f) != before {
		t.Error("Apply changed its input")
	}
	return out, effects
}

func dump(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// facts lists the facts of b that differ from those of a: "VCPUs = 24, read: …".
func facts(a, b any) string {
	var out strings.Builder
	ra, rb := reflect.ValueOf(a), reflect.ValueOf(b)
	for _, field := range reflect.VisibleFields(rb.Type()) {
		x, y := ra.FieldByIndex(field.Index), rb.FieldByIndex(field.Index)
		switch {
		case field.Anonymous || reflect.DeepEqual(x.Interface(), y.Interface()):
		case y.Kind() == reflect.Struct:
			fmt.Fprintf(&out, "%s = %v, %v\n", field.Name, y.Field(0), y.Field(1).Interface())
		default:
			fmt.Fprintf(&out, "%s = %v\n", field.Name, y)
		}
	}
	return out.String()
}

func TestVM(t *testing.T) {
	for _, tt := range []struct{ name, change, want string }{
		{"vCPUs and hot add", "vm=db01 vcpus=24 HOTADD=Off", `
VCPUs = 24, read: --what-if 'vm=db01 vcpus=24 HOTADD=Off'
CPUHotAdd = false, read: --what-if 'vm=db01 vcpus=24 HOTADD=Off'
`},
		{"what it has", "vm=db01 vcpus=20 hotadd=on corespersocket=2 memory=64gb hw=19 numa.vcpu.min=9", "\n"},
		{"automatic sockets", "vm=db01 coresPerSocket=auto", `
CoresPerSocket = 1, read: --what-if 'vm=db01 coresPerSocket=auto'
AutoCoresPerSocket = true, read: --what-if 'vm=db01 coresPerSocket=auto'
`},
		{"settings", "vm=db01 numa.vcpu.min=4 NUMA.consolidate=FALSE", `
Settings = [{NUMA.consolidate FALSE} {numa.vcpu.min 4} {numa.vcpu.preferHT TRUE}], read: settings of the line, --what-if 'vm=db01 numa.vcpu.min=4 NUMA.consolidate=FALSE'
`},
		{"a setting removed", "vm=db01 numa.vcpu.prefeRHT=", `
Settings = [{numa.vcpu.min 9}], read: settings of the line, --what-if 'vm=db01 numa.vcpu.prefeRHT='
`},
		{"no such setting removed", "vm=db01 numa.consolidate=", "\n"},
		{"stored, with the vCPUs of a later word", "vm=db01 stored=12 vcpus=24", `
VCPUs = 24, read: --what-if 'vm=db01 stored=12 vcpus=24'
Settings = [{numa.autosize.cookie 240022} {numa.autosize.vcpu.maxPerVirtualNode 12} {numa.vcpu.min 9} {numa.vcpu.preferHT TRUE}], read: settings of the line, --what-if 'vm=db01 stored=12 vcpus=24'
`},
		{"moved", "vm=db01 host=esx02", `
Host = esx02
`},
		{"moved to another cluster", "vm=db01 host=old01 hw=14", `
Cluster = test
Host = old01
Hardware = 14, read: --what-if 'vm=db01 host=old01 hw=14'
`},
		{"unknown", "vm=db01 hotAdd=?", `
CPUHotAdd = false, unknown
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fleet(t, small)
			got, _ := apply(t, f, tt.change)
			got.VMs[0].Arrived = false // TestLoseReserved
			if text := facts(f.VMs[0], got.VMs[0]); text != tt.want[1:] {
				t.Errorf("changed:\n%s\nwant:%s", text, tt.want)
			}
		})
	}
}

func TestHost(t *testing.T) {
	at := func(change string) string { return "--what-if '" + change + "'" }
	for _, tt := range []struct{ name, change, want string }{
		{"release", "release=8.0U2", `
Release = 8.0 U2, read: ` + at("release=8.0U2") + `
Build = 0, unknown
`},
		{"the family it has", "release=7.0", "\n"},
		{"release and build", "host=esx* release=6.7 build=14320388", `
Release = 6.7 U3, read: ` + at("host=esx* release=6.7 build=14320388") + `
Build = 14320388, read: ` + at("host=esx* release=6.7 build=14320388") + `
`},
		{"an older release for all takes none back", "release=6.7 build=14320388", "\n"},
		{"an older update for all", "release=7.0U1", "\n"},
		{"option", "Numa.PreferHT=1", `
Options = [{Numa.PreferHT 1}], read: options of the line, ` + at("Numa.PreferHT=1") + `
`},
		{"two nodes a socket", "nodesPerSocket=2", `
Nodes = [{0 0 9 18 {256 GB derived: ` + at("nodesPerSocket=2") + `}} {1 0 9 18 {256 GB derived: ` + at("nodesPerSocket=2") + `}} {2 1 9 18 {256 GB derived: ` + at("nodesPerSocket=2") + `}} {3 1 9 18 {256 GB derived: ` + at("nodesPerSocket=2") + `}}], read: ` + at("nodesPerSocket=2") + `
`},
		{"one node a socket", "nodesPerSocket=1", "\n"},
		{"the nodes it has", "host=esx01 nodes=2 cores=18 memory=1TB packages=2 ht=on", "\n"},
		{"hyper-threading off", "ht=off", `
Threads = 36, derived: ` + at("ht=off") + `
HyperThreading = false, derived: ` + at("ht=off") + `
Nodes = [{0 0 18 18 {512 GB derived: memory, nodes}} {1 1 18 18 {512 GB derived: memory, nodes}}], read: ` + at("ht=off") + `
`},
		{"more memory", "host=esx* memory=2TB", `
Memory = 2 TB, read: ` + at("host=esx* memory=2TB") + `
Nodes = [{0 0 18 36 {1 TB derived: ` + at("host=esx* memory=2TB") + `}} {1 1 18 36 {1 TB derived: ` + at("host=esx* memory=2TB") + `}}], read: ` + at("host=esx* memory=2TB") + `
`},
		{"memory of a node", "host=esx* nodeMemory=512GB,448GB", `
Memory = 960 GB, derived: ` + at("host=esx* nodeMemory=512GB,448GB") + `
Nodes = [{0 0 18 36 {512 GB read: ` + at("host=esx* nodeMemory=512GB,448GB") + `}} {1 1 18 36 {448 GB read: ` + at("host=esx* nodeMemory=512GB,448GB") + `}}], read: ` + at("host=esx* nodeMemory=512GB,448GB") + `
`},
		{"four sockets", "nodes=4 cores=20", `
Packages = 4, read: ` + at("nodes=4 cores=20") + `
Cores = 80, derived: ` + at("nodes=4 cores=20") + `
Threads = 160, derived: ` + at("nodes=4 cores=20") + `
Memory = 2 TB, derived: ` + at("nodes=4 cores=20") + `
Nodes = [{0 0 20 40 {512 GB derived: memory, nodes}} {1 1 20 40 {512 GB derived: memory, nodes}} {2 2 20 40 {512 GB derived: memory, nodes}} {3 3 20 40 {512 GB derived: memory, nodes}}], read: ` + at("nodes=4 cores=20") + `
`},
		{"maintenance", "host=esx01 maintenance=on", `
Maintenance = true, read: ` + at("host=esx01 maintenance=on") + `
`},
		{"unknown nodes", "nodes=?", `
Nodes = [], unknown
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fleet(t, small)
			got, _ := apply(t, f, tt.change)
			if text := facts(f.Hosts[0], got.Hosts[0]); text != tt.want[1:] {
				t.Errorf("changed:\n%s\nwant:%s", text, tt.want)
			}
		})
	}
}

// TestDivide checks how nodes that were read divide and merge.
func TestDivide(t *testing.T) {
	for _, tt := range []struct{ name, host, change, want string }{
		{"merged", "nodes=4 packages=2 cores=14 memory=512GB", "nodesPerSocket=1", "0:28 256 GB, 1:28 256 GB"},
		{"divided again", "nodes=4 packages=2 cores=14 memory=512GB", "nodesPerSocket=4", "0:7 64 GB, 0:7 64 GB, 0:7 64 GB, 0:7 64 GB, 1:7 64 GB, 1:7 64 GB, 1:7 64 GB, 1:7 64 GB"},
		{"uneven memory", "nodes=2 cores=18 nodeMemory=512GB,448GB", "nodesPerSocket=2", "0:9 256 GB, 0:9 256 GB, 1:9 224 GB, 1:9 224 GB"},
		{"interleaved host", "nodes=1 packages=2 cores=40 memory=768GB", "nodesPerSocket=1", "0:20 384 GB, 1:20 384 GB"},
		{"memory unknown", "nodes=2 cores=8", "nodesPerSocket=2", "0:4 0 B, 0:4 0 B, 1:4 0 B, 1:4 0 B"},
		{"nodes unknown", "nodes=? packages=2 cores=8 memory=64GB", "nodesPerSocket=1", "0:4 32 GB, 1:4 32 GB"},
		{"SNC3", "nodes=1 cores=128 memory=384GB", "nodesPerSocket=3", "0:43 128 GB, 0:43 128 GB, 0:42 128 GB"},
		{"SNC3 off", "nodes=3 packages=1 cores=43,43,42 memory=384GB", "nodesPerSocket=1", "0:128 384 GB"},
		{"a node of seven", "nodes=2 cores=20 memory=512GB", "nodesPerSocket=7", "error: --what-if:1:1: host a: 20 cores of a package do not divide into 7 nodes"},
		{"too many", "nodes=2 cores=64 memory=512GB", "nodesPerSocket=64", "error: --what-if:1:1: host a: 2 packages of 64 nodes are more than 64 nodes"},
		{"cores unknown", "memory=512GB", "nodesPerSocket=2", "error: --what-if:1:1: host a: its packages and cores are unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fleet(t, "release 7.0U3\ncluster c\nhost a "+tt.host)
			var got string
			out, _, err := whatif.Apply(t.Context(), f, parse(t, tt.change), vnuma.Choices{})
			if err != nil {
				got = "error: " + err.Error()
			} else {
				var parts []string
				for i, n := range out.Hosts[0].Nodes.Value {
					if n.ID != i {
						t.Errorf("node %d has ID %d", i, n.ID)
					}
					parts = append(parts, fmt.Sprintf("%d:%d %s", n.Package, n.Cores, n.Memory.Value))
				}
				got = strings.Join(parts, ", ")
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestWhom checks which VMs and hosts a change is about.
func TestWhom(t *testing.T) {
	for _, tt := range []struct{ change, want string }{
		{"vm=db01 vcpus=4", "0 hosts, 1 VM, 1 changed"},
		{"vm=DB01 vcpus=4", "0 hosts, 1 VM, 1 changed"},
		{"vm=db* vcpus=4", "0 hosts, 3 VMs, 2 changed"},
		{"vm=db[01-02] vcpus=4", "0 hosts, 2 VMs, 2 changed"},
		{"vm=db02,db01-test vcpus=8", "0 hosts, 2 VMs, 1 changed"},
		{"vm=prod/* vcpus=4", "0 hosts, 2 VMs, 2 changed"},
		{"vm=* cluster=test vcpus=4", "0 hosts, 1 VM, 0 changed"},
		{"hw=20", "0 hosts, 3 VMs, 3 changed"},
		{"cluster=prod hw=20", "0 hosts, 2 VMs, 2 changed"},
		{"release=8.0U3", "3 hosts, 0 VMs, 3 changed"},
		{"release=7.0 cluster=PROD", "2 hosts, 0 VMs, 0 changed"},
		{"release=8.0 hw=20", "3 hosts, 3 VMs, 6 changed"},
		{"host=esx0? ht=off", "2 hosts, 0 VMs, 2 changed"},
		{"numa.vcpu.min=4", "0 hosts, 3 VMs, 3 changed"},
		{"Numa.PreferHT=1", "3 hosts, 0 VMs, 3 changed"},
		{"vm=db01 Numa.allowHotadd=TRUE", "0 hosts, 1 VM, 1 changed"},
		{"lose-host=esx01", "1 host, 1 VM, 2 changed"},
		{"lose-host=old01", "1 host, 1 VM, 2 changed"},
		{"add-host=esx01 count=3", "3 hosts, 0 VMs, 3 changed"},
		// Nothing.
		{"vm=db03 vcpus=4", `error: --what-if:1:1: found no VM "db03"; alike: db01, db02, db01-test`},
		{"vm=web* vcpus=4", `error: --what-if:1:1: found no VM "web*"; known: db01, db01-test, db02`},
		{"vm=db02 cluster=test vcpus=4", `error: --what-if:1:1: found no VM "db02" in cluster test: cluster= selects VMs; host=NAME moves them, to a host or a cluster`},
		{"cluster=pro hw=20", `error: --what-if:1:1: found no cluster "pro"; alike: prod`},
		{"cluster=none hw=20", `error: --what-if:1:14: found no VM in cluster none`},
		{"vm=db01 host=test vcpus=4", "0 hosts, 1 VM, 1 changed"},
		{"vm=db01 host=esx0* vcpus=4", `error: --what-if:1:9: found 2 hosts "esx0*", want one`},
		{"host=esx* nodes=2 nodeMemory=1GB,2GB,3GB", `error: --what-if:1:11: host esx01: found the memory of 3 nodes, want 2 or one for all`},
		{"host=esx* cores=8 threads=4", `error: --what-if:1:11: host esx01: found 4 threads on 8 cores of a node`},
		{"lose-host=esx03", `error: --what-if:1:1: found no host "esx03"; alike: esx01, esx02`},
		{"add-host=esx9", `error: --what-if:1:1: found no host "esx9"; alike: esx01, esx02; add-host= copies a host of the fleet`},
		{"add-host=esx*", `error: --what-if:1:1: found 2 hosts "esx*", want one; add-host= copies a host of the fleet`},
		{"add-host=esx01 name=esx02", `error: --what-if:1:1: found a host esx02 already: say name=`},
		{"add-host=esx01 cluster=dev", `error: --what-if:1:1: found no cluster "dev"; known: prod, test`},
	} {
		f := fleet(t, small)
		var got string
		_, effects, err := whatif.Apply(t.Context(), f, parse(t, tt.change), vnuma.Choices{})
		if err != nil {
			got = "error: " + err.Error()
		} else {
			e := effects[0]
			got = fmt.Sprintf("%s, %s, %d changed", plural(e.Hosts, "host"), plural(e.VMs, "VM"), e.Changed)
		}
		if got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.change, got, tt.want)
		}
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// TestUpgrade holds rule book B-18: an upgrade keeps cores per socket.
func TestUpgrade(t *testing.T) {
	f := fleet(t, small)
	v := &f.VMs[0]
	v.AutoCoresPerSocket, v.VNUMAHotAdd = numa.Fact[bool]{}, numa.Fact[bool]{}
	got, _ := apply(t, f, "vm=db01 hw=20")
	want := `Hardware = 20, read: --what-if 'vm=db01 hw=20'
AutoCoresPerSocket = false, assumed: --what-if 'vm=db01 hw=20': an upgrade keeps cores per socket
VNUMAHotAdd = false, assumed: --what-if 'vm=db01 hw=20': an upgrade does not switch it on
`
	if text := facts(f.VMs[0], got.VMs[0]); text != want {
		t.Errorf("changed:\n%s\nwant:\n%s", text, want)
	}
}

// TestUnknownSettings checks that one setting said does not make the others known.
func TestUnknownSettings(t *testing.T) {
	f := fleet(t, "release 7.0U3\ncluster c\nhost a nodes=2 cores=8 memory=64GB\nvm v vcpus=12 memory=8GB settings=?")
	got, _ := apply(t, f, "vm=v numa.vcpu.preferHT=TRUE")
	r := rules.Run(got, rules.Options{})
	l := &r.Clusters[0].VMs[0].On[0].Layout
	if l.Wide() || l.Assumes&vnuma.AssumedSettings == 0 {
		t.Errorf("wide %v, assumes %v; want one client and assumed settings", l.Wide(), l.Assumes.Names())
	}
}

// TestUneven checks that vCPUs that do not fill their sockets are refused, as vSphere
// does, but for cores per socket that ESXi may choose itself.
func TestUneven(t *testing.T) {
	const text = `release 8.0U3
cluster c
host a nodes=2 cores=24 memory=512GB
vm hand host=a vcpus=20 coresPerSocket=10 memory=8GB hw=19
vm hand2 host=a vcpus=20 coresPerSocket=10 memory=8GB hw=20
vm odd host=a vcpus=20 coresPerSocket=3 memory=8GB hw=19
vm auto host=a vcpus=20 coresPerSocket=auto memory=8GB hw=20
vm one host=a vcpus=20 memory=8GB hw=19
vm unknown host=a vcpus=20 coresPerSocket=? memory=8GB hw=19
`
	for _, tt := range []struct{ change, want string }{
		{"vm=hand vcpus=21", "--what-if:1:9: VM hand: 21 vCPUs do not divide into sockets of 10 cores: say coresPerSocket= too"},
		{"memory=16GB vm=hand* vcpus=21", "--what-if:1:22: VM hand: 21 vCPUs do not divide into sockets of 10 cores (and 1 more): say coresPerSocket= too"},
		{"vm=hand coresPerSocket=8", "--what-if:1:9: VM hand: 20 vCPUs do not divide into sockets of 8 cores: say vcpus= too, or another coresPerSocket="},
		{"vm=hand vcpus=21 coresPerSocket=2", "--what-if:1:18: VM hand: 21 vCPUs do not divide into sockets of 2 cores"},
		{"vm=hand vcpus=21 coresPerSocket=7", ""},
		{"vm=hand vcpus=21 coresPerSocket=auto hw=20", ""},
		{"vm=auto,one,unknown vcpus=21", ""},
		{"vm=odd memory=16GB", ""}, // as it was before
	} {
		got := ""
		_, _, err := whatif.Apply(t.Context(), fleet(t, text), parse(t, tt.change), vnuma.Choices{})
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.change, got, tt.want)
		}
	}
	f := fleet(t, text)
	f.VMs[1].AutoCoresPerSocket = numa.Fact[bool]{}
	got, _ := apply(t, f, "vm=hand2 vcpus=21")
	want := []numa.Note{{At: "--what-if 'vm=hand2 vcpus=21'", Text: "VM hand2: 21 vCPUs do not divide into sockets of 10 cores: vSphere wants other cores per socket with them unless they are assigned at power on, which is unknown"}}
	if !slices.Equal(got.Notes, want) {
		t.Errorf("notes %v, want %v", got.Notes, want)
	}
}

// TestLoseHost checks that VMs go where their layout is worst, and only to hosts that
// take them.
func TestLoseHost(t *testing.T) {
	const text = `release 7.0U3
cluster c
host a[1-3] nodes=2 cores=20 memory=512GB
host b[1-2] nodes=4 cores=10 memory=512GB
host b3 nodes=8 cores=5 memory=512GB maintenance=on
host b4 nodes=8 cores=5 memory=512GB connection=notResponding
host old release=6.5 nodes=8 cores=5 memory=512GB
vm small host=a1 vcpus=4 memory=8GB
vm wide host=a1 vcpus=20 memory=8GB stored=20
vm stays host=a2 vcpus=20 memory=8GB stored=20
`
	got, _ := apply(t, fleet(t, text), "lose-host=a1")
	var where []string
	for i := range got.VMs {
		where = append(where, got.VMs[i].Name+" "+got.VMs[i].Host)
	}
	if want := []string{"small a3", "wide b1", "stays a2"}; !slices.Equal(where, want) {
		t.Errorf("VMs on %v, want %v", where, want)
	}
	// A host that enters maintenance mode is evacuated by vMotion in the same way; a VM with a device, and one that is off, stay.
	entered, effects := apply(t, fleet(t, text+"vm off host=a1 vcpus=4 memory=8GB power=off\nvm device host=a1 vcpus=4 memory=8GB reserveAll=on pci=3b:00.0\n"), "host=a1 maintenance=on")
	where = nil
	for i := range entered.VMs {
		where = append(where, entered.VMs[i].Name+" "+entered.VMs[i].Host)
	}
	if want := []string{"small a3", "wide b1", "stays a2", "off a1", "device a1"}; !slices.Equal(where, want) || effects[0].VMs != 2 || effects[0].Changed != 3 {
		t.Errorf("VMs on %v, %+v; want %v", where, effects[0], want)
	}
	if n := entered.Notes; len(n) != 1 || n[0].Text != "1 VM must be powered off before the maintenance (no other host of the cluster accepts a vMotion): device" {
		t.Errorf("notes %v", n)
	}
	// Hosts where they are as bad share them, by memory; VMs that are off take none.
	const shared = `release 7.0U3
cluster c
host a1 nodes=2 cores=20 memory=512GB
host a2 nodes=2 cores=20 memory=512GB
host a3 nodes=2 cores=20 memory=1024GB
vm off host=a1 vcpus=4 memory=400GB power=off
vm v[1-6] host=a1 vcpus=4 memory=64GB
`
	got, effects = apply(t, fleet(t, shared), "lose-host=a1")
	if effects[0].VMs != 6 {
		t.Errorf("%d VMs must power on elsewhere, want the 6 that ran", effects[0].VMs)
	}
	where = nil
	for i := range got.VMs {
		where = append(where, got.VMs[i].Host)
	}
	if want := []string{"a3", "a2", "a3", "a3", "a2", "a3", "a3"}; !slices.Equal(where, want) {
		t.Errorf("VMs on %v, want %v", where, want)
	}
	// A host with memory for it comes before a worse one without.
	got, _ = apply(t, fleet(t, strings.Replace(text, "host b[1-2] nodes=4 cores=10 memory=512GB", "host b[1-2] nodes=4 cores=10 memory=16GB", 1)+"vm x host=b1 vcpus=4 memory=12GB\nvm y host=b2 vcpus=4 memory=12GB\n"), "lose-host=a1")
	if at := got.VMs[1].Host; at != "a3" {
		t.Errorf("the wide VM is on %s, want a3, which is empty", at)
	}
	// The largest finds room first, and the VM that finds none is named.
	const tight = "release 7.0U3\ncluster c\nhost a[1-3] nodes=2 cores=20 memory=512GB\nvm v[1-5] host=a1 vcpus=4 memory=100GB\nvm big host=a1 vcpus=4 memory=384GB\nvm rest host=a3 vcpus=4 memory=200GB\n"
	got, _ = apply(t, fleet(t, tight), "lose-host=a1")
	if at := got.VMs[5].Host; at != "a2" {
		t.Errorf("the largest VM is on %s, want a2, which has memory for it", at)
	}
	if n := got.Notes; len(n) != 1 || !strings.HasPrefix(n[0].Text, "no other host of the cluster has memory left for v5: ") {
		t.Errorf("notes %v, want one about the VM without room", n)
	}
	// No host of 7.0 is left.
	got, _ = apply(t, fleet(t, text), "lose-host=a*,b*")
	for i := range got.VMs {
		if got.VMs[i].Host != "" {
			t.Errorf("VM %s is on %s, want none", got.VMs[i].Name, got.VMs[i].Host)
		}
	}
}

// TestUpgradeAll: hardware for all is an upgrade; who names a VM asks for what is.
func TestUpgradeAll(t *testing.T) {
	const text = "release 8.0U3\ncluster c\nhost a nodes=2 cores=20 memory=512GB\nvm old vcpus=4 memory=8GB hw=14\nvm new vcpus=4 memory=8GB hw=21\n"
	for change, want := range map[string][]int{"hw=20": {20, 21}, "cluster=c HW=20": {20, 21}, "vm=* hw=20": {20, 20}} {
		got, effects := apply(t, fleet(t, text), change)
		if hw := []int{got.VMs[0].Hardware.Value, got.VMs[1].Hardware.Value}; !slices.Equal(hw, want) {
			t.Errorf("%s: hardware %v, want %v (%+v)", change, hw, want, effects)
		}
	}
}

// TestNoChange checks that a change to what is so already changes no finding, with its
// evidence, of the demo fleet.
// TestDropped leaves hosts at their release whose processors the other one drops, named or not; the processors may change as well.
func TestDropped(t *testing.T) {
	f, err := scenario.Read("fleet", []byte("release 7.0U3\nhost old nodes=2 cores=14 memory=256GB cpu=\"Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz\"\nhost new nodes=2 cores=16 memory=256GB cpu=\"Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\"\nvm a host=old vcpus=2 memory=4GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]numa.Release{
		"release=9.0": numa.ESXi70 + 3, "host=old release=9.0": numa.ESXi70 + 3, "release=8.0": numa.ESXi80,
		`host=old release=9.0 cpu="Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"`: numa.ESXi90,
	} {
		out, effects := apply(t, f, change)
		if got, stays := out.Hosts[0].Release.Value, want == numa.ESXi70+3; got != want || stays != (len(effects[0].Dropped) == 1) || stays != (len(out.Notes) > len(f.Notes)) {
			t.Errorf("%s: ESXi %s, dropped %v, notes %v; want %s", change, got, effects[0].Dropped, out.Notes, want)
		}
	}
}

func TestNoChange(t *testing.T) {
	f := demoFleet(t)
	want := rules.Run(whatif.Unobserved(f), rules.Options{}).Findings
	var same []string
	for i := range f.VMs {
		v := &f.VMs[i]
		same = append(same, fmt.Sprintf("vm=%s vcpus=%d memory=%s hotAdd=%v", v.Name, v.VCPUs.Value, strings.ReplaceAll(v.Memory.Value.String(), " ", ""), v.CPUHotAdd.Value))
	}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		same = append(same, fmt.Sprintf("host=%s release=%q cores=%d", h.Name, h.Release.Value, h.Nodes.Value[0].Cores))
	}
	for _, changes := range [][]string{nil, same} {
		got, effects := apply(t, f, changes...)
		for _, e := range effects {
			if e.Changed != 0 {
				t.Errorf("%s changed %d", e.Change, e.Changed)
			}
		}
		if found := rules.Run(got, rules.Options{}).Findings; !reflect.DeepEqual(found, want) {
			t.Errorf("%d changes: the findings differ", len(changes))
		}
	}
}

// TestNoDifference: a change to what is, of every VM of a random fleet, is no difference.
func TestNoDifference(t *testing.T) {
	for seed := range uint64(60) {
		text := random.Fleet(rand.New(rand.NewPCG(seed, 77)))
		f, err := scenario.Read("random", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var same []whatif.Change
		for i := range f.VMs {
			v := &f.VMs[i]
			c, err := whatif.ParseAt("--what-if", 1, fmt.Sprintf("vm=%s vcpus=%d coresPerSocket=%d", v.Name, v.VCPUs.Value, v.CoresPerSocket.Value))
			if err != nil {
				t.Fatal(err)
			}
			same = append(same, c)
		}
		r, err := whatif.Judge(t.Context(), nil, f, same, rules.Options{}, nil)
		if f.VMs == nil {
			continue
		}
		if err != nil || len(r.VMs)+len(r.Findings)+len(r.Drift.Hosts) > 0 || r.Worsens(finding.Info) {
			t.Errorf("%v, %+v, %+v\n%s", err, r.VMs, r.Findings, text)
		}
	}
}

// TestThereAndBack checks that nodes divided and merged again are what they were.
func TestThereAndBack(t *testing.T) {
	f := demoFleet(t)
	got, _ := apply(t, f, "host=snc* nodesPerSocket=1", "host=snc* nodesPerSocket=2")
	for i := range f.Hosts {
		a, err := vnuma.NewMachine(&f.Hosts[i])
		if err != nil {
			t.Fatal(err)
		}
		b, err := vnuma.NewMachine(&got.Hosts[i])
		if err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Errorf("host %s: %s, was %s", f.Hosts[i].Name, b.Shape(), a.Shape())
		}
	}
}

// TestLoseReserved checks that VMs which run keep their reservations, and those that a lost host leaves come after them, in any order of the inventory; a VM
// whose reservation no host has left is not moved off a host that enters maintenance.
func TestLoseReserved(t *testing.T) {
	const hosts = "release 8.0U3\ncluster x\nhost h[1-3] nodes=2 cores=16 memory=512GB\n"
	for _, power := range []string{"", " power=on"} {
		stays := "vm stays host=h2 vcpus=8 memory=300GB hw=20 reserveAll=on" + power + "\nvm other host=h3 vcpus=8 memory=100GB hw=20 reserveAll=on" + power + "\n"
		for _, of := range []struct {
			memory, want, at, why string
		}{
			{"450GB", "large", "h1", "no host has 450 GB left"}, {"300GB", "", "h3", "h3 has 300 GB left, h2 has not"},
		} {
			large := "vm large host=h1 vcpus=8 memory=" + of.memory + " hw=20 reserveAll=on" + power + "\n"
			for _, text := range []string{hosts + stays + large, hosts + large + stays} {
				f := fleet(t, text)
				lost, _ := apply(t, f, "lose-host=h1")
				var denied []string
				for _, found := range rules.Run(lost, rules.Options{}).Findings {
					if found.Rule == "N032" {
						denied = append(denied, found.VM)
					}
				}
				if strings.Join(denied, " ") != of.want {
					t.Errorf("%s: not powered on: %v, want %q:\n%s", of.why, denied, of.want, text)
				}
				beside, _ := apply(t, f, "vm=large host=h2")
				for _, found := range rules.Run(beside, rules.Options{}).Findings {
					if found.Rule == "N032" && found.VM != "large" {
						t.Errorf("moved beside it by hand: %s is not powered on", found.VM)
					}
				}
				emptied, _ := apply(t, f, "host=h1 maintenance=on")
				for i := range emptied.VMs {
					if v := &emptied.VMs[i]; v.Name == "large" && v.Host != of.at {
						t.Errorf("%s: it is on %s in maintenance, want %s:\n%s", of.why, v.Host, of.at, text)
					}
				}
				if (len(emptied.Notes) > 0) != (of.at == "h1") {
					t.Errorf("%s: notes %v", of.why, emptied.Notes)
				}
			}
		}
	}
}

// TestPowerOnReserved checks that a VM which a what-if powers on, or whose reservation it raises, comes after the VMs that run, in any order of the inventory.
func TestPowerOnReserved(t *testing.T) {
	const host = "release 8.0U3\ncluster x\nhost h nodes=2 cores=16 memory=512GB\n"
	const runs = "vm runs host=h vcpus=8 memory=200GB reserveAll=on hw=20\n"
	for _, tt := range []struct{ vm, change, want string }{
		{"vm other host=h vcpus=8 memory=400GB reserveAll=on hw=20 power=off\n", "vm=other power=on", "other"},
		{"vm other host=h vcpus=8 memory=400GB memoryReservation=100GB hw=20\n", "vm=other reserveAll=on", "other"},
		{"vm other host=h vcpus=8 memory=100GB reserveAll=on hw=20\n", "vm=other memory=400GB", "other"},
		{"vm other host=h vcpus=8 memory=400GB hw=20\n", "vm=runs memory=600GB", "runs"},
		{"vm other host=h vcpus=8 memory=100GB reserveAll=on hw=20 power=off\n", "vm=other power=on", ""},
	} {
		for _, text := range []string{host + runs + tt.vm, host + tt.vm + runs} {
			changed, _ := apply(t, fleet(t, text), tt.change)
			var denied []string
			for _, found := range rules.Run(changed, rules.Options{}).Findings {
				if found.Rule == "N032" {
					denied = append(denied, found.VM)
				}
			}
			if strings.Join(denied, " ") != tt.want {
				t.Errorf("%s: not powered on: %v, want %q:\n%s", tt.change, denied, tt.want, text)
			}
		}
	}
}

func TestCapacities(t *testing.T) {
	const text = `release 7.0U3
cluster c
host a[1-2] nodes=2 cores=10 memory=100GB
host a3 nodes=2 cores=10 memory=100GB maintenance=on
vm v1 host=a1 vcpus=8 memory=60GB reserveAll=on
vm v2 host=a2 vcpus=8 memory=60GB memoryReservation=50GB
vm off host=a1 vcpus=8 memory=60GB power=off
vm golden host=a1 vcpus=8 memory=60GB template=on
cluster d
host d1 nodes=2 cores=10 memory=100GB
`
	f := fleet(t, text)
	got, _ := apply(t, f, "lose-host=a1")
	all := whatif.Capacities(f, got, nil, nil)
	gb, kept := numa.GiB, memory.Of(&f.Hosts[0], false).MinFree
	want := []whatif.Capacity{{
		ID: "c", Cluster: "c", Certain: true,
		Before: whatif.Supply{Hosts: 2, Away: 1, Memory: 200 * gb, Kept: 2 * kept, Cores: 40, VMs: 2, Configured: 120 * gb, Reserved: 110 * gb, VCPUs: 16},
		After:  whatif.Supply{Hosts: 1, Away: 1, Memory: 100 * gb, Kept: kept, Cores: 20, VMs: 2, Configured: 120 * gb, Reserved: 110 * gb, VCPUs: 16},
		Today:  whatif.Failure{Host: "a1", Over: 20*gb + kept},
	}}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("got  %+v\nwant %+v", all, want)
	}
	if fits, ok := all[0].After.Fits(); fits || !ok || whatif.Short(all) == nil {
		t.Errorf("Fits() = %v, %v; Short %v; want false, true, true", fits, ok, whatif.Short(all))
	}
	more, _ := apply(t, f, "vm=v1 vcpus=10") // a row about two hosts says what lose-host says about the one that is left
	if all := whatif.Capacities(f, more, nil, nil); !all[0].Fits || all[0].Without != (whatif.Failure{Host: "a1", Over: want[0].After.Over()}) {
		t.Errorf("the failure of one host: %+v", all)
	}
	f.VMs[1].MemoryReservation = numa.Fact[numa.Bytes]{} // only configured memory is beyond it
	lost, _ := apply(t, f, "lose-host=a1")
	if all := whatif.Capacities(f, lost, nil, nil); all[0].Fits || !all[0].Certain {
		t.Errorf("memory beyond the hosts is said to fit: %+v", all)
	}
	if all := whatif.Capacities(f, lost, nil, nil); whatif.Short(all) == nil || whatif.Short(whatif.Capacities(lost, f, nil, nil)) != nil {
		t.Errorf("memory beyond the hosts: %+v", all)
	}
	f = fleet(t, text)
	if all := whatif.Capacities(f, f, nil, nil); all != nil {
		t.Errorf("the same fleet: %v", all)
	}
	// v2 may reserve all it has.
	f.VMs[1].MemoryReservation = numa.Fact[numa.Bytes]{}
	got, _ = apply(t, f, "lose-host=a1")
	all = whatif.Capacities(f, got, nil, nil)
	if s := all[0].After; s.Reserved != 60*gb || s.Unreserved != 1 {
		t.Errorf("one reservation unknown: %+v", s)
	}
	if fits, ok := all[0].After.Fits(); !fits || ok {
		t.Errorf("one reservation unknown: Fits() = %v, %v; want true, false", fits, ok)
	}
	f.VMs[1].Memory.Value = 20 * gb
	got, _ = apply(t, f, "lose-host=a1")
	all = whatif.Capacities(f, got, nil, nil)
	if fits, ok := all[0].After.Fits(); !fits || !ok {
		t.Errorf("one reservation unknown, and all memory fits: Fits() = %v, %v; want true, true", fits, ok)
	}
	// A standalone host.
	f = fleet(t, "release 7.0U3\nhost lab cluster=none nodes=1 cores=4 memory=8GB\nvm v host=lab vcpus=2 memory=4GB")
	got, _ = apply(t, f, "lose-host=lab")
	if all := whatif.Capacities(f, got, nil, nil); len(all) != 1 || all[0].Cluster != "lab" || all[0].After != (whatif.Supply{}) || whatif.Short(all) == nil {
		t.Errorf("standalone host: %+v", all)
	}
}

// FuzzParse demands a change that applies, or an error with a place inside the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"vm=db01 vcpus=24 hotadd=off", "host=esx* nodesPerSocket=2", "release=8.0 hw=20", "cluster=prod numa.vcpu.preferHT=TRUE Numa.PreferHT=", "vm=db[01-02] host=esx02 stored=4", `host=* nodes=4 cores=9 memory=1TB nodeMemory=1GB ht=off cpu="A B"`} {
		f.Add(seed)
	}
	base := fleet(f, small)
	before := dump(f, base)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := whatif.Parse(text)
		if err == nil {
			var out *numa.Fleet
			if out, _, err = whatif.Apply(t.Context(), base, []whatif.Change{c}, vnuma.Choices{}); err == nil {
				if err := out.Check(); err != nil {
					t.Fatal(err)
				}
				rules.Run(out, rules.Options{})
			}
			if dump(t, base) != before {
				t.Fatal("Apply changed its input")
			}
		}
		var e *numa.SyntaxError
		if errors.As(err, &e) && (e.Line != 1 || e.Col < 1 || e.Col > len(text)+1) {
			t.Fatalf("the error names no place of the input: %v", err)
		}
	})
}

// TestCleared takes lists and settings back, empty or as none: the VM is as one that never had them.
func TestCleared(t *testing.T) {
	const host = "release 8.0U3\nhost h nodes=2 cores=16 memory=1024GB pci=3b:00.0@0\n"
	f := fleet(t, host+"vm v host=h vcpus=8 memory=600GB hw=20 cpuAffinity=0-31 memoryAffinity=0,1 pci=3b:00.0 numa.nodeAffinity=1")
	for _, none := range []string{"", "none"} {
		after, _ := apply(t, f, fmt.Sprintf("vm=v cpuAffinity=%s memoryAffinity=%s pci=%s numa.nodeAffinity=%s", none, none, none, none))
		v := &after.VMs[0]
		if len(v.CPUAffinity.Value)+len(v.MemoryAffinity.Value)+len(v.Devices.Value)+len(v.Settings.Value) > 0 || !v.CPUAffinity.Known() {
			t.Errorf("%q: %+v", none, v.Config)
		}
	}
	r, err := whatif.Judge(t.Context(), nil, f, parse(t, "vm=v cpuAffinity=none memoryAffinity=none pci=none numa.nodeAffinity="), rules.Options{}, nil)
	if err != nil || r.Better != 1 || r.VMs[0].From.Layout().FarShare() <= r.VMs[0].To.Layout().FarShare() {
		t.Errorf("%v, %d better, %+v", err, r.Better, r.VMs)
	}
}

// TestReservable checks that reservations have to leave the part that ESXi keeps free, as at a power-on.
func TestReservable(t *testing.T) {
	s := whatif.Supply{Memory: 256 * numa.GiB, Kept: 3 * numa.GiB, Reserved: 255 * numa.GiB, Configured: 255 * numa.GiB}
	if fits, certain := s.Fits(); fits || !certain {
		t.Errorf("found fits %v, certain %v; want neither fitting nor a doubt", fits, certain)
	}
	s.Reserved = 253 * numa.GiB
	if fits, _ := s.Fits(); !fits {
		t.Error("253 of 253 GB do not fit")
	}
}
