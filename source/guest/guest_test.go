package guest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
)

func readFile(t *testing.T, path ...string) []*View {
	t.Helper()
	name := filepath.Join(path...)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	views, err := Read(filepath.Base(name), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return views
}

// seen is the part of an observation that is compared.
type seen struct {
	form, guest, at string
	vpds, sockets   []int
	vpdCount        int
	socketCount     int
	slices          []numa.Bytes
}

func seenOf(v *View) seen {
	o := v.Observation()
	return seen{v.Form, v.Guest, o.At, o.VPDs.Value, o.Sockets.Value, o.VPDCount.Value, o.SocketCount.Value, o.Slices.Value}
}

func checkSeen(t *testing.T, views []*View, want []seen) {
	t.Helper()
	if len(views) != len(want) {
		t.Errorf("%d outputs, want %d", len(views), len(want))
	}
	for i := range min(len(views), len(want)) {
		if got := seenOf(views[i]); !reflect.DeepEqual(got, want[i]) {
			t.Errorf("output %d:\n got %+v\nwant %+v", i, got, want[i])
		}
	}
}

func checkWarnings(t *testing.T, views []*View, want ...string) {
	t.Helper()
	var got []string
	for _, v := range views {
		for _, w := range v.File().Warnings {
			got = append(got, v.File().At(w.Line, w.Col)+": "+w.Text)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestPasted(t *testing.T) {
	views := readFile(t, "testdata", "pasted.txt")
	checkSeen(t, views, []seen{
		{Lscpu, "db01", "pasted.txt:3", nil, nil, 2, 0, nil},
		{Numactl, "db01", "pasted.txt:22", []int{0, 0, 0, 2, 2}, nil, 4, 0, nil},
		{LscpuColumns, "app07", "pasted.txt:43", nil, nil, 2, 0, nil},
		{LscpuParse, "app07", "pasted.txt:49", nil, nil, 2, 0, nil},
		{Numactl, "app07", "pasted.txt:58", nil, nil, 0, 0, nil},
	})
	checkWarnings(t, views,
		`pasted.txt:41: not understood: "done"`)
	if got := views[0].Hypervisor; got != numa.ReadAt("VMware", "line 15:24") {
		t.Errorf("hypervisor %v", got)
	}
	if got := views[0].Model.Value; got != "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz" {
		t.Errorf("model %q", got)
	}
	if c := views[0].CPUs[5]; c != (CPU{5, -1, -1, -1, -1, true}) {
		t.Errorf("CPU 5: %+v", c)
	}
	if c := views[2].CPUs[2]; c != (CPU{2, 1, 4, 1, 1, false}) {
		t.Errorf("CPU 2: %+v", c)
	}
	if n := views[1].Nodes[1]; n.ID != 2 || n.CPUs != nil || n.Size.Value != 2*numa.GiB || n.Free.Value != 2000*numa.MiB {
		t.Errorf("memory-only node: %+v", n)
	}
	if n := views[1].Nodes[2]; n.ID != 3 || !n.Size.Known() || n.Size.Value != 0 {
		t.Errorf("CPU-only node: %+v", n)
	}
	want := [][]int{{10, 20, 20, 20}, {20, 10, 20, 20}, {20, 21, 10, 20}, {20, 20, 20, 10}}
	if !reflect.DeepEqual(views[1].Distance, want) {
		t.Errorf("distances %v, want %v", views[1].Distance, want)
	}
	if !views[4].NoNUMA {
		t.Error("no NUMA: false")
	}
}

func TestJSON(t *testing.T) {
	views := readFile(t, "testdata", "lscpu-J.txt")
	checkSeen(t, views, []seen{
		{LscpuJSON, "web03", "lscpu-J.txt:2", []int{0, 0, 1, 1}, nil, 2, 2, nil},
		{LscpuRows, "web03", "lscpu-J.txt:16", nil, nil, 2, 0, nil},
	})
	checkWarnings(t, views)
	if got := views[0].Model; got.Value != `AMD EPYC 9354 "Genoa"` {
		t.Errorf("model %v", got)
	}
	if got := views[0].Hypervisor; got != numa.ReadAt("VMware", "line 8:44") {
		t.Errorf("hypervisor %v", got)
	}
	if c := views[1].CPUs[1]; c != (CPU{1, 1, 1, 1, 1, false}) {
		t.Errorf("CPU 1: %+v", c)
	}
}

func TestCoreinfo(t *testing.T) {
	want := []seen{
		{Coreinfo, "sql01", "coreinfo.txt:3", []int{0, 0, 0, 0, 1, 1}, []int{0, 0, 0, 0, 1, 1}, 2, 2, nil},
		{Coreinfo, "sql01", "coreinfo.txt:42", []int{0, 0, 0, 1, 1}, []int{0, 0, 0, 1, 1}, 2, 2, nil},
		{Coreinfo, "sql01", "coreinfo.txt:57", []int{0, 0}, nil, 1, 0, nil},
	}
	views := readFile(t, "testdata", "coreinfo.txt")
	checkSeen(t, views, want)
	checkWarnings(t, views)
	v := views[0]
	if v.Model != numa.ReadAt("Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz", "line 7:1") {
		t.Errorf("model %v", v.Model)
	}
	if cost := [][]float64{{1, 1.7}, {1.9, 1.2}}; !reflect.DeepEqual(v.Cost, cost) {
		t.Errorf("cost %v, want %v", v.Cost, cost)
	}
	if c := v.CPUs[5]; c != (CPU{5, 1, 1, 2, 1, false}) {
		t.Errorf("CPU 5: %+v", c)
	}
	if !slices.Contains(v.File().Facts, fact.Fact{Subject: "guest", Name: "HYPERVISOR", Value: true, Line: 11, Col: 12}) {
		t.Error("the hypervisor bit is not a fact")
	}

	// PowerShell 5 writes UTF-16.
	data, err := os.ReadFile(filepath.Join("testdata", "coreinfo.txt"))
	if err != nil {
		t.Fatal(err)
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(data)
	if err != nil {
		t.Fatal(err)
	}
	if views, err = Read("coreinfo.txt", bytes.NewReader(wide)); err != nil {
		t.Fatal(err)
	}
	checkSeen(t, views, want)
}

// TestGroups reads processor groups as lists, like all other maps.
func TestGroups(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"Logical Processor to Socket Map:\n****  Socket 0\n\nLogical Processor to Group Map:\n****  Group 0\n", "Group 0 0-3"},
		{"Logical Processor to Socket Map:\nSocket 0:\n***\n--\nSocket 1:\n---\n**\n\nLogical Processor to Group Map:\n***  Group 0\n**  Group 1\n", "Group 0 0-2, Group 1 3-4"},
	} {
		views, err := Read("coreinfo.txt", strings.NewReader(tt.in))
		if err != nil {
			t.Fatal(err)
		}
		checkWarnings(t, views)
		var got []string
		for _, f := range views[0].File().Facts {
			if strings.HasPrefix(f.Subject, "Group") {
				got = append(got, f.Subject+" "+f.Value.(string))
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestComments reads outputs whose values are explained behind them.
func TestComments(t *testing.T) {
	views, err := Read("a.txt", strings.NewReader("Architecture: x86_64\nCPU(s):   4   # all\nThread(s) per core: 1\t# one\nCore(s) per socket: 2 # cores\nSocket(s): 2 # sockets\n"+
		"NUMA node(s): 1\nNUMA node0 CPU(s): 0-3  # here\n\navailable: 1 nodes (0) # one\nnode 0 cpus: 0 1 2 3 # cpus\nnode 0 size: 2048 MB # size\nnode 0 free: 1024 MB\n"))
	if err != nil {
		t.Fatal(err)
	}
	checkWarnings(t, views)
	v := views[0]
	if v.CPUCount.Value != 4 || v.ThreadsPerCore.Value != 1 || v.CoresPerSocket.Value != 2 || v.Sockets.Value != 2 || len(v.Nodes[0].CPUs) != 4 || len(views) != 2 || views[1].Nodes[0].Size.Value != 2*numa.GiB {
		t.Errorf("%+v", views)
	}
}

func TestSlices(t *testing.T) {
	views, err := Read("x", strings.NewReader("available: 2 nodes (0-1)\nnode 0 cpus: 0 1\nnode 0 size: 1024 MB\nnode 1 cpus: 2-3\nnode 1 size: 2048 MB\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := views[0].Observation().Slices; !reflect.DeepEqual(got, numa.ReadAt([]numa.Bytes{numa.GiB, 2 * numa.GiB}, "line 3:14")) {
		t.Errorf("slices %v", got)
	}
}

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "x:1: found no text, want the output of lscpu, numactl -H or Coreinfo"},
		{"blank", "\n \n", "x:1: found no text, want the output of lscpu, numactl -H or Coreinfo"},
		{"prompt only", "[root@db01 ~]# lscpu\n", "x:1: found no text, want the output of lscpu, numactl -H or Coreinfo"},
		{"another", "\n  total used\n", `x:2:3: found "total used", want the output of lscpu, numactl -H or Coreinfo`},
		{"long", strings.Repeat("a", 70), `x:1:1: found "` + strings.Repeat("a", 60) + `…", want the output of lscpu, numactl -H or Coreinfo`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read("x", strings.NewReader(tt.in))
			var syntax *numa.SyntaxError
			if !errors.As(err, &syntax) || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"lscpu numbers", "CPU(s): many\nSocket(s): -1\nNUMA node(s): 70000\n", []string{
			`x:1:9: CPUs: found "many", want a number up to 65536`,
			`x:2:12: sockets: found "-1", want a number up to 65536`,
			`x:3:15: NUMA nodes: found "70000", want a number up to 1024`}},
		{"lscpu lists", "On-line CPU(s) list: 0-3\nNUMA node0 CPU(s): 0-1\nNUMA node1 CPU(s): 1,2-x\nNUMA node2 CPU(s): 1,2\nNUMA node9999 CPU(s): 3\n", []string{
			"x:1: 4 CPUs are online but the nodes list 3",
			`x:3:20: CPUs of node 1: found "2-x", want CPU numbers such as 0-3,8`,
			"x:4:20: CPU 1 is in node 0 and in node 2",
			"x:5: node 9999: want a number below 1024"}},
		{"lscpu sums", "CPU(s): 4\nOn-line CPU(s) list: 0-3\nThread(s) per core: 1\nCore(s) per socket: 4\nSocket(s): 2\nNUMA node(s): 2\nNUMA node0 CPU(s): 0-3\n", []string{
			"x:1: 2 NUMA nodes are announced and 1 are listed",
			"x:1: 2 sockets × 4 cores × 1 threads are not the 4 CPUs that are online"}},
		{"columns", "CPU NODE SOCKET\n0 0\n1 0 0\n1 1 1\n2 x 0\n99999999 0 0\n", []string{
			"x:2:1: found 2 values, want 3: CPU NODE SOCKET",
			"x:4:1: CPU 1 is listed twice",
			`x:5:3: node of CPU 2: found "x", want a number up to 1023`,
			`x:6:1: CPU: found "99999999", want a number up to 65536`}},
		{"JSON", "{\n \"lscpu\": [{\"field\": 1}]\n}\n", []string{
			`x:2:12: not JSON as lscpu writes it: found no "field" with a name`}},
		{"other JSON", "{\n \"fio version\": 1\n}\n", []string{`x:1: found neither "lscpu" nor "cpus"`}},
		{"numactl", "available: 2 nodes (0-1)\nnode 0 cpus: 0\nnode 0 size: 12 GB\nnode 1 cpus: 1\nnode distances:\nnode   0   1\n  0:  10  20\n  1:  20\n", []string{
			"x:1: the table of distances has 1 rows and 2 columns for 2 nodes",
			`x:3:14: memory of node 0: found "12 GB", want a size such as 2047 MB`,
			"x:8:3: distances of node 1: found 1 values, want 2 in the order of the columns"}},
		{"numactl nodes", "available: 3 nodes (0-1)\nnode 0 cpus: 0\nnode 1 cpus: 1\nnode   0   1\n  0:  11  20\n  1:  20  999\n", []string{
			"x:1: 3 NUMA nodes are announced and 2 are listed",
			"x:1: the table of distances has 1 rows and 2 columns for 2 nodes",
			`x:6:11: distance: found "999", want a number up to 255`}},
		{"Coreinfo", "Logical Processor to Socket Map:\n**--  Socket 0\n--*  Socket 1\nSocket 2:\n**--\n--**\n\nApproximate Cross-NUMA Node Access Cost (relative to fastest):\n 00 01\n00: 1.0 1.2 1.3\n", []string{
			"x:1: the table of measured costs has 0 rows and 2 columns for 0 nodes",
			"x:2:1: Socket 0 has 1 masks, want one for each of 2 processor groups",
			"x:3:1: Socket 1 has 1 masks, want one for each of 2 processor groups",
			"x:10:1: measured costs of node 00: found 3 values, want 2 in the order of the columns"}},
		{"Coreinfo widths", "Logical Processor to NUMA Node Map:\n**--  NUMA Node 0\n--*  NUMA Node 1\n\nNo NUMA nodes.\nwhat\nis this\n", []string{
			"x:3:1: the mask of NUMA Node 1 has 3 characters, want 4",
			`x:6: not understood: "what"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			views, err := Read("x", strings.NewReader(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			checkWarnings(t, views, tt.want...)
		})
	}
}

func TestCPUList(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []int
		err  string
	}{
		{"", nil, ""},
		{"0-6:2", []int{0, 2, 4, 6}, ""},
		{"0,2,4-7", []int{0, 2, 4, 5, 6, 7}, ""},
		{"0 4  8", []int{0, 4, 8}, ""},
		{"0x1,00000005", []int{0, 2, 32}, ""},
		{"3-1", nil, `found "3-1", want CPU numbers such as 0-3,8`},
		{"0-4:0", nil, `found "0-4:0", want CPU numbers such as 0-3,8`},
		{"0-99999", nil, `found "0-99999", want CPU numbers such as 0-3,8`},
		{"0-65535,0-65535", nil, "found more than 65536 CPUs"},
		{"0xg", nil, `found "0xg", want a hexadecimal mask of CPUs`},
	} {
		got, err := cpuList(tt.in)
		if msg := ""; err != nil && err.Error() != tt.err || err == nil && tt.err != msg || err == nil && !slices.Equal(got, tt.want) {
			t.Errorf("cpuList(%q) = %v, %v; want %v, %s", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		data := golden.Read(f, file)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		views, err := Read("x", bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(views) == 0 {
			t.Fatal("neither outputs nor an error")
		}
		for _, v := range views {
			o := v.Observation()
			nodes := len(v.Nodes)
			for _, n := range o.VPDs.Value {
				if n < 0 || n >= nodes {
					t.Fatalf("CPU in node %d of %d", n, nodes)
				}
			}
			if v.Distance != nil && len(v.Distance) != nodes {
				t.Fatalf("%d rows of distances for %d nodes", len(v.Distance), nodes)
			}
		}
		Detect(data)
	})
}

// TestTranslated: the keys of lscpu in German and French are those in English; of other languages the warning says what to record.
func TestTranslated(t *testing.T) {
	const german = "Architektur:             x86_64\nCPU Operationsmodus:     32-bit, 64-bit\nCPU(s):                  4\nListe der Online-CPU(s): 0-3\nThread(s) pro Kern:      1\n" +
		"Kern(e) pro Socket:      2\nSockel:                  2\nNUMA-Knoten:             2\nNUMA-Knoten0 CPU(s):     0,1\nNUMA-Knoten1 CPU(s):     2,3\nMarkierungen:            fpu\nvme de\n"
	const french = "Architecture\u00a0:                          x86_64\nProcesseur(s) :                         4\nListe de processeur(s) en ligne :       0-3\nThread(s) par cœur :                    1\n" +
		"Cœur(s) par socket :                    2\nSocket(s) :                             2\nNœud(s) NUMA :                          2\nNœud NUMA 0 de processeur(s) :          0,1\nNœud NUMA 1 de processeur(s) :          2,3\n"
	const spanish = "Arquitectura:                        x86_64\nmodo(s) de operación de las CPUs:    32-bit, 64-bit\nCPU(s):                              4\nModo(s) NUMA:                        2\n"
	want := []string{"[0 0 1 1]", "2"}
	for text, warning := range map[string]string{german: "", french: "", spanish: "record LC_ALL=C lscpu", "CPU NODE ONLINE\n0   0    sí\n": "record LC_ALL=C lscpu",
		"CPU SOCKET NODE ONLINE\n0 0 0 ja\n1 0 0 oui\n2 1 1 yes\n3 1 1 Y\n": ""} {
		if _, ok := Detect([]byte(text)); !ok {
			t.Errorf("not found: %s", text)
		}
		views, err := Read("a.txt", strings.NewReader(text))
		if err != nil || len(views) != 1 {
			t.Fatal(views, err)
		}
		o := views[0].Observation()
		if got := []string{fmt.Sprint(o.VPDs.Value), fmt.Sprint(o.SocketCount.Value)}; warning == "" && !slices.Equal(got, want) {
			t.Errorf("found %q, want %q: %s", got, want, text)
		}
		if found := fmt.Sprint(views[0].File().Warnings); (warning == "") != (found == "[]") || !strings.Contains(found, warning) {
			t.Errorf("warnings %s, want %q", found, warning)
		}
	}
}
