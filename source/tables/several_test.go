package tables

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// vcenterSheets returns the sheets of one vCenter with one host and one VM; suffix is appended to their names.
func vcenterSheets(suffix, vcenter, host, vm, cpus, hotAdd string) testSheets {
	return testSheets{
		"vInfo" + suffix:   {{"VM", "Powerstate", "CPUs", "Memory", "Cluster", "Host", "VM ID", "VI SDK UUID"}, {vm, "poweredOn", cpus, "4096", "C", host, "vm-1", vcenter}},
		"vCPU" + suffix:    {{"VM", "CPUs", "Cores p/s", "Hot Add", "VM ID", "VI SDK UUID"}, {vm, cpus, "1", hotAdd, "vm-1", vcenter}},
		"vMemory" + suffix: {{"VM", "Size MiB", "VM ID", "VI SDK UUID"}, {vm, "4096", "vm-1", vcenter}},
		"vHost" + suffix:   {{"Host", "Cluster", "# CPU", "# Cores", "# Memory", "VI SDK UUID"}, {host, "C", "2", "32", "524288", vcenter}},
	}
}

// join returns the sheets of all.
func (s testSheets) join(others ...testSheets) testSheets {
	all := testSheets{}
	for _, one := range append(others, s) {
		for name, rows := range one {
			all[name] = rows
		}
	}
	return all
}

// described lists hosts and VMs with the facts that the tests state.
func described(f *numa.Fleet) (got []string) {
	for i := range f.Hosts {
		got = append(got, fmt.Sprint(f.Hosts[i].Name, " ", f.Hosts[i].Cores.Value))
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		got = append(got, fmt.Sprint(v.Name, " ", v.VCPUs.Value, " ", v.CPUHotAdd.Value, " on ", v.Host[strings.LastIndexByte(v.Host, ':')+1:]))
	}
	slices.Sort(got)
	return got
}

// TestNamesakesOfTables: VMs of one name on different hosts are several, whichever tables state them.
func TestNamesakesOfTables(t *testing.T) {
	const hosts = "Name,NumCpuPackages,NumCpuCores,MemoryGB,Version\nesx1,2,28,512,7.0.3\nesx2,2,28,512,7.0.3\n"
	for name, tt := range map[string]struct{ a, b, note string }{
		"two tables":            {"Name,NumCpu,VMHost,CpuHotAddEnabled\nweb,24,esx1,true\n", "Name,NumCpu,VMHost,CpuHotAddEnabled\nweb,4,esx2.local,false\n", ""},
		"two tables of both":    {"Name,NumCpu,VMHost\nweb,24,esx1\nweb,4,esx2\n", "Name,VMHost,CpuHotAddEnabled\nweb,esx2,false\nweb,esx1.local,true\n", ""},
		"one without the hosts": {"Name,NumCpu,VMHost,CpuHotAddEnabled\nweb,24,esx1,true\nweb,4,esx2,false\n", "Name,CoresPerSocket\nweb,2\n", "not the only one with its name"},
	} {
		f := mustRead(t, tempFolder(t, map[string][]byte{"1.csv": []byte(tt.a), "2.csv": []byte(tt.b), "hosts.csv": []byte(hosts)}))
		if got, want := described(f), []string{"esx1 28", "esx2 28", "web 24 true on esx1", "web 4 false on esx2"}; !slices.Equal(got, want) || !strings.Contains(fmt.Sprint(f.Notes), tt.note) {
			t.Errorf("%s: found %q, want %q; notes %v", name, got, want, f.Notes)
		}
	}
}

// TestGuestNames: a column Hostname with the names of the guests names no hosts.
func TestGuestNames(t *testing.T) {
	for host, want := range map[string]string{"web.local": "", "esx1.local": "esx1"} {
		f := mustRead(t, tempFolder(t, map[string][]byte{"1.csv": []byte("Name,Hostname,NumCpu,Cluster,HotAddCPU\nweb," + host + ",4,C,yes\n"),
			"hosts.csv": []byte("Name,NumCpuPackages,NumCpuCores,Version,Cluster\nesx1,2,28,7.0.3,C\n")}))
		if got := described(f); !slices.Equal(got, []string{"esx1 28", "web 4 true on " + want}) || strings.Contains(fmt.Sprint(f.Notes), "hosts are unknown") {
			t.Errorf("%s: %v, notes %v", host, got, f.Notes)
		}
	}
}

