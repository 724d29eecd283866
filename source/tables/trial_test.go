package tables

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// TestShifted: the values of a row with more fields than headers are unknown, whatever table of whatever program it is in, and a note says so.
func TestShifted(t *testing.T) {
	for name, files := range map[string]map[string][]byte{
		"VMs":     {"a.csv": []byte("Name,Notes,NumCpu,MemoryMB,CoresPerSocket\nok,fine,4,4096,2\nsql,SQL Team, 24,8,4096,4\n")},
		"RVTools": {"RVTools_tabvInfo.csv": []byte("VM,Annotation,CPUs,Memory,Template\nok,fine,4,4096,False\nsql,Team, 24,8,4096,False\n")},
		"vCPU": {"RVTools_tabvInfo.csv": []byte("VM,Template\nok,False\nsql,False\n"),
			"RVTools_tabvCPU.csv": []byte("VM,Annotation,CPUs,Cores p/s\nok,fine,4,2\nsql,Team, 24,8,4\n")},
	} {
		f, err := Read(tempFolder(t, files))
		if err != nil || len(f.VMs) != 2 {
			t.Errorf("%s: %+v, %v", name, f, err)
			continue
		}
		if v := f.VMs[1]; v.Name != "sql" || v.VCPUs.Known() || v.Memory.Known() || v.CoresPerSocket.Known() {
			t.Errorf("%s: found %+v of the shifted row", name, v.Config)
		}
		if !f.VMs[0].VCPUs.Known() || !strings.Contains(fmt.Sprint(f.Notes), "more fields than the") {
			t.Errorf("%s: notes %v", name, f.Notes)
		}
	}
	f, _ := readText(t, "a.csv", "Name,Description,CPU Sockets,CPU Cores\nok,fine,2,32\nesx,a, 8,2,32\n")
	if h := f.Hosts[1]; h.Name != "esx" || h.Packages.Known() || h.Cores.Known() {
		t.Errorf("found %+v of the shifted row", h)
	}
}

// TestForeign: objects with the columns of VMs or hosts that are of something else are none, and are named.
func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		`{"ansible_facts":{"ansible_hostname":"db","ansible_system":"Linux","ansible_processor_count":2,"ansible_processor_cores":12}}`:                                                "no ESXi host",
		`{"ansible_hostname":"db","ansible_system":"Win32NT","ansible_processor_count":2}`:                                                                                             "no ESXi host",
		`{"ansible_facts":{"ansible_hostname":"db","ansible_distribution":"RedHat","ansible_processor":["0","GenuineIntel"],"ansible_processor_count":4,"ansible_processor_cores":4}}`: "no ESXi host",
		`{"ansible_facts":{"ansible_hostname":"db","ansible_processor_count":2,"ansible_processor_cores":12}}`:                                                                         "no ESXi host",
		`{"terraform_version":"1.5.0","resources":[{"instances":[{"attributes":{"name":"a","num_cpus":4,"memory":4096}}]}]}`:                                                           "a state of Terraform",
		`{"OS-FLV-DISABLED:disabled": false, "name": "m1", "vcpus": 2, "ram": 4096}`:                                                                                                   "flavors of OpenStack Nova, which are not read",
		`{"name": "m1", "vcpus": 2, "ram": 4096, "properties": {"hw:numa_nodes": "2"}}`:                                                                                                "flavors of OpenStack Nova, which are not read",
		`[{"ID": "1", "Name": "m1", "RAM": 4096, "Disk": 1, "Ephemeral": 0, "VCPUs": 2, "Is Public": true}]`:                                                                           "flavors of OpenStack Nova, which are not read",
		`{"data":[{"id":"qemu/100","name":"a","vmid":100,"cpu":0.1,"maxcpu":4,"maxmem":4294967296,"type":"qemu"}]}`:                                                                    "VMs of Proxmox",
		`[{"VMID":101,"NAME":"web","STATUS":"running","MEM(MB)":8192,"BOOTDISK(GB)":32}]`:                                                                                              "VMs of Proxmox",
		`{"cores":4,"memory":"8192","name":"web","numa":1,"sockets":2,"ostype":"l26","scsihw":"virtio-scsi-pci"}`:                                                                      "VMs of Proxmox",
	} {
		_, err := Read(tempFile(t, "a.json", []byte(text)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %s", text, err, want)
		}
	}
	f, _ := readText(t, "a.json", `{"esx01":{"ansible_hostname":"esx01","ansible_distribution":"VMware ESXi","ansible_processor":["0","GenuineIntel"],"ansible_processor_count":2,"ansible_processor_cores":32},"localhost":{"ansible_hostname":"ci","ansible_system":"Linux","ansible_processor_count":1}}`)
	if len(f.Hosts) != 1 || f.Hosts[0].Name != "esx01" || f.Hosts[0].CPUModel.Known() {
		t.Errorf("found %+v", f.Hosts)
	}
	for key, value := range ofESXi {
		_, notes := readText(t, "a.json", fmt.Sprintf(`{"ansible_facts":{"ansible_hostname":"esx01","%s":%q,"ansible_processor_count":2,"ansible_processor_cores":32,"ansible_odd":1}}`, key, value))
		if !strings.Contains(notes, `1 key is not understood, and so not read: "ansible_facts.ansible_odd"`) {
			t.Errorf("with %s: %s", key, notes)
		}
	}
	for _, text := range []string{"Name,Model,Cores,Memory GB\nLaptop A,X1,8,16\n", "Name,Vendor,Processor,Cores\nServer,Dell,Xeon,8\n"} {
		if _, err := Read(tempFile(t, "a.csv", []byte(text))); err == nil {
			t.Errorf("%s: a list of prices makes hosts", text)
		}
	}
}

