package planned

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

func edit(kind numa.EditKind, to string) numa.Edit { return numa.Edit{Kind: kind, To: numa.Is(to)} }

// TestPatch changes files of every form that people edit: the lines that are named, and no other byte.
func TestPatch(t *testing.T) {
	setting := numa.Edit{Kind: numa.EditExtraConfig, Key: "numa.vcpu.preferHT", To: numa.Is("TRUE")}
	for _, tt := range []struct {
		name, file string
		edits      map[string][]numa.Edit
		want       []string // lines that are new, with a minus those that are gone
		cannot     []string
	}{
		{"a comment stays", "capi.yaml", map[string][]numa.Edit{"db-workers": {edit(numa.EditVCPUs, "32"), edit(numa.EditCoresPerSocket, "16"), edit(numa.EditHardware, "19")}},
			[]string{"-      numCPUs: 24 # as the sizing says", "-      numCoresPerSocket: 1", "      numCPUs: 32 # as the sizing says", "      numCoresPerSocket: 16", `      hardwareVersion: "vmx-19"`}, nil},
		{"a setting beside others", "capi.yaml", map[string][]numa.Edit{"workers": {setting, edit(numa.EditCPUHotAdd, "false")}},
			[]string{`        numa.vcpu.preferHT: "TRUE"`}, []string{"workers: cpuHotAdd = false: Cluster API has no attribute for it"}},
		{"the first setting", "capi.yaml", map[string][]numa.Edit{"db-workers": {setting}}, []string{`        numa.vcpu.preferHT: "TRUE"`, "      customVMXKeys:"}, nil},
		{"a quoted setting", "capi.yaml", map[string][]numa.Edit{"workers": {{Kind: numa.EditExtraConfig, Key: "numa.vcpu.maxPerMachineNode", To: numa.Is("8")}}},
			[]string{`-        numa.vcpu.maxPerMachineNode: "6"`, `        numa.vcpu.maxPerMachineNode: "8"`}, nil},
		{"assigned at power-on", "capi.yaml", map[string][]numa.Edit{"db-workers": {edit(numa.EditCoresPerSocket, "0")}}, nil,
			[]string{"db-workers: coresPerSocket = 0: Cluster API has no value for cores per socket that are assigned at power-on"}},
		{"removed", "capi.yaml", map[string][]numa.Edit{"workers": {{Kind: numa.EditExtraConfig, Key: "numa.vcpu.maxPerMachineNode", From: numa.Is("6")}}}, nil,
			[]string{"workers: numa.vcpu.maxPerMachineNode = absent: take it out of customVMXKeys"}},
		{"a class of a VM", "vmoperator.yaml", map[string][]numa.Edit{"db-large": {edit(numa.EditCPUHotAdd, "false")}, "db01": {edit(numa.EditCPUHotAdd, "false")}, "workers": {edit(numa.EditCPUHotAdd, "false")}},
			[]string{"-    cpuHotAddEnabled: true", "    cpuHotAddEnabled: false"}, nil},
		{"a class that another VM has", "vmoperator.yaml", map[string][]numa.Edit{"db01": {edit(numa.EditCPUHotAdd, "false")}}, nil,
			[]string{"db01: cpuHotAdd = false: db-large has the same line and needs no such change"}},
		{"a machine set", "machineset.yaml", map[string][]numa.Edit{"infra-0": {edit(numa.EditCoresPerSocket, "10")}},
			[]string{"-          numCoresPerSocket: 5", "          numCoresPerSocket: 10"}, nil},
		{"JSON", "packer.json", map[string][]numa.Edit{"sql-template": {edit(numa.EditCPUHotAdd, "false"), edit(numa.EditMemoryHotAdd, "true"), setting}},
			[]string{`-      "CPU_hot_plug": true,`, `      "CPU_hot_plug": false,`, `      "RAM_hot_plug": true,`, `        "numa.vcpu.preferHT": "TRUE",`}, nil},
		{"a descriptor", "appliance.ovf", map[string][]numa.Edit{"Collector (large)": {edit(numa.EditVCPUs, "20"), edit(numa.EditCoresPerSocket, "10")}, "Collector (small)": {edit(numa.EditCoresPerSocket, "2")}},
			[]string{"-        <rasd:VirtualQuantity>24</rasd:VirtualQuantity>", `-        <vmw:CoresPerSocket ovf:required="false">24</vmw:CoresPerSocket>`, `        <vmw:CoresPerSocket ovf:required="false">2</vmw:CoresPerSocket>`,
				"        <rasd:VirtualQuantity>20</rasd:VirtualQuantity>", `        <vmw:CoresPerSocket ovf:required="false">10</vmw:CoresPerSocket>`}, nil},
		{"an attribute of XML", "appliance.ovf", map[string][]numa.Edit{"Collector (large)": {edit(numa.EditCPUHotAdd, "false")}, "Collector (small)": {edit(numa.EditCPUHotAdd, "false")}},
			[]string{`-      <vmw:Config ovf:required="false" vmw:key="cpuHotAddEnabled" vmw:value="true"/>`, `      <vmw:Config ovf:required="false" vmw:key="cpuHotAddEnabled" vmw:value="false"/>`}, nil},
	} {
		for _, ends := range []string{"\n", "\r\n"} {
			t.Run(tt.name+map[string]string{"\n": "", "\r\n": ", CRLF"}[ends], func(t *testing.T) {
				data, err := os.ReadFile(filepath.Join("testdata", tt.file))
				if err != nil {
					t.Fatal(err)
				}
				text := strings.ReplaceAll(string(data), "\n", ends)
				hunks, cannot, err := Patch(tt.file, []byte(text), tt.edits)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(cannot, tt.cannot) {
					t.Errorf("cannot %q, want %q", cannot, tt.cannot)
				}
				got := difference(text, string(Apply([]byte(text), hunks)), ends)
				if !slices.Equal(got, tt.want) {
					t.Errorf("changed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
				}
			})
		}
	}
}

// difference returns the lines that one text has more often than the other: those that are gone with a minus, then those that are new.
func difference(before, after, ends string) (out []string) {
	count := map[string]int{}
	old, new := strings.Split(before, ends), strings.Split(after, ends)
	for _, l := range new {
		count[l]++
	}
	for _, l := range old {
		if count[l]--; count[l] < 0 {
			out = append(out, "-"+l)
		}
	}
	count = map[string]int{}
	for _, l := range old {
		count[l]++
	}
	for _, l := range new {
		if count[l]--; count[l] < 0 {
			out = append(out, l)
		}
	}
	return out
}

// TestOdd: a value that is written in an unusual way is left alone.
func TestOdd(t *testing.T) {
	const head = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: VSphereMachine\nmetadata: {name: a}\n"
	for _, text := range []string{
		"spec: {numCPUs: 0x18}\n",
		"spec:\n  numCPUs: &cpus 24\n",
		"spec:\n  numCPUs: >-\n    24\n",
		"spec:\n  numCPUs: !!int \"24\"\n",
	} {
		hunks, cannot, err := Patch("a.yaml", []byte(head+text), map[string][]numa.Edit{"a": {edit(numa.EditVCPUs, "32")}})
		if len(hunks) > 0 && err == nil { // what is changed was read again, and is right
			continue
		}
		if err == nil && len(cannot) != 1 {
			t.Errorf("%q: %v %v", text, hunks, cannot)
		}
	}
}

// TestLines: every form writes an attribute in its own words.
func TestLines(t *testing.T) {
	edits := []numa.Edit{edit(numa.EditVCPUs, "24"), edit(numa.EditCoresPerSocket, "0"), edit(numa.EditCPUHotAdd, "false"), edit(numa.EditHardware, "20"), edit(numa.EditMemoryReservation, "4096"),
		{Kind: numa.EditExtraConfig, Key: "numa.vcpu.preferHT", To: numa.Is("${x}")}}
	for form, want := range map[string]string{
		"Terraform":   `num_cpus = 24|num_cores_per_socket = 0|cpu_hot_add_enabled = false|hardware_version = 20|memory_reservation = 4096|extra_config = { "numa.vcpu.preferHT" = "$${x}" }`,
		"Packer":      `"CPUs": 24|"CPU_hot_plug": false|"vm_version": 20|"RAM_reservation": 4096|"configuration_parameters": {"numa.vcpu.preferHT": "${x}"}`,
		"OpenShift":   `numCPUs: 24`,
		"Cluster API": `numCPUs: 24|hardwareVersion: "vmx-20"|customVMXKeys: {numa.vcpu.preferHT: "${x}"}`,
		"VM Operator": `cpus: 24|numCoresPerSocket: 0|cpuHotAddEnabled: false|version: "vmx-20"|memory: "4096Mi"|extraConfig: [{key: numa.vcpu.preferHT, value: "${x}"}]`,
	} {
		v := &numa.VM{Planned: &numa.Planned{Form: form}}
		lines, _ := Lines(v, edits)
		var got []string
		for _, l := range lines {
			got = append(got, l.Text)
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%s\n%s, want\n%s", form, text, want)
		}
	}
}
