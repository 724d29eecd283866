package tables

import (
	"fmt"
	"strings"
	"testing"
)

// sizes are the VMs of a table, one a word: name, vCPUs and memory, and T for a template.
func sizes(t *testing.T, name, content string) (got, notes string) {
	t.Helper()
	f, notes := readText(t, name, content)
	var all []string
	for i := range f.VMs {
		v, mark := &f.VMs[i], ""
		if v.Template.Value {
			mark = "/T"
		}
		all = append(all, fmt.Sprintf("%s/%d/%s%s", v.Name, v.VCPUs.Value, strings.ReplaceAll(v.Memory.Value.String(), " ", ""), mark))
	}
	return strings.Join(all, " "), notes
}

// TestTotals: the total of a table is no VM, wherever its label stands, and neither is a number of VMs.
func TestTotals(t *testing.T) {
	for _, rows := range []string{
		"Owner,VM,vCPU,Memory GB,Host\nbob,db,16,128,esx1\namy,web,4,16,esx1\nGesamt,2,20,144,\n",
		"Cluster,VM,vCPU,Memory GB\nC,db,16,128\nC,web,4,16\nTotal,2,20,144\n",
		"No;VM;vCPU;RAM;Rack\n1;db;16;128 GB;a\n2;web;4;16 GB;b\nSumme;2;;144 GB;\n",
		"VM,vCPU,Memory GB,Host\ndb,16,128,esx1\nweb,4,16,esx1\n2,20,144,\n",
		"VM,vCPU,Memory GB,Host\ndb,16,128,esx1\nweb,4,16,esx1\nVMs: 2,20,144,\n",
		"VM,vCPU,Memory GB,Host\ndb,16,128,esx1\nweb,4,16,esx1\n2 VMs,20,144,\n",
		"VM,vCPU,Memory GB\ndb,16,128\nweb,4,16\nSubtotal LAN,4,16\n",
	} {
		got, notes := sizes(t, "a.csv", rows)
		if got != "db/16/128GB web/4/16GB" || !strings.Contains(notes, "1 row is a total or a remark") {
			t.Errorf("%s\nfound %s, notes %s", rows, got, notes)
		}
	}
	for _, names := range []string{"101 102 103", "0 1 2"} {
		n := strings.Fields(names)
		got, notes := sizes(t, "a.csv", fmt.Sprintf("Owner,VM,vCPU,Memory GB,Host\nbob,%s,4,8,esx1\namy,%s,4,8,esx1\namy,%s,8,8,esx1\n", n[0], n[1], n[2]))
		if want := fmt.Sprintf("%s/4/8GB %s/4/8GB %s/8/8GB", n[0], n[1], n[2]); got != want {
			t.Errorf("VMs named by numbers: found %s, want %s, notes %s", got, want, notes)
		}
	}
}

// TestFractions: three digits behind a point are no thousands where a fraction of GB may be meant, and no fraction of a MB.
func TestFractions(t *testing.T) {
	for rows, want := range map[string]string{
		"VM,vCPU,Memory GB\na,2,4.096\n":                                                   "a/2/0B",
		"VM,vCPU,Memory\na,2,1.465 GB\nb,2,8 GB\n":                                         "a/2/0B b/2/8GB",
		"VM,vCPU,Memory GB\na,2,1.465\nb,2,16.5\n":                                         "a/2/1.5GB b/2/16.5GB",
		"VM,vCPU,Memory GB\na,64,\"1,536\"\n":                                              "a/64/1536GB",
		"VM,vCPU,Memory\na,4,\"16,384 MB\"\nb,2,8192MiB\nc,16,\"128 GB\"\n":                "a/4/16GB b/2/8GB c/16/128GB",
		"VM;vCPU;Memory\na;4;16.384 MB\nb;2;8192 MB\nc;64;1.536 GB\n":                      "a/4/16GB b/2/8GB c/64/1536GB",
		"VM,vCPU,Memory GB\na,2,16.125\nb,2,8\n":                                           "a/2/16.1GB b/2/8GB",
		`[{"Name":"a","NumCpu":2,"MemoryGB":1.465},{"Name":"b","NumCpu":2,"MemoryGB":16}]`: "a/2/1.5GB b/2/16GB",
	} {
		name := "a.csv"
		if rows[0] == '[' {
			name = "a.json"
		}
		if got, notes := sizes(t, name, rows); got != want || strings.Contains(want, "0B") != strings.Contains(notes, "neither its column nor the file tells which") {
			t.Errorf("%s\nfound %s, want %s, notes %s", rows, got, want, notes)
		}
	}
}