// TestHostNames: a VM finds its host by name with and without the domain, where one host has the name; several are said to be ambiguous.
func TestHostNames(t *testing.T) {
	for _, tt := range []struct{ hosts, host, want string }{
		{"esx01.corp.example", "esx01", "esx01.corp.example"},
		{"ESX01", "esx01.corp.example", "ESX01"},
		{"esx01,esx01.corp.example", "esx01", "esx01"},
		{"esx01.a.example,esx01.b.example", "esx01", ""},
		{"esx01.a.example", "esx01.b.example", ""},
		{"10.0.0.1,10.0.0.2", "10", ""},
	} {
		hosts := "Name,CPU Sockets,CPU Cores\n"
		for h := range strings.SplitSeq(tt.hosts, ",") {
			hosts += h + ",2,32\n"
		}
		dir := tempFolder(t, map[string][]byte{"h.csv": []byte(hosts), "v.csv": []byte("Name,NumCpu,VMHost\na,4," + tt.host + "\n")})
		f, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.VMs[0].Host; got != tt.want {
			t.Errorf("%s of %s: found %q, want %q", tt.host, tt.hosts, got, tt.want)
		}
		if several := strings.Contains(fmt.Sprint(f.Notes), "several hosts have"); several != (strings.HasPrefix(tt.hosts, "esx01.a.example,")) {
			t.Errorf("%s of %s: notes %v", tt.host, tt.hosts, f.Notes)
		}
	}
}

