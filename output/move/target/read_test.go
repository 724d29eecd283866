package target

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	kvmsource "example.org/homenode/source/kvm"
)

// FuzzReadBack writes shapes of all kinds for libvirt, QEMU and Proxmox and reads them again: they are the same.
func FuzzReadBack(f *testing.F) {
	f.Add([]byte{12, 12}, uint8(1), false, uint8(0), "sql01")
	f.Add([]byte{5, 4}, uint8(1), true, uint8(1), "<!-- --> ]]> \x00")
	f.Add([]byte{4, 4, 4, 4}, uint8(2), false, uint8(2), "two\nlines")
	f.Fuzz(func(t *testing.T, sizes []byte, threads uint8, turns bool, pages uint8, title string) {
		s := &move.Shape{Dies: 1, Threads: int(threads)%2 + 1, Page: []numa.Bytes{0, 2 * numa.MiB, numa.GiB}[pages%3]}
		unit := max(s.Page, numa.MiB)
		n := 0
		for i, size := range sizes {
			if len(s.Cells) == 8 {
				break
			}
			c := move.Cell{Memory: unit * numa.Bytes(i+1+int(size))}
			for range (int(size)%20 + 1) * s.Threads {
				c.CPUs = append(c.CPUs, n)
				n++
			}
			s.Memory += c.Memory
			s.Cells = append(s.Cells, c)
		}
		if n == 0 {
			t.Skip("a VM without vCPUs")
		}
		if turns && len(s.Cells) == 2 && len(s.Cells[0].CPUs) == len(s.Cells[1].CPUs) && s.Threads == 1 { // vCPUs in turn
			for v := range n {
				s.Cells[v%2].CPUs[v/2] = v
			}
		}
		s.Sockets, s.Cores, s.VCPUs = n/s.Threads, 1, n
		at := &move.Placement{Host: "kvm01", CPUs: map[int][]int{}}
		for i, c := range s.Cells {
			at.Nodes = append(at.Nodes, i)
			for v := range c.CPUs {
				at.CPUs[i] = append(at.CPUs[i], 100*i+v)
			}
		}
		for _, to := range []string{"libvirt", "qemu", "proxmox"} {
			for _, placed := range []*move.Placement{nil, at} {
				m := &move.Move{Title: title, ID: title, Name: "vm", To: to, Platform: move.PlatformOf(to), Shape: s, At: placed, Exclusive: to == "libvirt"}
				if to == "proxmox" && (s.Threads > 1 || s.Page > 0 && placed == nil) {
					continue // it has none
				}
				file := Files([]*move.Move{m})[0]
				got, err := readBack(file)
				if err != nil {
					t.Fatalf("%s: %v in %s", to, err, file.Data)
				}
				if !reflect.DeepEqual(got, s) {
					t.Errorf("%s: read %+v, wrote %+v in %s", to, got, s, file.Data)
				}
				faults, err := judged(file.Name, file.Data)
				if faults = slices.DeleteFunc(faults, func(f string) bool { return strings.HasPrefix(f, "K012") }); err != nil || len(faults) > 0 { // sockets of one core were asked for
					t.Errorf("%s: %v, %v in %s", to, faults, err, file.Data)
				}
			}
		}
	})
}

// readBack reads the shape of a file.
func readBack(f File) (*move.Shape, error) {
	fleet, err := kvmsource.ReadBytes(f.Name, f.Data)
	if err != nil {
		return nil, err
	}
	s := fleet.VMs[0].Stated.Shape
	for i := range s.Cells {
		s.Cells[i].At = ""
	}
	return &s, nil
}

// judged returns what the checks find in a file.
func judged(name string, data []byte) (out []string, err error) {
	fleet, err := kvmsource.ReadBytes(name, data)
	if err != nil {
		return nil, err
	}
	for _, f := range rules.Run(fleet, rules.Options{}).Findings {
		if f.Severity < finding.Medium || f.Rule == "K006" { // files of the tests are short
			continue
		}
		out = append(out, f.Rule+" "+f.Message)
	}
	return out, nil
}

