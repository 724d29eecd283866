package tables

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"example.org/homenode/numa"
)

// TestDialects reads one export under the headers of other versions.
func TestDialects(t *testing.T) {
	want := readExport4(t)
	delete(want, "vMetaData")
	for _, tt := range []struct {
		name   string
		rename func(sheet, header string) string
	}{
		{"3.x", func(_, header string) string { return strings.Replace(header, "MiB", "MB", 1) }},
		{"blanks and case", func(_, header string) string {
			return " " + strings.ToUpper(strings.ReplaceAll(header, " ", " \u00a0")) + "  "
		}},
		{"internal names", func(sheet, header string) string {
			k := kindNamed(sheet)
			if k == nil {
				return sheet + header
			}
			for _, c := range k.columns {
				i := slices.IndexFunc(c.names, func(name string) bool { return strings.HasPrefix(name, sheet) })
				if c.title() == header && i >= 0 {
					name, _, _ := strings.Cut(c.names[i], "=")
					return name
				}
			}
			return sheet + header
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testSheets{}
			for sheet, rows := range want {
				s[sheet] = slices.Clone(rows)
				if sheet == "vDisk" {
					continue
				}
				s[sheet][0] = slices.Clone(rows[0])
				for i, h := range rows[0] {
					s[sheet][0][i] = tt.rename(sheet, h)
				}
			}
			got := values(mustRead(t, tempFolder(t, s.csvs(","))))
			want := values(mustRead(t, tempFolder(t, want.csvs(","))))
			if !slices.Equal(got, want) {
				t.Errorf("values differ:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// values prints hosts and VMs without their origins.
func values(f *numa.Fleet) []string {
	var lines []string
	print := func(v reflect.Value) {
		var b strings.Builder
		for _, f := range reflect.VisibleFields(v.Type()) {
			field := v.FieldByIndex(f.Index)
			if f.Anonymous {
				continue
			}
			if field.Kind() == reflect.Struct && field.NumField() == 2 {
				fmt.Fprintf(&b, "%v/%v ", field.Field(0), field.Field(1).Field(0))
			} else if f.Name != "At" {
				fmt.Fprintf(&b, "%v ", field)
			}
		}
		lines = append(lines, b.String())
	}
	for i := range f.Hosts {
		print(reflect.ValueOf(f.Hosts[i]))
	}
	for i := range f.VMs {
		print(reflect.ValueOf(f.VMs[i]))
	}
	return lines
}

// TestMissingSheets reads vInfo alone: the VMs are there, and it is said what is
// not known about them.
func TestMissingSheets(t *testing.T) {
	f := mustRead(t, tempFolder(t, vInfoOnly("VM,CPUs,Memory,Host,Powerstate,Template,Latency Sensitivity,HW version,Cluster,OS according to the configuration file", "db01,8,4096,esx01")))
	want := []string{
		"no sheet vHost: unknown for all: cluster, maintenance mode, processor model, hyper-threading, packages and so NUMA nodes, whether the export lists all VMs, cores, memory, power policy, release and build, vendor, model",
		"no sheet vCPU: unknown for all: cores per socket, CPU reservation, CPU limit, CPU hot add, vNUMA with CPU hot add",
		"no sheet vMemory: unknown for all: memory reservation locked to maximum, memory reservation, memory limit, memory hot add",
		`sheet vHost: the hosts of 1 VM are named, but without a row in vHost (first: "db01 on esx01")`,
	}
	if got := notesOf(f); !slices.Equal(got, want) {
		t.Errorf("notes:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	wantVM := numa.VM{ID: "db01", Named: true, Name: "db01", At: "fleet",
		Config: numa.Config{VCPUs: numa.ReadAt(8, `vInfo row 2 "CPUs"`), Memory: numa.ReadAt(4*numa.GiB, `vInfo row 2 "Memory"`)}}
	if len(f.VMs) != 1 || !reflect.DeepEqual(f.VMs[0], wantVM) {
		t.Errorf("VMs = %+v\nwant  %+v", f.VMs, wantVM)
	}
}

// TestMissingColumns names the columns and what is unknown without them.
func TestMissingColumns(t *testing.T) {
	files := vInfoOnly("VM", "db01")
	files["RVTools_tabvCPU.csv"] = []byte("VM,CPUs\ndb01,4\n")
	files["RVTools_tabvHost.csv"] = []byte("Name,# CPU\nesx01,2\n")
	files["RVTools_tabvMemory.csv"] = nil
	want := []string{
		`sheet vHost: no column "Host": unknown for all: ` + kindNamed("vHost").facts(),
		`sheet vInfo: no column "Powerstate", "Template", "Latency Sensitivity", "HW version", "Cluster", "Host", "OS according to the configuration file": unknown for all: power state, template, latency sensitivity, hardware version, cluster, host, guest OS`,
		`sheet vCPU: no column "Cores p/s", "Reservation", "Limit", "Hot Add", "Numa Hotadd Exposed": unknown for all: cores per socket, CPU reservation, CPU limit, CPU hot add, vNUMA with CPU hot add`,
		`sheet vMemory: no column "VM": unknown for all: ` + kindNamed("vMemory").facts(),
		`sheet vInfo, sheet vMemory: no column "Memory", "Size MiB": unknown for all: memory of the VMs`,
	}
	if got := notesOf(mustRead(t, tempFolder(t, files))); !slices.Equal(got, want) {
		t.Errorf("notes:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRenamedColumn says once that no sheet tells the vCPUs, and what may be meant.
func TestRenamedColumn(t *testing.T) {
	files := vInfoOnly("VM,CPU count,Memory", "db01,8,4096")
	files["RVTools_tabvCPU.csv"] = []byte("VM,CPUss\ndb01,8\n")
	const want = `sheet vInfo, sheet vCPU: no column "CPUs": unknown for all: vCPU count; alike: "CPU count"`
	if got := notesOf(mustRead(t, tempFolder(t, files))); !slices.Contains(got, want) {
		t.Errorf("notes:\n%s\nwant:\n%s", strings.Join(got, "\n"), want)
	}
	// One of the sheets is enough.
	files["RVTools_tabvCPU.csv"] = []byte("VM,CPUs\ndb01,8\n")
	if got := strings.Join(notesOf(mustRead(t, tempFolder(t, files))), "\n"); strings.Contains(got, "vCPU count") {
		t.Errorf("notes:\n%s", got)
	}
}

// TestJoin ties rows of vCPU to VMs by the keys that both sheets have.
func TestJoin(t *testing.T) {
	const cpuHead = "VM,VM ID,VM UUID,VI SDK UUID,CPUs,Cores p/s,Reservation,Limit,Hot Add,Numa Hotadd Exposed\n"
	for _, tt := range []struct {
		name, vInfo, vCPU string
		want              []string // ID: cores per socket
		notes             []string
	}{
		{"two vCenters with one reference",
			"VM,VM ID,VI SDK UUID\nweb,vm-1,A\nweb,vm-1,B\n",
			cpuHead + "web,vm-1,,b,4,2\nweb,vm-1,,a,4,1\n",
			[]string{"a:vm-1 1", "b:vm-1 2"}, nil},
		{"vInfo without the vCenter",
			"VM,VM ID\nweb,vm-1\n",
			cpuHead + "web,vm-1,,A,4,2\n",
			[]string{"vm-1 2"}, nil},
		{"UUID", "VM,VM UUID\nweb,AA\nweb,BB\n",
			cpuHead + "web,vm-1,bb,A,4,2\nweb,vm-2,aa,A,4,1\n",
			[]string{"vm-2 1", "vm-1 2"}, nil},
		{"name", "VM\nweb\ndb\n",
			cpuHead + "db,vm-1,bb,A,4,2\nweb,,,,4,1\n",
			[]string{"web 1", "vm-1 2"}, nil},
		{"name of two VMs", "VM,VM ID\nweb,vm-1\nweb,vm-2\n",
			cpuHead + "web,,,,4,2\n",
			[]string{"vm-1 0", "vm-2 0"},
			[]string{
				`sheet vCPU: 1 row names a VM that is not the only one with its name, and has no VM ID or UUID of its own: left out (first: "web")`,
				`sheet vCPU: 2 VMs have no row: unknown: ` + kindNamed("vCPU").facts() + ` (first: "web")`}},
		{"another reference is another VM", "VM,VM ID\nweb,vm-1\n",
			cpuHead + "web,vm-9,,,4,2\n",
			[]string{"vm-1 0"},
			[]string{
				`sheet vCPU: 1 row is about a VM that vInfo does not list: left out (first: "web")`,
				`sheet vCPU: 1 VM has no row: unknown: ` + kindNamed("vCPU").facts() + ` (first: "web")`}},
		{"a reference in another sheet alone", "VM,CPUs\nvm-9,8\n", "VM,VM ID,CPUs,Cores p/s\nvm-9,vm-111122,8,2\n", []string{"vm-111122 2"}, nil},
		{"rows twice", "VM,VM ID\nweb,vm-1\nweb,vm-1\n",
			cpuHead + "web,vm-1,,,4,2\nweb,vm-1,,,4,1\n",
			[]string{"vm-1 0"},
			[]string{
				`sheet vCPU: 1 row repeats a VM: all its rows are read together (first: "web")`,
				`cores per socket of 1 VM differs between its rows: unknown (first: "web", 2 by vCPU row 2 "Cores p/s" and 1 by vCPU row 3 "Cores p/s")`,
				`sheet vInfo: 1 row repeats a VM: all its rows are read together (first: "web")`}},
		{"another number of vCPUs", "VM,CPUs\nweb,8\n",
			cpuHead + "web,,,,4,2\n",
			[]string{"web 2"},
			[]string{`sheet vCPU: 1 VM has another size in vInfo: that of this sheet is used (first: "web")`}},
		{"a row of vInfo without its place", "VM,Host\nweb,\n",
			"VM,CPUs,Sockets,Cores p/s,Datacenter,Cluster,Host\nweb,3,2,2,dc,c,esx01\n",
			[]string{"web 0"},
			[]string{
				`sheet vCPU, row 2, column "Cores p/s": the cells contradict each other: CPUs 3, but 2 sockets × 2: which is right decides: ignored for VM web`,
				`sheet vHost: the hosts of 1 VM are named, but without a row in vHost (first: "web on esx01")`}},
		{"nameless", "VM,CPUs\n,8\nweb,4\n",
			cpuHead + "web,,,,4,2\n",
			[]string{"web 2"},
			[]string{`sheet vInfo: 1 row names no VM: left out (first: "row 2")`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := mustRead(t, tempFolder(t, map[string][]byte{"vInfo.csv": []byte(tt.vInfo), "vCPU.csv": []byte(tt.vCPU)}))
			var got []string
			for _, v := range f.VMs {
				got = append(got, fmt.Sprint(v.ID, " ", v.CoresPerSocket.Value))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("cores per socket %q, want %q", got, tt.want)
			}
			notes := slices.DeleteFunc(notesOf(f), func(s string) bool { return strings.Contains(s, "unknown for all") })
			if !slices.Equal(notes, tt.notes) {
				t.Errorf("notes:\n%s\nwant:\n%s", strings.Join(notes, "\n"), strings.Join(tt.notes, "\n"))
			}
		})
	}
}

// TestHosts checks what is made of the few columns on a host.
func TestHosts(t *testing.T) {
	const head = "Host,HT Active,# CPU,Cores per CPU,# Cores,# Memory,Memory Tiering Type\n"
	for _, tt := range []struct {
		name, row string
		nodes     string
		threads   int
		note      string
	}{
		{"all there", "esx01,True,2,8,16,10240", "[0:8/16 5 GB 1:8/16 5 GB]", 32, ""},
		{"no slower memory tier", "esx01,True,2,8,16,10240,noTiering", "[0:8/16 5 GB 1:8/16 5 GB]", 32, ""},
		{"a slower memory tier", "esx01,True,2,8,16,10240,softwareTiering", "[0:8/16 0 B 1:8/16 0 B]", 32,
			"sheet vHost, row 2: host esx01 has 10 GB with its slower memory tier (softwareTiering); how much of it is DRAM, and so the memory of its nodes, is unknown: say it with --assume-host"},
		{"no cores per package", "esx01,False,2,,16,10240", "[0:8/8 5 GB 1:8/8 5 GB]", 16, ""},
		{"no cores", "esx01,False,2,8,,10240", "[0:8/8 5 GB 1:8/8 5 GB]", 16, ""},
		{"no hyper-threading", "esx01,,1,8,8,", "[0:8/8 0 B]", 0, ""},
		{"no packages", "esx01,True,,8,16,10240", "[]", 32, ""},
		{"cores that do not divide", "esx01,True,3,,16,10240", "[]", 32, ""},
		{"cores that do not agree", "esx01,True,2,8,20,10240", "[]", 40,
			"sheet vHost, row 2: host esx01 has 20 cores but 2 packages with 8 cores each: its NUMA nodes are unknown"},
		{"too many cores for one package", "esx01,True,1,,130000,10240", "[]", 260000,
			"sheet vHost, row 2: host esx01 has 130000 cores but 1 package with 130000 cores each: its NUMA nodes are unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := mustRead(t, tempFolder(t, map[string][]byte{"vInfo.csv": []byte("VM\n"), "vHost.csv": []byte(head + tt.row + "\n")}))
			h := f.Hosts[0]
			var nodes []string
			for _, n := range h.Nodes.Value {
				nodes = append(nodes, fmt.Sprintf("%d:%d/%d %v", n.ID, n.Cores, n.Threads, n.Memory.Value))
			}
			if got := fmt.Sprint(nodes); got != tt.nodes || h.Threads.Value != tt.threads {
				t.Errorf("nodes %s, %d threads; want %s, %d threads", got, h.Threads.Value, tt.nodes, tt.threads)
			}
			notes := slices.DeleteFunc(notesOf(f), func(s string) bool { return strings.Contains(s, "unknown for all") })
			if got := strings.Join(notes, "\n"); got != tt.note {
				t.Errorf("notes %q, want %q", got, tt.note)
			}
		})
	}
}

// TestNoHyperThreading: without HT Active the threads are unknown.
func TestNoHyperThreading(t *testing.T) {
	f := mustRead(t, tempFolder(t, map[string][]byte{"vInfo.csv": []byte("VM\n"),
		"vHost.csv": []byte("Host,# CPU,Cores per CPU,# Cores,# Memory\nesx01,2,8,16,10240\n")}))
	h := f.Hosts[0]
	want := numa.Origin{Kind: numa.Assumed,
		Where: "RVTools has no NUMA nodes: one node per package; whether hyper-threading is on is unknown: one thread per core"}
	if h.HyperThreading.Known() || h.Threads.Known() || h.Nodes.Origin != want || len(h.Nodes.Value) != 2 || h.Nodes.Value[0].Threads != 8 {
		t.Errorf("hyper-threading %v, threads %v, nodes %v; want the first two unknown and nodes of 8 threads, %v", h.HyperThreading, h.Threads, h.Nodes, want)
	}
}

// TestPart compares what hosts run with what is listed, by cluster: running VMs where the others are counted apart, and vCPUs.
func TestPart(t *testing.T) {
	for _, tt := range []struct {
		name, hosts, vms, whole, a, b string
	}{
		{"all VMs", "h1,a,3,,\nh2,b,1,,\n", "v1,On,4,a,h1\nv2,On,4,a,h1\nv3,Off,4,a,h1\nv4,On,4,b,h2\n", "", "", ""},
		{"running VMs", "h1,a,3,4,\nh2,b,1,1,\n", "v1,On,4,a,h1\nv2,On,4,a,h1\nv3,Off,4,a,h1\nv4,On,4,b,h2\n",
			"the hosts run 4 VMs, but only 3 of them are listed", "the hosts run 3 VMs, but only 2 of them are listed", ""},
		{"vCPUs", "h1,a,1,1,8\nh2,b,0,0,0\n", "v1,On,4,a,h1\n", "the hosts run 8 vCPUs, 1.00 vCPUs per core by their rows, but only 4 of them are listed", "the hosts run 8 vCPUs, 2.00 vCPUs per core by their rows, but only 4 of them are listed", ""},
		{"an unknown size", "h1,a,1,1,8\nh2,b,0,0,0\n", "v1,On,,a,h1\n", "", "", ""},
		{"a VM between the readings", "h1,a,50,50,\n", func() (rows string) {
			for i := range 49 {
				rows += fmt.Sprintf("v%d,On,4,a,h1\n", i)
			}
			return rows
		}(), "", "", ""},
		{"hosts without a row", "h1,a,3,3,\nh2,b,0,0,\n", "v1,On,4,a,h8\nv2,On,4,a,h9\n", "the hosts run 3 VMs, but none of them is listed", "the hosts run 3 VMs, but none of them is listed", ""},
		{"another cluster", "h1,a,1,1,4\nh2,b,1,1,4\n", "v1,On,4,a,h1\n", "the hosts run 2 VMs, 1.00 vCPUs per core by their rows, but only 1 of them is listed", "", "the hosts run 1 VM, 1.00 vCPUs per core by their rows, but none of them is listed"},
	} {
		f := mustRead(t, tempFolder(t, map[string][]byte{"vHost.csv": []byte("Host,Cluster,# VMs,# VMs total,# vCPUs,# Cores\n" + strings.ReplaceAll(tt.hosts, "\n", ",4\n")),
			"vInfo.csv": []byte("VM,Powerstate,CPUs,Cluster,Host\n" + strings.ReplaceAll(strings.ReplaceAll(tt.vms, "On", "poweredOn"), "Off", "poweredOff"))}))
		text := func(p *numa.Running) string {
			if p == nil {
				return ""
			}
			return p.String()
		}
		got := []string{text(f.Part), "", ""}
		for i := range f.Clusters {
			got[1+i] = text(f.Clusters[i].Part)
		}
		if want := []string{tt.whole, tt.a, tt.b}; !slices.Equal(got, want) || slices.ContainsFunc(f.Notes, func(n numa.Note) bool { return strings.Contains(n.Text, "want 1 to") }) {
			t.Errorf("%s: found %q, want %q; notes %v", tt.name, got, want, f.Notes)
		}
	}
}

// TestTwins: the ID of a VM finds that VM alone, also where another one has its name and the export states no IDs.
func TestTwins(t *testing.T) {
	f := mustRead(t, tempFolder(t, map[string][]byte{"vInfo.csv": []byte("VM,CPUs,Memory,Cluster,Host\nsql,24,65536,a,h1\nsql,20,307200,b,h2\nother,4,3072,b,h2\n")}))
	for i := range f.VMs {
		if found := f.FindVMs(f.VMs[i].ID); len(found) != 1 || found[0] != &f.VMs[i] {
			t.Errorf("the ID %s finds %d VMs", f.VMs[i].ID, len(found))
		}
	}
	if len(f.VMs) != 3 || f.VMs[2].ID != "other" {
		t.Errorf("found %+v", f.VMs)
	}
}

// TestOddRow: one row of nonsense ends no read.
func TestOddRow(t *testing.T) {
	f := mustRead(t, tempFolder(t, map[string][]byte{
		"vInfo.csv": []byte("VM,CPUs,Memory,Host,VM ID\nodd,99999999999999999999,-5,esx00,\ndb01,8,4096,esx01,vm-1\n"),
		"vCPU.csv":  []byte("VM,CPUs,Sockets,Cores p/s\nodd,0,0,99999\ndb01,8,2,4\n"),
		"vHost.csv": []byte("Host,HT Active,# CPU,Cores per CPU,# Cores,# Memory\nesx00,True,64,2048,131072,99999999999\nesx00,x,-3,0,1e99,NaN\nesx01,True,2,8,16,10240\n"),
	}))
	if len(f.VMs) != 2 || f.VMs[0].VCPUs.Known() || f.VMs[0].CoresPerSocket.Known() || f.VMs[1].VCPUs.Value != 8 || f.VMs[1].CoresPerSocket.Value != 4 {
		t.Errorf("VMs = %+v; want nothing of the first and all of db01", f.VMs)
	}
	if len(f.Hosts) != 2 || len(f.Hosts[0].Nodes.Value) != 64 || f.Hosts[0].Memory.Known() || len(f.Hosts[1].Nodes.Value) != 2 {
		t.Errorf("hosts = %+v; want esx00 without memory and esx01 whole", f.Hosts)
	}
}

// TestDeepSheet reads a sheet that goes on to the last row Excel has, as some
// programs save it.
func TestDeepSheet(t *testing.T) {
	book := excelize.NewFile()
	defer book.Close()
	if err := book.SetSheetName("Sheet1", "vInfo"); err != nil {
		t.Fatal(err)
	}
	w, err := book.NewStreamWriter("vInfo")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		cell string
		row  []any
	}{
		{"A1", []any{"VM", "Template"}},
		{"A5", []any{"db01", true}},
		{"A1048576", []any{excelize.Cell{StyleID: 1}}},
	} {
		if err := w.SetRow(r.cell, r.row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := book.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := tempFile(t, "deep.xlsx", b.Bytes())
	start := time.Now()
	f := mustRead(t, path)
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("read took %v, want well under a second", d)
	}
	if want := numa.ReadAt(true, `vInfo row 5 "Template"`); len(f.VMs) != 1 || f.VMs[0].Template != want {
		t.Errorf("VMs = %+v, want db01 with template %v", f.VMs, want)
	}
}

// TestFirmware reads the column Firmware; other words stay unknown.
func TestFirmware(t *testing.T) {
	f := mustRead(t, tempFolder(t, vInfoOnly("VM,CPUs,Firmware", "a,8,EFI", "b,8,bios", "c,8,-1")))
	for i, want := range []numa.Fact[string]{numa.ReadAt("efi", `vInfo row 2 "Firmware"`), numa.ReadAt("bios", `vInfo row 3 "Firmware"`), {}} {
		if got := f.VMs[i].Firmware; got != want {
			t.Errorf("%s: %+v, want %+v", f.VMs[i].Name, got, want)
		}
	}
}

// TestProtection reads Fault Tolerance of RVTools; keys and the TPM of exports with the paths of the API.
func TestProtection(t *testing.T) {
	f := mustRead(t, tempFolder(t, vInfoOnly("VM,CPUs,FT State,FT Role", "a,8,notConfigured,", "b,8,running,1", "c,8,needSecondary,2", "d,8,,")))
	for i, want := range []string{"off", "primary", "secondary", ""} {
		if got := f.VMs[i].FaultTolerance.Value; got != want {
			t.Errorf("%s: found Fault Tolerance %q, want %q", f.VMs[i].Name, got, want)
		}
	}
	if v := f.VMs[1]; v.FaultTolerance.Origin.Where != `vInfo row 3 "FT State"` || !v.AllReserved() || f.VMs[0].AllReserved() {
		t.Errorf("found %+v, all reserved %v", v.FaultTolerance, v.AllReserved())
	}
}
