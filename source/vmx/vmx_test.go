package vmx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
)

const small = `.encoding = "UTF-8"
config.version = "8"
virtualHW.version = "19"
# a comment, and an empty line

displayName = "sql|2201|22 – Köln"
vc.uuid = "52 66 18 78 d5 8a 13 3f-2b de a1 5c 1b b0 00 01"
uuid.bios = "56 4d f0 93 9b e4 bf 0a-fa a6 91 62 e3 70 00 02"
NumVCPUs = "12"
memsize = "40960"
cpuid.coresPerSocket = "2"
cpuid.corespersocket = "6"
vcpu.hotadd = "true"
sched.cpu.affinity = "0-3,8"
sched.mem.affinity = "all"
sched.cpu.latencySensitivity = "High"
sched.cpu.min = "2000"
sched.cpu.max = "-1"
sched.cpu.units = "mhz"
sched.mem.min = "1024"
sched.mem.pin = "TRUE"
numa.vcpu.coresPerNode = "6"
numa.autosize.cookie = "120062"
guestOS = "debian12-64"
ethernet0.present = "TRUE"
firmware = "EFI"
vvtd.enable = "TRUE"
`

func read(t *testing.T, name, in string) *VMX {
	t.Helper()
	v, err := Read(name, strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRead(t *testing.T) {
	got := read(t, "dir/sql01.vmx", small).VM()
	want := numa.VM{
		ID: "52661878-d58a-133f-2bde-a15c1bb00001", Name: `sql"01" – Köln`, UUID: "52661878-d58a-133f-2bde-a15c1bb00001", At: "dir/sql01.vmx",
		Config: numa.Config{
			Hardware:                numa.ReadAt(19, "line 3"),
			GuestOS:                 numa.ReadAt("debian12-64", "line 24"),
			VCPUs:                   numa.ReadAt(12, "line 9"),
			Memory:                  numa.ReadAt(40*numa.GiB, "line 10"),
			CoresPerSocket:          numa.ReadAt(6, "line 12"),
			CPUHotAdd:               numa.ReadAt(true, "line 13"),
			MemoryHotAdd:            numa.AssumedFor(false, "mem.hotadd is not there: off by default"),
			CPUAffinity:             numa.ReadAt([]int{0, 1, 2, 3, 8}, "line 14"),
			MemoryAffinity:          numa.ReadAt([]int{}, "line 15"),
			LatencySensitivity:      numa.ReadAt("high", "line 16"),
			CPUReservation:          numa.ReadAt(2000, "line 17"),
			CPULimit:                numa.ReadAt(-1, "line 18"),
			MemoryReservation:       numa.ReadAt(numa.GiB, "line 20"),
			MemoryReservationLocked: numa.ReadAt(true, "line 21"),
			Firmware:                numa.ReadAt("efi", "line 26"),
			IOMMU:                   numa.ReadAt(true, "line 27"),
			CoresPerNUMANode:        numa.ReadAt(6, "line 22"),
			AutoCoresPerNUMANode:    numa.DerivedFrom(false, "numa.vcpu.coresPerNode is set"),
			Settings: numa.ReadAt(numa.Settings{
				{Key: "numa.autosize.cookie", Value: "120062"},
				{Key: "numa.vcpu.coresPerNode", Value: "6"},
				{Key: "sched.cpu.affinity", Value: "0-3,8"},
				{Key: "sched.cpu.latencySensitivity", Value: "High"},
				{Key: "sched.cpu.max", Value: "-1"},
				{Key: "sched.cpu.min", Value: "2000"},
				{Key: "sched.cpu.units", Value: "mhz"},
				{Key: "sched.mem.affinity", Value: "all"},
				{Key: "sched.mem.min", Value: "1024"},
				{Key: "sched.mem.pin", Value: "TRUE"},
			}, "lines from 14 on"),
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestFacts(t *testing.T) {
	f := read(t, "a.vmx", small).File()
	var got []string
	for _, one := range f.Facts {
		got = append(got, fmt.Sprintf("%d:%d %s %s = %v %s", one.Line, one.Col, one.Subject, one.Name, one.Value, one.Unit))
	}
	for _, want := range []string{
		`9:12 VM sql"01" – Köln vCPUs = 12 `,
		`10:11 VM sql"01" – Köln memory = 40960 MiB`,
		`13:15 VM sql"01" – Köln CPU hot add = true `,
		`23:24 VM sql"01" – Köln numa.autosize.cookie = 120062 `,
		`0:0 file entries without bearing on NUMA = 2 `,
	} {
		found := false
		for _, g := range got {
			found = found || g == want
		}
		if !found {
			t.Errorf("no fact %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	want := []fact.Warning{{Line: 12, Col: 24, Text: `cpuid.corespersocket: line 11 says "2": the last value holds`}}
	if !reflect.DeepEqual(f.Warnings, want) {
		t.Errorf("warnings %v, want %v", f.Warnings, want)
	}
}

// TestDefaults checks what absent keys mean.
func TestDefaults(t *testing.T) {
	const one = "cpuid.coresPerSocket is not there: 1 by default"
	for _, tt := range []struct {
		name, in string
		cps      numa.Fact[int]
		auto     numa.Fact[bool]
	}{
		{"before hardware 20", `virtualHW.version = "19"`, numa.AssumedFor(1, one), numa.Fact[bool]{}},
		{"no hardware version", `memSize = "1024"`, numa.AssumedFor(1, one), numa.Fact[bool]{}},
		{"hardware 20", `virtualHW.version = "20"`, numa.Fact[int]{}, numa.AssumedFor(true, "cpuid.coresPerSocket is not there: assigned at power-on with hardware 20")},
		{"hardware 20, chosen before", "virtualHW.version = \"20\"\ncpuid.coresPerSocket.cookie = \"4\"", numa.ReadAt(4, "line 2"),
			numa.AssumedFor(true, "cpuid.coresPerSocket is not there: assigned at power-on with hardware 20")},
		{"hardware 20, set by hand", "virtualHW.version = \"20\"\ncpuid.coresPerSocket = \"4\"", numa.ReadAt(4, "line 2"), numa.DerivedFrom(false, "cpuid.coresPerSocket is set")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := read(t, "a.vmx", tt.in).VM()
			if c.CoresPerSocket != tt.cps || c.AutoCoresPerSocket != tt.auto {
				t.Errorf("cores per socket %v, automatic %v; want %v, %v", c.CoresPerSocket, c.AutoCoresPerSocket, tt.cps, tt.auto)
			}
			if want := numa.AssumedFor(1, "numvcpus is not there: 1 by default"); c.VCPUs != want {
				t.Errorf("vCPUs %v, want %v", c.VCPUs, want)
			}
			if want := numa.AssumedFor(false, "vcpu.hotadd is not there: off by default"); c.CPUHotAdd != want {
				t.Errorf("hot add %v, want %v", c.CPUHotAdd, want)
			}
		})
	}
}

// TestNodesAssigned reads what the vSphere Client writes for NUMA nodes assigned at power on.
func TestNodesAssigned(t *testing.T) {
	v := read(t, "a.vmx", "numvcpus = \"4\"\nnuma.vcpu.coresPerNode = \"0\"")
	if c, w := v.VM(), v.File().Warnings; len(w) > 0 || c.CoresPerNUMANode.Known() || c.AutoCoresPerNUMANode != numa.ReadAt(true, "line 2") {
		t.Errorf("cores per node %v, automatic %v, warnings %v", c.CoresPerNUMANode, c.AutoCoresPerNUMANode, w)
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`numvcpus = "many"`, `a.vmx:1:12: numvcpus: found "many", want a number from 1 to 4096`},
		{`numvcpus = "5000"`, `a.vmx:1:12: numvcpus: found "5000", want a number from 1 to 4096`},
		{`memSize = "1e3"`, `a.vmx:1:11: memSize: found "1e3", want MB from 1 to 67108864`},
		{`vcpu.hotadd = "maybe"`, `a.vmx:1:15: vcpu.hotadd: found "maybe", want TRUE or FALSE`},
		{`sched.cpu.affinity = "3-1"`, `a.vmx:1:22: sched.cpu.affinity: found "3-1", want numbers such as 0-3,8, or all`},
		{`sched.cpu.affinity = "0-99999999"`, `a.vmx:1:22: sched.cpu.affinity: found "0-99999999", want numbers such as 0-3,8, or all`},
		{`sched.mem.affinity = "a"`, `a.vmx:1:22: sched.mem.affinity: found "a", want numbers such as 0-3,8, or all`},
		{`sched.cpu.latencySensitivity = "extreme"`, `a.vmx:1:32: sched.cpu.latencySensitivity: found "extreme", want low, normal, medium or high`},
		{`sched.cpu.max = "fast"`, `a.vmx:1:17: sched.cpu.max: found "fast", want MHz, or -1 for none`},
		{`sched.mem.max = "64GB"`, `a.vmx:1:17: sched.mem.max: found "64GB", want MB, or -1 for none`},
		{`sched.cpu.units = "percent"`, `a.vmx:1:19: sched.cpu.units: found "percent", want mhz: CPU reservation and limit stay unknown`},
		{`vc.uuid = "52 66 xy"`, `a.vmx:1:11: vc.uuid: found "52 66 xy", want 32 hexadecimal digits`},
		{`.encoding = "klingon"`, `a.vmx:1:13: found the encoding "klingon", which is not known: read as UTF-8`},
		{"displayName = \"K\xf6ln\"", `a.vmx:1:15: displayName: the value is not in the encoding of the file`},
		{"numvcpus = \"4\n", `a.vmx:1:1: the value has no closing quote: unknown`},
		{"numvcpus = \"4\" cores\n", `a.vmx:1:1: found "cores" after the value`},
		{"numvcpus = \"4\"\nnonsense\n", `a.vmx:2:1: found "nonsense", want key = "value"`},
		{"numvcpus = \"4\"\ntwo words = \"1\"\n", `a.vmx:2:1: found the key "two words", want one word`},
	} {
		f := read(t, "a.vmx", tt.in).File()
		if len(f.Warnings) != 1 {
			t.Errorf("%s: warnings %v", tt.in, f.Warnings)
			continue
		}
		w := f.Warnings[0]
		if got := f.At(w.Line, w.Col) + ": " + w.Text; got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestForms(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"CRLF", ".encoding = \"UTF-8\"\r\ndisplayName = \"a b\"\r\n", "a b"},
		{"BOM", "\xEF\xBB\xBFdisplayName = \"ä\"\n", "ä"},
		{"UTF-16", "\xFF\xFEd\x00i\x00s\x00p\x00l\x00a\x00y\x00N\x00a\x00m\x00e\x00=\x00\"\x00\xe4\x00\"\x00", "ä"},
		{"windows-1252", ".encoding = \"windows-1252\"\ndisplayName = \"K\xf6ln\"\n", "Köln"},
		{"GBK", ".encoding = \"GBK\"\ndisplayName = \"\xd6\xd0\"\n", "中"},
		{"no blanks, no quotes", "displayName=web01\n", "web01"},
		{"a comment behind", "displayName = \"web01\" # ours\n", "web01"},
		{"escapes", `displayName = "a|7Cb|0Ac|2"`, "a|b\nc|2"},
		{"last wins", "displayName = \"old\"\nDISPLAYNAME = \"new\"\n", "new"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := read(t, "a.vmx", tt.in).VM().Name; got != tt.want {
				t.Errorf("name %q, want %q", got, tt.want)
			}
			if !Detect([]byte(tt.in)) {
				t.Error("not detected")
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", `a.vmx:1: found no line of the form key = "value"`},
		{"\x00\x01\x02", `a.vmx:1: found no line of the form key = "value"`},
		{strings.Repeat("#\n", maxLines+1), "a.vmx:100001: found more than 100000 lines, too many for a .vmx"},
	} {
		v, err := Read("a.vmx", strings.NewReader(tt.in))
		var syntax *numa.SyntaxError
		if v != nil || !errors.As(err, &syntax) || err.Error() != tt.want {
			t.Errorf("%v, %v; want %s", v, err, tt.want)
		}
	}
	v, err := Read("a.vmx", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(small))))
	if err == nil || err.Error() != "a.vmx: line 28: timeout" || v == nil {
		t.Errorf("%v, %v", v, err)
	}
}

func TestTemplate(t *testing.T) {
	got := read(t, `[ds] gold\gold.vmtx`, "memSize = \"1024\"").VM()
	if got.Name != "gold" || got.ID != `[ds] gold\gold.vmtx` || got.Template != numa.DerivedFrom(true, "the file is a .vmtx") {
		t.Errorf("got %+v", got)
	}
}

// TestSample reads a published .vmx of ESXi 8, which lies beside the checkout.
func TestSample(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "samples", "vmx", "esxi8_hw20_8vcpu_template.vmx")
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("no published .vmx beside the checkout: %v", err)
	}
	defer f.Close()
	v, err := Read("t.vmx", f)
	if err != nil {
		t.Fatal(err)
	}
	c := v.VM()
	settings := len(c.Settings.Value)
	c.Settings = numa.Fact[numa.Settings]{}
	want := numa.VM{ID: "t.vmx", Name: "VPSNAME", At: "t.vmx", Config: numa.Config{
		Hardware: numa.ReadAt(20, "line 3"), VCPUs: numa.ReadAt(8, "line 6"), Memory: numa.ReadAt(16*numa.GiB, "line 7"),
		CPUAffinity: numa.ReadAt([]int{}, "line 12"), GuestOS: numa.ReadAt("debian12-64", "line 22"),
		CPUReservation: numa.ReadAt(0, "line 31"), MemoryReservation: numa.ReadAt(numa.Bytes(0), "line 33"),
		MemoryReservationLocked: numa.AssumedFor(false, "sched.mem.pin is not there: off by default"),
		CoresPerSocket:          numa.ReadAt(4, "line 46"), AutoCoresPerSocket: numa.DerivedFrom(false, "cpuid.coresPerSocket is set"),
		LatencySensitivity: numa.ReadAt("normal", "line 56"),
		CPUHotAdd:          numa.AssumedFor(false, "vcpu.hotadd is not there: off by default"),
		MemoryHotAdd:       numa.AssumedFor(false, "mem.hotadd is not there: off by default"),
	}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	if settings != 14 {
		t.Errorf("%d settings, want 14", settings)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("a = \"|"))
	f.Add([]byte(".encoding=GBK\ndisplayName=\xd6"))
	f.Fuzz(func(t *testing.T, in []byte) {
		Detect(in)
		v, err := Read("f.vmx", strings.NewReader(string(in)))
		if err != nil {
			return
		}
		vm := v.VM()
		fleet := numa.Fleet{VMs: []numa.VM{vm}}
		if err := fleet.Check(); err != nil {
			t.Fatalf("the VM does not pass the check: %v", err)
		}
		for _, one := range v.File().Facts {
			if one.Line < 0 || one.Col < 0 || one.Subject == "" || one.Name == "" {
				t.Fatalf("fact %+v", one)
			}
		}
	})
}

// TestProtection reads that a VM is encrypted and has a TPM, and shows no key.
func TestProtection(t *testing.T) {
	const key = "vmware:key/list/(pair/(fqid/secret"
	v := read(t, "a.vmx", "virtualHW.version = \"19\"\nnumvcpus = \"2\"\nencryption.keySafe = \""+key+"\"\nvtpm.present = \"TRUE\"\n")
	vm := v.VM()
	if vm.Encrypted != numa.ReadAt(true, "line 3") || vm.TPM != numa.ReadAt(true, "line 4") {
		t.Errorf("encrypted %+v, TPM %+v", vm.Encrypted, vm.TPM)
	}
	if all := fmt.Sprint(v.File().Facts, v.File().Warnings, vm.Settings); strings.Contains(all, "secret") {
		t.Errorf("a key is shown: %s", all)
	}
}

// TestBadValue: a value that is no number is shown as it stands, without the unit of numbers.
func TestBadValue(t *testing.T) {
	facts := read(t, "a.vmx", "displayName = \"a\"\nmemSize = \"8 GB\"\nnumvcpus = \"4\"\n").File().Facts
	if f := facts[1]; f.Name != "memory" || f.Value != "8 GB" || f.Unit != "" {
		t.Errorf("found %+v", f)
	}
}

// TestNoReservation: a whole file without lines of reservations reserves nothing, as one with zeros; of a file that is cut off it is unknown.
func TestNoReservation(t *testing.T) {
	const none = "displayName = \"a\"\nnumvcpus = \"8\"\nsched.cpu.latencySensitivity = \"high\"\n"
	for in, known := range map[string]bool{none: true, none + "sched.cpu.min = \"0\"\nsched.mem.min = \"0\"\nsched.mem.pin = \"FALSE\"\n": true, none + "memSize = \"40": false} {
		v, err := Read("a.vmx", strings.NewReader(in))
		if (err == nil) != known {
			t.Fatal(err)
		}
		c := v.VM().Config
		if c.CPUReservation.Known() != known || c.MemoryReservation.Known() != known || c.MemoryReservationLocked.Known() != known || c.CPUReservation.Value != 0 || c.MemoryReservation.Value != 0 {
			t.Errorf("CPU %v, memory %v, all %v in\n%s", c.CPUReservation, c.MemoryReservation, c.MemoryReservationLocked, in)
		}
	}
}

// TestMemoryLimit: sched.mem.max is in MB, and "unlimited" or -1 without a limit (libvirt, src/vmx/vmx.c).
func TestMemoryLimit(t *testing.T) {
	for text, want := range map[string]numa.Bytes{"unlimited": -1, "-1": -1, "8192": 8 * numa.GiB} {
		v := read(t, "a.vmx", "numvcpus = \"4\"\nmemsize = \"16384\"\nsched.mem.max = \""+text+"\"\n").VM()
		limit, below := v.LimitedTo()
		if got := v.MemoryLimit; got != numa.ReadAt(want, "line 3") || below != (want > 0) || below && limit != want {
			t.Errorf("%s: found %+v, below the memory %v", text, got, below)
		}
	}
	if v := read(t, "a.vmx", "numvcpus = \"4\"\n").VM(); v.MemoryLimit.Known() {
		t.Errorf("no entry: found %+v", v.MemoryLimit)
	}
}