// TestUnits: an amount that no VM with so many vCPUs has is in another unit than its header.
func TestUnits(t *testing.T) {
	for rows, want := range map[string]string{
		"VM,vCPU,Memory GB\na,2,4096\nb,16,32768\n":           "a/2/0B b/16/0B",
		"VM,vCPU,Memory MB\na,16,128\nb,4,16\n":               "a/16/0B b/4/0B",
		"VM,vCPU,Memory\na,4,16384 GB\nb,4,16384 KB\n":        "a/4/0B b/4/0B",
		"VM,vCPU,Memory GB\na,448,12288\nb,8,1024\nc,1,0.1\n": "a/448/12TB b/8/1TB c/1/102MB",
	} {
		if got, notes := sizes(t, "a.csv", rows); got != want || strings.Contains(want, "0B") != strings.Contains(notes, "the unit may be another one") {
			t.Errorf("%s\nfound %s, want %s, notes %s", rows, got, want, notes)
		}
	}
}

// TestKinds: what a table calls a template is one, and what it calls a machine of another kind, or a host, is no VM.
func TestKinds(t *testing.T) {
	for rows, want := range map[string]string{
		"Name,Type,CPUs,Memory GB\na,Virtual Machine,2,8\nb,Template,2,8\n":                                                                                         "a/2/8GB b/2/8GB/T",
		"VM,Kind,CPUs,Memory GB\na,VirtualMachine,2,8\nb,VirtualMachineTemplate,2,8\n":                                                                              "a/2/8GB b/2/8GB/T",
		"VM;VM Type;vCPU;Memory GB\na;VM;2;8\nb;VM-Vorlage;2;8\n":                                                                                                   "a/2/8GB b/2/8GB/T",
		"Object Type,Name,CPU,Memory GB\nCluster,CL,480,6144\nHost,esx1,48,768\nResource Pool,r,8,64\nVirtual Machine,a,2,8\n":                                      "a/2/8GB",
		"VM;Vorlage;vCPU;Memory GB\na;Nein;2;8\nb;Ja;2;8\n":                                                                                                         "a/2/8GB b/2/8GB/T",
		"name,cpus,memory,sys_class_name\na,2,8192,VMware Virtual Machine Instance\nb,2,8192,Hyper-V Virtual Machine Instance\nc,2,8192,cmdb_ci_hyper_v_instance\n": "a/2/8GB",
		"VM,CPU Cores,Memory Size,VM Host,Physical/Virtual\na,2,8 GB,x,Virtual\nb,2,8 GB,,Physical\n":                                                               "a/2/8GB",
		"Server,OS,vCPU,RAM GB,Host\nesx1,VMware ESXi 7.0.3,48,768,\nesx2,VMware ESXi,48,768,\na,RHEL,2,8,esx1\nb,VMware ESXi 8.0,2,8,esx1\n":                       "a/2/8GB b/2/8GB",
		"Hostname,IP,vCPU,Memory GB,ESXi Host\na,10.0.0.1,2,8,esx1\n":                                                                                               "a/2/8GB",
	} {
		if got, notes := sizes(t, "a.csv", rows); got != want {
			t.Errorf("%s\nfound %s, want %s, notes %s", rows, got, want, notes)
		}
	}
}

