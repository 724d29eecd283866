package target

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"homenode/change/move"
	"homenode/internal/golden"
	"homenode/numa"
	"homenode/source/definition"

	"golang.org/x/tools/txtar"
)

// patching returns a move of 24 vCPUs in two nodes, on nodes 0 and 1 of a host of 32 cores.
func patching() *move.Move {
	s := &move.Shape{Sockets: 2, Dies: 1, Cores: 12, Threads: 1, VCPUs: 24, Memory: 192 * numa.GiB, Cells: []move.Cell{{CPUs: definition.UpTo(12), Memory: 96 * numa.GiB}, {CPUs: definition.UpTo(24)[12:], Memory: 96 * numa.GiB}}}
	return &move.Move{Title: "sql01", ID: "sql01", Name: "sql01", To: "libvirt", Platform: move.PlatformOf("libvirt"), Shape: s,
		At: &move.Placement{Host: "kvm01", Nodes: []int{0, 1}, CPUs: map[int][]int{0: definition.UpTo(16), 1: definition.UpTo(32)[16:]}}}
}

// pinned has a CPU for each vCPU, and huge pages.
func pinned() *move.Move {
	m := patching()
	m.Exclusive, m.Strict, m.Shape.Page = true, true, numa.GiB
	return m
}

// TestPatch compares what becomes of domains that other tools wrote, and what is said of it, with what a person has read.
func TestPatch(t *testing.T) {
	files, err := filepath.Glob("testdata/patch/*.xml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar := &txtar.Archive{}
			for _, one := range []struct {
				name string
				m    *move.Move
			}{{"shared", patching()}, {"exclusive", pinned()}} {
				p, err := Patch(file, data, one.m)
				if err != nil {
					t.Fatal(err)
				}
				checkPatched(t, p, one.m)
				ar.Files = append(ar.Files, txtar.File{Name: one.name + " changes", Data: []byte(strings.Join(p.Changes, "\n") + "\n")}, txtar.File{Name: one.name, Data: p.Data})
			}
			golden.Equal(t, txtar.Format(ar), strings.TrimSuffix(file, ".xml")+".txtar")
		})
	}
}

// checkPatched checks that a patched domain has the shape, no fault, and nothing left to be changed.
func checkPatched(t *testing.T, p *Patched, m *move.Move) {
	t.Helper()
	if faults, err := judged("x.xml", p.Data); err != nil || faults != nil {
		t.Fatalf("%v, %v in %s", faults, err, p.Data)
	}
	s, err := readBack(File{Name: "x.xml", Data: p.Data})
	if err != nil || !reflect.DeepEqual(s.Cells, m.Shape.Cells) || s.Page != m.Shape.Page || s.Topology() != m.Shape.Topology() {
		t.Errorf("read back %+v, %v of %s", s, err, p.Data)
	}
	var d domain
	if err := xml.Unmarshal(p.Data, &d); err != nil || !reflect.DeepEqual(d.CPUTune.Pins, domainOf(m).CPUTune.Pins) || !reflect.DeepEqual(d.Tune, domainOf(m).Tune) {
		t.Errorf("pins %+v, %v of %s", d.CPUTune, err, p.Data)
	}
	again, err := Patch("x.xml", p.Data, m)
	if err != nil || again.Changes != nil || !bytes.Equal(again.Data, p.Data) {
		t.Errorf("a second time: %v, %q\n%s", err, again.Changes, again.Data)
	}
}

// TestPatchKeeps checks that every line that has no NUMA in it stays, in its order, also in domains of strangers.
func TestPatchKeeps(t *testing.T) {
	files, _ := filepath.Glob("testdata/patch/*.xml")
	strangers, _ := filepath.Glob("../../../../shared/samples/kvm/libvirt-domain/*.xml")
	kept := 0
	for _, file := range append(files, strangers...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Patch(file, data, patching())
		if err != nil {
			if slices.Contains(files, file) {
				t.Errorf("%v", err)
			}
			continue // parts of a domain
		}
		if _, after, ok := bytes.Cut(data, []byte("<devices>")); ok {
			kept++
			if !bytes.HasSuffix(p.Data, after) {
				t.Errorf("%s: devices changed", file)
			}
		}
	}
	if kept < len(files) {
		t.Errorf("%d files have devices", kept)
	}
}

// TestPatchLines checks that a patched file has the ends of lines that it had.
func TestPatchLines(t *testing.T) {
	files, err := filepath.Glob("testdata/patch/*.xml")
	if err != nil || files == nil {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*move.Move{patching(), pinned()} {
			p, err := Patch(file, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), m)
			if err != nil {
				t.Fatal(err)
			}
			same, err := Patch(file, data, m)
			if err != nil || p.Changes == nil {
				t.Fatalf("%s: %q, %v", file, p.Changes, err)
			}
			if !bytes.Equal(p.Data, bytes.ReplaceAll(same.Data, []byte("\n"), []byte("\r\n"))) {
				t.Errorf("%s: ends of lines changed:\n%q", file, p.Data)
			}
		}
	}
}

func TestPatchErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "x.xml:1:1: found no <domain>",
		"<domain>\n<vcpu>2</vcpu": "x.xml:2:14: found the end of the file inside <vcpu> of line 2",
		`<?xml version="1.0" encoding="iso-8859-1"?><domain/>`: `x.xml:1:1: xml: opening charset "iso-8859-1": found the encoding "iso-8859-1", want UTF-8`,
		"<domain/>":                    "x.xml:1:1: found an empty <domain>",
		"<capabilities/>":              "x.xml:1:1: found <capabilities>, want one <domain>",
		"<domain/>\n<domain/>":         "x.xml:2:1: found <domain>, want one <domain>",
		"<domain>\n<a>\n</b></domain>": "x.xml:3:5: element <a> closed by </b>",
	} {
		if _, err := Patch("x.xml", []byte(in), patching()); err == nil || err.Error() != want {
			t.Errorf("%q: found %v, want %s", in, err, want)
		}
	}
}

// TestPatchBeyond checks that a domain with parts of its present cells that new ones would not have is named and not patched, and that vcpus,
// which would contradict vcpu, is taken out.
func TestPatchBeyond(t *testing.T) {
	domain := func(cell, inside, more string) string {
		return "<domain>\n<memory unit='GiB'>192</memory>\n<vcpu>24</vcpu>\n<cpu>\n<numa><cell id='0' cpus='0-23' memory='192' unit='GiB'" + cell + inside + "</cell></numa>\n</cpu>\n" + more + "</domain>"
	}
	const device = "<devices><controller type='pci' model='pcie-expander-bus'><target><node>%d</node></target></controller></devices>"
	for _, tt := range []struct{ name, in, want string }{
		{"access", domain(" memAccess='shared'>", "", ""), "line 5: <cell> has memAccess='shared', which the new cells would not have"},
		{"discard", domain(" discard='yes'>", "", ""), "line 5: <cell> has discard='yes'"},
		{"cache", domain(">", "<cache level='1'/>", ""), "line 5: <cache> belongs to a cell that is replaced"},
		{"distances", domain(">", "<distances><sibling id='0' value='10'/></distances>", ""), ""},
		{"a device of a cell that goes", domain(">", "", fmt.Sprintf(device, 3)), "line 7: <controller> belongs to cell 3, and the domain gets 2 cells"},
		{"a device of a cell that stays", domain(">", "", fmt.Sprintf(device, 1)), ""},
		{"arguments", domain(">", "", "<qemu:commandline xmlns:qemu='q'><qemu:arg value='-numa'/></qemu:commandline>"), "line 7: the arguments of QEMU state NUMA nodes of their own"},
		{"pages of a cell", domain(">", "", "<memoryBacking><hugepages><page size='2048' nodeset='0'/></hugepages></memoryBacking>"), "line 7: <page> gives huge pages to some of the present cells"},
		{"vcpus", domain(">", "", "<vcpus><vcpu id='0' enabled='yes'/><vcpu id='1' enabled='no'/></vcpus>"), ""},
	} {
		p, err := Patch("x.xml", []byte(tt.in), patching())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(p.Why, tt.want) || (p.Why == "") != (tt.want == "") || (p.Data == nil) != (tt.want != "") || bytes.Contains(p.Data, []byte("<vcpus>")) {
			t.Errorf("%s: found %q, want %q; data\n%s", tt.name, p.Why, tt.want, p.Data)
		}
	}
}

// FuzzPatch patches whatever is a domain: the result is one, has no fault, and is not changed a second time.
func FuzzPatch(f *testing.F) {
	f.Add([]byte("<domain><features/></domain>"))
	f.Add([]byte("<domain>\n  <features>\n    <kvm/></features><vcpu>2</vcpu><cpu/></domain>"))
	f.Add([]byte("<domain>\r\n\t<cputune><shares>3</shares>\r\n\t\t<vcpupin vcpu='0' cpuset='1'/></cputune>\r\n</domain>"))
	files, _ := filepath.Glob("testdata/patch/*.xml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range []*move.Move{patching(), pinned()} {
			p, err := Patch("x.xml", data, m)
			if err != nil || p.Why != "" {
				return
			}
			again, err := Patch("x.xml", p.Data, m)
			if err != nil || again.Changes != nil {
				t.Fatalf("%v, %q of\n%s", err, again, p.Data)
			}
		}
	})
}
