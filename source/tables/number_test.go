package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// readText reads a file of this name and content.
func readText(t *testing.T, name, content string) (*numa.Fleet, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	fleet, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	var notes strings.Builder
	for _, n := range fleet.Notes {
		notes.WriteString(n.String() + "\n")
	}
	return fleet, notes.String()
}

// TestTwoWays: a number with one separator and three digits is what its column, plausibility or the file tells, or unknown.
func TestTwoWays(t *testing.T) {
	const vm, host = "Name;NumCpu;Memory ", "Name;CPU Sockets;CPU Cores;Memory "
	for _, tt := range []struct {
		name, file string
		want       numa.Bytes // of the first VM or host; 0 is unknown
	}{
		{"column proves the point", host + "GB\na;2;32;511.698\nb;2;32;383.25\n", 523979 * numa.MiB},
		{"column proves thousands", vm + "MB\na;4;8.000\nb;4;1.048.576\n", 8000 * numa.MiB},
		{"others have no thousands", vm + "GB\na;4;8.000\nb;4;2048\n", 8 * numa.GiB},
		{"hundreds of TB are implausible", `"Name","CPU Sockets","CPU Cores","Memory GB"` + "\n" + `"a","2","32","511,698"` + "\n", 523979 * numa.MiB},
		{"parts of a MB are implausible", "Name,NumCpu,Memory MB\na,4,131.072\n", 131072 * numa.MiB},
		{"the largest of the column is implausible", vm + "GB\na;4;8.000\nb;4;128.000\n", 8 * numa.GiB},
		{"the file divides by commas", "Name,NumCpu,Memory GB\na,4,8.000\n", 8 * numa.GiB},
		{"nothing tells", vm + "GB\na;4;8.000\n", 0},
		{"the column contradicts itself", vm + "GB\na;4;8.000\nb;4;1.5\nc;4;2,5\n", 0},
		{"unit in the cell", vm + "\na;4;8.000 GB\nb;4;128.000 GB\n", 8 * numa.GiB},
	} {
		fleet, notes := readText(t, "a.csv", tt.file)
		got := numa.Fact[numa.Bytes]{}
		if len(fleet.Hosts) > 0 {
			got = fleet.Hosts[0].Memory
		} else {
			got = fleet.VMs[0].Memory
		}
		if got.Value != tt.want || got.Known() == strings.Contains(notes, `found "8.000`) {
			t.Errorf("%s: %v, want %v; notes:\n%s", tt.name, got.Value, tt.want, notes)
		}
	}
	if fleet, _ := readText(t, "a.csv", "Name;NumCpu;Memory GB\na;2.000;8\nb;16.000;8\n"); fleet.VMs[0].VCPUs.Value != 2 {
		t.Errorf("2.000 vCPUs: %+v", fleet.VMs[0].VCPUs)
	}
}

// TestMixedSeparators: a column of numbers of two languages is unknown, with a note of each row and the column.
func TestMixedSeparators(t *testing.T) {
	for file, known := range map[string]int{
		"Name,NumCpu,MemoryMB\na,4,65.536\nb,4,\"65,536\"\nc,4,\"1,5\"\nd,4,2048\n":       1,
		"Name,NumCpu,MemoryGB\na,4,1.024\nb,4,\"192,000\"\nc,4,8.000\n":                   0,
		"Name;NumCpu;MemoryGB\na;4;8.000\nb;4;1.5\nc;4;2,5\n":                             0,
		"Name,NumCpu,Memory\na,4,8.000 GB\nb,4,\"3,072 MB\"\n":                            2,
		"Name,NumCpu,MemoryGB\na,4,8.000\nb,4,192.000\nc,4,0.5\n":                         3,
		"Name,NumCpu,MemoryGB,CPU Limit MHz\na,4,8.000,\"2,100\"\nb,4,16.000,\"4,200\"\n": 2,
	} {
		f, notes := readText(t, "a.csv", file)
		n := 0
		for i, v := range f.VMs {
			if v.Memory.Known() {
				n++
			} else if !strings.Contains(notes, fmt.Sprintf("row %d, column", i+2)) {
				t.Errorf("%q: no note of row %d: %s", file, i+2, notes)
			}
		}
		if n != known {
			t.Errorf("%q: %d sizes are known, want %d: %s", file, n, known, notes)
		}
	}
}

// TestImportantColumns: unread columns that matter most are named first, and columns of VMware's own script are read.
func TestImportantColumns(t *testing.T) {
	f, notes := readText(t, "a.csv", "VMName,vCPUs,a,b,c,d,e,g,OptimalSockets,OddHotAddFlag,VMCpuHotAddEnabled,VMHWVersion,VMMemoryGB\nx,4,,,,,,,,,True,vmx-17,8\n")
	if v := f.VMs[0]; !v.CPUHotAdd.Value || v.Hardware.Value != 17 || !strings.Contains(notes, `not read: "OptimalSockets", "OddHotAddFlag", "a"`) {
		t.Errorf("%+v\n%s", v.Config, notes)
	}
}

