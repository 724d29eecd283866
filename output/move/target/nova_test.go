package target

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"reflect"
	"testing"

	"homenode/change/move"
	"homenode/internal/testdeps"
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
	Topology []int `json:"topology"`
	Fits     bool  `json:"fits"`
}

// TestNova lets the validators and the placement of Nova judge the flavor of each shape: no key is rejected, Nova makes the cells
// of the shape of it, and they fit an empty host.
func TestNova(t *testing.T) {
	python := testdeps.Nova(t)
	type asked struct {
		Name  string            `json:"name"`
		VCPUs int               `json:"vcpus"`
		RAM   int64             `json:"ram"`
		Specs map[string]string `json:"specs"`
	}
	var all []asked
	var of []*move.Move
	for _, s := range shapes {
		m := moved(t, s.name, "nova", move.Options{})
		a := asked{s.name, m.Shape.VCPUs, mb(m.Shape.Memory), map[string]string{}}
		for _, spec := range extraSpecs(m) {
			a.Specs[spec[0]] = spec[1]
		}
		all, of = append(all, a), append(of, m)
	}
	// What Nova is known to refuse shows that it is asked.
	all = append(all, asked{"9 vCPUs, divided by Nova", 9, 1152, map[string]string{"hw:numa_nodes": "2", "hw:cpu_policy": "often"}})
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
	accepted := 0
	for i, m := range of {
		v, s := &got[i], m.Shape
		cells := len(s.Cells)
		if cells == 1 && !m.Exclusive && s.Page == 0 {
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
		accepted++
	}
	if last := got[len(of)]; len(last.Rejected) != 1 || last.Error == "" {
		t.Errorf("what Nova refuses: %+v", last)
	}
	t.Logf("%d flavors are accepted and fit", accepted)
}