// TestCheckFiles checks files of others.
func TestCheckFiles(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		want             []string
		err              string
	}{
		{"no topology", "a.xml", `<domain><memory unit='GiB'>2</memory><vcpu>24</vcpu></domain>`, []string{"K012 each of the 24 vCPUs is a socket of its own, since no topology is defined"}, ""},
		{"smaller cells", "a.xml", `<domain><memory unit='GiB'>2</memory><vcpu>2</vcpu><cpu><topology sockets='2' cores='1' threads='1'/><numa>
			<cell id='0' cpus='0' memory='512' unit='MiB'/><cell id='1' cpus='1' memory='512' unit='MiB'/></numa></cpu></domain>`,
			[]string{"K005 the cells have 1 GB, the VM has 2 GB"}, ""},
		{"a vCPU left out", "a.xml", `<domain><memory>2048</memory><vcpu>4</vcpu><cpu><topology sockets='4' cores='1' threads='1'/><numa>
			<cell id='0' cpus='0-1,^1' memory='1024'/><cell id='1' cpus='2-3' memory='1024' unit='KiB'/></numa></cpu></domain>`,
			[]string{"K002 the cells do not divide its vCPUs: vCPU 1 is in no cell: libvirt and QEMU take cell 0"}, ""},
		{"another product", "a.xml", `<domain><memory>2048</memory><vcpu>4</vcpu><cpu><topology sockets='2' cores='1' threads='1'/></cpu></domain>`,
			[]string{"K013 4 vCPUs at the start, and a topology of 2"}, ""},
		{"pins of nothing", "a.xml", `<domain><memory>2048</memory><vcpu>1</vcpu><cputune><vcpupin vcpu='1' cpuset='0'/></cputune><numatune><memnode cellid='1' mode='strict' nodeset='0'/></numatune>
			<cpu><topology sockets='1' cores='1' threads='1'/></cpu></domain>`,
			[]string{"K013 it binds the memory of cell 1, which there is not", "K013 it pins vCPU 1, and has 1 vCPU"}, ""},
		{"no XML", "a.xml", "<domain>\n<vcpu>4</cpu>", nil, "a.xml:2:8: found </cpu>, want </vcpu> of line 2"},
		{"a node of each socket", "a.conf", "memory: 3072\nsockets: 24\ncores: 1\nnuma: 1\n", []string{"K013 numa: 1 without numa0 makes a node of each of 24 sockets of a core"}, ""},
		{"numa8", "a.conf", "memory: 1024\nsockets: 1\ncores: 1\nnuma: 1\nnuma0: cpus=0,memory=1024\nnuma8: cpus=1,memory=1024\n[snapshot]\ncores: 9\n", []string{"K013 numa8 is ignored: there are numa0 to numa7"}, ""},
		{"nodes that are off", "a.conf", "memory: 1024\nsockets: 1\ncores: 1\nnuma0: cpus=0,memory=1024\n", []string{"K013 nodes are stated, and numa: 1 is not: the guest sees one"}, ""},
		{"another sum", "a.conf", "memory: 2048\nsockets: 1\ncores: 2\nnuma: 1\nnuma0: cpus=0;1,memory=1024\n", []string{"K005 the cells have 1 GB, the VM has 2 GB"}, ""},
		{"no number", "a.conf", "memory: 2048\nsockets: many\n", nil, `a.conf:2:1: sockets: found "many", want a number`},
		{"arguments", "a.args", "-m 1024M\n-smp 4,sockets=2,dies=1,cores=1,threads=1\n", []string{"K013 4 vCPUs at the start, and a topology of 2"}, ""},
		{"a number too large", "a.xml", "<domain>\n<memory>99999999999999999999</memory></domain>", []string{`K013 value of <memory> is "99999999999999999999", want a number: libvirt refuses it`}, ""},
		{"a unit of nothing", "a.xml", "<domain><vcpu>1</vcpu>\n <memory unit='parsec'>1</memory></domain>", []string{`K013 unit of <memory> is "parsec", want bytes, KiB, MiB, GiB or TiB: libvirt refuses it`}, ""},
		{"cells, a range and a distance of nothing", "a.xml", `<domain><memory>2048</memory><vcpu>4</vcpu><cpu><topology sockets='2' cores='2' threads='1'/><numa>
			<cell id='0' cpus='1-0' memory='1024'><distances><sibling id='7' value='20'/></distances></cell><cell id='2' cpus='2-3' memory='1024'/></numa></cpu></domain>`,
			[]string{"K002 the cells do not divide its vCPUs: vCPUs 0-1 are in no cell: libvirt and QEMU take cell 0", "K013 cell 0 has a distance to cell 7, which there is not",
				"K013 cell 2 comes where 1 is due: libvirt wants them from 0, without a gap", `K013 cpus of <cell> is "1-0", want a list such as 0-31,^5, with single numbers behind ^: libvirt refuses it`}, ""},
		{"1 MB more", "a.xml", `<domain><memory unit='MiB'>65536</memory><vcpu>2</vcpu><memoryBacking><hugepages><page size='1' unit='G'/></hugepages></memoryBacking><cpu><topology sockets='2' cores='1' threads='1'/><numa>
			<cell id='0' cpus='0' memory='32769' unit='MiB'/><cell id='1' cpus='1' memory='32' unit='GiB'/></numa></cpu></domain>`,
			[]string{"K005 the cells have 1 MB more than the 64 GB of the VM; the 32.0 GB of cell 0 are no whole pages of 1 GB: 1 MB are left over"}, ""},
		{"the old form of nodes", "a.args", "-m 8192\n-smp 8,sockets=2,cores=4,threads=1\n-numa node,cpus=0-3,mem=4096\n-numa node,cpus=4-7,mem=4G\n", nil, ""},
		{"one line", "a.args", "qemu-system-x86_64 -m 8G -smp 8,sockets=2 -numa node,cpus=0-3,mem=4G -numa node,cpus=4-6,mem=4G -S\n", []string{"K002 the cells do not divide its vCPUs: vCPU 7 is in no cell: libvirt and QEMU take cell 0"}, ""},
		{"a node of the vCPUs that there are", "a.args", "-m 8G\n-smp 8,maxcpus=16,sockets=4,cores=4,threads=1\n-numa node,cpus=0-7,mem=8G\n", nil, ""},
		{"no arguments", "a.args", "hello\n", nil, "a.args: found no virsh capabilities and no definition of a VM"},
		{"no number of vCPUs", "a.args", "-m 8192\n-smp many\n", nil, `a.args:2:1: found -smp cpus="many", want a number from 1`},
		{"fewer vCPUs than cores", "a.args", "-m 8192\n-smp 2,sockets=4\n", []string{"K013 a topology of 4 vCPUs, and 2 vCPUs: QEMU refuses it"}, ""},
		{"a bus of no cell", "a.xml", `<domain><memory unit='GiB'>2</memory><vcpu>4</vcpu><devices><controller type='pci' model='pcie-expander-bus'><target><node>0</node></target></controller></devices></domain>`,
			[]string{`K013 node of <target> is "0", want a cell, and there is none: libvirt refuses it`}, ""},
		{"few sockets", "a.xml", `<domain><memory unit='GiB'>2</memory><vcpu>4</vcpu></domain>`, nil, ""},
		{"pages of one cell", "a.xml", halves("<page size='1' unit='G' nodeset='0'/>", 32768, 32256), nil, ""},
		{"pages of one cell, and not whole", "a.xml", halves("<page size='1' unit='G' nodeset='1'/>", 32768, 32256),
			[]string{"K005 the 31.5 GB of cell 1 are no whole pages of 1 GB"}, ""},
		{"pages of each cell", "a.xml", halves("<page size='1' unit='G' nodeset='1'/><page size='1048576' nodeset='0'/>", 32768, 32256),
			[]string{"K005 the 31.5 GB of cell 1 are no whole pages of 1 GB"}, ""},
		{"pages of the rest", "a.xml", halves("<page size='1' unit='G' nodeset='0'/><page size='2048'/>", 32768, 32256), nil, ""},
		{"a socket in a node of its own", "a.conf", "cores: 4\nsockets: 2\nmemory: 8192\nnuma: 1\n", nil, ""},
		{"the memory with its key", "a.conf", "cores: 4\nmemory: current=8192\n", nil, ""},
		{"a node left out", "a.conf", "sockets: 2\nmemory: 2048\nnuma: 1\nnuma0: cpus=0,memory=1024\nnuma2: cpus=1,memory=1024\n",
			[]string{"K013 numa2 comes where numa1 is due: QEMU wants nodes from 0, without a gap"}, ""},
		{"no policy", "a.conf", "sockets: 2\nmemory: 2048\nnuma: 1\nnuma0: cpus=0,hostnodes=0,memory=1024,policy=bind\nnuma1: cpus=1,hostnodes=1,memory=1024\n",
			[]string{"K013 numa1 has hostnodes and no policy: Proxmox does not start the VM"}, ""},
		{"pages without a node", "a.conf", "sockets: 2\nmemory: 2048\nnuma: 1\nhugepages: any\nnuma0: cpus=0,hostnodes=0,memory=1024,policy=bind\nnuma1: cpus=1,memory=1024\n",
			[]string{"K013 numa1 has no hostnodes, which hugepages want: Proxmox does not start the VM", "K013 the memory of cell 1 is bound to no node, and that of cell 0 is"}, ""},
		{"pages without NUMA", "a.conf", "memory: 2048\nhugepages: 2\n", []string{"K013 hugepages without numa: 1: Proxmox does not start the VM"}, ""},
		{"a backend of huge pages", "a.args", "-m 2049M -smp 2,sockets=2 -object memory-backend-ram,id=a,size=1G -object memory-backend-memfd,hugetlb=on,hugetlbsize=1G,id=b,size=1025M " +
			"-numa node,cpus=0,memdev=a -numa node,cpus=1,memdev=b", []string{"K005 the 1.0 GB of cell 1 are no whole pages of 1 GB: 1 MB are left over"}, ""},
		{"no JSON", "a.args", "-m 1G -object {\"id\": 1}", nil, `a.args:1:7: found {"id":, want JSON without blanks, or in quotes: unexpected EOF`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := judged(tt.file, []byte(tt.text))
			text := ""
			if err != nil {
				text = err.Error()
			}
			if !slices.Equal(got, tt.want) || text != tt.err {
				t.Errorf("got %v, %q; want %v, %q", got, text, tt.want, tt.err)
			}
		})
	}
}

