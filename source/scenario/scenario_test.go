package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

func read(t testing.TB, text string) *numa.Fleet {
	t.Helper()
	f, err := Read("fleet.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// known returns the facts of v that are known, one a line: name, value, origin.
// Those that have the default of every line are left out.
func known(v any) string {
	var b strings.Builder
	rv := reflect.ValueOf(v)
	for _, field := range reflect.VisibleFields(rv.Type()) {
		f := rv.FieldByIndex(field.Index)
		if field.Anonymous || f.Kind() != reflect.Struct || f.Field(1).Interface() == (numa.Origin{}) {
			continue
		}
		if o := f.Field(1).Interface().(numa.Origin); o != (numa.Origin{Kind: numa.Derived, Where: byDefault}) {
			fmt.Fprintf(&b, "%s = %v, %v\n", field.Name, f.Field(0), o)
		}
	}
	return b.String()
}

func TestHost(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"everything", `host esx01 nodes=4 packages=2 cores=8 threads=8 memory=512GB vendor=Dell model="R 740" cpu="Xeon # 4" release="7.0 Update 3" build=21930508 ` +
			`power=Balanced connection=disconnected maintenance=on mhz=2100 llcCores=4 llcSize=32MB Numa.PreferHT=1 Numa.LocalityWeightActionAffinity=0`, `
Vendor = Dell, read: vendor
Model = R 740, read: model
CPUModel = Xeon # 4, read: cpu
Release = 7.0 U3, read: release
Build = 21930508, read: build
Packages = 2, read: packages
Cores = 32, derived: nodes, cores
Threads = 32, derived: nodes, cores, ht
HyperThreading = false, read: ht
Memory = 512 GB, read: memory
CoreMHz = 2100, read: mhz
Nodes = [{0 0 8 8 {128 GB derived: memory, nodes}} {1 0 8 8 {128 GB derived: memory, nodes}} {2 1 8 8 {128 GB derived: memory, nodes}} {3 1 8 8 {128 GB derived: memory, nodes}}], read: nodes, cores
LLCCores = 4, read: llcCores
LLCSize = 32 MB, read: llcSize
PowerPolicy = Balanced, read: power
Connection = disconnected, read: connection
Maintenance = true, read: maintenance
Options = [{Numa.LocalityWeightActionAffinity 0} {Numa.PreferHT 1}], read: options of the line
`},
		{"nothing", "host esx01", `
Options = [], read: options of the line
`},
		{"no cores", "host esx01 memory=1TB", `
Memory = 1 TB, read: memory
Options = [], read: options of the line
`},
		{"unknown", "release 8.0\nhost esx01 nodes=? cores=4 memory=? release=? build=? cpu=? vendor=? model=? power=? connection=? maintenance=? mhz=? llcCores=? llcSize=?", `
Packages = 1, read: packages
Cores = 4, derived: nodes, cores
Threads = 8, derived: nodes, cores, ht
HyperThreading = true, read: ht
Options = [], read: options of the line
`},
		{"assumed nodes", "host esx01 cores=2 ht=off nodes=2 assumed=on nodeMemory=1GB,3GB", `
Packages = 2, read: packages
Cores = 4, derived: nodes, cores
Threads = 4, derived: nodes, cores, ht
HyperThreading = false, read: ht
Memory = 4 GB, derived: nodeMemory
Nodes = [{0 0 2 2 {1 GB read: nodeMemory}} {1 1 2 2 {3 GB read: nodeMemory}}], assumed: assumed=on
Options = [], read: options of the line
`},
		{"memory of the host and of its nodes", "host esx01 cores=1 nodes=2 ht=off nodeMemory=1GB memory=2049MB", `
Packages = 2, read: packages
Cores = 2, derived: nodes, cores
Threads = 2, derived: nodes, cores, ht
HyperThreading = false, read: ht
Memory = 2.0 GB, read: memory
Nodes = [{0 0 1 1 {1 GB read: nodeMemory}} {1 1 1 1 {1 GB read: nodeMemory}}], read: nodes, cores
Options = [], read: options of the line
`},
		{"build before release", "host esx01 build=14320388 release=6.7", `
Release = 6.7 U3, read: release
Build = 14320388, read: build
Options = [], read: options of the line
`},
		{"build of no release", "host esx01 build=14320388", `
Build = 14320388, read: build
Options = [], read: options of the line
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := read(t, tt.line)
			if got := known(f.Hosts[0]); got != tt.want[1:] {
				t.Errorf("host:\n%s\nwant:%s", got, tt.want)
			}
		})
	}
}

func TestVM(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"everything", `vm db01 vcpus=32 coresPerSocket=4 memory=384GB hotAdd=on memoryHotAdd=yes vnumaHotAdd=true hw=19 guest=windows2019srvNext_64Guest power=suspended ` +
			`template=on latency=high cpuAffinity=8,0-3 memoryAffinity=1 cpuReservation=2000 cpuLimit=4000 memoryReservation=1GB memoryLimit=16GB reserveAll=on ` +
			`numa.vcpu.preferHT=TRUE cpuid.coresPerSocket= stored=16`, `
Template = true, read: template
Power = suspended, read: power
GuestOS = windows2019srvNext_64Guest, read: guest
Hardware = 19, read: hw
VCPUs = 32, read: vcpus
CoresPerSocket = 4, read: coresPerSocket
AutoCoresPerSocket = false, read: coresPerSocket
Memory = 384 GB, read: memory
CPUHotAdd = true, read: hotAdd
MemoryHotAdd = true, read: memoryHotAdd
VNUMAHotAdd = true, read: vnumaHotAdd
CPUAffinity = [8 0 1 2 3], read: cpuAffinity
MemoryAffinity = [1], read: memoryAffinity
LatencySensitivity = high, read: latency
CPUReservation = 2000, read: cpuReservation
CPULimit = 4000, read: cpuLimit
MemoryReservation = 1 GB, read: memoryReservation
MemoryLimit = 16 GB, read: memoryLimit
MemoryReservationLocked = true, read: reserveAll
Settings = [{cpuid.coresPerSocket } {numa.autosize.cookie 320042} {numa.autosize.vcpu.maxPerVirtualNode 16} {numa.vcpu.preferHT TRUE}], read: settings of the line
`},
		{"nothing", "vm db01", `
Settings = [], read: settings of the line
`},
		{"unknown", "vm db01 vcpus=? coresPerSocket=? memory=? hotAdd=? memoryHotAdd=? vnumaHotAdd=? hw=? guest=? power=? template=? latency=? " +
			"cpuAffinity=? memoryAffinity=? cpuReservation=? memoryReservation=? memoryLimit=? reserveAll=? settings=?", `
`},
		{"no limit", "vm db01 cpuLimit=none memoryLimit=none", `
CPULimit = -1, read: cpuLimit
MemoryLimit = -1 B, read: memoryLimit
Settings = [], read: settings of the line
`},
		{"automatic cores per socket", "vm db01 coresPerSocket=auto", `
CoresPerSocket = 1, read: coresPerSocket
AutoCoresPerSocket = true, read: coresPerSocket
Settings = [], read: settings of the line
`},
		{"stored by an old VM", "vm db01 vcpus=36 hw=13 stored=18", `
Hardware = 13, read: hw
VCPUs = 36, read: vcpus
Settings = [{numa.autosize.cookie 360001} {numa.autosize.vcpu.maxPerVirtualNode 18}], read: settings of the line
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := read(t, tt.line)
			if got := known(f.VMs[0]); got != tt.want[1:] {
				t.Errorf("VM:\n%s\nwant:%s", got, tt.want)
			}
		})
	}
	v := read(t, "vm db01 folder=/prod/db tags=gold,sap").VMs[0]
	if v.Folder != "/prod/db" || !slices.Equal(v.Tags, []string{"gold", "sap"}) || v.At != "fleet.txt:1" {
		t.Errorf("folder %q, tags %q, at %q", v.Folder, v.Tags, v.At)
	}
}

