package change

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/change/fix"
	"example.org/homenode/change/move"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/policy"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// TestPlan asks for the plan of a fleet that is held: it cures nothing that is accepted.
func TestPlan(t *testing.T) {
	f := given.Fleet(t, "fleet.txt", []byte("release 7.0U3\ncluster prod\nhost esx01 nodes=2 cores=18 memory=512GB\nvm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on\n"))
	accepted := &policy.Policy{Suppress: []policy.Suppression{{Rules: []string{"N001"}, VM: []string{"sql01"}, Reason: "agreed", Until: "2099-12-31"}}}
	for _, p := range []*policy.Policy{nil, accepted} {
		q := FixEntry.Ask().(*Plan)
		q.Fleet, q.Rules = "SOURCE", []string{"N001"}
		e := &ask.Env{Held: &ask.Held{Sources: []string{"SOURCE"}, Result: rules.Run(f, rules.Options{})}, Policy: p, Shared: true, Today: time.Now()}
		r, err := FixEntry.Answer(t.Context(), q, e)
		if err != nil {
			t.Fatal(err)
		}
		if made := r.Answers[0].Result.(*fix.Plan); len(made.Changes) == 0 != (p != nil) {
			t.Errorf("accepted %v: %+v", p != nil, made)
		}
		q.Fleet = "https://vc01.example.com"
		if _, err := FixEntry.Answer(t.Context(), q, e); err == nil || !strings.Contains(err.Error(), "the fleet that is shown alone") {
			t.Errorf("another source: %v", err)
		}
	}
}