// TestRowsOfOtherDocuments: a VM whose configuration is missing is one, in the list of the others or in a further document.
func TestRowsOfOtherDocuments(t *testing.T) {
	const whole = `{"virtualMachines":[{"self":{"value":"vm-1"},"name":"a","config":{"hardware":{"numCPU":4}},"network":[{"name":"net"}]}]}`
	const bare = `{"virtualMachines":[{"self":{"value":"vm-2"},"name":"b","config":null}]}`
	for text, want := range map[string]string{
		whole + "\n" + bare:                                                     "a b",
		bare + "\n" + whole:                                                     "a b",
		whole + "\n" + `{"networks":[{"name":"net"}]}`:                          "a",
		`{"Name":"a","NumCpu":4}` + "\n" + `{"Name":"b","NumCpu":null}`:         "a b",
		`{"Name":"a","NumCpu":4}` + "\n" + `{"Name":"b","Size":1,"Other":true}`: "a",
	} {
		f, _ := readText(t, "a.json", text)
		var names []string
		for _, v := range f.VMs {
			names = append(names, v.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: found %s, want %s", text, got, want)
		}
	}
}

// TestResourceInfo reads the answer of vmware.vmware.vm_resource_info.
func TestResourceInfo(t *testing.T) {
	f, _ := readText(t, "a.json", `{"vms":[{"cpu":{"cores_per_socket":8,"hot_add_enabled":true,"processor_count":16},"esxi_host":{"moid":"host-64","name":"esx01"},"memory":{"size_mb":65536},"moid":"vm-1","name":"a"}]}`)
	if v := f.VMs[0]; v.VCPUs.Value != 16 || v.CoresPerSocket.Value != 8 || !strings.Contains(fmt.Sprint(f.Notes), "a on esx01") {
		t.Errorf("found %+v; %v", v.Config, f.Notes)
	}
}

// TestOneCluster: VMs and hosts are in one cluster though one of their sheets lacks the vCenter or the datacenter.
func TestOneCluster(t *testing.T) {
	for _, tt := range [][2]string{
		{"VM,CPUs,Host,Cluster,Datacenter,VI SDK Server\na,4,esx01,prod,dc,vc\n", "Host,# CPU,# Cores,Cluster,Datacenter\nesx01,2,32,prod,dc\n"},
		{"VM,CPUs,Host,Cluster,Datacenter,VI SDK Server\na,4,esx01,prod,dc,vc\n", "Host,# CPU,# Cores,Cluster\nesx01,2,32,prod\n"},
		{"VM,CPUs,Host,Cluster\na,4,esx01,prod\n", "Host,# CPU,# Cores,Cluster,Datacenter,VI SDK Server\nesx01,2,32,prod,dc,vc\n"},
	} {
		f := mustRead(t, tempFolder(t, map[string][]byte{"RVTools_tabvInfo.csv": []byte(tt[0]), "RVTools_tabvHost.csv": []byte(tt[1])}))
		if len(f.Clusters) != 1 || f.VMs[0].Cluster != f.Hosts[0].Cluster || f.VMs[0].Host == "" {
			t.Errorf("%s%s: clusters %+v", tt[0], tt[1], f.Clusters)
		}
	}
}

// TestCells: an amount that is none has a note, which says what may be; a line below the header and a total of RVTools are no VMs.
func TestCells(t *testing.T) {
	for cell, want := range map[string]string{"-1": `found "-1", want more than 0, up to`, "0": `found "0", want more than 0, up to`} {
		if f, all := readText(t, "a.csv", "Name,NumCpu,MemoryGB\na,4,"+cell+"\n"); f.VMs[0].Memory.Known() || !strings.Contains(all, want) {
			t.Errorf("%s: %s", cell, all)
		}
	}
	for name, text := range map[string]string{
		"a.md":                 "| VM | vCPU | Memory GB |\n|---|:--:|---|\n| a | 4 | 8 |\n",
		"RVTools_tabvInfo.csv": "VM,CPUs,Memory,Template\na,4,4096,False\nTotal,4,4096,\n",
	} {
		if f := mustRead(t, tempFile(t, name, []byte(text))); len(f.VMs) != 1 || f.VMs[0].Name != "a" {
			t.Errorf("%s: %+v", name, f.VMs)
		}
	}
	if f, _ := readText(t, "a.json", `{"cpu":{"count":12},"memory":{"size_MiB":98304},"identity":{"name":"r2","instance_uuid":"u"}}`); f.VMs[0].Name != "r2" {
		t.Errorf("%+v", f.VMs)
	}
}

// TestCut: a table whose last row ends early without a line end is not read whole; the last field of that row is unknown, and a row of
// another sheet finds its VM by the name.
func TestCut(t *testing.T) {
	const head = "Name,NumCpu,Host,Notes\n"
	for text, want := range map[string]string{
		head + "a,4,x,n\nb,2":                 "a 4 b 0 cut",
		head + "a,4,x,n\nb":                   "a 4 cut",
		head + "a,4":                          "a 0 cut",
		"sep=,\n" + head + "\na,4,x,n\nb,8,x": "a 4 b 8 cut",
		head + "a,4,x,n\nb,8,x\n":             "a 4 b 8",
		head + "a,4,x,n\nb,8,x,n":             "a 4 b 8",
		head + "a,4,x,n\n\x1a":                "a 4",
		head + "a,4,x,n\n \t":                 "a 4",
	} {
		f := mustRead(t, tempFile(t, "a.csv", []byte(text)))
		var got []string
		for _, v := range f.VMs {
			got = append(got, v.Name, fmt.Sprint(v.VCPUs.Value))
		}
		if f.Unread != nil && strings.Contains(fmt.Sprint(f.Notes), "cut off") {
			got = append(got, "cut")
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: found %s, want %s", text, got, want)
		}
	}
	f := mustRead(t, tempFolder(t, map[string][]byte{
		"RVTools_tabvInfo.csv": []byte("VM,Template,CPUs,VM ID\na,False,4,vm-1\nb,Fal"),
		"RVTools_tabvCPU.csv":  []byte("VM,CPUs,Cores p/s,VM ID\na,4,2,vm-1\nb,8,4,vm-2\nc,8,4,vm-3\n"),
	}))
	if v := f.VMs[1]; v.VCPUs.Value != 8 || v.Template.Known() || !strings.Contains(fmt.Sprint(f.Notes), `1 row is about a VM that vInfo does not list: left out (first: "c")`) || len(f.Unread) != 1 {
		t.Errorf("found %+v; %v", v.Config, f.Notes)
	}
}

// TestNodeCount: a number of NUMA nodes that a table states is that of its hosts, and keys of JSON that are not understood are named.
func TestNodeCount(t *testing.T) {
	for text, want := range map[string]string{
		"Name,CPU Sockets,CPU Cores,NUMA Nodes\nesx01,2,40,4\n":                                                                                                           "4 10 1",
		"name,summary.hardware.numCpuPkgs,summary.hardware.numCpuCores,hardware.numaInfo.numNodes\nesx01,2,40,2\n":                                                        "2 20 1",
		"VMHost,CPU Sockets,CPU Cores,NumaNodes\nesx01,4,40,2\n":                                                                                                          "2 20 -1",
		"VMHost,CPU Sockets,CPU Cores,numNodes\nesx01,2,40,1\n":                                                                                                           "1 40 -1",
		"VMHost,CPU Sockets,CPU Cores,numNodes\nesx01,2,40,0\n":                                                                                                           "1 40 -1",
		"VMHost,CPU Sockets,CPU Cores,numNodes\nesx01,2,40,3\n":                                                                                                           "0",
		`[{"name":"esx01","summary":{"hardware":{"numCpuPkgs":2,"numCpuCores":40}},"hardware":{"numaInfo":{"numNodes":4}},"myRack":"r"}]`:                                 "4 10 1 myRack",
		`[{"name":"esx01","summary":{"hardware":{"numCpuPkgs":2,"numCpuCores":40,"numCpuThreads":80}},"hardware":{"numaInfo":{"numaNode":[{"typeId":0},{"typeId":1}]}}}]`: "2 20 1",
		`[{"name":"esx01","summary.hardware.numCpuPkgs":2,"summary.hardware.numCpuCores":40,"hardware.numaInfo.numNodes":4,"foo.myRack":1}]`:                              "4 10 1 myRack",
	} {
		name := "a.csv"
		if text[0] == '[' {
			name = "a.json"
		}
		f, notes := readText(t, name, text)
		nodes := f.Hosts[0].Nodes
		got := fmt.Sprint(len(nodes.Value))
		if nodes.Known() {
			last := nodes.Value[len(nodes.Value)-1]
			got += fmt.Sprintf(" %d %d", last.Cores, last.Package)
		}
		if strings.Contains(notes, "1 key is not understood") && strings.Contains(notes, "myRack") {
			got += " myRack"
		}
		if got != want || nodes.Origin.Kind == numa.Assumed {
			t.Errorf("%s: found %s of %v, want %s; %s", text, got, nodes, want, notes)
		}
	}
}

// TestGuestOfPowerCLI: the guest of a VM is what follows its name, which it may have had before.
func TestGuestOfPowerCLI(t *testing.T) {
	for text, want := range map[string]string{
		"Name,NumCpu,Guest\na,4,old-windows:Red Hat Enterprise Linux 8 (64-bit)\n": "Red Hat Enterprise Linux 8 (64-bit)",
		"Name,NumCpu,Guest\na,4,Microsoft Windows Server 2022 (64-bit)\n":          "Microsoft Windows Server 2022 (64-bit)",
		"Name,NumCpu,Guest\na,4,a:\n":                                              "",
		"Name,NumCpu,Guest OS\na,4,Other: Linux\n":                                 "Other: Linux",
	} {
		if f, _ := readText(t, "a.csv", text); f.VMs[0].GuestOS.Value != want || f.VMs[0].GuestOS.Known() != (want != "") {
			t.Errorf("%s: found %v", text, f.VMs[0].GuestOS)
		}
	}
}

// TestReleasePaths: the release of a host is read under each path of the API, as one key and nested.
func TestReleasePaths(t *testing.T) {
	for _, product := range []string{
		`"config.product.version":"7.0.3"`, `"summary.config.product.version":"7.0.3"`, `"summary.config.product.fullName":"VMware ESXi 7.0.3 build-21930508"`,
		`"config":{"product":{"version":"7.0.3"}}`, `"summary":{"config":{"product":{"version":"7.0.3","build":"21930508"}}}`,
	} {
		f, notes := readText(t, "a.json", `[{"name":"esx01","hardware.cpuInfo.numCpuPackages":2,"hardware.cpuInfo.numCpuCores":40,`+product+`}]`)
		if !f.Hosts[0].Release.Known() {
			t.Errorf("%s: no release; %s", product, notes)
		}
	}
}

// TestContradictions: a list of VMs is no table of hosts, and of two rows about one host what differs is unknown, whatever the files are called.
func TestContradictions(t *testing.T) {
	const vms, hosts = "VM Name,Host,Cluster,Cores\na,esx01,c,4\n", "Host,CPU Sockets,CPU Cores,Memory GB\nesx01,2,48,768\n"
	const own = "Name,NumCpu,VMHost\na,4,esx01\n"
	for _, names := range [][3]string{{"a.csv", "b.csv", "c.csv"}, {"c.csv", "b.csv", "a.csv"}} {
		f, err := Read(tempFolder(t, map[string][]byte{names[0]: []byte(vms), names[1]: []byte(hosts), names[2]: []byte(own)}))
		if err != nil || len(f.Hosts) != 1 || f.Hosts[0].Cores.Value != 48 || f.VMs[0].VCPUs.Value != 4 {
			t.Errorf("%v: found %+v, %v", names, f, err)
		}
		f, err = Read(tempFolder(t, map[string][]byte{names[0]: []byte(hosts), names[1]: []byte("VMHost,Sockets,Cores,RAM GB\nesx01,2,12,767.4\n"), names[2]: []byte(own)}))
		if err != nil || len(f.Hosts) != 1 || f.Hosts[0].Cores.Known() || f.Hosts[0].Nodes.Known() || !f.Hosts[0].Packages.Known() || !f.Hosts[0].Memory.Known() {
			t.Errorf("%v: found %+v, %v", names, f, err)
			continue
		}
		f, err = Read(tempFolder(t, map[string][]byte{names[0]: []byte(hosts), names[1]: []byte("VMHost,Sockets,Cores,NUMA Nodes\nesx01,2,48,4\n")}))
		if err != nil || len(f.Hosts[0].Nodes.Value) != 4 {
			t.Errorf("%v: found %+v, %v", names, f, err)
		}
		f, _ = Read(tempFolder(t, map[string][]byte{names[0]: []byte(hosts), names[1]: []byte("VMHost,Sockets,Cores\nesx01,2,12\n")}))
		if notes := fmt.Sprint(f.Notes); !strings.Contains(notes, names[0]) || !strings.Contains(notes, names[1]) || !strings.Contains(notes, "host esx01 has") {
			t.Errorf("%v: notes %v", names, notes)
		}
	}
}

// TestRowsOfOneHost: what a host has does not depend on the order of its rows, files and objects, and a fact that one of them alone
// states is kept.
func TestRowsOfOneHost(t *testing.T) {
	rows := []string{"esx01,2,,768,,", "esx01,,48,767.4,true,", "esx01,2,,,,2.1", "esx01,,,,,2.4", "esx01,2,,,,2.1"}
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {3, 0, 4, 1, 2}, {1, 2, 4, 3, 0}} {
		text := "Host,CPU Sockets,CPU Cores,Memory GB,HT Active,Speed GHz\n"
		for _, i := range order {
			text += rows[i] + "\n"
		}
		f, notes := readText(t, "a.csv", text)
		if len(f.Hosts) != 1 {
			t.Fatalf("%v: %+v", order, f.Hosts)
		}
		h := f.Hosts[0]
		if h.Packages.Value != 2 || h.Cores.Value != 48 || h.Threads.Value != 96 || h.Memory.Value != 768*numa.GiB || len(h.Nodes.Value) != 2 || h.CoreMHz.Known() || !strings.Contains(notes, "host esx01 has 2100 coreMHz") && !strings.Contains(notes, "host esx01 has 2400 coreMHz") {
			t.Errorf("%v: %+v\n%s", order, h, notes)
		}
	}
	for _, rows := range []string{"esx01,2,48,768,softwareTiering\nesx01,2,48,768,\n", "esx01,2,48,768,\nesx01,2,48,768,softwareTiering\n"} {
		if f, _ := readText(t, "a.csv", "Host,CPU Sockets,CPU Cores,Memory GB,Memory Tiering Type\n"+rows); f.Hosts[0].Memory.Known() || f.Hosts[0].Nodes.Value[0].Memory.Known() {
			t.Errorf("%s: %+v", rows, f.Hosts[0])
		}
	}
	for _, rows := range []string{"esx01,2,48,2,,2095\nesx01,,,,true,2100\n", "esx01,,,,true,2100\nesx01,2,48,2,,2095\n"} { // nodes that one row makes have the threads of another
		if f, _ := readText(t, "a.csv", "Host,CPU Sockets,CPU Cores,NUMA Nodes,HT Active,Speed MHz\n"+rows); f.Hosts[0].Threads.Value != 96 || f.Hosts[0].Nodes.Value[0].Threads != 48 || !f.Hosts[0].CoreMHz.Known() {
			t.Errorf("%s: %+v", rows, f.Hosts[0])
		}
	}
	const list = `[{"Name":"a","NumCpu":8,"CpuHotAddEnabled":false,"VMHost":{"Name":"esx09.x","NumCpu":36}},{"Name":"b","NumCpu":8,"VMHost":{"Name":"esx09.x","NumCpu":36,"HyperthreadingActive":true}},{"Name":"c","NumCpu":1,"VMHost":"esx09.x"}]`
	const host = `{"Name":"esx09.x","NumCpu":36,"ConnectionState":0,"MemoryTotalGB":512,"Id":"HostSystem-host-9"}`
	for _, names := range [][2]string{{"a.json", "b.json"}, {"b.json", "a.json"}} {
		f, err := Read(tempFolder(t, map[string][]byte{names[0]: []byte(list), names[1]: []byte(host)}))
		if err != nil || len(f.Hosts) != 1 || f.Hosts[0].ID != "host-9" || f.Hosts[0].Threads.Value != 72 || f.Hosts[0].Connection.Value != "connected" || f.VMs[0].Host != "host-9" || f.VMs[2].Host != "host-9" || strings.Count(fmt.Sprint(f.Notes), "no column states the release") != 1 {
			t.Errorf("%v: %+v %v", names, f, err)
		}
	}
	f, _ := readText(t, "a.json", `[{"Name":"a","NumCpu":36,"CpuTotalMhz":1,"ProcessorType":"x","ConnectionState":1},{"Name":"b","NumCpu":36,"ProcessorType":"x","ConnectionState":2},{"Name":"c","NumCpu":36,"ProcessorType":"x","ConnectionState":3}]`)
	if f.Hosts[0].Connection.Value != "disconnected" || f.Hosts[1].Connection.Value != "notResponding" || !f.Hosts[2].Maintenance.Value {
		t.Errorf("%+v", f.Hosts)
	}
}

