package fit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/format"
	"example.org/homenode/size/fit"
	"example.org/homenode/source/scenario"
)

// fleet has names from strangers, a VM larger than a node, one that no host runs, and a
// host whose nodes are unknown.
const fleet = `
release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=16 memory=512GB
host dark01 nodes=? cores=36
vm big01 host=esx01 vcpus=8 memory=300GB
vm db[1-3] host=esx01 vcpus=20 memory=64GB
vm app[01-12] host=esx02 vcpus=4 memory=24GB
vm pin01 host=esx02 vcpus=4 memory=16GB cpuAffinity=0-3
vm vast01 host=esx02 vcpus=80 memory=64GB power=on
`

// answers returns the three kinds of answers of size fit.
func answers(t *testing.T) map[string]*answer.Answer {
	t.Helper()
	release := numa.NewRelease(8, 0, 3)
	types, err := fit.ParseTypes("2x32c/1TB=21000,odd\u202e|name:4x18c/1TB/noht=30000", release)
	if err != nil {
		t.Fatal(err)
	}
	o := fit.Options{Reserve: 1, PerCore: 1, Overhead: fit.PublishedOverhead}
	one := &fit.Ask{Types: types, Shapes: []fit.Shape{fit.NewShape(12, 96*numa.GiB), fit.NewShape(40, 200*numa.GiB)}, Hosts: 10, Spare: 1, Options: o}
	counted, err := fit.Fit(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := scenario.Read("fleet.txt", []byte(fleet))
	if err != nil {
		t.Fatal(err)
	}
	c, err := fit.Find(fleet, "prod")
	if err != nil {
		t.Fatal(err)
	}
	o.PerCore, _ = c.Limit()
	many := &fit.Ask{Types: append(c.Types(), types...), Shapes: c.Shapes(), Spare: 1, Options: o}
	mixed, err := fit.Fit(t.Context(), many)
	if err != nil {
		t.Fatal(err)
	}
	today, err := c.Today(&o)
	if err != nil {
		t.Fatal(err)
	}
	room, err := c.Room(t.Context(), fit.NewShape(4, 16*numa.GiB), 1, &o)
	if err != nil {
		t.Fatal(err)
	}
	of := &Context{Source: "fleet.txt", Words: []string{"fleet.txt"}, Cluster: c, Today: &today, Release: release.String(), Options: o}
	return map[string]*answer.Answer{
		"fit":  Answer(&Context{Given: map[string]bool{"host-count": true}, Release: release.String(), Options: one.Options}, counted, fit.Changes(t.Context(), one, counted)),
		"mix":  Answer(of, mixed, fit.Changes(t.Context(), many, mixed)),
		"room": Room(of, room),
	}
}

func TestFitForms(t *testing.T) {
	for name, a := range answers(t) {
		var text, drawn bytes.Buffer
		if err := errors.Join(format.Write(&text, "table", a, format.Options{}), picture.Write(&drawn, a.Drawings[0].Picture(), true)); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, text.Bytes(), "testdata/"+name+".txt")
		golden.Equal(t, drawn.Bytes(), "testdata/"+name+".svg")
	}
}

// TestOneMore: one VM that fits is not several.
func TestOneMore(t *testing.T) {
	for n, want := range map[int]string{1: "1 more VM of 4x16GB fits with", 2: "2 more VMs of 4x16GB fit with"} {
		a := Room(&Context{Source: "fleet.txt", Cluster: &fit.Cluster{Name: "prod"}}, &fit.Free{Shape: fit.NewShape(4, 16*numa.GiB), Total: n, Hosts: []fit.HostFree{{Nodes: []fit.Use{{}}}}})
		if !strings.HasPrefix(a.Verdict[0], want) {
			t.Errorf("got %s, want %s", a.Verdict[0], want)
		}
	}
}

