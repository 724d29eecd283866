package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// merged are RVTools files of two vCenters in one, without the columns that name them: references stand for two objects each. Two rows
// of the VM a are of one; its reference and those of the hosts are also in the other vCenter.
var merged = map[string][]byte{
	"RVTools_tabvHost.csv": []byte("Host,Datacenter,Cluster,# CPU,# Cores,# Memory,ESX Version,Object ID\n" +
		"esx01.corp.example,D,PROD,2,32,524288,VMware ESXi 7.0.3 build-21424296,host-10\n" +
		"esx01,D,PROD,2,32,524288,VMware ESXi 7.0.3 build-21424296,host-10\n" +
		"esx01.fra.example,F,FRA,2,40,524288,VMware ESXi 7.0.3 build-21424296,host-10\n"),
	"RVTools_tabvInfo.csv": []byte("VM,Powerstate,Template,CPUs,Memory,HW version,Host,Cluster,VM ID,VM UUID\n" +
		"a,poweredOn,False,8,8192,19,esx01.corp.example,PROD,vm-1,UUID-A\n" +
		"a,poweredOn,False,8,8192,19,esx02.corp.example,PROD,vm-1,uuid-a\n" +
		"b,poweredOn,False,40,8192,19,esx01.fra.example,FRA,vm-1,UUID-B\n"),
	"RVTools_tabvCPU.csv": []byte("VM,CPUs,Cores p/s,Hot Add,VM ID,VM UUID\na,8,4,False,vm-1,UUID-A\nb,40,20,True,vm-1,UUID-B\n"),
}

// TestMergedVCenters: rows with the reference of another VM or host are no repeats of it when their UUIDs, or without these their names
// or hosts, are others.
func TestMergedVCenters(t *testing.T) {
	without := maps.Clone(merged) // UUIDs
	for name, b := range without {
		without[name] = []byte(strings.NewReplacer(",VM UUID", "", ",UUID-A", "", ",uuid-a", "", ",UUID-B", "", "esx02.corp", "esx01.corp").Replace(string(b)))
	}
	for name, files := range map[string]map[string][]byte{"with UUIDs": merged, "without": without} {
		f, err := Read(tempFolder(t, files))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range f.Hosts {
			got = append(got, fmt.Sprint(h.Name, " ", h.Cluster, " ", h.Cores.Value))
		}
		for _, v := range f.VMs {
			host := f.Hosts[slices.IndexFunc(f.Hosts, func(h numa.Host) bool { return h.ID == v.Host })]
			got = append(got, fmt.Sprint(v.Name, " on ", host.Name, " ", v.VCPUs.Value, " ", v.CPUHotAdd.Value))
		}
		if want := []string{"esx01 D/PROD 32", "esx01.fra.example F/FRA 40", "a on esx01 8 false", "b on esx01.fra.example 40 true"}; !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", name, got, want)
		}
		for _, want := range []string{"1 VM has the VM ID of another VM", "1 host has the Object ID of another host", "1 row repeats a VM"} {
			if notes := fmt.Sprint(f.Notes); !strings.Contains(notes, want) {
				t.Errorf("%s: found no %q in %s", name, want, notes)
			}
		}
	}
}

// TestMergedFiles: of files of two vCenters, a VM of one does not take the facts of one of the other that has its reference.
func TestMergedFiles(t *testing.T) {
	f, err := Read(tempFolder(t, map[string][]byte{
		"a.csv": []byte("Name,Id,NumCpu,MemoryGB\nweb,VirtualMachine-vm-1,4,8\n"),
		"b.csv": []byte("Name,Id,NumCpu,MemoryGB,CoresPerSocket\nhana,VirtualMachine-vm-1,40,8,20\n"),
		"c.csv": []byte("Name,Id,CoresPerSocket\nweb,VirtualMachine-vm-1,2\n"),
	}))
	if err != nil || len(f.VMs) != 2 {
		t.Fatalf("%+v, %v", f, err)
	}
	if web, hana := f.VMs[0], f.VMs[1]; web.VCPUs.Value != 4 || web.CoresPerSocket.Value != 2 || hana.VCPUs.Value != 40 || web.ID == hana.ID {
		t.Errorf("found %+v and %+v", web, hana)
	}
}

