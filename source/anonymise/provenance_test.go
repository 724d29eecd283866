package anonymise

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/kvm"
	"example.org/homenode/source/tables"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// export is an RVTools export whose names are no words of homenode, with what brings
// notes: a stranger in vCPU, a host that vHost lacks, a placeholder, bad cells.
var export = map[string]string{
	"vInfo": `VM,Powerstate,Template,SRM Placeholder,CPUs,Memory,Latency Sensitivity,HW version,Annotation,Folder,Datacenter,Cluster,Host,VM ID,VM UUID
qadb71,poweredOn,False,False,24,262144,normal,19,"for Zwingli",/Quaestor/Rentamt,Oerlikon,Gruppe-Blau,wirt71.intra.acme.example,vm-9101,4233aaf0-1b2c-3d4e-5f60-718293a4b501
Quaestor Web,poweredOn,False,False,4,8192,normal,Unknown,,/Quaestor,Oerlikon,Gruppe-Blau,wirt72.intra.acme.example,vm-9102,4233aaf0-1b2c-3d4e-5f60-718293a4b502
einsam,poweredOn,False,False,8,8192,normal,19,,/Quaestor,Oerlikon,Gruppe-Blau,wirt79.intra.acme.example,vm-9103,4233aaf0-1b2c-3d4e-5f60-718293a4b503
qadb71-kopie,poweredOff,False,True,8,8192,normal,19,,/Quaestor,Oerlikon,Gruppe-Blau,wirt71.intra.acme.example,vm-9104,4233aaf0-1b2c-3d4e-5f60-718293a4b504
`,
	"vCPU": `VM,CPUs,Sockets,Cores p/s,Hot Add,VM ID
qadb71,24,2,12,True,vm-9101
Quaestor Web,4,4,Memory,False,vm-9102
fremdling,2,2,1,False,vm-9109
`,
	"vMemory": `VM,Size MiB,Hot Add,Reservation,Memory Reservation Locked To Max,VM ID
qadb71,262144,False,262144,True,vm-9101
`,
	"vHost": `Host,Datacenter,Cluster,HT Active,# CPU,Cores per CPU,# Cores,# Memory,ESX Version,CPU Model,Object ID
wirt71.intra.acme.example,Oerlikon,Gruppe-Blau,True,2,20,40,785408,VMware ESXi 7.0.3 build-21930508,Intel(R) Xeon(R) Gold 6230,host-9001
wirt72.intra.acme.example,Oerlikon,Gruppe-Blau,True,2,20,Rentamt,785408,VMware ESXi 7.0.3 build-21930508,Intel(R) Xeon(R) Gold 6230,host-9002
`,
}

func exportFleet(t *testing.T) *numa.Fleet {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "Acme-Bestand")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for sheet, text := range export {
		golden.Write(t, filepath.Join(dir, "RVTools_tab"+sheet+".csv"), []byte(text))
	}
	fleet, err := tables.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fleet
}

