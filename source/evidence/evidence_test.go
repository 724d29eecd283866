package evidence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

const fleet = `release 7.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=1024GB
vm db01 vcpus=12 memory=32GB
vm db01-test vcpus=4
vm web vcpus=2
vm vmware vcpus=2
vm rv01 vcpus=12 memory=32GB coresPerSocket=? hotAdd=? hw=? settings=?
cluster other
host esx11 nodes=2 cores=18 memory=1024GB
`

func lscpu(prompt string) string {
	return prompt + "Architecture: x86_64\nCPU(s): 2\nOn-line CPU(s) list: 0-1\nHypervisor vendor: VMware\nSocket(s): 1\nNUMA node(s): 1\nNUMA node0 CPU(s): 0-1\n"
}

const screen = ` 2:06:59pm up 3 days  5:58, 806 worlds, 2 VMs, 14 vCPUs; MEM overcommit avg: 0.00, 0.00, 0.00
PMEM  /MB: 130961   total: 3060     vmk,9120 other, 118780 free
NUMA  /MB: 65423 (54748), 65536 (63647)

     GID NAME                NHN NMIG     NRMEM     NLMEM N%L
    2001 db01                0,1    0      0.00   5566.75 100
    2002 web                   1    0      0.00   1024.00 100

`

const clients = `groupName       groupID     clientID    homeNode    affinity    nWorlds     vmmWorlds   localMem    remoteMem   currLocal   cummLocal
vm.100          2001        0           0           3           6           6           26624       0           100         100
vm.100          2001        1           1           3           6           6           26624       0           100         100
vm.300          2009        0           1           3           4           4           26624       0           100         100
`

const log = `2026-03-01T08:00:01.000Z In(05) vmx Log for VMware ESX pid=1 version=7.0.3 build=build-21930508 option=Release
2026-03-01T08:00:02.000Z In(05) vmx DICT               displayName = "%s"
2026-03-01T08:00:02.000Z In(05) vmx DICT                  numvcpus = "12"
2026-03-01T08:00:02.000Z In(05) vmx DICT      cpuid.coresPerSocket = "2"
2026-03-01T08:00:02.000Z In(05) vmx DICT         virtualHW.version = "19"
2026-03-01T08:00:02.000Z In(05) vmx DICT       numa.vcpu.preferHT = "TRUE"
2026-03-01T08:00:03.000Z In(05) vmx numaHost: 12 VCPUs 1 VPDs 1 PPDs
`