// The commands of the notes can be pasted: they have the source as given, quoted names, and no cluster for several.
func TestRoomCommands(t *testing.T) {
	for want, cluster := range map[string]fit.Cluster{
		"homenode assess demo --what-if lose-host=a.b and homenode optimise demo --cluster 'my prod' --n-plus-1 accept that": {Name: "my prod", Apart: 1},
		"homenode assess demo --what-if lose-host=a.b accepts that":                                                          {Name: "all hosts", Apart: 2},
	} {
		c := &Context{Source: "demo (simulated vCenter)", Words: []string{"demo"}, Cluster: &cluster}
		a := Room(c, &fit.Free{Shape: fit.NewShape(4, 16*numa.GiB), Spare: 1, Homeless: 1, Failed: []string{"a.b"}, Hosts: []fit.HostFree{{Nodes: []fit.Use{{}}}}})
		if got := fmt.Sprint(a.Notes); !strings.Contains(got, want) {
			t.Errorf("found %s, want %s", got, want)
		}
	}
}

// TestMixPrices checks that nothing is said to cost least among types of unknown price, and
// that a type which might cost less is named.
func TestMixPrices(t *testing.T) {
	outcome := func(name string, price float64, hosts, bound int) fit.Outcome {
		m := &fit.Mix{Hosts: hosts, Bound: bound, Free: hosts, Total: hosts + 1, VMs: 40, Price: price * float64(hosts+1)}
		return fit.Outcome{Name: name, Price: price, Mix: m, NodeCores: 40 - hosts}
	}
	r := &fit.Result{Shapes: []fit.Shape{{VCPUs: 4, Memory: 16 * numa.GiB, Count: 40}}, Spare: 1}
	for _, tt := range []struct {
		types   []fit.Outcome
		verdict string
		notes   []string
	}{
		{[]fit.Outcome{outcome("a", 100, 4, 4)}, "4 + 1 spare hosts of a, which cost 500.", nil},
		{[]fit.Outcome{outcome("a", 100, 4, 4), outcome("b", 0, 4, 4)}, "4 + 1 spare hosts of a, which cost 500; 4 + 1 spare hosts of b.", []string{"of unknown price, so not compared: b"}},
		{[]fit.Outcome{outcome("a", 100, 4, 4), outcome("b", 101, 4, 4)}, "4 + 1 spare hosts of a, which cost the least: 500; 4 + 1 spare hosts of b cost 505.", nil},
		{
			[]fit.Outcome{outcome("a", 100, 4, 4), outcome("b", 101, 4, 3), outcome("c", 0, 5, 5)}, "4 + 1 spare hosts of a, which cost the least: 500; 4 + 1 spare hosts of b (at least 3 + 1) cost 505; 5 + 1 spare hosts of c.",
			[]string{"b: could cost less, were 3 + 1 hosts enough, which is not decided", "of unknown price, so not compared: c"},
		},
	} {
		r.Types = tt.types
		want := []string{"At 4.5 vCPUs per core, 40 VMs (160 vCPUs, 640 GB) need " + tt.verdict}
		if got := mixVerdict(&Context{Options: fit.Options{PerCore: 4.5}}, r); !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
		if got := mixNotes(&Context{}, r); !slices.Equal(got, tt.notes) {
			t.Errorf("notes: found %q, want %q", got, tt.notes)
		}
	}
}

// Described VMs are not said to run, and nobody is told to add --vm who did: whether they stand for the powered-off ones is open. Flags are printed whole.
func TestMixDescribed(t *testing.T) {
	off := &numa.VM{Name: "off", Config: numa.Config{VCPUs: numa.ReadAt(4, "vm.txt"), Memory: numa.ReadAt(16*numa.GiB, "vm.txt")}}
	c := &Context{Options: fit.Options{PerCore: 1}, Cluster: &fit.Cluster{Off: []*numa.VM{off}}}
	own, more := fit.NewShape(4, 16*numa.GiB), fit.NewShape(4, 16*numa.GiB)
	own.Count, own.VMs, more.Count = 1, []string{"on"}, 2
	r := &fit.Result{Shapes: []fit.Shape{own, more}, Types: []fit.Outcome{{Name: "a", Mix: &fit.Mix{Hosts: 2, Bound: 1, VMs: 3}}}}
	want := []string{"At 1 vCPU per core, 1 running VM and 2 of --vm (12 vCPUs, 48 GB) fit on 2 hosts of a (at least 1).",
		"1 powered-off VM is not counted, unless --vm stands for it."}
	if got := mixVerdict(c, r); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	var vms []*numa.VM
	for n := range 9 {
		vms = append(vms, &numa.VM{Name: "off", Config: numa.Config{VCPUs: numa.ReadAt(1+n, "vm.txt"), Memory: numa.ReadAt(8*numa.GiB, "vm.txt")}})
	}
	for n, want := range map[int]string{4: "--vm '4x8GB*1' --vm '3x8GB*1' --vm '2x8GB*1' --vm '1x8GB*1'", 9: "--vm for each of their 9 sizes, such as --vm '9x8GB*1'"} {
		if got := flagsOf(vms[:n]); got != want {
			t.Errorf("%d sizes: found %q, want %q", n, got, want)
		}
	}
}