// TestManagedObjects: what a PropertyCollector returns is told by the types of its objects, in whatever list they stand.
func TestManagedObjects(t *testing.T) {
	const host = `{"obj":{"type":"HostSystem","value":"host-1"},"propSet":[{"name":"name","val":{"_typeName":"string","_value":"esx01"}},{"name":"summary","val":{"hardware":{"uuid":"4c4c","numCpuPkgs":2,"numCpuCores":32,"memorySize":549755813888}}}]}`
	const vm = `{"obj":{"type":"VirtualMachine","value":"vm-1"},"propSet":[{"name":"name","val":"db"},{"name":"config","val":{"hardware":{"numCPU":8,"memoryMB":4096}}},{"name":"runtime","val":{"host":{"type":"HostSystem","value":"host-1"},"powerState":"poweredOn"}}]}`
	const folder = `{"obj":{"type":"Folder","value":"group-v3"},"propSet":[{"name":"name","val":"vm"}]}`
	for name, files := range map[string]map[string][]byte{
		"lists":         {"h.json": []byte("[" + host + "]"), "v.json": []byte("[" + vm + "]")},
		"REST":          {"h.json": []byte(`{"objects":[` + host + "]}"), "v.json": []byte(`{"objects":[` + vm + "]}")},
		"all in one":    {"a.json": []byte(`{"objects":[` + vm + "," + folder + "," + host + "]}")},
		"documents":     {"a.json": []byte(vm + host)},
		"capital names": {"a.json": []byte(strings.NewReplacer(`"obj"`, `"Obj"`, `"type"`, `"Type"`, `"value"`, `"Value"`, `"propSet"`, `"PropSet"`, `"name":`, `"Name":`, `"val"`, `"Val"`).Replace("[" + vm + "," + host + "]"))},
	} {
		f, err := Read(tempFolder(t, files))
		if err != nil || len(f.Hosts) != 1 || len(f.VMs) != 1 {
			t.Errorf("%s: %+v, %v", name, f, err)
			continue
		}
		if h, v := f.Hosts[0], f.VMs[0]; h.ID != "host-1" || h.Name != "esx01" || h.Cores.Value != 32 || v.Host != h.ID || v.Power.Value != numa.PoweredOn || v.VCPUs.Value != 8 || v.ID != "vm-1" {
			t.Errorf("%s: found %+v and %+v", name, h, v)
		}
	}
}

// TestHostOfCluster: of hosts of one name, a VM that names its cluster is on the one there.
func TestHostOfCluster(t *testing.T) {
	f, err := Read(tempFolder(t, map[string][]byte{
		"h.csv": []byte("Name,Id,Cluster,CPU Sockets,CPU Cores\nesx01,host-1,PROD,2,32\nesx01,host-2,OLD,2,16\n"),
		"v.csv": []byte("Name,NumCpu,VMHost,Cluster\na,4,esx01,OLD\nb,4,esx01,\nc,4,esx01,TEST\n"),
	}))
	if err != nil || f.VMs[0].Host != "host-2" || f.VMs[1].Host != "" || f.VMs[2].Host != "" || !strings.Contains(fmt.Sprint(f.Notes), "2 VMs name a host by a name that several hosts have") {
		t.Errorf("found %+v, %v", f, err)
	}
}

// TestClustersOfVCenters: clusters of one name in two vCenters of a file have those before their names.
func TestClustersOfVCenters(t *testing.T) {
	f, err := Read(tempFolder(t, map[string][]byte{"RVTools_tabvInfo.csv": []byte("VM,CPUs,Memory,Datacenter,Cluster,VM ID,VI SDK Server,VI SDK UUID\n" +
		"a,4,1024,D,PROD,vm-1,vc01.corp.example,uuid-1\nb,4,1024,D,prod,vm-1,vc02.corp.example,uuid-2\nc,4,1024,D,TEST,vm-2,vc02.corp.example,uuid-2\nd,4,1024,E,TEST,vm-3,vc02.corp.example,uuid-2\n")}))
	if err != nil || len(f.Clusters) != 4 {
		t.Fatalf("%+v, %v", f, err)
	}
	for i, want := range []string{"vc01.corp.example/PROD", "vc02.corp.example/prod", "TEST", "TEST"} {
		if got := f.Clusters[i].Name; got != want {
			t.Errorf("found %s, want %s", got, want)
		}
	}
}

