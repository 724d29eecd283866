package tables

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRepeatedRows: a table with a row for each disk, NIC or partition, equal rows and rows of many nights count each VM and host once; VMs of one name in
// two vCenters, clusters, folders or on two hosts stay two.
func TestRepeatedRows(t *testing.T) {
	const host = "Name,CPU Sockets,CPU Cores,Version\nh1,2,32,7.0.3\nh2,2,32,7.0.3\n"
	for name, tt := range map[string]struct {
		vms, hosts, want, note string
	}{
		"a row per disk":    {"VM,NumCpu,MemoryGB,VMHost,Disk\ndb,16,128,h1,1\ndb,16,128,h1,2\nweb,4,16,h1,1\n", host, "db 16 h1, web 4 h1", "1 row repeats a VM"},
		"no hosts":          {"VM,NumCpu,MemoryGB,Disk\ndb,16,128,1\ndb,16,128,2\n", host, "db 16 ", "1 row repeats a VM"},
		"domains":           {"VM,NumCpu,MemoryGB,VMHost,NIC\ndb,16,128,h1,1\ndb,16,128,h1.lab,2\n", host, "db 16 h1", "1 row repeats a VM"},
		"blank cells":       {"VM,NumCpu,MemoryGB,VMHost,Disk\ndb,16,,h1,1\ndb,16,128,h1,2\n", host, "db 16 h1", "1 row repeats a VM"},
		"another size":      {"VM,NumCpu,MemoryGB,VMHost\ndb,16,128,h1\ndb,8,128,h1\n", host, "db 16 h1, db 8 h1", "1 row has the name of a VM above"},
		"another host":      {"VM,NumCpu,MemoryGB,VMHost\ndb,16,128,h1\ndb,16,128,h2\n", host, "db 16 h1, db 16 h2", "1 row has the name of a VM above"},
		"two clusters":      {"VM,NumCpu,MemoryGB,Cluster\ndb,16,128,a\ndb,16,128,b\n", host, "db 16 , db 16 ", "1 row has the name of a VM above"},
		"two folders":       {"VM,NumCpu,MemoryGB,VMHost,Folder\ndb,16,128,h1,a\ndb,16,128,h1,b\n", host, "db 16 h1, db 16 h1", "1 row has the name of a VM above"},
		"two power states":  {"VM,NumCpu,MemoryGB,VMHost,PowerState\ndb,16,128,h1,PoweredOn\ndb,16,128,h1,PoweredOff\n", host, "db 16 h1, db 16 h1", "1 row has the name of a VM above"},
		"two vCenters":      {"vCenter,VM,NumCpu,MemoryGB\nvc1,db,16,128\nvc2,db,16,128\nvc1,db,16,128\n", host, "db 16 , db 16 ", "1 row repeats a VM"},
		"many nights":       {"Date,VM,NumCpu,MemoryGB,VMHost\n2026-10-01,db,8,128,h1\n2026-10-01,old,2,4,h1\n2026-11-01,db,16,128,h2\n", host, "old 2 h1, db 16 h2", "1 row is older than another of its VM by column \"Date\": left out (first: \"db\")"},
		"newest first":      {"Date,VM,NumCpu,VMHost\n2026-11-01,db,16,h2\n2026-10-01,db,8,h1\n", host, "db 16 h2", "1 row is older"},
		"PowerShell":        {"VM,NumCpu,VMHost,Timestamp\ndb,8,h1,9/30/2026 2:00:00 AM\ndb,16,h2,10/1/2026 2:00:00 AM\n", host, "db 16 h2", "1 row is older"},
		"of one run":        {"Timestamp,VM,NumCpu,VMHost\n2026-11-01T02:00:00Z,db,16,h2\n2026-11-01T02:00:01Z,db,8,h1\n", host, "db 16 h2, db 8 h1", "1 row has the name of a VM above"},
		"German":            {"Datum;VM;NumCpu;VMHost\n02.10.2026 03:00;db;8;h1\n01.11.2026 03:00;db;16;h2\n", host, "db 16 h2", "1 row is older"},
		"dates of the VMs":  {"VM,NumCpu,VMHost,Date\na,8,h1,2020-10-01\nb,16,h2,2024-11-01\n", host, "a 8 h1, b 16 h2", ""},
		"hosts of nights":   {"VM,NumCpu,VMHost\na,8,h1\n", "Date,Name,CPU Sockets,CPU Cores,Version\n2026-10-01,h1,2,32,7.0.3\n2026-11-01,h1,2,32,8.0.2\n", "a 8 h1 8.0 U2", "1 row is older than another of its host"},
		"a row per adapter": {"VM,NumCpu,VMHost\na,8,h1\n", "Name,CPU Sockets,CPU Cores,Version,HBA\nh1,2,32,7.0.3,1\nh1,2,32,7.0.3,2\n", "a 8 h1", "1 row repeats a host"},
	} {
		f := mustRead(t, tempFolder(t, map[string][]byte{"v.csv": []byte(tt.vms), "h.csv": []byte(tt.hosts)}))
		var got []string
		for _, v := range f.VMs {
			vm := fmt.Sprint(v.Name, " ", v.VCPUs.Value, " ", v.Host)
			if len(f.Hosts) == 1 && strings.Contains(tt.want, "8.0") {
				vm += " " + fmt.Sprint(f.Hosts[0].Release.Value)
			}
			got = append(got, vm)
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: found %q, want %q; notes %v", name, s, tt.want, f.Notes)
		}
		if notes := fmt.Sprint(notesOf(f)); !strings.Contains(notes, tt.note) || strings.Contains(notes, "unknown (first") || tt.note == "" && strings.Contains(notes, "older") {
			t.Errorf("%s: found no %q in %s", name, tt.note, notes)
		}
	}
	f := mustRead(t, tempFolder(t, map[string][]byte{"a.csv": []byte("vCenter,VM,NumCpu\nvc1,db,8\n"), "b.csv": []byte("vCenter,VM,NumCpu\nvc2,db,8\nvc2,db,8\n")}))
	if names := []string{f.VMs[0].Name, f.VMs[1].Name}; len(f.VMs) != 2 || !slices.Equal(names, []string{"db", "db"}) {
		t.Errorf("files of two vCenters: found %+v", f.VMs)
	}
	f = mustRead(t, tempFolder(t, map[string][]byte{"a.csv": []byte("VM,NumCpu,MemoryGB,Disk\ndb,8,16,1\ndb,8,16,2\n"), "b.csv": []byte("VM,CPU Hot Add\ndb,True\n")}))
	if len(f.VMs) != 1 || !f.VMs[0].CPUHotAdd.Value {
		t.Errorf("a table that adds to one with repeated rows: found %+v", f.VMs)
	}
}
