package target

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/testdeps"
)

// A verdict is what Nova's own code says of a flavor: see testdata/nova/judge.py.
type verdict struct {
	Name     string   `json:"name"`
	Rejected []string `json:"rejected"`
	Error    string   `json:"error"`
	Cells    []struct {
		CPUs   []int `json:"cpus"`
		Memory int64 `json:"memory"` // MB
	} `json:"cells"`
	Topology []int       `json:"topology"`
	Fits     bool        `json:"fits"`
	Pins     map[int]int `json:"pins"`
}

// pinnedThreads is a VM whose vCPUs are threads of cores that it has alone.
var pinnedThreads = shape{name: "threads alone", host: "nodes=2 cores=8 memory=64GB", vm: "vcpus=16 coresPerSocket=8 memory=4GB latency=high reserveAll=on cpuReservation=40000 hw=20 virtualThreads=2"}

// manyShape is a VM of more vCPUs than start without a virtual IOMMU.
var manyShape = shape{name: "many", host: "nodes=16 cores=16 memory=256GB", vm: "vcpus=256 coresPerSocket=16 memory=4GB hw=20 firmware=efi iommu=on"}

// TestNova lets the validators and the placement of Nova judge the flavor of each shape: no key is rejected, Nova makes the cells
// of the shape of it, and they fit an empty host. vCPUs of VMs of latency sensitivity High get whole cores.
func TestNova(t *testing.T) {
	python := testdeps.Nova(t)
	type asked struct {
		Name  string            `json:"name"`
		VCPUs int               `json:"vcpus"`
		RAM   int64             `json:"ram"`
		Specs map[string]string `json:"specs"`
		Image map[string]string `json:"image"`
		SMT   bool              `json:"smt"`
	}
	var all []asked
	var of []*move.Move
	for _, s := range append(slices.Clone(shapes), manyShape, pinnedThreads) {
		m := move.Make(vmOf(t, s.host, s.vm), move.PlatformOf("nova"), move.Options{})
		specs := extraSpecs(m)
		flavor := asked{s.name, m.Shape.VCPUs, mb(m.Shape.Memory), mapOf(specs), nil, m.Exclusive}
		if m.Shape.Most() > move.FewAPICs { // no flavor can state it
			flavor.Image = map[string]string{"hw_machine_type": "q35"}
		}
		all, of = append(all, flavor), append(of, m)
	}
	// What Nova is known to refuse shows that it is asked.
	all = append(all, asked{"9 vCPUs, divided by Nova", 9, 1152, map[string]string{"hw:numa_nodes": "2", "hw:cpu_policy": "often"}, nil, false},
		asked{"both", 24, 2048, map[string]string{"hw:numa_nodes": "2"}, map[string]string{"hw_numa_nodes": "2"}, false})
	input, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-W", "ignore", "testdata/nova/judge.py")
	cmd.Stdin = bytes.NewReader(input)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.Bytes())
	}
	var got []verdict
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(all) {
		t.Fatalf("%v in %s", err, out)
	}
	if last := of[len(of)-1]; !last.Exclusive || last.Shape.Threads != 2 {
		t.Errorf("%s: %s", pinnedThreads.name, last.Shape.Topology())
	}
	accepted := 0
	for i, m := range of {
		v, s := &got[i], m.Shape
		cells := len(s.Cells)
		if m.Floats {
			cells = 0 // no node is asked for
		}
		if len(v.Rejected) > 0 || v.Error != "" || !v.Fits || len(v.Cells) != cells || !reflect.DeepEqual(v.Topology, []int{s.Sockets, s.Cores, s.Threads}) {
			t.Errorf("%s: %+v, want %s in %d cells", v.Name, v, s.Topology(), cells)
			continue
		}
		for j, c := range v.Cells {
			if !reflect.DeepEqual(c.CPUs, s.Cells[j].CPUs) || c.Memory != mb(s.Cells[j].Memory) {
				t.Errorf("%s: cell %d has vCPUs %v and %d MB, want %v", v.Name, j, c.CPUs, c.Memory, s.Cells[j])
			}
		}
		if m.Exclusive && len(v.Pins) != s.VCPUs {
			t.Errorf("%s: pins %v", v.Name, v.Pins)
		}
		for a, cpu := range v.Pins { // threads of a core to threads of one, cores to cores
			for b, other := range v.Pins {
				if a < b && (cpu/2 == other/2) != (a/s.Threads == b/s.Threads) {
					t.Errorf("%s: vCPUs %d and %d of %d threads a core are on CPUs %d and %d", v.Name, a, b, s.Threads, cpu, other)
				}
			}
		}
		accepted++
	}
	if first := got[len(of)]; len(first.Rejected) != 1 || first.Error == "" {
		t.Errorf("what Nova refuses: %+v", first)
	}
	if v := &got[len(of)+1]; !strings.HasPrefix(v.Error, "ImageNUMATopologyForbidden:") {
		t.Errorf("%s: %+v, want ImageNUMATopologyForbidden", v.Name, v)
	}
	t.Logf("%d flavors are accepted and fit", accepted)
}

func mapOf(pairs [][2]string) map[string]string {
	out := map[string]string{}
	for _, p := range pairs {
		out[p[0]] = p[1]
	}
	return out
}