// halves is a domain of two cells with so many MiB, and pages.
func halves(pages string, first, second int) string {
	return fmt.Sprintf(`<domain><memory unit='MiB'>%d</memory><vcpu>2</vcpu><memoryBacking><hugepages>%s</hugepages></memoryBacking><cpu><topology sockets='2' cores='1' threads='1'/><numa>
		<cell id='0' cpus='0' memory='%d' unit='MiB'/><cell id='1' cpus='1' memory='%d' unit='MiB'/></numa></cpu></domain>`, first+second, pages, first, second)
}

// TestArguments has the faults that QEMU has with arguments: it is asked too where it is there, and starts what has none.
func TestArguments(t *testing.T) {
	const backends = " -object memory-backend-ram,id=a,size=128M -object memory-backend-ram,id=b,size=134217728"
	const two = "-m 256M -smp 8,sockets=2,cores=4,threads=1" + backends + " -numa node,nodeid=0,memdev=a,cpus=0-3 -numa node,nodeid=1,memdev=b,cpus=4-7 "
	const bare = "-m 256M -smp 8,sockets=2,cores=4" + backends + " -numa node,memdev=a -numa node,memdev=b "
	for _, tt := range []struct {
		name, args string
		want       []string
	}{
		{"good", two, nil},
		{"vCPUs by socket", bare + "-numa cpu,node-id=0,socket-id=0 -numa cpu,node-id=1,socket-id=1", nil},
		{"vCPUs by core", "-m 256M -smp 4,sockets=2,cores=2" + backends + " -numa node,memdev=a -numa node,memdev=b " +
			"-numa cpu,node-id=0,socket-id=0,core-id=0 -numa cpu,node-id=0,socket-id=0,core-id=1,thread-id=0 -numa cpu,node-id=1,socket-id=1", nil},
		{"vCPUs of no stated node", bare, nil},
		{"vCPUs of no socket", two + "-numa cpu,node-id=0,socket-id=2", []string{"K013 -numa cpu of node 0 names no vCPU that there is"}},
		{"vCPUs of no node", two + "-numa cpu,node-id=2,socket-id=0", []string{"K013 -numa cpu names node 2, which there is not"}},
		{"vCPUs of two nodes", two + "-numa cpu,node-id=1,socket-id=0,core-id=1", []string{"K002 the cells do not divide its vCPUs: vCPU 1 is in cells 0 and 1, which libvirt refuses"}},
		{"JSON", `-m 256M -smp 2 -object {"qom-type":"memory-backend-ram","id":"a","size":268435456} -numa node,memdev=a`, nil},
		{"JSON in quotes", `-m 256M -smp 2 -object '{"qom-type": "memory-backend-ram", "id": "a", "size": 268435456}' -numa node,memdev=a`, nil},
		{"the size with its key", "-m slots=2,size=0.25G,maxmem=1G -smp 2", nil},
		{"KB", "-m 262144k -smp 2", nil},
		{"bytes without a unit", "-m 256M -smp 2 -object memory-backend-ram,id=a,size=256 -numa node,memdev=a", []string{"K005 the cells have 256 B, the VM has 256 MB"}},
		{"a distance too short", two + "-numa dist,src=0,dst=1,val=9", []string{"K013 cell 0 is at 9 from cell 1: want 10 to itself, and 11 to 255 to others",
			"K013 cell 1 is at 9 from cell 0: want 10 to itself, and 11 to 255 to others"}},
		{"a distance too long", two + "-numa dist,src=0,dst=1,val=300 -numa dist,src=1,dst=0,val=20", []string{"K013 cell 0 is at 300 from cell 1: want 10 to itself, and 11 to 255 to others"}},
		{"distances of one way", two + "-numa dist,src=0,dst=1,val=21", nil},
		{"distances that differ", two + "-numa dist,src=0,dst=1,val=21 -numa dist,src=1,dst=0,val=22", nil},
		{"a distance left out", two + "-numa dist,src=0,dst=0,val=10", []string{"K013 no distance between nodes 0 and 1: QEMU wants one for each two"}},
		{"a way left out", "-m 256M -smp 3,sockets=3" + backends + " -numa node,memdev=a,cpus=0 -numa node,memdev=b,cpus=1 -numa node,cpus=2 " +
			"-numa dist,src=0,dst=1,val=21 -numa dist,src=1,dst=0,val=22 -numa dist,src=0,dst=2,val=20 -numa dist,src=1,dst=2,val=20 -numa dist,src=2,dst=1,val=20",
			[]string{"K005 cell 2 has no memory", "K013 one distance between nodes 0 and 2: QEMU wants both ways where those of two nodes differ"}},
		{"a distance of no node", two + "-numa dist,src=0,dst=2,val=20 -numa dist,src=0,dst=1,val=20", []string{"K013 a distance from node 0 to node 2, of 2 nodes"}},
		{"a node left out", "-m 256M -smp 2,sockets=2" + backends + " -numa node,nodeid=0,memdev=a,cpus=0 -numa node,nodeid=2,memdev=b,cpus=1",
			[]string{"K013 node 2 comes where 1 is due: QEMU wants them from 0, without a gap"}},
		{"a node twice", "-m 256M -smp 2,sockets=2" + backends + " -numa node,nodeid=0,memdev=a,cpus=0 -numa node,nodeid=0,memdev=b,cpus=1",
			[]string{"K013 node 0 comes where 1 is due: QEMU wants them from 0, without a gap"}},
		{"nodes in another order", "-m 256M -smp 2,sockets=2" + backends + " -numa node,nodeid=1,memdev=a,cpus=1 -numa node,nodeid=0,memdev=b,cpus=0", nil},
		{"a backend twice", "-m 256M -smp 2,sockets=2" + backends + " -numa node,memdev=a,cpus=0 -numa node,memdev=a,cpus=1",
			[]string{"K013 the backend a is that of nodes 0 and 1: QEMU wants one for each"}},
		{"another product", "-m 256M -smp 36,maxcpus=36,sockets=4,cores=12", []string{"K013 a topology of 48 vCPUs, and 36 vCPUs: QEMU refuses it"}},
		{"another product, of threads too", "-m 256M -smp 36,maxcpus=36,sockets=4,dies=1,cores=12,threads=1", []string{"K013 a topology of 48 vCPUs, and 36 vCPUs: QEMU refuses it"}},
		{"an odd vCPU", "-m 256M -smp 9,sockets=2", []string{"K013 9 vCPUs at the start, and a topology of 8"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := judged("a.args", []byte(tt.args))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("found %q, %v, want %q", got, err, tt.want)
			}
			program, err := exec.LookPath("qemu-system-x86_64")
			if err != nil {
				return
			}
			args := []string{"-M", "q35", "-accel", "tcg", "-S", "-display", "none", "-nodefaults", "-qmp", "stdio"}
			for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(tt.args, -1) {
				args = append(args, strings.Trim(w, "'"))
			}
			cmd := exec.CommandContext(t.Context(), program, args...)
			cmd.Stdin = strings.NewReader(`{"execute":"qmp_capabilities"}{"execute":"quit"}`)
			if said, err := cmd.CombinedOutput(); (err == nil) != (tt.want == nil) {
				t.Errorf("QEMU says %v: %s", err, said)
			}
		})
	}
}

