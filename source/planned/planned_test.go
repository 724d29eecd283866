package planned

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// described returns what was read of planned VMs, one line a fact that the file states.
func described(f *numa.Fleet) string {
	var b strings.Builder
	for i := range f.VMs {
		v := &f.VMs[i]
		p := v.Planned
		fmt.Fprintf(&b, "%s %q at %s: %s", v.ID, v.Name, v.At, p.Form)
		for _, x := range [][2]string{{"cluster", p.Cluster}, {"host", p.Host}, {"template", p.Template}} {
			if x[1] != "" {
				fmt.Fprintf(&b, ", %s %s", x[0], x[1])
			}
		}
		b.WriteByte('\n')
		for j := range numa.VMFacts {
			value, origin := "", numa.Origin{}
			switch f := numa.VMFacts[j].Fact(&v.Config).(type) {
			case *numa.Fact[int]:
				value, origin = fmt.Sprint(f.Value), f.Origin
			case *numa.Fact[bool]:
				value, origin = fmt.Sprint(f.Value), f.Origin
			case *numa.Fact[string]:
				value, origin = f.Value, f.Origin
			case *numa.Fact[numa.Bytes]:
				value, origin = f.Value.String(), f.Origin
			}
			if origin.Kind == numa.Read || strings.HasPrefix(origin.Where, "template ") {
				fmt.Fprintf(&b, "  %s = %s (%s)\n", numa.VMFacts[j].Word, value, origin)
			}
		}
		if v.AutoCoresPerNUMANode.Known() {
			fmt.Fprintf(&b, "  coresPerNUMANode = %d (auto %t)\n", v.CoresPerNUMANode.Value, v.AutoCoresPerNUMANode.Value)
		}
		for _, s := range v.Settings.Value {
			fmt.Fprintf(&b, "  %s = %q\n", s.Key, s.Value)
		}
		if !v.Settings.Known() {
			b.WriteString("  settings unknown\n")
		}
		for _, l := range p.Unknown {
			fmt.Fprintf(&b, "  later: %s\n", l.Attribute)
		}
	}
	for _, n := range f.Notes {
		fmt.Fprintf(&b, "note %s\n", n)
	}
	return b.String()
}

// TestForms reads a file of each form, with values that are unknown, and compares every fact with its place.
func TestForms(t *testing.T) {
	for _, name := range []string{"plan.json", "state.json", "capi.yaml", "vmoperator.yaml", "machineset.yaml", "packer.json", "appliance.ovf"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			if !Detect(filepath.Join("testdata", name)) {
				t.Error("not recognised")
			}
			f, err := ReadBytes(name, data)
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, []byte(described(f)), filepath.Join("testdata", name+".want"))
		})
	}
}