// TestJoin joins pieces to a fleet and prints what the VMs got, and the notes.
func TestJoin(t *testing.T) {
	for _, tt := range []struct {
		name, file, vm, text string
		joined               int
		want                 []string
	}{
		{"a guest that the prompt names", "a.txt", "", lscpu("[root@web ~]# lscpu\n"), 1, []string{"web: lscpu"}},
		{"a guest's full name", "a.txt", "", lscpu("[root@web.example.org ~]# lscpu\n"), 1, []string{"web: lscpu"}},
		{"in the name of the file", "/tmp/lscpu_web.2026.txt", "", lscpu(""), 1, []string{"web: lscpu"}},
		{"the longest name counts", "db01-test.txt", "", lscpu(""), 1, []string{"db01-test: lscpu"}},
		{"part of a word is no name", "webserver.txt", "", lscpu(""), 0, []string{
			"note webserver.txt:1: lscpu names no VM: say whose it is with --evidence NAME=FILE"}},
		{"the user says whose", "web.txt", "db01", lscpu("[root@web ~]# lscpu\n"), 1, []string{"db01: lscpu"}},
		{"a stranger", "a.txt", "", lscpu("[root@mail ~]# lscpu\n"), 0, []string{
			`note a.txt:2: lscpu of "mail": no VM of the fleet has this name; known: db01, db01-test, rv01, vmware, web; say whose it is with --evidence NAME=FILE`}},
		{"a guest of another hypervisor", "web.txt", "", strings.Replace(lscpu(""), "VMware", "KVM", 1), 0, []string{
			"note web.txt:1: lscpu names KVM as the hypervisor: this is no guest of vSphere"}},
		{"the scheduler, named by a screen", "esx.txt", "", screen + clients, 2, []string{"db01: sched-stats", "db01: esxtop", "web: esxtop",
			"note esx.txt:9: sched-stats -t numa-clients names no VM: vm.300; add the esxtop memory screen of the same host, which shows the name for each GID"}},
		{"the scheduler alone", "esx.txt", "", clients, 0, []string{
			"note esx.txt:1: sched-stats -t numa-clients names no VM: vm.100, vm.300; add the esxtop memory screen of the same host, which shows the name for each GID"}},
		{"one group, whose the user says", "esx.txt", "web", clients[:strings.Index(clients, "vm.300")], 1, []string{"web: sched-stats"}},
		{"groups of two hosts, whose the user says", "esx.txt", "web", "[root@esx01:~] sched-stats -t numa-clients\n" + clients[:strings.Index(clients, "vm.300")] +
			"[root@esx11:~] sched-stats -t numa-clients\n" + clients[:strings.Index(clients, "vm.100")] + clients[strings.Index(clients, "vm.300"):], 0, []string{
			"note esx.txt:2: sched-stats -t numa-clients names no VM: vm.100; add the esxtop memory screen of the same host, which shows the name for each GID",
			"note esx.txt:6: sched-stats -t numa-clients names no VM: vm.300; add the esxtop memory screen of the same host, which shows the name for each GID"}},
		{"a host command", "esx.txt", "", "[root@esx01:~] esxcli hardware cpu global get\n   CPU Packages: 2\n   CPU Cores: 36\n   CPU Threads: 72\n   Hyperthreading Active: true\n", 1, nil},
		{"a stranger's host command", "esx.txt", "", "[root@esx77:~] esxcli hardware cpu global get\n   CPU Packages: 2\n   CPU Cores: 36\n   CPU Threads: 72\n", 0, []string{
			"note esx.txt:2: esxcli hardware cpu global get: host esx77 is not in the fleet"}},
		{"a benchmark", "pt.txt", "", "Intel(R) Memory Latency Checker - v3.9a\nMeasuring idle latencies (in ns)...\n\t\tNuma node\nNuma node\t     0\t\n       0\t  78.5\t\n", 0, []string{
			"note pt.txt: Intel MLC says nothing about a VM or host"}},
		{"the host name of a clone", "db01.txt", "", lscpu("[root@web ~]# lscpu\n"), 0, []string{
			`note db01.txt:2: lscpu of "web" by its content and of "db01" by the name of the file: say whose it is with --evidence NAME=FILE`}},
		{"a file of a folder or archive", "web.zip/guests/lscpu_db01.txt", "", lscpu(""), 1, []string{"db01: lscpu"}},
		{"a folder of the VM's name", "guests/db01/lscpu.txt", "", lscpu(""), 1, []string{"db01: lscpu"}},
		{"several guests, one is meant", "a.txt", "db01", lscpu("[root@web ~]# lscpu\n") + lscpu("[root@db01 ~]# lscpu\n"), 1, []string{"db01: lscpu",
			`note a.txt:2: lscpu of "web": the file shows several guests, and "web" is not db01`}},
		{"a log of a stranger in the folder of a VM", "db01/vmware.log", "", fmt.Sprintf(log, "mail"), 0, []string{
			`note db01/vmware.log: vmware.log of "mail": no VM of the fleet has this name; known: db01, db01-test, rv01, vmware, web; say whose it is with --evidence NAME=FILE`}},
		{"a VM that the fleet has not", "a.txt", "db1", lscpu(""), 0, []string{
			`note a.txt:1: lscpu of "db1", as --evidence says: no VM of the fleet has this name; alike: db01, db01-test`}},
		{"a guest that the fleet has not", "a.txt", "", lscpu("[root@db02 ~]# lscpu\n"), 0, []string{
			`note a.txt:2: lscpu of "db02": no VM of the fleet has this name; alike: db01, db01-test; say whose it is with --evidence NAME=FILE`}},
		{"a log without a name in the folder of a VM", "db01/vmware-2.log", "", strings.Replace(fmt.Sprintf(log, ""), "displayName", "other", 1), 1, []string{"db01: vmware.log"}},
		{"a VM that is called as every log", "vmware.log", "", strings.Replace(fmt.Sprintf(log, ""), "displayName", "other", 1), 0, []string{
			"note vmware.log: vmware.log names no VM: say whose it is with --evidence NAME=FILE"}},
		{"groups of two hosts have one number", "esx.txt", "", "[root@esx01:~] esxtop\n" + screen + "[root@esx11:~] sched-stats -t numa-clients\n" + clients, 1, []string{"db01: esxtop", "web: esxtop",
			"note esx.txt:11: sched-stats -t numa-clients names no VM: vm.100, vm.300; add the esxtop memory screen of the same host, which shows the name for each GID"}},
		{"a log", "vmware.log", "", fmt.Sprintf(log, "db01"), 1, []string{"db01: vmware.log"}},
		{"what the inventory lacks", "vmware.log", "", fmt.Sprintf(log, "rv01"), 1, []string{"rv01: vmware.log",
			"note fleet:8: VM rv01: taken from vmware.log, for the inventory does not state it: cores per socket, hardware version, advanced settings"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := scenario.Read("fleet", []byte(fleet))
			if err != nil {
				t.Fatal(err)
			}
			docs, err := evidence.Documents(tt.file, strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			sum := evidence.Join(f, []evidence.Piece{{Name: tt.file, VM: tt.vm, Docs: docs}})
			var got []string
			for _, v := range f.VMs {
				for _, o := range v.Observed {
					got = append(got, fmt.Sprintf("%s: %s", v.Name, o.By))
				}
			}
			for _, n := range f.Notes {
				got = append(got, "note "+n.String())
			}
			if !slices.Equal(got, tt.want) || sum.Joined != tt.joined || sum.Joined+sum.Unjoined != len(docs) {
				t.Errorf("%+v\n%s\nwant\n%s", sum, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestJoinOrder keeps observations oldest first; what has no time is newest.
func TestJoinOrder(t *testing.T) {
	f := given.Fleet(t, "fleet", []byte(fleet+"seen db01 by=vmware.log time=2026-05-01T00:00:00Z nodes=12\n"))
	var pieces []evidence.Piece
	for _, p := range []struct{ file, text string }{{"db01.txt", lscpu("")}, {"vmware.log", fmt.Sprintf(log, "db01")}} {
		docs, err := evidence.Documents(p.file, strings.NewReader(p.text))
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, evidence.Piece{Name: p.file, Docs: docs})
	}
	evidence.Join(f, pieces)
	var got []string
	for _, o := range f.FindVMs("db01")[0].Observed {
		got = append(got, string(o.By)+" "+o.Time)
	}
	want := []string{"vmware.log 2026-03-01T08:00:01.000Z", "vmware.log 2026-05-01T00:00:00Z", "lscpu "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestJoinUUID finds a VM by its UUID, however it is written.
func TestJoinUUID(t *testing.T) {
	f := &numa.Fleet{VMs: []numa.VM{{ID: "a", Name: "same", UUID: "564d1234-0000-1111-2222-333344445555"}, {ID: "b", Name: "same"}}}
	docs, err := evidence.Documents("x.vmx", strings.NewReader(".encoding = \"UTF-8\"\ndisplayName = \"same\"\nnumvcpus = \"4\"\nuuid.bios = \"56 4d 12 34 00 00 11 11-22 22 33 33 44 44 55 55\"\nvcpu.hotadd = \"TRUE\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	sum := evidence.Join(f, []evidence.Piece{{Name: "x.vmx", Docs: docs}})
	if v := &f.VMs[0]; sum.Joined != 1 || !v.CPUHotAdd.Value || v.CPUHotAdd.Origin.Where != "x.vmx, line 5" {
		t.Errorf("%+v, %+v, notes %v", sum, v.CPUHotAdd, f.Notes)
	}
}

// TestJoinNewest takes settings that the inventory lacks from the newest file, and
// orders observations by time, in whatever zone it is written.
func TestJoinNewest(t *testing.T) {
	const at = "2026-03-01T08:00:0"
	old, zone := strings.ReplaceAll(fmt.Sprintf(log, "rv01"), at, "2020-03-01T08:00:0"), strings.NewReplacer(at, "2026-03-01T09:30:0", "Z In", "+05:00 In").Replace(fmt.Sprintf(log, "rv01"))
	now := strings.NewReplacer("preferHT", "min", `"TRUE"`, `"6"`).Replace(fmt.Sprintf(log, "rv01"))
	for _, tt := range []struct {
		name  string
		files []string
		want  string
	}{
		{"the older first", []string{old, now}, "numa.vcpu.min=6"},
		{"the newer first", []string{now, old}, "numa.vcpu.min=6"},
		{"another zone", []string{now, zone}, "numa.vcpu.min=6"},
		{"the .vmx", []string{now, ".encoding = \"UTF-8\"\nconfig.version = \"8\"\ndisplayName = \"rv01\"\nnumvcpus = \"12\"\nnuma.vcpu.min = \"4\"\n"}, "numa.vcpu.min=4"},
	} {
		f := given.Fleet(t, "fleet", []byte(fleet))
		p := evidence.Piece{Name: "folder"}
		for i, text := range tt.files {
			docs, err := evidence.Documents(fmt.Sprintf("%d.txt", i), strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			p.Docs = append(p.Docs, docs...)
		}
		evidence.Join(f, []evidence.Piece{p})
		v := f.FindVMs("rv01")[0]
		var got []string
		for _, s := range v.Settings.Value {
			got = append(got, s.Key+"="+s.Value)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %s", tt.name, got, tt.want)
		}
		if last := v.Observed[len(v.Observed)-1].Time; last != "2026-03-01T08:00:01.000Z" {
			t.Errorf("%s: the last is of %s", tt.name, last)
		}
	}
}

// TestJoinCopies leaves a UUID that several VMs have to their names.
func TestJoinCopies(t *testing.T) {
	const uuid = "564d1234-0000-1111-2222-333344445555"
	f := &numa.Fleet{VMs: []numa.VM{{ID: "a", Name: "one", UUID: uuid}, {ID: "b", Name: "two", UUID: uuid}}}
	docs, err := evidence.Documents("x.vmx", strings.NewReader(".encoding = \"UTF-8\"\ndisplayName = \"two\"\nnumvcpus = \"4\"\nuuid.bios = \"56 4d 12 34 00 00 11 11-22 22 33 33 44 44 55 55\"\nvcpu.hotadd = \"TRUE\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	evidence.Join(f, []evidence.Piece{{Name: "x.vmx", Docs: docs}})
	if f.VMs[0].CPUHotAdd.Known() || !f.VMs[1].CPUHotAdd.Value {
		t.Errorf("%+v, %+v, notes %v", f.VMs[0].CPUHotAdd, f.VMs[1].CPUHotAdd, f.Notes)
	}
}

// TestNoHome reads a screen on which a VM has no home node, and the free memory of the nodes; groups of the kernel have none either, and are no VMs.
func TestNoHome(t *testing.T) {
	f, err := scenario.Read("fleet", []byte("release 8.0U3\nhost esx01 nodes=2 cores=16 memory=512GB\nvm app host=esx01 vcpus=8 memory=64GB\nvm web host=esx01 vcpus=8 memory=64GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := evidence.Documents("esx.txt", strings.NewReader(" 2:14:22pm up 14 days,  3:52, 812 worlds, 2 VMs, 16 vCPUs; MEM overcommit avg: 0.00, 0.00, 0.00\n"+
		"NUMA  /MB: 262144 (2100), 262144 (116800)\n\n"+
		"      GID NAME            NHN NMIG NRMEM NLMEM N%L\n"+
		"   100101 app               -    -     -     -   -\n"+
		"   100102 web               0    0  0.00 100.0 100\n"+
		"      900 hostd.123         -    -     -     -   -\n"))
	if err != nil {
		t.Fatal(err)
	}
	evidence.Join(f, []evidence.Piece{{Name: "esx.txt", Docs: docs}})
	app, web := f.VMs[0].Observed, f.VMs[1].Observed
	if len(app) != 1 || !app[0].NoHome() || len(web) != 1 || web[0].NoHome() || web[0].Free.Value[0] != 2100*numa.MiB || f.Notes != nil {
		t.Errorf("app %+v, web %+v, notes %v", app, web, f.Notes)
	}
}