// TestSMP reads -smp as QEMU itself does: it is asked too where it is there and knows the word.
func TestSMP(t *testing.T) {
	for _, tt := range []struct {
		in                            string
		sockets, dies, cores, threads int
		vcpus                         int
	}{
		{"8", 1, 1, 8, 1, 8},
		{"8,sockets=2", 2, 1, 4, 1, 8},
		{"8,cores=2", 4, 1, 2, 1, 8},
		{"8,threads=2", 1, 1, 4, 2, 8},
		{"8,sockets=2,cores=2", 2, 1, 2, 2, 8},
		{"8,sockets=2,cores=4,threads=1", 2, 1, 4, 1, 8},
		{"cpus=4,maxcpus=16,dies=2,cores=4", 2, 2, 4, 1, 4},
		{"sockets=2,cores=3", 2, 1, 3, 1, 6},
		{"8,clusters=2,cores=2", 2, 1, 4, 1, 8},
	} {
		s, err := readBack(File{Name: "a.args", Data: []byte("-m 1G -smp " + tt.in)})
		if err != nil || s.Sockets != tt.sockets || s.Dies != tt.dies || s.Cores != tt.cores || s.Threads != tt.threads || s.VCPUs != tt.vcpus {
			t.Errorf("%s: found %d vCPUs of %s, %v", tt.in, s.VCPUs, s.Topology(), err)
		}
		if program, err := exec.LookPath("qemu-system-x86_64"); err == nil && !strings.Contains(tt.in, "clusters") {
			if got, want := slots(t, program, tt.in), [4]int{tt.sockets, tt.dies, tt.cores, tt.threads}; got != want {
				t.Errorf("%s: QEMU makes sockets, dies, cores and threads of %v, want %v", tt.in, got, want)
			}
		}
	}
}

