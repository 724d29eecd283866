package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"example.org/homenode/numa"
)

// brief prints the facts that tables of other programs carry; an unknown one is -.
func brief(f *numa.Fleet) string {
	var b strings.Builder
	for i := range f.Hosts {
		h := &f.Hosts[i]
		fmt.Fprintf(&b, "host %s pkg=%s cores=%s threads=%s mem=%s release=%s nodes=%d mhz=%s\n", h.Name,
			show(h.Packages), show(h.Cores), show(h.Threads), show(h.Memory), show(h.Release), len(h.Nodes.Value), show(h.CoreMHz))
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		host := "-"
		for _, h := range f.Hosts {
			if h.ID == v.Host {
				host = h.Name
			}
		}
		fmt.Fprintf(&b, "vm %s vcpus=%s cps=%s mem=%s hotadd=%s power=%s hw=%s host=%s\n", v.Name,
			show(v.VCPUs), show(v.CoresPerSocket), show(v.Memory), show(v.CPUHotAdd), show(v.Power), show(v.Hardware), host)
	}
	return b.String()
}

func show[T any](f numa.Fact[T]) string {
	if !f.Known() {
		return "-"
	}
	return fmt.Sprint(f.Value)
}

// govc is what govc vm.info -json and host.info -json print, shortened.
const govcVMs = `{"virtualMachines":[{"self":{"type":"VirtualMachine","value":"vm-7"},"name":"db01","runtime":{"host":{"type":"HostSystem","value":"host-3"},"powerState":"poweredOn"},
"config":{"changeVersion":"2026","version":"vmx-19","instanceUuid":"50aa","template":false,"hardware":{"numCPU":24,"numCoresPerSocket":12,"memoryMB":262144,"device":[{"key":1,"memoryMB":5}]},
"cpuHotAddEnabled":true,"memoryHotAddEnabled":false,"cpuAllocation":{"reservation":0,"limit":-1},"memoryAllocation":{"reservation":1024},"latencySensitivity":{"level":"high"},
"extraConfig":[{"key":"numa.vcpu.preferHT","value":{"_typeName":"string","_value":"TRUE"}},{"key":"guestinfo.x","value":"y"}]}}]}`

const govcHosts = `{"hostSystems":[{"self":{"type":"HostSystem","value":"host-3"},"name":"esx01","parent":{"type":"ClusterComputeResource","value":"domain-c8"},
"summary":{"hardware":{"vendor":"Dell","model":"R750","cpuModel":"Xeon","cpuMhz":2300,"numCpuPkgs":2,"numCpuCores":32,"numCpuThreads":64,"memorySize":549755813888}},
"hardware":{"cpuInfo":{"numCpuPackages":2,"numCpuCores":32,"numCpuThreads":64,"hz":2300000000},"memorySize":549755813888,
"numaInfo":{"type":"NUMA","numNodes":2,"numaNode":[{"typeId":0,"cpuID":[1,0],"memoryRangeLength":274877906944},{"typeId":1,"cpuID":[3,2],"memoryRangeLength":274877906944}]}},
"config":{"product":{"version":"7.0.3","build":"21930508","fullName":"VMware ESXi 7.0.3 build-21930508"},"hyperThread":{"active":true},"option":[{"key":"Numa.FollowCoresPerSocket","value":1}]}}]}`

