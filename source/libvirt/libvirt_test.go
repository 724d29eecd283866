package libvirt

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/definition"
	"example.org/homenode/source/fact"
)

func read(t *testing.T, path string) []fact.Document {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !Detect(b) {
		t.Errorf("%s is not recognised", path)
	}
	docs, err := Read(path, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if w := d.File().Warnings; w != nil {
			t.Errorf("%s: %v", path, w)
		}
	}
	return docs
}

func at[T any](v T, where string) numa.Fact[T] { return numa.ReadAt(v, where) }

func TestHost(t *testing.T) {
	docs := read(t, "testdata/host.xml")
	got := *docs[0].(*Host)
	got.file = nil
	two := func(id, core int) HostCPU { return HostCPU{id, 0, 0, core, []int{core, core + 4}} }
	want := Host{Line: 2, Arch: "x86_64", Model: "EPYC-Milan", Vendor: "AMD", Cells: []HostCell{
		{ID: 0, Memory: at(64*numa.GiB, "line 11:11"), Pages: []numa.Pool{{Size: 4 * numa.KiB, Count: 14680064}, {Size: numa.GiB, Count: 8}}, Distances: map[int]int{0: 10, 2: 12},
			CPUs: []HostCPU{two(0, 0), two(1, 1), two(4, 0), two(5, 1)}},
		{ID: 2, Memory: at(32*numa.GiB, "line 26:11"), Distances: map[int]int{0: 12, 2: 10}},
	}}
	if len(docs) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v\nwant  %+v", got, want)
	}
}

func TestDomain(t *testing.T) {
	docs := read(t, "testdata/domain.xml")
	d := docs[0].(*definition.VM)
	got, place := *d.Stated, func(at string) string { return "testdata/domain.xml:" + at }
	own := []int{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	want := numa.Stated{
		Shape: numa.Shape{Sockets: 2, Dies: 1, Cores: 4, Threads: 1, VCPUs: 6, Memory: 33 * numa.GiB, Page: numa.GiB, Distance: [][]int{{10, 21}, {21, 10}},
			Cells: []numa.Cell{{CPUs: []int{0, 1, 2, 3}, Memory: 16 * numa.GiB, At: place("34:7")}, {CPUs: []int{4, 5, 6, 7}, Memory: 17 * numa.GiB, Added: numa.GiB, At: place("40:7")}}},
		At: place("2:1"), TopologyAt: place("32:5"), CellsAt: place("34:7"), VCPUsAt: place("16"), MemoryAt: place("6"), Running: true, Slots: []int{6, 7},
		CPUs: [][]int{{0, 1, 2, 3}, own, own, own, {8}, own, own, own}, Pins: []numa.Pinned{{VCPU: 0, At: place("18:5")}, {VCPU: 4, At: place("19:5")}},
		Bound:   []numa.Bound{{Mode: "preferred", Nodes: []int{0}, At: place("24:5")}, {Mode: "strict", Nodes: []int{1}, At: place("25:5")}},
		Modules: []numa.Module{{Model: "dimm", Cell: 1, Memory: numa.GiB, Page: numa.GiB, Bound: numa.Bound{Mode: "strict", Nodes: []int{1}, At: place("44:34")}, At: place("44:5")}},
		Taken:   true,
		Helpers: []numa.Helper{{What: "the other threads of QEMU", CPUs: []int{0, 8}, At: place("20:5")}},
		ACPI:    at(true, "line 27:3"),
	}
	if d.Name != "sql01" || d.UUID != "0e7d5e2c-52a5-4e0a-9a11-9a8f6a1c2b3d" || d.Cut || d.Emulated {
		t.Errorf("found %+v", d)
	}
	if len(docs) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v\nwant  %+v", got, want)
	}
	var facts []string
	for _, f := range docs[0].File().Facts {
		facts = append(facts, fmt.Sprintf("%d %s: %s %v %s", f.Line, f.Subject, f.Name, f.Value, f.Unit))
	}
	for _, want := range []string{"16 VM sql01: host CPUs 0-2, 4-15 ", "24 VM sql01: cell 0 memory from host nodes 0 ", "34 VM sql01: cell 0 memory 16777216 KiB", "27 VM sql01: ACPI true "} {
		if !slices.Contains(facts, want) {
			t.Errorf("no fact %q in %q", want, facts)
		}
	}
}