// slots asks QEMU for the sockets, dies, cores and threads that it makes of -smp.
func slots(t *testing.T, program, smp string) (out [4]int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "-M", "q35", "-accel", "tcg", "-S", "-display", "none", "-nodefaults", "-smp", smp, "-qmp", "stdio")
	cmd.Stdin = strings.NewReader(`{"execute":"qmp_capabilities"}{"execute":"query-hotpluggable-cpus"}{"execute":"quit"}`)
	answers, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	out = [4]int{1, 1, 1, 1}
	for i, key := range []string{"socket-id", "die-id", "core-id", "thread-id"} {
		for _, m := range regexp.MustCompile(`"`+key+`": (\d+)`).FindAllSubmatch(answers, -1) {
			n, _ := strconv.Atoi(string(m[1])) // digits
			out[i] = max(out[i], n+1)
		}
	}
	return out
}

// TestSchema lets libvirt's own schema judge each domain.
func TestSchema(t *testing.T) {
	program := testdeps.Program(t, "virt-xml-validate")
	testdeps.Program(t, "xmllint")
	valid := 0
	far := &move.Move{Title: "far", Name: "far", To: "libvirt", Platform: move.PlatformOf("libvirt"), Shape: memoryOnly}
	moves := []*move.Move{far}
	for _, s := range shapes {
		moves = append(moves, moved(t, s.name, "libvirt", move.Options{}), moved(t, s.name, "libvirt", move.Options{At: at(9)}))
	}
	for _, m := range moves {
		for _, f := range Files([]*move.Move{m}) {
			path := filepath.Join(t.TempDir(), "domain.xml")
			writeFile(t, path, f.Data)
			if out, err := exec.CommandContext(t.Context(), program, path, "domain").CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s in %s", f.Name, err, bytes.TrimSpace(out), f.Data)
				continue
			}
			valid++
		}
	}
	t.Logf("%d domains are valid", valid)
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