// TestShapes reads the tables of other programs: each has a shape of its own, and none has a reader of its own.
func TestShapes(t *testing.T) {
	const hostLine = "host esx01 pkg=2 cores=32 threads=64 mem=512 GB release=7.0 U3 nodes=2 mhz=2300\n"
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("Name;NumCpu;MemoryGB\r\ndb01;4;15,5\r\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"PowerCLI, Export-Csv of PowerShell 5", map[string]string{"vms.csv": "#TYPE Selected.VM\n\"Name\",\"PowerState\",\"NumCpu\",\"CoresPerSocket\",\"MemoryGB\",\"VMHost\",\"HardwareVersion\"\n" +
			"\"db01\",\"PoweredOn\",\"24\",\"12\",\"15.5\",\"esx01\",\"vmx-19\"\n"}, "vm db01 vcpus=24 cps=12 mem=15.5 GB hotadd=- power=on hw=19 host=-\n"},
		{"PowerCLI, German", map[string]string{"v.csv": "sep=;\nName;NumCpu;MemoryGB;CpuHotAddEnabled\ndb01;4;15,5;Wahr\n"}, "vm db01 vcpus=4 cps=- mem=15.5 GB hotadd=true power=- hw=- host=-\n"},
		{"tabs", map[string]string{"v.csv": "VM Name\tvCPU\tRAM (MB)\ndb01\t4\t4096\n"}, "vm db01 vcpus=4 cps=- mem=4 GB hotadd=- power=- hw=- host=-\n"},
		{"UTF-16", map[string]string{"v.csv": utf16}, "vm db01 vcpus=4 cps=- mem=15.5 GB hotadd=- power=- hw=- host=-\n"},
		{"units in cells, sockets", map[string]string{"v.csv": "VM,vCPUs,Sockets,Memory\ndb01,8,2,\"16 GB\"\n"}, "vm db01 vcpus=8 cps=4 mem=16 GB hotadd=- power=- hw=- host=-\n"},
		{"memory without a unit", map[string]string{"v.csv": "VM,vCPUs,Memory\ndb01,8,16\n"}, "vm db01 vcpus=8 cps=- mem=- hotadd=- power=- hw=- host=-\n"},
		{"PowerCLI, two files", map[string]string{
			"vms.csv":   "Name,NumCpu,MemoryMB,VMHost\ndb01,8,4096,esx01\n",
			"hosts.csv": "Name,Parent,Manufacturer,Model,NumCpu,CPU Sockets,CpuTotalMhz,MemoryTotalGB,ProcessorType,HyperthreadingActive,Version,Build\nesx01,blue,Dell,R750,32,2,73600,512,Xeon,True,7.0.3,21930508\n",
		}, strings.Replace(hostLine, "mhz=2300", "mhz=-", 1) + "vm db01 vcpus=8 cps=- mem=4 GB hotadd=- power=- hw=- host=esx01\n"},
		{"a second table of the same VMs", map[string]string{
			"a.csv": "Name,NumCpu,MemoryMB\ndb01,8,4096\n",
			"b.csv": "Name,CpuHotAddEnabled,MemoryHotAddEnabled\ndb01,True,False\nweb,False,False\n",
		}, "vm db01 vcpus=8 cps=- mem=4 GB hotadd=true power=- hw=- host=-\nvm web vcpus=- cps=- mem=- hotadd=false power=- hw=- host=-\n"},
		{"PowerCLI, ConvertTo-Json", map[string]string{"v.json": `[{"Name":"db01","NumCpu":8,"CoresPerSocket":4,"MemoryGB":16.0,"VMHost":{"Name":"esx01"},"Id":"VirtualMachine-vm-7"}]`},
			"vm db01 vcpus=8 cps=4 mem=16 GB hotadd=- power=- hw=- host=-\n"},
		{"one object", map[string]string{"v.json": `{"Name":"db01","NumCpu":8,"MemoryMB":1024}`}, "vm db01 vcpus=8 cps=- mem=1 GB hotadd=- power=- hw=- host=-\n"},
		{"govc vm.info", map[string]string{"v.json": govcVMs}, "vm db01 vcpus=24 cps=12 mem=256 GB hotadd=true power=on hw=19 host=-\n"},
		{"govc vm.info and host.info", map[string]string{"v.json": govcVMs, "h.json": govcHosts}, hostLine + "vm db01 vcpus=24 cps=12 mem=256 GB hotadd=true power=on hw=19 host=esx01\n"},
		{"govc, both in one file", map[string]string{"v.json": govcVMs + "\n" + govcHosts}, hostLine + "vm db01 vcpus=24 cps=12 mem=256 GB hotadd=true power=on hw=19 host=esx01\n"},
		{"old govc", map[string]string{"v.json": `{"VirtualMachines":[{"Self":{"Type":"VirtualMachine","Value":"vm-7"},"Name":"db01","Config":{"Hardware":{"NumCPU":24,"MemoryMB":2048},"CpuHotAddEnabled":false}}]}`},
			"vm db01 vcpus=24 cps=- mem=2 GB hotadd=false power=- hw=- host=-\n"},
		{"govc object.collect", map[string]string{"v.json": `[{"name":"name","op":"assign","val":{"_typeName":"string","_value":"db01"}},{"name":"config.hardware.numCPU","op":"assign","val":{"_typeName":"int","_value":4}}]`},
			"vm db01 vcpus=4 cps=- mem=- hotadd=- power=- hw=- host=-\n"},
		{"govc object.collect -type m", map[string]string{"v.json": `{"kind":"enter","obj":{"type":"VirtualMachine","value":"vm-7"},"changeSet":[{"name":"name","op":"assign","val":"db01"},{"name":"config.hardware","op":"assign","val":{"numCPU":4,"memoryMB":1024}}]}
{"kind":"enter","obj":{"type":"VirtualMachine","value":"vm-8"},"changeSet":[{"name":"name","op":"assign","val":"db01"},{"name":"config.hardware","op":"assign","val":{"numCPU":2,"memoryMB":512}}]}`},
			"vm db01 vcpus=4 cps=- mem=1 GB hotadd=- power=- hw=- host=-\nvm db01 vcpus=2 cps=- mem=512 MB hotadd=- power=- hw=- host=-\n"},
		{"the config of one VM", map[string]string{"v.json": `{"changeVersion":"1","name":"db01","version":"vmx-20","hardware":{"numCPU":4,"numCoresPerSocket":1,"memoryMB":2048}}`},
			"vm db01 vcpus=4 cps=1 mem=2 GB hotadd=- power=- hw=20 host=-\n"},
		{"Ansible vmware_vm_info", map[string]string{"v.json": `{"changed":false,"virtual_machines":[{"guest_name":"db01","cluster":"blue","esxi_hostname":"esx01","power_state":"poweredOff","moid":"vm-7","allocated":{"cpu":8}}]}`},
			"vm db01 vcpus=8 cps=- mem=- hotadd=- power=off hw=- host=-\n"},
		{"Ansible vmware_guest_info in a loop", map[string]string{"v.json": `{"results":[{"item":1,"instance":{"hw_name":"db01","hw_processor_count":8,"hw_cores_per_socket":4,"hw_memtotal_mb":2048,"hw_esxi_host":"esx01","hw_version":"vmx-19"}}]}`},
			"vm db01 vcpus=8 cps=4 mem=2 GB hotadd=- power=- hw=19 host=-\n"},
		{"Ansible vmware_host_facts", map[string]string{"h.json": `{"ansible_facts":{"ansible_hostname":"esx01","ansible_processor_count":2,"ansible_processor_cores":32,"ansible_processor_vcpus":64,"ansible_memtotal_mb":524288,"ansible_distribution":"VMware ESXi","ansible_distribution_version":"7.0.3"}}`},
			strings.Replace(hostLine, "mhz=2300", "mhz=-", 1)},
		{"VMs by name", map[string]string{"v.json": `{"db01":{"cpu":{"count":4,"cores_per_socket":2,"hot_add_enabled":true},"memory":{"size_MiB":2048},"hardware":{"version":"VMX_19"}},"web":{"cpu":{"count":1},"memory":{"size_MiB":512}}}`},
			"vm db01 vcpus=4 cps=2 mem=2 GB hotadd=true power=- hw=19 host=-\nvm web vcpus=1 cps=- mem=512 MB hotadd=- power=- hw=- host=-\n"},
		{"RVTools by its words, not its name", map[string]string{"inventory.csv": "VM,Powerstate,CPUs,Memory,SRM Placeholder,Host\ndb01,poweredOn,8,4096,False,esx01\n"},
			"vm db01 vcpus=8 cps=- mem=4 GB hotadd=- power=on hw=- host=-\n"},
		{"not RVTools by its name", map[string]string{"vcenter.csv": "Name,NumCpu,MemoryMB\ndb01,8,4096\n", "vInfo.csv": "Name,NumCpu,MemoryMB\nweb,2,512\n"},
			"vm web vcpus=2 cps=- mem=512 MB hotadd=- power=- hw=- host=-\nvm db01 vcpus=8 cps=- mem=4 GB hotadd=- power=- hw=- host=-\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for _, name := range slices.Sorted(func(yield func(string) bool) {
				for k := range tt.files {
					if !yield(k) {
						return
					}
				}
			}) {
				paths = append(paths, filepath.Join(dir, name))
				if err := os.WriteFile(paths[len(paths)-1], []byte(tt.files[name]), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			f, err := ReadFiles(paths)
			if err != nil {
				t.Fatal(err)
			}
			if got := brief(f); got != tt.want {
				t.Errorf("got\n%swant\n%s%v", got, tt.want, f.Notes)
			}
			folder, err := Read(dir)
			if err != nil || brief(folder) != tt.want || !Detect(dir) {
				t.Errorf("the folder: got %v\n%s", err, brief(folder))
			}
		})
	}
}

