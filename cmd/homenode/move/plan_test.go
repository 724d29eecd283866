package move

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/definition"
	"example.org/homenode/source/kvm"
	"example.org/homenode/source/libvirt"
)

// run runs the command and returns what it prints; findings are no error.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := New()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil && !errors.Is(err, flags.ErrFindings) {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

// A machine is a KVM host of like nodes; its CPUs are numbered node by node, second threads behind all first ones.
type machine struct {
	name         string
	nodes, cores int
	memory       numa.Bytes // of a node
}

// capabilities writes what virsh capabilities says of the machine.
func (m *machine) capabilities() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<capabilities><host><cpu><arch>x86_64</arch></cpu><topology><cells num='%d'>\n", m.nodes)
	all := m.nodes * m.cores
	for n := range m.nodes {
		fmt.Fprintf(&b, "<cell id='%d'><memory unit='KiB'>%d</memory><distances>", n, m.memory/numa.KiB)
		for o := range m.nodes {
			fmt.Fprintf(&b, "<sibling id='%d' value='%d'/>", o, map[bool]int{true: 10, false: 21}[o == n])
		}
		fmt.Fprintf(&b, "</distances><cpus num='%d'>\n", 2*m.cores)
		for c := range 2 * m.cores {
			core := n*m.cores + c%m.cores
			fmt.Fprintf(&b, "<cpu id='%d' socket_id='%d' die_id='0' core_id='%d' siblings='%d,%d'/>\n", core+c/m.cores*all, n, c%m.cores, core, core+all)
		}
		b.WriteString("</cpus></cell>\n")
	}
	b.WriteString("</cells></topology></host></capabilities>\n")
	return b.String()
}

// core returns the core of a CPU, numbered over all nodes, and its node.
func (m *machine) core(cpu int) (core, node int) {
	core = cpu % (m.nodes * m.cores)
	return core, core / m.cores
}

var placedOn = regexp.MustCompile(`Placed on ([a-z0-9]+)\.`)