// TestSheetsOfVCenters: all sheets of a kind in a workbook are read, whatever people or Excel append to the names of copies.
func TestSheetsOfVCenters(t *testing.T) {
	for _, names := range [][2]string{{"", " vc2"}, {"", " (2)"}, {" vc1", " vc2"}, {" (2)", " (3)"}, {"", "_2"}, {"", "-dr"}, {"", "1"}, {"", ".b"}} {
		book := vcenterSheets(names[0], "A", "esx1", "db", "8", "False").join(vcenterSheets(names[1], "B", "esx9", "web", "24", "True"))
		f := mustRead(t, tempFile(t, "both.xlsx", book.xlsx(t)))
		if got, want := described(f), []string{"db 8 false on esx1", "esx1 32", "esx9 32", "web 24 true on esx9"}; !slices.Equal(got, want) {
			t.Errorf("%q: found %q, want %q; notes %v", names, got, want, f.Notes)
		}
		if len(f.Unread) > 0 || strings.Contains(fmt.Sprint(f.Notes), "repeat") {
			t.Errorf("%q: notes %v", names, f.Notes)
		}
	}
	// A copy under a name of its own, with the columns of RVTools.
	book := vcenterSheets("", "A", "esx1", "db", "8", "False").join(testSheets{"Copy": {{"VM", "CPUs", "Memory", "VM ID", "VI SDK UUID"}, {"web", "24", "4096", "vm-1", "B"}}})
	if got := described(mustRead(t, tempFile(t, "copy.xlsx", book.xlsx(t)))); !slices.Contains(got, "web 24 false on ") {
		t.Errorf("found %q", got)
	}
}

// TestCopiedSheet: a copy of a sheet in its workbook adds nothing, and facts that it states differently are unknown.
func TestCopiedSheet(t *testing.T) {
	one := vcenterSheets("", "A", "esx1", "db", "8", "False")
	f := mustRead(t, tempFile(t, "copy.xlsx", one.join(vcenterSheets(" (2)", "A", "esx1", "db", "8", "False")).xlsx(t)))
	if got, want := described(f), []string{"db 8 false on esx1", "esx1 32"}; !slices.Equal(got, want) || strings.Contains(fmt.Sprint(f.Notes), "differs") {
		t.Errorf("found %q, notes %v", got, f.Notes)
	}
	f = mustRead(t, tempFile(t, "later.xlsx", one.join(vcenterSheets(" feb", "A", "esx1", "db", "12", "True")).xlsx(t)))
	v := f.VMs[0]
	if len(f.VMs) != 1 || v.VCPUs.Known() || v.CPUHotAdd.Known() || v.Memory.Value != 4*numa.GiB {
		t.Errorf("found %+v", f.VMs)
	}
	for _, want := range []string{
		`vCPUs of 1 VM differs between its rows: unknown (first: "db", 8 by vInfo row 2 "CPUs" and 12 by vInfo 2 row 2 "CPUs")`,
		`CPU hot add of 1 VM differs between its rows: unknown (first: "db", false by vCPU row 2 "Hot Add" and true by vCPU 2 row 2 "Hot Add")`,
	} {
		if !strings.Contains(fmt.Sprint(f.Notes), want) {
			t.Errorf("found no %s in %v", want, f.Notes)
		}
	}
}

// TestTableBesideSheets: a further table in a workbook of RVTools that lists VMs or hosts that its sheets lack is named, and counts as unread.
func TestTableBesideSheets(t *testing.T) {
	for name, tt := range map[string]struct {
		rows [][]string
		want string
	}{
		"more VMs":    {[][]string{{"Name", "NumCpu", "MemoryGB"}, {"db", "8", "4"}, {"extra", "24", "128"}}, "1 sheet is not read beside the export of RVTools: \"Planned\"; VMs that the export lacks are missing here, such as \"extra\": save the sheet as a workbook of its own"},
		"more hosts":  {[][]string{{"Name", "CPU Sockets", "CPU Cores", "Memory GB"}, {"esx1.corp.example", "2", "32", "512"}, {"esx2", "2", "32", "512"}}, "hosts that the export lacks are missing here, such as \"esx2\""},
		"the same":    {[][]string{{"Name", "NumCpu", "MemoryGB"}, {"db", "8", "4"}}, ""},
		"other cells": {[][]string{{"Owner", "Cost"}, {"db", "8"}}, ""},
	} {
		book := vcenterSheets("", "A", "esx1", "db", "8", "False").join(testSheets{"Planned": tt.rows})
		f := mustRead(t, tempFile(t, "book.xlsx", book.xlsx(t)))
		if got := fmt.Sprint(f.Notes); len(f.VMs) != 1 || !strings.Contains(got, tt.want) || (len(f.Unread) > 0) != (tt.want != "") || tt.want == "" && strings.Contains(got, "beside") {
			t.Errorf("%s: %d VMs, unread %q, notes %s", name, len(f.VMs), f.Unread, got)
		}
	}
}

