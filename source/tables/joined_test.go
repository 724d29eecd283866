package tables

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// TestJoinedTables: tables that describe the same VMs state them together, whatever they are called and whatever holds them.
func TestJoinedTables(t *testing.T) {
	list := [][]string{{"VM", "vCPUs", "Memory GB", "Host", "Cluster"}, {"db", "24", "96", "esx1", "C"}, {"web", "4", "8", "esx1", "C"}}
	generic := [][]string{{"VM Name", "Cores per Socket", "CPU Hot Add Enabled"}, {"web", "2", "False"}, {"db", "12", "True"}}
	rvtools := [][]string{{"VM", "CPUs", "Sockets", "Cores p/s", "Hot Add", "Reservation"}, {"db", "24", "2", "12", "True", "5000"}, {"web", "4", "2", "2", "False", "0"}}
	sockets := [][]string{{"VM", "Sockets", "CPU Hot Add"}, {"db", "2", "True"}, {"web", "2", "False"}}
	memory := [][]string{{"VM", "Memory MB", "Hot Add"}, {"db", "98304", "True"}, {"web", "8192", "False"}}
	parts := [][]string{{"VM", "Host", "HW version", "Guest OS"}, {"db", "esx1", "19", "Linux"}, {"old", "esx1", "19", "Linux"}}
	bare := [][]string{{"VM", "vCPUs", "Memory GB"}, {"db", "24", "96"}, {"web", "4", "8"}}
	for name, s := range map[string]testSheets{
		"a name of RVTools":     {"vmList": list, "vCPU": generic},
		"a sheet of RVTools":    {"vmList": list, "vCPU": rvtools, "vMemory": memory},
		"its name comes first":  {"zz": list, "vCPU": rvtools},
		"names of their own":    {"Summary": list, "CPU": generic},
		"sockets":               {"a": list, "b": sockets, "c": memory},
		"the other way round":   {"b": list, "a": sockets, "c": memory},
		"a table without sizes": {"1": bare, "2": generic, "3": parts},
	} {
		files := map[string][]byte{}
		for name, b := range s.csvs(",") {
			files[strings.TrimPrefix(name, "RVTools_tab")] = b
		}
		for form, path := range map[string]string{"workbook": tempFile(t, "a.xlsx", s.xlsx(t)), "CSV": tempFolder(t, files)} {
			f := mustRead(t, path)
			notes := fmt.Sprint(f.Notes)
			if len(f.VMs) != 2 {
				t.Errorf("%s, %s: found %d VMs, notes %s", name, form, len(f.VMs), notes)
				continue
			}
			for _, v := range f.VMs {
				vcpus, cores, memory := 24, 12, 96*numa.GiB
				if v.Name == "web" {
					vcpus, cores, memory = 4, 2, 8*numa.GiB
				}
				if v.VCPUs.Value != vcpus || v.CoresPerSocket.Value != cores || v.Memory.Value != memory || !v.CPUHotAdd.Known() || v.CPUHotAdd.Value != (v.Name == "db") {
					t.Errorf("%s, %s: found %s %+v", name, form, v.Name, v.Config)
				}
				if s["c"] != nil && v.MemoryHotAdd.Value != (v.Name == "db") {
					t.Errorf("%s, %s: memory hot add of %s %+v", name, form, v.Name, v.MemoryHotAdd)
				}
			}
			if s["3"] != nil && f.VMs[0].Hardware.Value != 19 {
				t.Errorf("%s, %s: found %+v, notes %s", name, form, f.VMs[0].Config, notes)
			}
			if i := strings.Index(notes, "no column states"); i >= 0 && strings.Contains(notes[i:], ", CPU hot add") {
				t.Errorf("%s, %s: notes %s", name, form, notes)
			}
		}
	}
	f, _ := readText(t, "a.json", `{"list": [{"name": "db", "vcpus": 24, "memory_mb": 98304}], "cpu": [{"name": "db", "cores_per_socket": 12, "cpu_hot_add_enabled": true}]}`)
	if v := f.VMs[0]; len(f.VMs) != 1 || v.CoresPerSocket.Value != 12 || !v.CPUHotAdd.Value {
		t.Errorf("JSON: found %+v", f.VMs)
	}
}

// TestJoinedByKey: where both tables have a reference or a UUID it tells which VM of a name is meant.
func TestJoinedByKey(t *testing.T) {
	for _, key := range []string{"VM ID", "VM UUID"} {
		s := testSheets{"list": {{"VM", key, "vCPUs", "Host"}, {"db", "k1", "24", "esx1"}, {"db", "k2", "4", "esx2"}},
			"CPU": {{"VM", key, "Cores per Socket"}, {"db", "k2", "2"}, {"db", "k1", "12"}}}
		f := mustRead(t, tempFile(t, "a.xlsx", s.xlsx(t)))
		if len(f.VMs) != 2 || f.VMs[0].CoresPerSocket.Value != f.VMs[0].VCPUs.Value/2 || f.VMs[1].CoresPerSocket.Value != f.VMs[1].VCPUs.Value/2 {
			t.Errorf("%s: found %+v", key, f.VMs)
		}
	}
}