// TestLiveOptics reads a workbook with other sheets than RVTools has, and one whose sheets have RVTools' internal names.
func TestWorkbooks(t *testing.T) {
	hosts := [][]string{{"Host Name", "Cluster", "Manufacturer", "Model", "CPU Sockets", "CPU Cores", "CPU Threads", "CPU Description", "CPU Clock Speed (GHz)", "Net Clock Speed (GHz)", "Memory (KiB)"},
		{"esx01", "blue", "Dell", "R750", "2", "32", "64", "Xeon", "2.3", "73.6", "536870912"}}
	vms := [][]string{{"VM Name", "Power State", "Template", "Virtual CPU", "Provisioned Memory (MiB)", "Used Memory (active) (MiB)", "VM OS", "Host", "Cluster", "UUID", "InstanceUUID", "MOB ID"},
		{"db01", "poweredOn", "FALSE", "8", "16384", "100", "Linux", "esx01", "blue", "42", "50", "vm-7"}}
	const hostLine = "host esx01 pkg=2 cores=32 threads=64 mem=512 GB release=- nodes=2 mhz=2300\n"
	for _, tt := range []struct {
		name   string
		sheets testSheets
		want   string
	}{
		{"Live Optics", testSheets{"Details": {{"Project ID", "1"}}, "VMs": vms, "ESX Hosts": hosts, "ESX Performance": {{"Host", "Peak CPU %"}, {"esx01", "90"}}},
			hostLine + "vm db01 vcpus=8 cps=- mem=16 GB hotadd=- power=on hw=- host=esx01\n"},
		{"a title above", testSheets{"Tabelle1": append([][]string{{"Inventory of 2026"}, {"made by hand"}}, vms...)}, "vm db01 vcpus=8 cps=- mem=16 GB hotadd=- power=on hw=- host=-\n"},
		{"RVTools, internal names", testSheets{"tabvInfo": {{"vInfoVMName", "vInfoCPUs", "vInfoMemory"}, {"db01", "8", "16384"}}, "tabvCPU": {{"vCPUVMName", "vCPUCoresPerSocket"}, {"db01", "4"}},
			"tabvHost": {{"vHostName", "vHostNumCpu", "vHostNumCpuCores", "vHostHTActive"}, {"esx01", "2", "32", "True"}}},
			"host esx01 pkg=2 cores=32 threads=64 mem=- release=- nodes=2 mhz=-\nvm db01 vcpus=8 cps=4 mem=16 GB hotadd=- power=- hw=- host=-\n"},
	} {
		f, err := Read(tempFile(t, "a.xlsx", tt.sheets.xlsx(t)))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := brief(f); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s%v", tt.name, got, tt.want, f.Notes)
		}
	}
}

