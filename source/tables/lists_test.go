package tables

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestHostsAmongVMs: the rows of hosts in lists of everything are no VMs.
func TestHostsAmongVMs(t *testing.T) {
	for text, want := range map[string]string{
		"Name,Type,Num vCPU,Memory GB,Host\ndb,VirtualMachine,16,128,esx1\nesx1,PhysicalMachine,32,512,\n":                             "db",
		"Type,Name,Parent,vCPU,Memory GB\nHostSystem,esx1,prod,32,512\nVirtualMachine,db,esx1,20,128\n":                                "db",
		"Name,vCPU,RAM GB,Type\nesx1,32,512,ESXi Host\ndb,8,64,VM\n":                                                                   "db",
		"Typ;Name;CPU;RAM GB;Host\nVM;db;20;128;ESX1.lab\nHost;esx1.lab;32;512;\nVM;web;4;8;esx1.lab\n":                                "db web",
		"Name,CPUs,RAM GB,Version\nesx1,32,512,8.0.3\nesx2,32,512,\"VMware ESXi, 7.0.3, 21930508\"\ndb,8,64,vmx-19\n":                  "db",
		"Name,CPUs,RAM GB,Version\nesx1,32,512,8.0.3\nesx2,32,512,VMware ESXi 6.7.0 build-17499825\ndb,8,64,19\n":                      "db",
		"Name,CPUs,RAM GB,Compatibility\ndb,8,64,ESXi 7.0 U2 and later (VM version 19)\nweb,8,64,ESXi 6.7 and later (VM version 14)\n": "db web",
		"Name,CPUs,RAM GB,OS,Version\ndb,8,64,RHEL,8.6\nmy,8,64,MySQL,8.0.36\nweb,8,64,Windows,10.0.17763\n":                           "db my web",
		"VM,CPUs,RAM GB,Host\nesx1,8,64,esx2\ndb,8,64,esx1\n":                                                                          "db esx1", // a nested host is a VM
		"VM,CPUs,RAM GB,Hypervisor,Type\ndb,8,64,ESXi,ESXi\n":                                                                          "db",
	} {
		f, notes := readText(t, "a.csv", text)
		var names []string
		for i := range f.VMs {
			names = append(names, f.VMs[i].Name)
		}
		if slices.Sort(names); strings.Join(names, " ") != want {
			t.Errorf("%s: found %v, notes %s", text, names, notes)
		}
		if rows := strings.Count(text, "\n") - 1; rows > len(names) && !strings.Contains(notes, "no VM: left out") {
			t.Errorf("%s: notes %s", text, notes)
		}
	}
	f := mustRead(t, tempFolder(t, map[string][]byte{"vms.csv": []byte("VM,vCPU,RAM GB,Host\ndb,8,64,esx1\n"), "hosts.csv": []byte("Name,vCPU,RAM GB\nesx1,32,512\n")}))
	if len(f.VMs) != 1 || !strings.Contains(fmt.Sprint(f.Notes), `the host of other rows, and no VM: left out (first: "esx1")`) {
		t.Errorf("found %+v, notes %v", f.VMs, f.Notes)
	}
}

// TestCoresBesideCPUs: a count of CPUs beside another of cores may be that of sockets.
func TestCoresBesideCPUs(t *testing.T) {
	for text, want := range map[string]int{
		"Name,vCPU,Cores,Memory GB\ndb,2,8,64\n":                             0,
		"Name,vCPU,Cores,Memory GB\ndb,8,8,64\n":                             8,
		"Name,vCPU,Cores,Memory GB\ndb,16,8,64\n":                            16, // cores per socket, or of the host
		"name,type,os,cpucount,cpucore,ram\ndb,virtual,SLES,8,2,64 GB\n":     0,
		"VM,CPU Count,Cores per socket,Cores,Memory GB\ndb,16,8,8,64\n":      16,
		"name,vcpus,memory MB,cpu_core_count\ndb,16,65536,8\n":               16,
		"VM,CPUs,Sockets,Cores,Memory GB\ndb,16,2,8,64\n":                    16,
		"VM,CPUs,Total CPU,Memory GB,Host\ndb,16,41600 MHz,64,esx1\n":        16,
		"VM,CPU Count,CPU Cores,Memory (MB),Version\ndb,2,32,524288,8.0U3\n": 0,
		"VM,CPU Cores,Memory GB,Host\ndb,16,64,esx1\n":                       16,
	} {
		f, notes := readText(t, "a.csv", text)
		v := &f.VMs[0]
		if doubtful := strings.Contains(notes, "contradict each other"); v.VCPUs.Value != want || doubtful != (v.Doubt != "") || want == 0 && !doubtful {
			t.Errorf("%s: found %+v, notes %s", text, v, notes)
		}
	}
	_, err := Read(tempFile(t, "a.csv", []byte("Name,CPU Count,CPU Cores,Memory (MB),Version\nesx1,2,32,524288,8.0.3\n")))
	if err == nil || !strings.Contains(err.Error(), "do not tell whether its rows are VMs or hosts") {
		t.Errorf("found %v", err)
	}
}