// TestNotesOnce: what each object of a file lacks is noted once, and the keys of whole objects of the API are not named, in any case.
func TestNotesOnce(t *testing.T) {
	const vm = `{"Name":"a","Self":{"Type":"VirtualMachine","Value":"vm-%d"},"Config":{"Hardware":{"NumCPU":4,"MemoryMB":4096},"Odd":1}}`
	_, notes := readText(t, "a.json", fmt.Sprintf(vm+"\n"+vm, 1, 2))
	if n := strings.Count(notes, "unknown for all"); n != 1 || strings.Contains(notes, "not understood") {
		t.Errorf("found %d notes about what is unknown: %s", n, notes)
	}
}

// TestVCenterColumns: a sheet that lacks the UUID of the vCenter, or its address, is of the same vCenter as the others.
func TestVCenterColumns(t *testing.T) {
	sheets := map[string]string{
		"RVTools_tabvInfo.csv": "VM,Powerstate,Template,CPUs,Memory,HW version,Host,Cluster,VM ID,VI SDK Server,VI SDK UUID\na,poweredOn,False,8,8192,19,esx01,PROD,vm-1,vc01.example,U-1\n",
		"RVTools_tabvHost.csv": "Host,Cluster,# CPU,# Cores,# Memory,ESX Version,Object ID,VI SDK Server,VI SDK UUID\nesx01,PROD,2,32,524288,VMware ESXi 7.0.3 build-21424296,host-1,vc01.example,U-1\n",
		"RVTools_tabvCPU.csv":  "VM,CPUs,Cores p/s,Hot Add,VM ID,VI SDK Server,VI SDK UUID\na,8,4,True,vm-1,vc01.example,U-1\n",
	}
	for lacking := range sheets {
		for _, column := range []string{"VI SDK Server", "VI SDK UUID"} {
			files := map[string][]byte{}
			for name, text := range sheets {
				if name == lacking {
					text = strings.NewReplacer(","+column, "", map[string]string{"VI SDK Server": ",vc01.example", "VI SDK UUID": ",U-1"}[column], "").Replace(text)
				}
				files[name] = []byte(text)
			}
			f, err := Read(tempFolder(t, files))
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Clusters) != 1 || len(f.VMs) != 1 || len(f.Hosts) != 1 || f.VMs[0].Host != f.Hosts[0].ID || !f.VMs[0].CPUHotAdd.Or(false) {
				t.Errorf("%s without %s: %d clusters, VMs %+v", lacking, column, len(f.Clusters), f.VMs)
			}
		}
	}
}

// TestHostWithoutRow: a host that has no row is one of its cluster all the same if VMs name it, so that nobody takes the others for all hosts of the cluster. Without any
// row of a host of the cluster its VMs have no host.
func TestHostWithoutRow(t *testing.T) {
	f := mustRead(t, tempFolder(t, map[string][]byte{
		"RVTools_tabvHost.csv": []byte("Host,Datacenter,Cluster,# CPU,# Cores,# Memory,ESX Version,Object ID\nesx01,D,PROD,2,32,524288,VMware ESXi 7.0.3 build-21424296,host-10\n"),
		"RVTools_tabvInfo.csv": []byte("VM,Powerstate,Template,CPUs,Memory,HW version,Host,Cluster,VM ID\na,poweredOn,False,8,8192,19,esx01,PROD,vm-1\n" +
			"b,poweredOn,False,8,8192,19,esx02,PROD,vm-2\nc,poweredOn,False,8,8192,19,esx02,PROD,vm-3\nd,poweredOn,False,8,8192,19,esx03,TEST,vm-4\ne,poweredOn,False,8,8192,19,esx04,,vm-5\n"),
	}))
	var got []string
	for _, h := range f.Hosts {
		got = append(got, fmt.Sprintf("%s in %s, %d packages", h.Name, h.Cluster, h.Packages.Value))
	}
	for _, v := range f.VMs {
		got = append(got, v.Name+" on "+v.Host)
	}
	want := []string{"esx01 in D/PROD, 2 packages", "esx02 in D/PROD, 0 packages", "a on host-10", "b on esx02", "c on esx02", "d on ", "e on "}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