// TestLeft: a VM that is not moved is named.
func TestLeft(t *testing.T) {
	f, err := scenario.Read("fleet.txt", []byte("release 8.0U3\ncluster prod\nhost esx01 nodes=2 cores=16 memory=512GB\nvm sql01 host=esx01 vcpus=24 memory=128GB\nvm gold host=esx01 vcpus=4 memory=8GB template=on power=off\n"))
	if err != nil {
		t.Fatal(err)
	}
	q := MoveEntry.Ask().(*Move)
	q.Fleet, q.To = []string{"SOURCE"}, []string{"libvirt"}
	e := &ask.Env{Held: &ask.Held{Sources: []string{"SOURCE"}, Result: rules.Run(f, rules.Options{})}, Today: time.Now()}
	m, err := q.Make(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if notes := fmt.Sprint(m.Rests); !strings.Contains(notes, "1 VM is not moved: gold, which is a template or cannot be judged") {
		t.Errorf("notes %s", notes)
	}
}

// TestPlatforms compares what the tags say with what there is.
func TestPlatforms(t *testing.T) {
	for _, f := range ask.Fields(MoveEntry.Ask()) {
		switch {
		case f.Name == "to" && (!slices.Equal(f.Choices, move.Names()) || f.Help != "platforms: "+strings.Join(move.Names(), ", ")):
			t.Errorf("platforms: %v, %s", f.Choices, f.Help)
		case f.Name == "shape" && !slices.Equal(f.Choices, []string{move.Clients, move.Same, move.Fit, move.Flat}):
			t.Errorf("shapes: %v", f.Choices)
		}
	}
}

// TestOtherHosts: hosts that run no VM of vSphere are left out with a note while there are others, in whichever files.
func TestOtherHosts(t *testing.T) {
	arm := filepath.Join(t.TempDir(), "arm.xml")
	if err := os.WriteFile(arm, []byte("<capabilities><host><cpu><arch>aarch64</arch></cpu><topology><cells><cell id='0'><memory unit='KiB'>1048576</memory>"+
		"<cpus num='1'><cpu id='0' socket_id='0' core_id='0' siblings='0'/></cpus></cell></cells></topology></host></capabilities>"), 0o600); err != nil {
		t.Fatal(err)
	}
	const out = "a host of aarch64, which does not run VMs of x86_64: it is left out"
	for _, names := range [][]string{{arm, "2x32c/1TB*2"}, {"2x32c/1TB*2", arm}} {
		read, _, err := (&Hosts{Names: names, PerCore: []string{"3"}, Own: "1c/16GB"}).read(false)
		if err != nil || len(read.list) != 2 || len(read.notes) != 1 || !strings.Contains(read.notes[0], out) {
			t.Errorf("%v: %d hosts, notes %q, %v", names, len(read.list), read.notes, err)
		}
	}
	if _, _, err := (&Hosts{Names: []string{arm}, PerCore: []string{"3"}, Own: "1c/16GB"}).read(false); err == nil || !strings.Contains(err.Error(), out) {
		t.Errorf("alone: %v", err)
	}
}

// TestHosts reads what --hosts takes.
func TestHosts(t *testing.T) {
	for _, tt := range []struct {
		hosts []string
		want  string // names, or the error; "shape" for one that is no host
	}{
		{[]string{"2x32c/1TB"}, "shape"},
		{[]string{"2x32c/1TB*3"}, "kvm01 kvm02 kvm03"},
		{[]string{"2x32c/1TB*1", "r760:2x48c/2TB*2"}, "kvm01 r760-02 r760-03"},
		{[]string{"2x32c/1TB*0"}, `--hosts: found "2x32c/1TB*0", want a number of hosts behind the *, 1 to 100000: 2x32c/1TB*6`},
		{[]string{"2x32c/1TB*many"}, `--hosts: found "2x32c/1TB*many", want a number of hosts behind the *, 1 to 100000: 2x32c/1TB*6`},
		{[]string{"2x32q/1TB*2"}, `--hosts: "2x32q/1TB": column 3: found "32q", want the number of cores of a socket, as in 2x32c/1TB`},
		{[]string{"nowhere/kvm.xml"}, "--hosts: stat nowhere/kvm.xml: no such file or directory"},
	} {
		h := &Hosts{Names: tt.hosts, PerCore: []string{"3"}, Own: "1c/16GB"}
		read, _, err := h.read(false)
		var names []string
		for _, one := range read.list {
			names = append(names, one.Name)
		}
		if _, _, err := h.read(true); err == nil && strings.Contains(tt.hosts[0], ".xml") {
			t.Errorf("%v: a page reads it", tt.hosts)
		}
		got := strings.Join(names, " ")
		switch {
		case err != nil:
			got = err.Error()
		case read.list == nil:
			got = "shape"
		}
		if got != tt.want {
			t.Errorf("%v: found %s, want %s", tt.hosts, got, tt.want)
		}
	}
	for _, tt := range []struct{ perCore, own, want string }{
		{"3", "1c/16GB", ""},
		{"3", "0/0", ""},
		{"3", "0c/0GB", ""},
		{"3", "1c/0.0MB", ""},
		{"x", "1c/16GB", `--vcpus-per-core: found "x", want vCPUs per core, 0.1 to 100, and of some VMs with their name: 3,'sql*=1'`},
		{"sql*=0", "1c/16GB", `--vcpus-per-core: found "sql*=0", want vCPUs per core, 0.1 to 100, and of some VMs with their name: 3,'sql*=1'`},
		{"3", "16GB", `--host-reserve: found "16GB", want cores and memory of a node, such as 1c/16GB`},
		{"3", "1c/16", `--host-reserve: found "16" without a unit, want a size such as 512B, 4k, 512GB or 1.5TB`},
	} {
		h := &Hosts{Names: []string{"2x32c/1TB*2"}, PerCore: []string{tt.perCore}, Own: tt.own}
		if _, _, err := h.read(false); fmt.Sprint(err) != cmp.Or(tt.want, "<nil>") {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	nominal := &Hosts{Names: []string{"1x48c/2048GB*2"}, PerCore: []string{"3"}, Own: "0/0"}
	if to, _, err := nominal.read(false); err != nil || to.list[0].Nodes[0].Memory != 2012*numa.GiB {
		t.Errorf("a node of 2,048 GB: %+v, %v", to.list, err)
	}
	h := &Hosts{Names: []string{"2x32c/1TB*2"}, PerCore: []string{"a=b*=1.5", "2"}, Own: "2c/4GB", Apart: []string{"a, b"}}
	if to, _, err := h.read(false); err != nil || to.policy.PerCore != 2 || to.policy.Ratios[0].VMs != "a=b*" || !slices.Equal(to.policy.Apart[0], []string{"a", "b"}) || to.list[1].Nodes[1].KeptCores != 2 {
		t.Errorf("%+v, %v", to, err)
	}
}