// TestHeld counts only the VMs that the hosts hold, and tells those that do not power on from those that do not fit. Hosts that are more than those of a
// smaller type, and an alternative that holds other VMs, say why.
func TestHeld(t *testing.T) {
	fleet, err := scenario.Read("x", []byte(`release 8.0U3
host h[1-2] nodes=2 cores=16 memory=512GB mhz=2600 cluster=c
vm high host=h1 vcpus=8 memory=64GB latency=high power=on
vm vast host=h1 vcpus=4 memory=600GB
vm a[1-8] host=h2 vcpus=24 memory=38GB
vm half[1-2] host=h2 vcpus=40 memory=300GB
`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := fit.Find(fleet, "c")
	if err != nil {
		t.Fatal(err)
	}
	types, err := fit.ParseTypes("2x36c/512GB,2x40c/512GB", numa.NewRelease(8, 0, 3))
	if err != nil {
		t.Fatal(err)
	}
	ask := &fit.Ask{Types: types, Shapes: c.Shapes(), Spare: 1, Options: fit.Options{Reserve: 1, PerCore: 4, Overhead: fit.PublishedOverhead}}
	r, err := fit.Fit(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	a := Answer(&Context{Cluster: c, Options: ask.Options}, r, fit.Changes(t.Context(), ask, r))
	text := strings.Join(a.Verdict, " ")
	for _, want := range []string{"10 of 12 running VMs (272 vCPUs, 904 GB) ", "; 1 other fits no such host; 1 VM does not power on there as configured"} {
		if !strings.Contains(text, want) {
			t.Errorf("found %q, want %q", text, want)
		}
	}
	for _, n := range a.Notes {
		text += n.Text + "\n"
	}
	for _, n := range a.Changes {
		text += n.If + ": " + n.Result + "\n"
	}
	for _, want := range []string{"2x40c/512GB: more hosts than of 2x36c/512GB, which have no more cores and memory: 2 VMs have several clients there", "half as much memory again: 2x36c/512GB: 11 VMs held (+1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

// TestPlainNumbers: one VM is in the singular, and many values are a range from the least to the most.
func TestPlainNumbers(t *testing.T) {
	r := &fit.Result{Types: []fit.Outcome{{Name: "old"}}}
	if got := change(r, fit.Change{Moved: []fit.Moved{{Type: "old", Of: "hold", Before: 4, After: 1}}}); got.Result != "old: 1 VM held (-3)" {
		t.Error(got.Result)
	}
	if got := spread([]numa.Bytes{3 * numa.GiB, 5 * numa.GiB, numa.GiB, 4 * numa.GiB, 2 * numa.GiB}); got != "1 GB … 5 GB" {
		t.Error(got)
	}
}

// TestLowerBound says how hosts are filled, and the lower bound of those to add, where fewer might hold the VMs.
func TestLowerBound(t *testing.T) {
	for bound, want := range map[int]string{7: "prod: 5 (at least 4) beside your 4", 8: "prod: 5 beside your 4"} {
		r := &fit.Result{Types: []fit.Outcome{{Name: "prod", InSource: 4, Mix: &fit.Mix{Hosts: 8, Bound: bound, Total: 9, Add: 5}}}}
		if got := addNote(r); len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("found %q, want %q", got, want)
		}
		if foot := strings.Join(mixTable(r).Foot, " "); strings.Contains(foot, "one VM after the other") != (bound < 8) {
			t.Errorf("a lower bound of %d: %s", bound, foot)
		}
	}
}