// TestDefaultsOfVM are those that every line has: nothing else than what
// vSphere gives a new VM.
func TestDefaultsOfVM(t *testing.T) {
	v := read(t, "vm db01").VMs[0]
	def := func(k string, v any) string {
		return fmt.Sprintf("%s = %v, %v\n", k, v, numa.Origin{Kind: numa.Derived, Where: byDefault})
	}
	want := def("Template", false) + def("Power", "on") + def("CoresPerSocket", 1) + def("AutoCoresPerSocket", false) +
		def("CPUHotAdd", false) + def("MemoryHotAdd", false) + def("VNUMAHotAdd", false) + def("CPUAffinity", "[]") + def("MemoryAffinity", "[]") +
		def("LatencySensitivity", "normal") + def("CPUReservation", 0) + def("CPULimit", -1) + def("MemoryReservation", numa.Bytes(0)) + def("MemoryLimit", numa.Bytes(-1)) +
		def("MemoryReservationLocked", false) + "Settings = [], read: settings of the line\n"
	var got strings.Builder
	rv := reflect.ValueOf(v.Config)
	for i := range rv.NumField() {
		if f := rv.Field(i); f.Kind() == reflect.Struct && !f.IsZero() {
			fmt.Fprintf(&got, "%s = %v, %v\n", rv.Type().Field(i).Name, f.Field(0), f.Field(1))
		}
	}
	if got.String() != want {
		t.Errorf("defaults:\n%s\nwant:\n%s", got.String(), want)
	}
}