// TestGroupedHeader: a row of groups above the header tells what its words are about.
func TestGroupedHeader(t *testing.T) {
	for text, want := range map[string]string{
		"General,,CPU,,,Memory,,\nVM,Host,Count,Cores per Socket,Hot Add,Size GB,Reservation GB,Hot Add\ndb,esx1,24,12,Yes,384,0,No\nweb,esx1,4,1,No,16,0,Yes\n": "db 24 12 true 384.0 GB false web 4 1 false 16.0 GB true",
		"Sites\nGeneral;;CPU;Memory\nVM;Host;Count;GB\ndb;esx1;24;1.024,5\nweb;esx1;4;16,0\n":                                                                    "db 24 0 false 1024.5 GB false web 4 0 false 16.0 GB false",
		",,Recommended,,Current,\nVM,Host,vCPU,RAM GB,vCPU,RAM GB\ndb,esx1,12,64,24,384\nweb,esx1,2,8,4,16\n":                                                    "db 24 0 false 384.0 GB false web 4 0 false 16.0 GB false",
		"VM,,,Host,,\nName,vCPU,VM RAM GB,Name,Clock,RAM GB\ndb,24,384,esx1,3,512\nweb,4,16,esx1,3,512\n":                                                        "db 24 0 false 384.0 GB false web 4 0 false 16.0 GB false",
		"Host:,esx1\nName,vCPU,RAM GB\ndb,24,384\nweb,4,16\n":                                                                                                    "db 24 0 false 384.0 GB false web 4 0 false 16.0 GB false",
	} {
		f, notes := readText(t, "a.csv", text)
		var found []string
		for _, v := range f.VMs {
			found = append(found, fmt.Sprintf("%s %d %d %v %.1f GB %v", v.Name, v.VCPUs.Value, v.CoresPerSocket.Value, v.CPUHotAdd.Value, float64(v.Memory.Value)/(1<<30), v.MemoryHotAdd.Value))
		}
		if strings.Join(found, " ") != want {
			t.Errorf("%s: found %v, notes %s", text, found, notes)
		}
	}
}

// TestWordsInCells: emphasis of Markdown, nouns behind numbers, units and truths of other languages.
func TestWordsInCells(t *testing.T) {
	for text, want := range map[string]string{
		"| VM | vCPU | RAM | Host |\n|:---|---:|:---:|---|\n| **db** | 32 | 1 TB | `esx1` |\n| web | `4` | 8 GB | esx2 |\n": "db 32 1 TB false web 4 8 GB false",
		"VM,CPU,RAM,Host\ndb,16 vCPU,128 GB,esx1\nweb,2 CPUs,4096 MB,esx1\n":                                                "db 16 128 GB false web 2 4 GB false",
		"Nom;vCPU;Mémoire;CPU Hot Add\ndb;16;131 072 Mio;activé\nweb;2;4 Gio;désactivé\n":                                   "db 16 128 GB true web 2 4 GB false",
		"Name;vCPU;RAM GB;CPU Hot-Add\ndb;16;128;aktiviert\nweb;2;4;deaktiviert\n":                                          "db 16 128 GB true web 2 4 GB false",
		"Name;State;vCPU;RAM GB\ndb;Encendido;16;128\nweb;Hors tension;2;4\n":                                               "db 16 128 GB false web 2 4 GB false",
		"Name,Configured vCPU,Recommended vCPU,Configured Memory (GB),Recommended Memory (GB)\ndb,16,8,128,64\n":            "db 16 128 GB false",
	} {
		f, notes := readText(t, "a.csv", text)
		var found []string
		for _, v := range f.VMs {
			found = append(found, fmt.Sprintf("%s %d %s %v", v.Name, v.VCPUs.Value, v.Memory.Value, v.CPUHotAdd.Value))
		}
		if strings.Join(found, " ") != want || strings.Contains(notes, "want ") {
			t.Errorf("%s: found %v, notes %s", text, found, notes)
		}
	}
}