// TestOVA: the descriptor of an archive is read, and disks behind it are not.
func TestOVA(t *testing.T) {
	ovf, err := os.ReadFile("testdata/appliance.ovf")
	if err != nil {
		t.Fatal(err)
	}
	pack := func(name string, first string, data []byte) string {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, m := range []struct {
			name string
			data []byte
		}{{first, data}, {"disk.vmdk", make([]byte, 4096)}} {
			if err := w.WriteHeader(&tar.Header{Name: m.name, Mode: 0o600, Size: int64(len(m.data)), Format: tar.FormatUSTAR}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(m.data); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil { // cut off behind the disk, as a broken download is
			t.Fatal(err)
		}
		return path
	}
	path := pack("a.ova", "appliance.ovf", ovf)
	f, err := Read(path)
	if err != nil || !Detect(path) {
		t.Fatal(err)
	}
	if got, want := f.VMs[1].Name+" "+f.VMs[1].At, "Collector (large) "+filepath.ToSlash(path)+"/appliance.ovf:8:37"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if path := pack("b.ova", "disk0.vmdk", ovf); Detect(path) {
		t.Error("an archive without descriptor is taken for one with")
	}
	path = pack("c.ova", "x.ovf", []byte("<nothing/>"))
	if _, err := Read(path); err == nil || err.Error() != path+": found no descriptor in x.ovf" {
		t.Error(err)
	}
}

// TestErrors: what cannot be read is named with file, line and column.
func TestErrors(t *testing.T) {
	const capi = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: VSphereMachine\nmetadata: {name: a}\nspec:\n"
	const tf = `{"format_version":"1.2","terraform_version":"1.9.8","planned_values":{"root_module":{"resources":[`
	const vm = `{"address":"a.b","mode":"managed","type":"vsphere_virtual_machine","values":{"name":"b",`
	const ovf = `<Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1"><VirtualSystem id="v"><VirtualHardwareSection><Item>`
	for _, tt := range []struct{ name, text, want string }{
		{"no number", capi + "  numCPUs: four\n", `x:5:12: numCPUs: found "four", want a number from 1 to 4096`},
		{"too many", capi + "  numCPUs: 99999\n", `x:5:12: numCPUs: found "99999", want a number from 1 to 4096`},
		{"memory", capi + "  memoryMiB: 4Gi\n", `x:5:14: memoryMiB: found "4Gi", want memory such as 512GB, at most 64 TB`},
		{"a list", capi + "  numCPUs: [4]\n", `x:5:12: numCPUs: found "[", want a number from 1 to 4096`},
		{"tab", capi + "\tnumCPUs: 4\n", ``},
		{"template", capi + "  numCPUs: {{ .Values.cpus }}\n", ``},
		{"no VM", "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\n---\napiVersion: machine.openshift.io/v1beta1\nkind: MachineSet\nspec: {template: {spec: {providerSpec: {value: {kind: AWSMachineProviderConfig}}}}}\n",
			"x: found no VM of vSphere in it: it has Cluster, MachineSet"},
		{"quantity", "apiVersion: vmoperator.vmware.com/v1alpha1\nkind: VirtualMachineClass\nmetadata: {name: a}\nspec: {hardware: {cpus: 4, memory: 4GB}}\n",
			`x:4:36: hardware.memory: found "4GB", want memory such as 64Gi`},
		{"bool", tf + vm + `"cpu_hot_add_enabled":"maybe"}}]}}}`, `x:1:209: cpu_hot_add_enabled: found "maybe", want on or off`},
		{"cut", tf + vm + `"num_cpus":4`, `x:1:199: unexpected EOF`},
		{"other resources", tf + `{"address":"a.b","mode":"managed","type":"aws_instance","values":{}}]}}}`, "x: found no VM of vSphere in it: it has aws_instance"},
		{"units", ovf + `<ResourceType>4</ResourceType><AllocationUnits>pages</AllocationUnits><VirtualQuantity>4</VirtualQuantity></Item></VirtualHardwareSection></VirtualSystem></Envelope>`,
			`x:1:157: AllocationUnits: found "pages", want such as byte * 2^20`},
		{"cores", ovf + `<ResourceType>3</ResourceType><VirtualQuantity>x</VirtualQuantity></Item></VirtualHardwareSection></VirtualSystem></Envelope>`,
			`x:1:157: VirtualQuantity of the processors: found "x", want a number from 1 to 4096`},
		{"open element", ovf, `x:1:110: unexpected EOF`},
		{"packer", `{"builders":[{"type":"vsphere-iso","CPUs":"{{user ` + "`c`" + `}}","RAM":-4}],"variables":{"c":"0x10"}}`, `x:1:43: CPUs: found "0x10", want a number from 1 to 4096`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadBytes("x", []byte(tt.text))
			if err == nil {
				t.Fatal("no error")
			}
			if tt.want == "" { // the words are those of the library
				if e, ok := errors.AsType[*numa.SyntaxError](err); !ok || e.Line != 5 {
					t.Errorf("%v", err)
				}
				return
			}
			if err.Error() != tt.want {
				t.Errorf("%s\nwant %s", err, tt.want)
			}
		})
	}
}

// TestOthers: files that only look alike are left to their readers.
func TestOthers(t *testing.T) {
	for name, text := range map[string]string{
		"VMs of KubeVirt": "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n",
		"a state file":    `{"version": 4, "terraform_version": "1.9.8", "resources": []}`,
		"other builders":  `{"builders": [{"type": "amazon-ebs"}]}`,
		"other XML":       "<domain type='kvm'/>",
		"nothing":         "",
		"govc":            `{"virtualMachines": []}`,
	} {
		if formatOf([]byte(text)) != nil {
			t.Errorf("%s: taken for planned VMs", name)
		}
	}
}

// TestBombs: aliases that grow without end are refused.
func TestBombs(t *testing.T) {
	var b strings.Builder
	b.WriteString("apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\na0: &a0 [1,2,3,4,5,6,7,8,9,10]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&b, "a%d: &a%[1]d [%s]\n", i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	_, err := ReadBytes("x", []byte(b.String()))
	if err == nil {
		t.Error("no error")
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"plan.json", "capi.yaml", "vmoperator.yaml", "machineset.yaml", "packer.json", "appliance.ovf"} {
		data := golden.Read(f, filepath.Join("testdata", name))
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fleet, err := ReadBytes("x", data)
		if err != nil {
			return
		}
		edits := map[string][]numa.Edit{}
		for i := range fleet.VMs {
			edits[fleet.VMs[i].ID] = []numa.Edit{{Kind: numa.EditCPUHotAdd, To: numa.Is("false")}, {Kind: numa.EditCoresPerSocket, To: numa.Is("2")}}
		}
		hunks, _, err := Patch("x", data, edits)
		if err == nil && len(hunks) == 0 && !bytes.Equal(Apply(data, hunks), data) {
			t.Error("a patch of nothing changes the file")
		}
	})
}