// vcenterFleet is the demo fleet as a vCenter tells it.
func vcenterFleet(t *testing.T) *numa.Fleet {
	t.Helper()
	fleet, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(fleet)
	if err != nil {
		t.Fatal(err)
	}
	defer vc.Close()
	got, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// kvmFleet is a VM of KVM whose definition states where everything is.
func kvmFleet(t *testing.T) *numa.Fleet {
	t.Helper()
	fleet, err := kvm.ReadFS("Rentamt", fstest.MapFS{"wirt81/domains/qadb91.xml": {Data: []byte("<domain type='kvm' id='1'>\n<name>qadb91</name><memory unit='GiB'>8</memory><vcpu>4</vcpu>" +
		"<cputune><vcpupin vcpu='0' cpuset='0-1'/><emulatorpin cpuset='2'/><iothreadpin iothread='1' cpuset='3'/></cputune>" +
		"<numatune><memory mode='strict' nodeset='0'/></numatune><cpu><numa><cell id='0' cpus='0-3' memory='8' unit='GiB'/></numa></cpu></domain>")}})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := Fleet(fleet, nil)
	s, before := out.VMs[0].Stated, fleet.VMs[0].Stated
	if s == before || s.Bound[0].Mode != "strict" || len(s.Helpers) != 2 || s.Helpers[1].What != before.Helpers[1].What || !strings.HasSuffix(s.CellsAt, ":2:244") || out.Hypervisor != numa.KVM {
		t.Errorf("%+v became %+v", before, s)
	}
	return fleet
}

// TestNoNameLeaks looks for each name of whole fleets in all bytes of the result, beside
// what the key lists.
func TestNoNameLeaks(t *testing.T) {
	for name, fleet := range map[string]*numa.Fleet{"export": exportFleet(t), "vcenter": vcenterFleet(t), "kvm": kvmFleet(t)} {
		var secrets []string
		for _, c := range fleet.Clusters {
			secrets = append(secrets, c.Name, c.ID)
		}
		for i := range fleet.Hosts {
			short, domain, _ := strings.Cut(fleet.Hosts[i].Name, ".")
			secrets = append(secrets, short, domain, fleet.Hosts[i].ID)
		}
		for i := range fleet.VMs {
			v := &fleet.VMs[i]
			secrets = append(append(secrets, v.Name, v.ID, v.UUID), strings.Split(v.Folder, "/")...)
			secrets = append(secrets, v.Tags...)
		}
		if name == "export" {
			secrets = append(secrets, "acme", "intra", "wirt79", "fremdling", "kopie", "rentamt", "oerlikon", "bestand", "zwingli", "quaestor")
		}
		out, key := Fleet(fleet, nil)
		secrets = append(secrets, key.Names()...)
		after := bytes.ToLower(written(t, out))
		slices.Sort(secrets)
		for _, s := range slices.Compact(secrets) {
			if s = strings.ToLower(s); len(s) < 4 || ownWord[s] {
				continue
			}
			if i := standing(after, s); i >= 0 {
				t.Errorf("%s: %q is in …%s…", name, s, after[max(i-60, 0):min(i+60, len(after))])
			}
		}
	}
}

// ownWord are cells of the export that homenode quotes and that are its own words too:
// they stay outside of quotes. The demo has a cluster that is called as its processors,
// whose model stays.
var ownWord = map[string]bool{"unknown": true, "memory": true, "epyc": true, "product": true}

// standing returns where word stands in b by itself, or -1.
func standing(b []byte, word string) int {
	for from := 0; ; {
		i := bytes.Index(b[from:], []byte(word))
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRune(b[:i])
		after, _ := utf8.DecodeRune(b[i+len(word):])
		if !isWord(before) && !isWord(after) {
			return i
		}
		from = i + 1
	}
}

// TestProvenanceStays: the receiver can read where each fact comes from, and why some are
// missing.
func TestProvenanceStays(t *testing.T) {
	for name, fleet := range map[string]*numa.Fleet{"export": exportFleet(t), "vcenter": vcenterFleet(t)} {
		out, _ := Fleet(fleet, nil)
		for i := range fleet.VMs {
			a, b := &fleet.VMs[i].Config, &out.VMs[i].Config
			for _, o := range [][2]numa.Origin{{a.VCPUs.Origin, b.VCPUs.Origin}, {a.CoresPerSocket.Origin, b.CoresPerSocket.Origin}, {a.Memory.Origin, b.Memory.Origin},
				{a.CPUHotAdd.Origin, b.CPUHotAdd.Origin}, {a.MemoryReservationLocked.Origin, b.MemoryReservationLocked.Origin}, {a.Settings.Origin, b.Settings.Origin}} {
				if o[0] != o[1] {
					t.Errorf("%s: %v became %v", name, o[0], o[1])
				}
			}
		}
		for i := range fleet.Hosts {
			a, b := &fleet.Hosts[i], &out.Hosts[i]
			for _, o := range [][2]numa.Origin{{a.Cores.Origin, b.Cores.Origin}, {a.CPUModel.Origin, b.CPUModel.Origin}, {a.Memory.Origin, b.Memory.Origin}, {a.Nodes.Origin, b.Nodes.Origin}} {
				if o[0] != o[1] {
					t.Errorf("%s: %v became %v", name, o[0], o[1])
				}
			}
		}
	}
	out, key := Fleet(exportFleet(t), nil)
	var notes []string
	for _, n := range out.Notes {
		_, place, _ := strings.Cut(n.At, ": ")
		notes = append(notes, place+": "+key.form.ReplaceAllString(n.Text, "*"))
	}
	all := strings.Join(notes, "\n")
	for _, want := range []string{
		`sheet vHost, row 3, column "# Cores": found "*", want a number: ignored for host *.*`,
		`sheet vCPU, row 3, column "Cores p/s": found "*", want a number: ignored for VM *`,
		`sheet vCPU: 1 row is about a VM that vInfo does not list: left out (first: "*")`,
		`sheet vHost: the hosts of 1 VM are named, but without a row in vHost (first: "* on *.*")`,
		`sheet vMemory: 2 VMs have no row: unknown: memory reservation locked to maximum, memory reservation, memory limit, memory hot add (first: "*")`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("found no note %s in\n%s", want, all)
		}
	}
}

// TestOwnWordsGiveWay: a name of the fleet is replaced also where it looks like a column
// or property.
func TestOwnWordsGiveWay(t *testing.T) {
	fleet := &numa.Fleet{VMs: []numa.VM{{ID: "1", Name: `column "geheim"`}, {ID: "2", Name: "config.version.geheim"}},
		Notes: []numa.Note{{Text: `VM column "geheim": left out; VM config.version.geheim: left out; found "geheim" in column "CPUs"`}}}
	out, _ := Fleet(fleet, nil)
	if got := string(written(t, out)); strings.Contains(got, "geheim") || !strings.Contains(got, `column \"CPUs\"`) {
		t.Error(got)
	}
}