// TestRefusalsNameTheTable: a refusal is about the table, and not about its title or what is around it.
func TestRefusalsNameTheTable(t *testing.T) {
	for text, want := range map[string]string{
		"Report: All VMs\nGenerated 8:00\n\nMachine Title,Processors,Load\ndb,16,3\n":                                         "a table with 3 columns: Machine Title, Processors, Load",
		"VM,,vCPU,,RAM (GB),\nName,Host,Used,Allocated,Used,Allocated\ndb,esx1,3,16,60,128\n":                                 "6 columns: VM Name, VM Host, vCPU Used, vCPU Allocated, RAM (GB) Used, RAM (GB) Allocated; no column states vCPUs",
		",,2024,,2025,\nVM,Host,vCPU,GB,vCPU,GB\ndb,esx1,8,64,16,128\n":                                                       "6 columns: VM, Host, 2024 vCPU, 2024 GB, 2025 vCPU, 2025 GB; no column states vCPUs",
		"Server,Site,Size\na,b,b\nc,d,d\n":                                                                                    "3 columns: Server, Site, Size; no column",
		"Property,a,b\nNumCpu,8,2\nVMHost,esx1,esx1\n":                                                                        "3 columns: Property, a, b; no column",
		`{"changed": false, "virtual_machines": [{"guest_name": "db", "power_state": "poweredOn", "esxi_hostname": "esx1"}]}`: "JSON whose objects have 3 columns: esxi_hostname, guest_name, power_state; no column states vCPUs or memory of VMs",
		"ExternalId,HostName,VMware.VMName,CPU.NumberOfLogicalCores,RAM.TotalSizeInMB\ns-1,db,DB,32,262144\n":                 "servers in the form of AWS Application Discovery Service",
	} {
		name := "a.csv"
		if text[0] == '{' {
			name = "a.json"
		}
		if _, err := Read(tempFile(t, name, []byte(text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %s", text, err, want)
		}
	}
}

// TestSubtotals: a row that begins like a total and has no host, below VMs that have, is none, also where the vCPUs of one of them are unknown.
func TestSubtotals(t *testing.T) {
	for text, want := range map[string]int{
		"VM,Host,CPU,RAM\ndb,esx1,16 (2x8),128 GB\nweb,esx1,2,4 GB\nSubtotal esx1,,18 vCPU,132 GB\napp,esx2,4,8 GB\n": 3,
		"VM,Host,CPU,RAM\ndb,esx1,16,128 GB\nTotal-Backup,esx1,18,132 GB\n":                                           2,
		"VM,vCPU,RAM GB\ndb,8,64\nweb,4,32\n\nTotal VMs,2,\nTotal vCPU,12,\nTotal RAM,96,\n":                          2,
		"VM,CPU,RAM\ndb,16,128 GB\nTotal-Backup,18,132 GB\n":                                                          2,
	} {
		if f, notes := readText(t, "a.csv", text); len(f.VMs) != want {
			t.Errorf("%s: found %d VMs, notes %s", text, len(f.VMs), notes)
		}
	}
}

// TestThreadsTellCores: a core of x86 has at most two threads: fewer cores than half of the threads are those of a package.
func TestThreadsTellCores(t *testing.T) {
	for text, want := range map[string]string{
		"Host,Sockets,Cores,Threads,Memory (GB),ESXi version\nesx1,2,24,96,512,8.0.2\n":                   "48 cores in 2 nodes",
		"Host,Sockets,Cores,Threads,Memory (GB),ESXi version\nesx1,2,48,96,512,8.0.2\n":                   "48 cores in 2 nodes",
		"Host,Sockets,Cores,Threads,Memory (GB),ESXi version\nesx1,2,24,24,512,8.0.2\n":                   "24 cores in 2 nodes",
		"Host,Sockets,Cores,Threads,Memory (GB),ESXi version\nesx1,2,24,48,512,8.0.2\n":                   "24 cores in 2 nodes",
		"Host,Sockets,Cores per socket,Cores,Threads,Memory (GB),ESXi version\nesx1,2,24,48,96,512,8.0\n": "48 cores in 2 nodes",
		"Host,Sockets,Threads,Memory (GB),ESXi version\nesx1,2,96,512,8.0.2\n":                            "0 cores in 0 nodes",
	} {
		f, notes := readText(t, "a.csv", text)
		if h := &f.Hosts[0]; fmt.Sprintf("%d cores in %d nodes", h.Cores.Value, len(h.Nodes.Value)) != want || len(h.Nodes.Value) > 0 && h.Nodes.Value[0].Cores != h.Cores.Value/2 {
			t.Errorf("%s: found %+v, notes %s", text, h, notes)
		}
	}
}

// TestSpellings: a VM that two tables spell differently may count twice, and a note says so.
func TestSpellings(t *testing.T) {
	for name, noted := range map[string]bool{"DB": true, "db.corp.local": true, "db": false, "db2": false, "10.0.0.5": false} {
		f := mustRead(t, tempFolder(t, map[string][]byte{"a.csv": []byte("VM,vCPU,RAM GB,Host\ndb,8,64,esx1\n10.1.0.5,8,64,esx1\n"), "b.csv": []byte("Name,NumCpu,MemoryGB,VMHost\n" + name + ",8,64,esx1\n")}))
		if found := strings.Contains(fmt.Sprint(f.Notes), "in another spelling"); found != noted {
			t.Errorf("%s: notes %v", name, f.Notes)
		}
	}
}