// TestJoinedDiffer: what two tables state differently is unknown and named, except for rounded memory.
func TestJoinedDiffer(t *testing.T) {
	s := testSheets{"Summary": {{"VM", "vCPUs", "Memory GB", "CPU Hot Add"}, {"db", "24", "95.9", "False"}}, "vCPU": {{"VM", "vCPUs", "Memory MB", "CPU Hot Add"}, {"db", "16", "98304", "True"}}}
	f := mustRead(t, tempFile(t, "a.xlsx", s.xlsx(t)))
	notes := fmt.Sprint(f.Notes)
	if v := f.VMs[0]; len(f.VMs) != 1 || v.VCPUs.Known() || v.CPUHotAdd.Known() || !v.Memory.Known() {
		t.Errorf("found %+v", f.VMs)
	}
	for _, want := range []string{`vCPUs of 1 VM differs between its rows: unknown (first: "db", 24 by Summary row 2 "vCPUs" and 16 by vCPU row 2 "vCPUs")`,
		`CPU hot add of 1 VM differs between its rows: unknown (first: "db", false by Summary row 2 "CPU Hot Add" and true by vCPU row 2 "CPU Hot Add")`} {
		if !strings.Contains(notes, want) {
			t.Errorf("found no %s in %s", want, notes)
		}
	}
}

// TestHeadersWithBars: a | in headers separates nothing where another character separates more columns of a kind.
func TestHeadersWithBars(t *testing.T) {
	header := []string{"Name", "Summary|Parent Host", "Summary|Parent Cluster", "CPU|Number of CPUs (vCPUs)", "Configuration|Hardware|Number of Cores per Socket", "Memory|Total Capacity (GB)", "Tools|Version"}
	for _, comma := range []string{",", "\t", ";"} {
		f, _ := readText(t, "a.csv", strings.Join(header, comma)+"\n"+strings.Join([]string{"db", "esx1", "C1", "24", "12", "96", "12345"}, comma)+"\n")
		v := f.VMs[0]
		if v.VCPUs.Value != 24 || v.CoresPerSocket.Value != 12 || v.Memory.Value != 96*numa.GiB || v.Cluster == "" || v.Hardware.Known() {
			t.Errorf("%q: found %+v", comma, v)
		}
	}
}

// TestMeanOfCluster: a row with means that names its cluster is no VM; one that states a host or a power state is.
func TestMeanOfCluster(t *testing.T) {
	for text, want := range map[string]int{
		"VM,vCPUs,Memory GB,Cluster\ndb,8,64,prod\nweb,4,16,prod\nAverage,6,40,prod\n":                                           2,
		"VM,vCPUs,Memory GB,Cluster,Host\ndb,8,64,prod,esx1\nweb,4,16,prod,esx1\naverage,6,40,prod,esx1\n":                       3,
		"VM,vCPUs,Memory GB,Cluster,Powerstate\ndb,8,64,prod,on\nweb,4,16,prod,on\naverage,6,40,prod,on\n":                       3,
		"VM,vCPUs,Memory GB,Datacenter,Cluster\ndb,8,64,dc,prod\nweb,4,16,dc,prod\nAverage,6,40,dc,prod\nGesamt,12,80,dc,prod\n": 2,
	} {
		if f, _ := readText(t, "a.csv", text); len(f.VMs) != want {
			t.Errorf("%s: found %d VMs", text, len(f.VMs))
		}
	}
}

// TestMegabytes: the memory of ServiceNow and NetBox is in MB without a unit; that of others is unknown without one.
func TestMegabytes(t *testing.T) {
	for text, want := range map[string]numa.Bytes{
		`{"result": [{"name": "db", "cpus": "8", "memory": "65536", "sys_class_name": "cmdb_ci_vmware_instance", "sys_id": "a1", "state": "on"}]}`:                                                              64 * numa.GiB,
		`{"count": 1, "results": [{"id": 1, "name": "db", "status": {"value": "active", "label": "Active"}, "cluster": {"id": 1, "name": "C1"}, "vcpus": 8.0, "memory": 65536, "last_updated": "2026-01-01"}]}`: 64 * numa.GiB,
		`[{"name": "db", "vcpus": 8, "memory": 65536}]`: 0,
	} {
		f, notes := readText(t, "a.json", text)
		if v := f.VMs[0]; len(f.VMs) != 1 || v.Memory.Value != want || v.VCPUs.Value != 8 || strings.Contains(notes, "is in megabytes (checked 2026-11-29; ") != (want > 0) {
			t.Errorf("%s: found %+v, notes %v", text, v, f.Notes)
		}
	}
}

// TestNestedHosts: hosts inside VMs are those of a table of hosts beside them, with and without domain; two clusters have two hosts.
func TestNestedHosts(t *testing.T) {
	vms := `[{"Name":"db","NumCpu":8,"MemoryGB":64,"VMHost":{"Name":"esx1.lab","NumCpu":36,"Parent":"C1"}},{"Name":"web","NumCpu":4,"MemoryGB":16,"VMHost":{"Name":"esx1.lab","NumCpu":36,"Parent":"C1"}}]`
	for cluster, want := range map[string]int{"C1": 1, "C2": 2} {
		f := mustRead(t, tempFolder(t, map[string][]byte{"vms.json": []byte(vms), "hosts.csv": []byte("Host,Cluster,CPU Sockets,Cores,Memory GB,Version\nesx1," + cluster + ",2,36,768,7.0.3\n")}))
		if len(f.Hosts) != want || len(f.VMs) != 2 || want == 1 && (f.Hosts[0].Packages.Value != 2 || f.VMs[1].Host != f.Hosts[0].ID) {
			t.Errorf("%s: found %+v and %+v", cluster, f.Hosts, f.VMs)
		}
	}
}

// TestUnitsInOneColumn: a proved decimal point tells what the other separator is, also beside numbers without separators.
func TestUnitsInOneColumn(t *testing.T) {
	f, _ := readText(t, "a.csv", "VM,vCPUs,Memory\ndb,8,1.5 TB\nweb,4,\"16,384 MB\"\napp,4,16384 MB\n")
	if f.VMs[0].Memory.Value != 1536*numa.GiB || f.VMs[1].Memory.Value != 16*numa.GiB || f.VMs[2].Memory.Value != 16*numa.GiB {
		t.Errorf("found %+v, notes %v", f.VMs, f.Notes)
	}
}