// TestHeaderAgain: in joined files and sheets a header that stands again is no VM and no host, and one with other columns tells those below it.
func TestHeaderAgain(t *testing.T) {
	sheets := func(second int) testSheets {
		s := vcenterSheets("", "A", "esx1", "db", "8", "False")
		for name, rows := range vcenterSheets("", "B", "esx9", "web", "24", "True") {
			for _, row := range rows {
				if second > 0 { // the columns behind the first in another order, as in another release
					row = append(slices.Clone(row[:1]), append(slices.Clone(row[second:]), row[1:second]...)...)
				}
				s[name] = append(s[name], row)
			}
		}
		return s
	}
	want := []string{"db 8 false on esx1", "esx1 32", "esx9 32", "web 24 true on esx9"}
	for second, note := range map[int]string{0: "sheet vHost: 1 row is the header again: left out (first: \"row 3\")", 2: "sheet vHost: 1 row is another header: the rows below are read by it (first: \"row 3\")"} {
		for form, path := range map[string]string{"CSV": tempFolder(t, sheets(second).csvs(",")), "workbook": tempFile(t, "a.xlsx", sheets(second).xlsx(t))} {
			f := mustRead(t, path)
			if got := described(f); !slices.Equal(got, want) || !strings.Contains(fmt.Sprint(f.Notes), note) {
				t.Errorf("%s, %d: found %q, want %q; notes %v", form, second, got, want, f.Notes)
			}
		}
	}
	// A VM may have the name of a column.
	if f, notes := readText(t, "a.csv", "Name,NumCpu,MemoryMB\nname,4,4096\nName,8,8192\n"); len(f.VMs) != 2 {
		t.Errorf("found %d VMs, notes %s", len(f.VMs), notes)
	}
}