// TestCompatibility: the vSphere Client shows the hardware version behind the releases.
func TestCompatibility(t *testing.T) {
	for text, want := range map[string]int{"ESXi 7.0 U2 and later (VM version 19)": 19, "ESXi 6.5 and later (VM version 13)": 13, "ESXi 7.0 U2 and later": 0, "vmx-19": 19} {
		if f, notes := readText(t, "a.csv", "Name,NumCpu,Compatibility\na,4,"+text+"\n"); f.VMs[0].Hardware.Value != want {
			t.Errorf("%s: %v %s", text, f.VMs[0].Hardware, notes)
		}
	}
}

// TestEnums: the words of a column are the same in any case.
func TestEnums(t *testing.T) {
	for _, state := range []string{"connected", "Connected", "CONNECTED"} {
		if f, _ := readText(t, "a.csv", "Name,CPU Sockets,CPU Cores,ConnectionState\na,2,32,"+state+"\n"); !f.Hosts[0].Ready() {
			t.Errorf("%s: %+v", state, f.Hosts[0].Connection)
		}
	}
	if f, _ := readText(t, "a.csv", "Name,CPU Sockets,CPU Cores,ConnectionState\na,2,32,NOT_RESPONDING\nb,2,32,Maintenance\n"); f.Hosts[0].Ready() || !f.Hosts[1].Maintenance.Value {
		t.Errorf("%+v", f.Hosts)
	}
	for power, want := range map[string]numa.PowerState{"POWERED_ON": numa.PoweredOn, "PoweredOn": numa.PoweredOn, "1": numa.PoweredOn, "0": numa.PoweredOff, "2": numa.Suspended} {
		f, _ := readText(t, "a.csv", "Name,NumCpu,PowerState,Firmware,LatencySensitivity,CpuHotAddEnabled\na,4,"+power+",EFI,HIGH,TRUE\n")
		if v := f.VMs[0]; v.Power.Value != want || v.Firmware.Value != "efi" || v.LatencySensitivity.Value != "high" || !v.CPUHotAdd.Value {
			t.Errorf("%s: %+v", power, v.Config)
		}
	}
}

// TestEncodings: Windows-1252 and every Unicode with a byte order mark are read, and a cut last row is said.
func TestEncodings(t *testing.T) {
	f, notes := readText(t, "a.csv", "Name;NumCpu\nM\xfcller;4\nM\xf6ller;4\n")
	if f.VMs[0].Name != "Müller" || f.VMs[1].Name != "Möller" || !strings.Contains(notes, "Windows-1252") {
		t.Errorf("%q, %q; %s", f.VMs[0].Name, f.VMs[1].Name, notes)
	}
	const list = `[{"Name":"a","NumCpu":4}]`
	wide := "\xff\xfe"
	for _, c := range list {
		wide += string([]byte{byte(c), 0})
	}
	for _, text := range []string{"\xef\xbb\xbf" + list, wide} {
		if f, _ := readText(t, "a.json", text); f.VMs[0].VCPUs.Value != 4 {
			t.Errorf("%q: %+v", text[:3], f.VMs)
		}
	}
}

// TestPrograms: settings of Ansible, the list of the REST API, and hosts inside the VMs of PowerCLI.
func TestPrograms(t *testing.T) {
	f, notes := readText(t, "a.json", `{"instance":{"hw_name":"a","hw_processor_count":4,"advanced_settings":{"numa.vcpu.maxPerVirtualNode":"2"}}}`)
	if s := f.VMs[0].Settings; len(s.Value) != 1 || strings.Contains(notes, "advanced settings") {
		t.Errorf("%+v; %s", s, notes)
	}
	f, _ = readText(t, "a.json", `{"value":[{"vm":"vm-1","name":"sql01","cpu_count":24},{"vm":"vm-2","name":"web01","cpu_count":2}]}`)
	if f.VMs[0].Name != "sql01" || f.VMs[0].ID != "vm-1" {
		t.Errorf("%+v", f.VMs[0])
	}
	f, _ = readText(t, "a.json", `[{"Name":"a","PowerState":1,"NumCpu":4,"VMHost":{"Name":"esx01","NumCpu":32,"Version":"7.0.3"}},
		{"Name":"b","PowerState":0,"NumCpu":4,"VMHost":{"Name":"esx01","NumCpu":32,"Version":"7.0.3"}}]`)
	if len(f.Hosts) != 1 || f.Hosts[0].Cores.Value != 32 || f.VMs[1].Host != f.Hosts[0].ID || f.VMs[1].Power.Value != numa.PoweredOff {
		t.Errorf("%+v, %+v", f.Hosts, f.VMs)
	}
}