// TestOrigins says where the values of JSON and CSV were read.
func TestOrigins(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "v.json"), filepath.Join(dir, "h.csv")}
	for i, s := range []string{govcVMs, "Host,Sockets,Cores\nesx01,2,32\n"} {
		if err := os.WriteFile(paths[i], []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := ReadFiles(paths)
	if err != nil {
		t.Fatal(err)
	}
	v := &f.VMs[0]
	for _, tt := range []struct{ got, want string }{
		{v.VCPUs.Origin.Where, "virtualMachines[0].config.hardware.numCPU"},
		{v.Memory.Origin.Where, "virtualMachines[0].config.hardware.memoryMB"},
		{v.Settings.Origin.Where, "virtualMachines[0].config.extraConfig"},
		{v.CPUAffinity.Origin.Where, "virtualMachines[0].config.cpuAffinity, which is not set"},
		{f.Hosts[0].Cores.Origin.Where, `h.csv row 2 "Cores"`},
		{fmt.Sprint(v.Settings.Value), "[{numa.vcpu.preferHT TRUE}]"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

// TestUnknown describes what a file holds that is none of VMs or hosts.
func TestUnknown(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a.csv", "Name,State,Status,Provisioned Space\ndb01,Powered On,Normal,1\n", "found a table with 4 columns: Name, State, Status, Provisioned Space; no column states vCPUs or memory of VMs, or sockets or cores of hosts, beside a column VM or Host"},
		{"a.csv", `"(PDH-CSV 4.0) (UTC)(0)","\\SQL01\Processor(_Total)\% User Time"` + "\n1,2\n", "found a log of Windows Performance Monitor, which shows a guest alone: "},
		{"a.csv", "node_id,node_state_desc,online_scheduler_count\n0,ONLINE,16\n", "found a table of sys.dm_os_nodes, which shows a guest alone: --evidence takes "},
		{"a.csv", "Part,Price\nA1,2\n", "found a table with 2 columns: Part, Price; no column names a VM or a host"},
		{"a.json", `["/dc/vm/db01"]`, `found JSON with a list of names such as "/dc/vm/db01", and nothing about them: govc find and ls list names; save govc vm.info -json and govc host.info -json`},
		{"a.json", `{"format":"homenode-assess","result":{"vms":[{"name":"a","vcpus":4}]}}`, "found an answer of this program (homenode-assess), which is no inventory"},
		{"a.json", `{"name":"x","tags":[1]}`, "found JSON whose objects have 2 columns: name, tags; no column states vCPUs or memory of VMs, or sockets or cores of hosts, beside a column VM or Host"},
		{"a.json", `{"name":`, "1:9: the file is cut off"},
	} {
		_, err := ReadFiles([]string{tempFile(t, tt.name, []byte(tt.text))})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

// TestPlainTable: a table with words of RVTools among others is none of its sheets, so that hosts beside it are read; columns that are not understood are named.
func TestPlainTable(t *testing.T) {
	f := mustRead(t, tempFolder(t, map[string][]byte{
		"vms.csv":   []byte("VM,CPUs,Memory MB,Host,Cores p/s,Hot Add,Mood\nbig,24,262144,esx01,12,Yes,sad\n"),
		"hosts.csv": []byte("Host,# CPU,# Cores,Memory GB,ESX Version\nesx01,2,32,512,VMware ESXi 7.0.3 build-21930508\n"),
	}))
	all := strings.Join(notesOf(f), "\n")
	if len(f.Hosts) != 1 || f.Hosts[0].Cores.Value != 32 || len(f.VMs) != 1 || !strings.Contains(all, `not understood, and so not read: "Mood"`) {
		t.Fatalf("%+v\n%s", f.Hosts, all)
	}
	if v := f.VMs[0]; v.CoresPerSocket.Value != 12 || !v.CPUHotAdd.Value || v.Memory.Value != 256<<30 {
		t.Errorf("%+v", v)
	}
}

// TestUneven: rows with fewer fields than headers are noted, once.
func TestUneven(t *testing.T) {
	for rows, want := range map[string]bool{"a,4,esx01\nb,2\nc,2\n": true, "a,4,esx01\nb,2,\n": false} {
		f := mustRead(t, tempFile(t, "vms.csv", []byte("Name,NumCpu,VMHost\n"+rows)))
		if all := strings.Join(notesOf(f), "\n"); strings.Contains(all, `2 rows have fewer fields than the 3 headers: they may be in the wrong columns (first: "row 3")`) != want {
			t.Errorf("%s: notes:\n%s", rows, all)
		}
	}
}