// TestResaved checks that cells that a program or a person wrote again are understood, or named.
func TestResaved(t *testing.T) {
	for cell, want := range map[string]string{"-1": "-1", "-1,0": "-1", "-1.00": "-1", "-1,": "unreadable", "-1.5": "unreadable", "2000": "2000", "": "unknown"} {
		f := mustRead(t, tempFolder(t, map[string][]byte{"RVTools_tabvInfo.csv": []byte("VM;CPUs;Memory\ndb;8;4096\n"), "RVTools_tabvCPU.csv": []byte("VM;CPUs;Limit;Reservation\ndb;8;" + cell + ";" + cell + "\n")}))
		c, notes := &f.VMs[0].Config, fmt.Sprint(f.Notes)
		got := fmt.Sprint(c.CPULimit.Value)
		switch {
		case strings.Contains(notes, "ignored for VM db"):
			got = "unreadable"
		case !c.CPULimit.Known():
			got = "unknown"
		}
		if got != want {
			t.Errorf("limit %q: found %s, want %s; %s", cell, got, want, notes)
		}
	}
	for word, want := range booleans() {
		f := mustRead(t, tempFolder(t, map[string][]byte{"RVTools_tabvInfo.csv": []byte("VM,CPUs,Memory,Template\ndb,8,4096," + strings.ToUpper(word) + "\n")}))
		if c := &f.VMs[0].Config; !c.Template.Known() || c.Template.Value != want {
			t.Errorf("%s: found %+v", word, c.Template)
		}
	}
	// 512 typed in GB below a header in MiB is no memory of a host.
	f := mustRead(t, tempFolder(t, vInfoAnd("vHost", "Host,# CPU,# Cores,# Memory\nesx1,2,32,512\n")))
	if h := f.Hosts[0]; h.Memory.Known() || h.Nodes.Value[0].Memory.Known() || !strings.Contains(fmt.Sprint(f.Notes), `found "512", want 1024 to`) {
		t.Errorf("found %+v, notes %v", h, f.Notes)
	}
	// The cluster of a VM and that of its host differ.
	files := vInfoAnd("vHost", "Host,Cluster,# CPU,# Cores\nesx8,small,2,16\nesx1,prod,2,32\n")
	files["RVTools_tabvInfo.csv"] = []byte("VM,CPUs,Memory,Cluster,Host\na,8,4096,prod,esx8\nb,8,4096,prod,esx1\nc,8,4096,,esx8\n")
	const want = `1 VM names a cluster that is not that of its host: judged for the hosts of the cluster that its row names (first: "a")`
	if f := mustRead(t, tempFolder(t, files)); !strings.Contains(fmt.Sprint(f.Notes), want) {
		t.Errorf("found notes %v", f.Notes)
	}
	// The full name without a release, and the version beside it.
	if f, notes := readText(t, "a.json", `[{"name":"esx1","summary":{"config":{"product":{"fullName":"VMware ESXi","version":"7.0.3","build":"21930508"}},"hardware":{"numCpuPkgs":2,"numCpuCores":32}}}]`); f.Hosts[0].Release.Value.String() != "7.0 U3" {
		t.Errorf("found %+v, %s", f.Hosts[0].Release, notes)
	}
	if f, notes := readText(t, "a.json", `[{"name":"esx1","summary":{"config":{"product":{"version":"7.0.3"}},"hardware":{"numCpuPkgs":2,"numCpuCores":32}}}]`); f.Hosts[0].Release.Value.String() != "7.0 U3" || strings.Contains(notes, "release") {
		t.Errorf("found %+v, %s", f.Hosts[0].Release, notes)
	}
	// A capture in a workbook.
	_, err := Read(tempFile(t, "night.xlsx", testSheets{"night": {{"(PDH-CSV 4.0) (UTC)(0)", `\\\\esx1\\Memory\\Free MBytes`}, {"11/21/2026 10:00:00", "1"}}}.xlsx(t)))
	if err == nil || !strings.Contains(err.Error(), "found a capture of esxtop in a workbook: save its sheet as CSV") {
		t.Errorf("found %v", err)
	}
}

// vInfoAnd returns the files of an export of one VM with one further sheet.
func vInfoAnd(sheet, text string) map[string][]byte {
	return map[string][]byte{"RVTools_tabvInfo.csv": []byte("VM,CPUs,Memory\ndb,8,4096\n"), "RVTools_tab" + sheet + ".csv": []byte(text)}
}

// TestMemoryLimit: sheet vMemory has the limit, -1 without one, and the memory that is swapped and ballooned.
func TestMemoryLimit(t *testing.T) {
	for _, tt := range []struct {
		row, limit, reclaimed string
	}{
		{"-1;0;0", "-1 B", "unknown"}, {"2048;512;256", "2 GB", "768 MB"}, {"2048;0;256", "2 GB", "256 MB"}, {";;", "unknown", "unknown"},
	} {
		f := mustRead(t, tempFolder(t, map[string][]byte{"RVTools_tabvInfo.csv": []byte("VM;CPUs;Memory\ndb;8;4096\n"),
			"RVTools_tabvMemory.csv": []byte("VM;Size MiB;Limit;Swapped;Ballooned\ndb;4096;" + tt.row + "\n")}))
		text := func(f numa.Fact[numa.Bytes]) string {
			if !f.Known() {
				return "unknown"
			}
			return f.Value.String()
		}
		if v := &f.VMs[0]; text(v.MemoryLimit) != tt.limit || text(v.Reclaimed) != tt.reclaimed {
			t.Errorf("%s: limit %s, reclaimed %s; notes %v", tt.row, text(v.MemoryLimit), text(v.Reclaimed), f.Notes)
		}
	}
	// As govc and PowerCLI write it.
	f, notes := readText(t, "a.json", `[{"config": {"name": "db", "hardware": {"numCPU": 8, "memoryMB": 4096}, "memoryAllocation": {"limit": 2048}}}]`)
	if len(f.VMs) != 1 || f.VMs[0].MemoryLimit.Value != 2*numa.GiB {
		t.Errorf("found %+v, notes %s", f.VMs, notes)
	}
}