// TestParts reads what people paste.
func TestParts(t *testing.T) {
	const loose = "...\n<vcpu placement='auto'>4</vcpu>\n...\n<cpu>\n <numa>\n  <cell cpus='0-1' memory='512' unit='MiB'/>\n  <cell cpus='2-3' memory='512' unit='MiB'/>\n </numa>\n</cpu>\n"
	docs, err := Read("x", strings.NewReader(loose))
	if err != nil || len(docs) != 1 {
		t.Fatal(docs, err)
	}
	d := docs[0].(*definition.VM).Stated
	if d.VCPUs != 4 || !d.Auto || len(d.Cells) != 2 || d.Cells[1].Memory != 512*numa.MiB || d.ACPI.Known() {
		t.Errorf("found %+v", d)
	}
	both := "<domain type='kvm'><name>a</name></domain>\n<domain type='kvm'><name>b</name></domain>\n<capabilities><host/></capabilities>"
	if docs, err = Read("x", strings.NewReader(both)); err != nil || len(docs) != 3 {
		t.Errorf("%d documents, %v", len(docs), err)
	}
	for wrapped, want := range map[string]int{
		"<domains><domain type='kvm'><name>a</name></domain><domain type='kvm'><name>b</name></domain></domains>":          2,
		"<domainsnapshot><name>s</name><memory snapshot='no'/><domain type='kvm'><name>a</name></domain></domainsnapshot>": 1,
		"<domaincheckpoint>\n<name>c</name><domain><name>a</name><vcpu>2</vcpu></domain></domaincheckpoint>":               1,
	} {
		if docs, err = Read("x", strings.NewReader(wrapped)); err != nil || len(docs) != want || !Detect([]byte(wrapped)) {
			t.Errorf("%s: %d documents, %v, detected %v; want %d", wrapped, len(docs), err, Detect([]byte(wrapped)), want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "x: found no <domain> and no <capabilities> with a <host>"},
		{"<capabilities/>", "x: found no <domain> and no <capabilities> with a <host>"},
		{"<domain>\n <vcpu>2</vcpus>\n</domain>", "x:2:9: found </vcpus>, want </vcpu> of line 2"},
		{"</domain>", "x:1:1: found </domain>, which nothing begins"},
		{"<domain type='kvm'>\n <cpu>\n", "x:3:1: found the end of the file inside <cpu> of line 2"},
		{"<domain>\n <vcpu", "x:2: unexpected EOF"},
		{"<?xml version='1.0' encoding='latin1'?><domain/>", "x:1:40: xml: opening charset \"latin1\": found the encoding latin1, want UTF-8: iconv -f latin1 -t UTF-8 converts it"},
		{"\xff\xfe<\x00d\x00", "x:1:1: found UTF-16, want UTF-8: iconv -f UTF-16 -t UTF-8 converts it"},
		{strings.Repeat("<a>", 101), "x:1:301: found elements 100 deep"},
	} {
		if _, err := Read("x", strings.NewReader(tt.in)); err == nil || err.Error() != tt.want {
			t.Errorf("%q: found %v, want %s", tt.in, err, tt.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"<domain>\n <vcpu>many</vcpu></domain>", `2:2 vcpu: found "many", want a number below 4097`},
		{"<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>\n<domain><name>&x;</name></domain>", "2:9 name: found the entity &x;, which stays as it is: no entities are read"},
		{"<domain><memory unit='pages'>1</memory><vcpu>0</vcpu></domain>", `1:9 memory: found the unit "pages", want bytes, KiB, MiB, GiB or TiB`},
		{"<domain><memory>-4</memory><vcpu>0</vcpu></domain>", `1:9 memory: found "-4", want a number of `},
		{"<domain><memory unit='TiB'>9999999999</memory></domain>", `1:9 memory: found "9999999999", want a number of TiB`},
		{"<capabilities><host><topology><cells><cell id='0'><cpus num='2'><cpu id='0'/></cpus></cell></cells></topology></host></capabilities>", "1:51 node 0: found 1 CPUs, the file says 2"},
		{"<capabilities><host><topology><cells><cell id='0'/><cell id='0'/></cells></topology></host></capabilities>", "1:52 node 0 is there twice: the first counts"},
	} {
		docs, err := Read("x", strings.NewReader(tt.in))
		if err != nil || len(docs) != 1 || len(docs[0].File().Warnings) != 1 {
			t.Errorf("%q: %v, %v", tt.in, docs, err)
			continue
		}
		w := docs[0].File().Warnings[0]
		if got := fmt.Sprintf("%d:%d %s", w.Line, w.Col, w.Text); got != tt.want {
			t.Errorf("%q:\nfound %s\nwant  %s", tt.in, got, tt.want)
		}
	}
}

// TestSamples reads public files beside the checkout; they are not part of the project.
func TestSamples(t *testing.T) {
	root := "../../../shared/samples/kvm"
	if _, err := os.Stat(root); err != nil {
		t.Skip("no samples beside the checkout")
	}
	for _, tt := range []struct{ file, want string }{
		{"capabilities/suse_virt-tuner_cascadelake_2cells_96cpu.xml", "2 nodes [0 1], 96 CPUs, [31.1 GB 31.5 GB]"},
		{"capabilities/vdsm_power8_le_cells_0_1_16_17_distances.xml", "4 nodes [0 1 16 17], 20 CPUs, [64 GB 64 GB 64 GB 64 GB]"},
		{"capabilities/libvirt_hmat_memory_only_cell.xml", "2 nodes [0 1], 24 CPUs, [1 GB 2 GB]"},
		{"capabilities/vdsm_amd_6274_4cells.xml", "4 nodes [0 1 2 3], 32 CPUs, [0 B 0 B 0 B 0 B]"},
		{"libvirt-domain/vmitosis_192vcpu_4cells_interleaved_cpus.xml", "mirage: 192 vCPUs, 4 cells, 192 pins"},
		{"libvirt-domain/xseed_ubuntu.xml", "ubuntu18.04: 11 vCPUs, 1 cells, 9 pins"},
		{"libvirt-domain/openeuler_guest_numa_fragment_with_ellipsis.xml", ": 4 vCPUs, 2 cells, 4 pins"},
		{"libvirt-domain/hwloc_issue712_fragment_128vcpu_cut.xml", ": 128 vCPUs, 2 cells, 24 pins"},
		{"openstack/nova_doc_instance-00000003_2cells_dumpxml_elided.txt", ": 4 vCPUs, 2 cells, 4 pins"},
		{"openstack/hotsos_instance-00000001_domstatus.xml", "instance-00000001: 1 vCPUs, 1 cells, 0 pins"},
	} {
		b, err := os.ReadFile(filepath.Join(root, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		docs, err := Read(tt.file, bytes.NewReader(b))
		if cut := strings.Contains(tt.file, "cut"); len(docs) != 1 || (err != nil) != cut || !Detect(b) {
			t.Errorf("%s: %d documents, %v", tt.file, len(docs), err)
			continue
		}
		got := ""
		switch d := docs[0].(type) {
		case *Host:
			var ids, memory []string
			cpus := 0
			for _, c := range d.Cells {
				ids, memory, cpus = append(ids, fmt.Sprint(c.ID)), append(memory, c.Memory.Value.String()), cpus+len(c.CPUs)
			}
			got = fmt.Sprintf("%d nodes %v, %d CPUs, %v", len(d.Cells), ids, cpus, memory)
		case *definition.VM:
			got = fmt.Sprintf("%s: %d vCPUs, %d cells, %d pins", d.Name, d.Stated.VCPUs, len(d.Stated.Cells), len(d.Stated.Pins))
		}
		if got != tt.want {
			t.Errorf("%s: found %s, want %s", tt.file, got, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range []string{"testdata/host.xml", "testdata/domain.xml"} {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("<vcpu cpuset='0-9,^3-4'>4</vcpu><numa><cell cpus='0,,1' memory='1' unit='b'/>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		Detect(data)
		docs, err := Read("x", bytes.NewReader(data))
		if len(docs) == 0 && err == nil {
			t.Fatal("neither documents nor an error")
		}
		for _, d := range docs {
			for _, fact := range d.File().Facts {
				if fact.Line < 1 || fact.Name == "" {
					t.Fatalf("a fact without a place or name: %+v", fact)
				}
			}
			if d, ok := d.(*definition.VM); ok && d.Stated != nil {
				for _, c := range d.Stated.Cells {
					if !slices.IsSorted(c.CPUs) || c.Memory < 0 {
						t.Fatalf("cell %+v", c)
					}
				}
			}
		}
	})
}