// TestHardware takes the virtual hardware from the release of the VM's host, and
// automatic cores per socket from both (rule book B-18).
func TestHardware(t *testing.T) {
	for _, tt := range []struct {
		release  string
		hardware int
		auto     bool
	}{
		{"3.5", 4, false}, {"4.0", 7, false}, {"4.1", 7, false}, {"5.0", 8, false}, {"5.1", 9, false}, {"5.5", 10, false},
		{"6.0", 11, false}, {"6.5 U3", 13, false}, {"6.7", 14, false}, {"7.0", 17, false}, {"7.0U1", 18, false}, {"7.0.3", 19, false},
		{"8.0", 20, true}, {"8.0 U1", 20, true}, {"8.0 Update 2", 21, true}, {"9.0", 22, true},
	} {
		f := read(t, "release "+tt.release+"\nhost esx01 cores=4\nvm a\nvm b hw=13\nvm c coresPerSocket=1")
		a, b, c := f.VMs[0], f.VMs[1], f.VMs[2]
		if a.Hardware != numa.DerivedFrom(tt.hardware, byDefault) || a.AutoCoresPerSocket != numa.DerivedFrom(tt.auto, byDefault) {
			t.Errorf("%s: hardware %v, automatic %v; want %d, %v", tt.release, a.Hardware, a.AutoCoresPerSocket, tt.hardware, tt.auto)
		}
		if b.Hardware != numa.ReadAt(13, "hw") || b.AutoCoresPerSocket.Value || c.AutoCoresPerSocket != numa.ReadAt(false, "coresPerSocket") {
			t.Errorf("%s: stated: hardware %v, automatic %v and %v", tt.release, b.Hardware, b.AutoCoresPerSocket, c.AutoCoresPerSocket)
		}
	}
	if v := read(t, "host esx01 cores=4\nvm a").VMs[0]; v.Hardware.Known() || v.AutoCoresPerSocket.Value {
		t.Errorf("no release: hardware %v, automatic %v", v.Hardware, v.AutoCoresPerSocket)
	}
}

func TestPlaces(t *testing.T) {
	f := read(t, `
host alone                      # before any cluster
vm   x[1-2]
cluster prod
host esx[09-10]
cluster test
host esx20
host lab01 cluster=none
host esx30 cluster=prod
vm   a[1-4] cluster=prod
vm   b[1-2]
vm   c host=esx10               # its host decides the cluster
vm   d host=lab01
vm   e cluster=dr
cluster none
vm   f`)
	var got []string
	for _, h := range f.Hosts {
		got = append(got, h.Name+"@"+h.Cluster+" "+h.At)
	}
	for _, v := range f.VMs {
		got = append(got, v.Name+"@"+v.Cluster+"/"+v.Host)
	}
	for _, c := range f.Clusters {
		got = append(got, c.Name+" "+c.At)
	}
	want := []string{
		"alone@ fleet.txt:2", "esx09@prod fleet.txt:5", "esx10@prod fleet.txt:5", "esx20@test fleet.txt:7", "lab01@ fleet.txt:8", "esx30@prod fleet.txt:9",
		"x1@/alone", "x2@/lab01", "a1@prod/esx09", "a2@prod/esx10", "a3@prod/esx30", "a4@prod/esx09", "b1@test/esx20", "b2@test/esx20",
		"c@prod/esx10", "d@/lab01", "e@dr/", "f@/alone",
		"prod fleet.txt:4", "test fleet.txt:6", "dr fleet.txt:14",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestForms reads the same fleet from the lines alone and from an archive.
func TestForms(t *testing.T) {
	const lines = "release 7.0\nhost esx01 cores=4 cpu=\"a b\"\nvm db[01-02] vcpus=2 sched.x=a=b\n"
	want := read(t, lines)
	for i := range want.Hosts {
		want.Hosts[i].At = ""
	}
	for i := range want.VMs {
		want.VMs[i].At = ""
	}
	for name, text := range map[string]string{
		"archive":            "Words.\n-- in --\n" + lines + "-- findings --\nN001\n",
		"CRLF":               strings.ReplaceAll("Words.\n-- in --\n"+lines, "\n", "\r\n"),
		"CRLF lines":         strings.ReplaceAll(lines, "\n", "\r\n"),
		"no newline":         strings.TrimRight(lines, "\n"),
		"tabs and comments":  "# all\n" + strings.ReplaceAll(lines, " ", "\t ") + "  # end",
		"byte order mark":    "\ufeff" + lines,
		"words out of order": "release 7.0\nhost esx01 cpu=\"a b\" cores=4\nvm db[01-02] sched.x=a=b vcpus=2\n",
	} {
		if name == "tabs and comments" {
			text = strings.ReplaceAll(text, "a\t b", "a b")
		}
		got := read(t, text)
		for i := range got.Hosts {
			got.Hosts[i].At = ""
		}
		for i := range got.VMs {
			got.VMs[i].At = ""
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
	if f := read(t, ""); f.Source != "fleet.txt" || len(f.Hosts)+len(f.VMs) > 0 {
		t.Errorf("of nothing: %+v", f)
	}
}

// TestLinesShareNoCookie has one line of VMs on hosts of two releases: each VM has
// the cookie of its own virtual hardware.
func TestLinesShareNoCookie(t *testing.T) {
	f := read(t, "host old cores=4 release=6.5\nhost new cores=4 release=7.0\nvm a[1-4] vcpus=8 numa.vcpu.min=4 stored=4")
	for i, v := range f.VMs {
		want := []string{"80001", "80012"}[i%2]
		if got, _ := v.Settings.Value.Lookup("numa.autosize.cookie"); got != want || len(v.Settings.Value) != 3 {
			t.Errorf("%s on %s: cookie %s, want %s; settings %v", v.Name, v.Host, got, want, v.Settings.Value)
		}
	}
}