// TestProcessors: the number of processors before their model is that of packages, and a column with another one is in doubt.
func TestProcessors(t *testing.T) {
	for row, want := range map[string]int{
		"Name,CPU Model,# Cores,Memory GB,Version\nesx1,2x Gold 6248R,48,768,7.0.3\n":                           2,
		"Name,CPU Model,# Cores,Memory GB,Version\nesx1,2 x Intel(R) Xeon(R) Gold 6248R,48,768,7.0.3\n":         2,
		"Name,CPU Model,# CPU,Cores per CPU,Memory GB,Version\nesx1,2x Gold 6248R,2,24,768,7.0.3\n":             2,
		"Name,CPU Model,# CPU,Cores per CPU,Memory GB,Version\nesx1,2x Gold 6248R,1,48,768,7.0.3\n":             0,
		"Name,CPU Model,# Cores,Memory GB,Version\nesx1,Intel(R) Xeon(R) Gold 6248R CPU @ 3.00GHz,48,768,7.0\n": 0,
	} {
		f, notes := readText(t, "a.csv", row)
		if h := f.Hosts[0]; h.Packages.Value != want || len(h.Nodes.Value) != want || strings.Contains(notes, "contradict") != strings.Contains(row, "1,48") {
			t.Errorf("%s\nfound %+v in %d nodes, notes %s", row, h.Packages, len(h.Nodes.Value), notes)
		}
	}
}

// TestBelow: the header of another table below the first one ends it, and its rows are no VMs.
func TestBelow(t *testing.T) {
	for _, rows := range []string{
		"| Name | CPU | RAM |\n|---|---|---|\n| a | 2 | 8 GB |\n\n## Hosts\n\n| Host | CPU | RAM |\n|---|---|---|\n| esx1 | 2x24 | 768 GB |\n",
		"VM,vCPU,Memory GB,Host\na,2,8,esx1\n\nHost,Sockets,Cores,Memory GB\nesx1,2,48,768\n",
	} {
		if got, notes := sizes(t, "a.csv", rows); got != "a/2/8GB" || !strings.Contains(notes, "is the header of another table") {
			t.Errorf("%s\nfound %s, notes %s", rows, got, notes)
		}
	}
}

// TestHeaders: names of columns of Aria Operations, Turbonomic, a database of vCenter and lists in German.
func TestHeaders(t *testing.T) {
	for rows, want := range map[string]string{
		"Name,Summary|Configuration|Number of CPUs (vCPUs),Memory|Guest Configured Memory (GB)\na,2,8\n":     "a/2/8GB",
		"VM,Number of vCPUs,vMem Capacity (KB)\na,2,8388608\n":                                               "a/2/8GB",
		" name | num_vcpu | mem_size_mb \n------+----------+-------------\n a    |        2 |        8192\n": "a/2/8GB",
		"Servername;CPU-Kerne;Arbeitsspeicher;Hostsystem\na;2;8 GB;esx1\n":                                   "a/2/8GB",
		"VM,Assigned vCPUs,Assigned Memory (GB),Host\na,2,8,esx1\n":                                          "a/2/8GB",
		"VM,No. of CPUs,Memory (GB),Host\na,2,8,esx1\n":                                                      "a/2/8GB",
		"Nom de la VM;vCPU;Mémoire (Go)\na;2;8\n":                                                            "a/2/8GB",
	} {
		if got, notes := sizes(t, "a.csv", rows); got != want {
			t.Errorf("%s\nfound %s, want %s, notes %s", rows, got, want, notes)
		}
	}
	f, _ := readText(t, "a.csv", "VM,vCPU,Compatibility\na,2,ESXi 8.0 U2 und höher (VM-Version 21)\n")
	if f.VMs[0].Hardware.Value != 21 {
		t.Errorf("found hardware version %+v", f.VMs[0].Hardware)
	}
	_, err := Read(tempFile(t, "a.csv", []byte("Nom;Configuration|Matériel|CPU;Mémoire|Capacité totale (Go);Résumé|Hôte parent\nbd01;16;128,5;esx1\n")))
	if err == nil || !strings.Contains(err.Error(), "4 columns: Nom, Configuration|Matériel|CPU,") {
		t.Errorf("found %v", err)
	}
}