// TestPlanHolds moves fleets with the command and adds up again what the written domains take of every node of every host, as another
// program reads them: never more memory or cores than a node has for VMs, no core for two where one has it alone, and
// every vCPU where its memory is.
func TestPlanHolds(t *testing.T) {
	const keptCores, kept, perCore = 1, 8 * numa.GiB, 2
	domains, wide, exclusive, single, huge := 0, 0, 0, 0, 0
	seeds := uint64(10)
	if testdeps.Proof() {
		seeds = 100
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 11))
		dir := t.TempDir()
		var fleet strings.Builder
		fleet.WriteString("release 8.0U3\ncluster c\nhost esx[01-04] nodes=2 cores=16 memory=1024GB mhz=2500\n")
		for i := range 20 + r.IntN(20) {
			vcpus := []int{1, 2, 4, 4, 8, 8, 12, 20, 24}[r.IntN(9)]
			fmt.Fprintf(&fleet, "vm vm%02d host=esx%02d vcpus=%d memory=%dGB", i, 1+r.IntN(4), vcpus, vcpus*(2+r.IntN(8)))
			switch r.IntN(8) {
			case 0:
				fmt.Fprintf(&fleet, " latency=high reserveAll=on cpuReservation=%d", 2500*vcpus)
			case 1:
				fleet.WriteString(" sched.mem.lpage.enable1GPage=TRUE reserveAll=on")
			}
			fleet.WriteString("\n")
		}
		write := func(name, text string) {
			golden.Write(t, filepath.Join(dir, name), []byte(text))
		}
		write("fleet.txtar", fleet.String())
		if err := os.Mkdir(filepath.Join(dir, "hosts"), 0o777); err != nil {
			t.Fatal(err)
		}
		machines := map[string]*machine{}
		for i := range 3 + r.IntN(4) {
			m := &machine{fmt.Sprintf("kvm%d", i), 2, 12 + 4*r.IntN(3), numa.Bytes(192+64*r.IntN(3)) * numa.GiB}
			if r.IntN(4) == 0 {
				m.nodes = 4
			}
			machines[m.name] = m
			write("hosts/"+m.name+".xml", m.capabilities())
		}
		run(t, filepath.Join(dir, "fleet.txtar"), "--hosts", filepath.Join(dir, "hosts"), "--host-reserve", "1c/8GB", "--vcpus-per-core", fmt.Sprint(perCore),
			"--failover-hosts", "0", "-o", filepath.Join(dir, "moved"))
		files, err := filepath.Glob(filepath.Join(dir, "moved", "*.libvirt.xml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("seed %d: no files: %v", seed, err)
		}
		type node struct {
			host string
			id   int
		}
		memory, floating, alone := map[node]numa.Bytes{}, map[node]int{}, map[node]int{}
		owner := map[string]map[int]string{} // of cores that one VM has alone, by host
		shared := map[string]map[int]string{}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := libvirt.Read(file, bytes.NewReader(data))
			if err != nil || len(docs) != 1 {
				t.Fatalf("%s: %v", file, err)
			}
			d := docs[0].(*definition.VM)
			stated := d.Stated
			at := placedOn.FindSubmatch(data)
			if at == nil {
				t.Fatalf("%s is on no host", file)
			}
			m := machines[string(at[1])]
			if owner[m.name] == nil {
				owner[m.name], shared[m.name] = map[int]string{}, map[int]string{}
			}
			domains++
			if len(stated.Pins) > 0 && len(stated.Helpers) == 0 {
				t.Errorf("%s: QEMU's threads run anywhere", file)
			}
			for _, h := range stated.Helpers {
				for _, cpu := range h.CPUs {
					if core, _ := m.core(cpu); len(stated.Pins) > 0 && len(stated.CPUs[stated.Pins[0].VCPU]) == 1 && core%m.cores >= keptCores {
						t.Errorf("%s: %s may run on core %d, which is not the host's", file, h.What, core)
					}
				}
			}
			if stated.CellsAt == "" {
				single++
			} else {
				wide++
			}
			bound := stated.Bound
			for c, cell := range stated.Cells {
				if len(bound[c].Nodes) != 1 {
					t.Fatalf("%s: cell %d is bound to nodes %v", file, c, bound[c].Nodes)
				}
				if stated.Page > 0 {
					huge++
					if bound[c].Mode != "strict" || cell.Memory%stated.Page != 0 {
						t.Errorf("%s: cell %d of %s is bound %s, with pages of %s", file, c, cell.Memory, bound[c].Mode, stated.Page)
					}
				}
				on := node{m.name, bound[c].Nodes[0]}
				memory[on] += cell.Memory
				pinned := 0
				for _, v := range cell.CPUs {
					cpus := stated.CPUs[v]
					if len(cpus) == 0 {
						t.Fatalf("%s: vCPU %d runs anywhere", file, v)
					}
					for _, cpu := range cpus {
						core, at := m.core(cpu)
						if at != on.id {
							t.Errorf("%s: vCPU %d may run on CPU %d of node %d, and its memory is on node %d", file, v, cpu, at, on.id)
						}
						if core%m.cores < keptCores {
							t.Errorf("%s: vCPU %d may run on core %d, which is the host's own", file, v, core)
						}
						if len(cpus) > 1 {
							shared[m.name][core] = d.Name
							continue
						}
						pinned++
						if other := owner[m.name][core]; other != "" {
							t.Errorf("seed %d: core %d of %s is of %s and %s", seed, core, m.name, other, d.Name)
						}
						owner[m.name][core] = d.Name
					}
				}
				alone[on] += pinned
				floating[on] += len(cell.CPUs) - pinned
				exclusive += pinned
			}
		}
		for host, cores := range owner {
			for core, name := range cores {
				if other := shared[host][core]; other != "" {
					t.Errorf("seed %d: core %d of %s is of %s alone, and %s may run there", seed, core, host, name, other)
				}
			}
		}
		for on, used := range memory {
			m := machines[on.host]
			if used > m.memory-kept {
				t.Errorf("seed %d: %s on node %d of %s, which has %s for VMs", seed, used, on.id, on.host, m.memory-kept)
			}
			if vcpus := floating[on] + perCore*alone[on]; vcpus > perCore*(m.cores-keptCores) {
				t.Errorf("seed %d: %d vCPUs and %d with a core each on node %d of %s, which has %d cores for VMs", seed, floating[on], alone[on], on.id, on.host, m.cores-keptCores)
			}
		}
		judged, err := kvm.Read(filepath.Join(dir, "moved"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range rules.Run(judged, rules.Options{}).Findings {
			t.Errorf("seed %d: %s %s: %s", seed, f.Rule, f.VM, f.Message)
		}
	}
	t.Logf("%d domains: %d wide, %d of one cell, %d cells of huge pages, %d vCPUs with a core of their own", domains, wide, single, huge, exclusive)
	if n := int(seeds); wide < n || exclusive < 3*n || huge < n {
		t.Error("too little was looked at")
	}
}