// TestOtherPlatforms: rows that a column says to be of another hypervisor are no VMs and no hosts, and are named.
func TestOtherPlatforms(t *testing.T) {
	for text, want := range map[string]string{
		"Name,NumCpu,VirtualizationPlatform\na,4,VMWareESX\nb,4,HyperV\n":  "a",
		"VM Name,Host,CPUs,Hypervisor\na,esx01,4,ESXi\nb,NTNX-A,4,AHV\n":   "a",
		"VM Name,CPUs,Hypervisor\na,4,xen01\nb,4,Nutanix AHV\n":            "a",
		"Host,CPU Sockets,CPU Cores,HostType\na,2,32,\nb,2,32,Hyper-V\n":   "a",
		"Host,CPU Sockets,CPU Cores,Hypervisor Type\na,2,32,VMware ESXi\n": "a",
	} {
		f, notes := readText(t, "a.csv", text)
		var names []string
		for _, v := range f.VMs {
			names = append(names, v.Name)
		}
		for _, h := range f.Hosts {
			names = append(names, h.Name)
		}
		if got := strings.Join(names, " "); got != want || strings.Contains(text, "\nb,") != strings.Contains(notes, "of another hypervisor than ESXi") {
			t.Errorf("%s: found %s, want %s; %s", text, got, want, notes)
		}
	}
}
