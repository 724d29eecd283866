package fix_test

import (
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// TestHostFirst plans no downtime of VMs where their host is the matter: another host that lacks what somebody chose, a package that a
// setting divides, the guessed nodes of a host that is itself a VM. An encrypted VM that is changed needs its key.
func TestHostFirst(t *testing.T) {
	const xeon = ` packages=2 memory=512GB cpu="Intel(R) Xeon(R) Gold 6346 CPU @ 3.10GHz"` + "\n"
	for _, tt := range []struct {
		name, fleet string
		o           fix.Options
		guessed     bool
		want        string // of said, or of the notices
	}{
		{"another host lacks the node", "cluster c\nhost a nodes=4 cores=8" + xeon + "host b nodes=2 cores=16" + xeon + "vm v host=a vcpus=8 memory=32GB numa.nodeAffinity=3", fix.Options{}, false,
			"v N025 stays: decide this by hand"},
		{"the host of the VM lacks it", "cluster c\nhost a nodes=4 cores=8" + xeon + "host b nodes=2 cores=16" + xeon + "vm v host=b vcpus=8 memory=32GB numa.nodeAffinity=3", fix.Options{}, false,
			"v: numa.nodeAffinity=absent cures N025"},
		{"a setting divides the packages", "host a nodes=8 cores=4" + xeon + "vm v host=a vcpus=6 memory=32GB hw=20", fix.Options{}, false, "v N011 stays: a setting of its host makes the VM wide"},
		{"all the same", "host a nodes=8 cores=4" + xeon + "vm v host=a vcpus=6 memory=32GB hw=20", fix.Options{Better: true}, false, "v: numa.vcpu.min=6 cures N011"},
		{"in maintenance", "cluster c\nhost a nodes=2 cores=16 maintenance=on" + xeon + "host b nodes=2 cores=16" + xeon + "vm v host=a vcpus=24 memory=32GB hw=20 hotAdd=on power=on", fix.Options{}, false,
			"v N001 stays: once it is off it does not power on"},
		{"a nested host, guessed", "host a nodes=2 cores=8 model=VMware20,1 packages=2 memory=128GB\nvm v host=a vcpus=12 memory=32GB hw=20 hotAdd=on", fix.Options{}, true,
			"v N001 stays: the nodes of its host are assumed"},
		{"a nested host, stated", "host a nodes=2 cores=8 model=VMware20,1 packages=2 memory=128GB\nvm v host=a vcpus=12 memory=32GB hw=20 hotAdd=on", fix.Options{}, false, "cpuHotAdd=false"},
		{"encrypted", "host a nodes=2 cores=8 packages=2 memory=128GB\nvm v host=a vcpus=12 memory=32GB hw=20 hotAdd=on encrypted=yes", fix.Options{}, false, "the key provider must be reachable"},
		{"a virtual TPM", "host a nodes=2 cores=8 packages=2 memory=128GB\nvm v host=a vcpus=12 memory=32GB hw=20 hotAdd=on tpm=yes", fix.Options{}, false, "the key provider must be reachable"},
	} {
		f, err := scenario.Read("x", []byte("release 8.0U3\n"+tt.fleet+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if tt.guessed {
			f.Hosts[0].Nodes.Origin.Kind = numa.Assumed
		}
		tt.o.Now = now
		p, err := fix.Make(t.Context(), f, tt.o)
		if err != nil {
			t.Fatal(err)
		}
		got := said(p)
		for _, c := range p.Changes {
			got += strings.Join(c.Notices, "\n")
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%swant %s", tt.name, got, tt.want)
		}
	}
}

// TestMoved: a host that came into the cluster since the plan was made counts where it has another shape and takes the VM.
func TestMoved(t *testing.T) {
	const old = "release 7.0U3\ncluster c\nhost a nodes=2 cores=18 memory=512GB\nvm v host=a vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on\n"
	_, p := planOf(t, old, fix.Options{})
	if len(p.Changes) != 1 {
		t.Fatalf("%d changes", len(p.Changes))
	}
	for host, want := range map[string]string{
		"":                                    "",
		"nodes=2 cores=18 memory=512GB":       "",
		"nodes=4 cores=10 memory=512GB":       "host b of its cluster has 7.0 U3; node 0: 10 cores",
		"nodes=4 cores=4 memory=512GB ht=off": "", // too small
		"nodes=4 cores=10 memory=512GB maintenance=on": "",
	} {
		f := given.Fleet(t, "x", []byte(old+strings.TrimSuffix("host b "+host, "host b ")+"\n"))
		if got := "host " + p.Moved(f)[p.Changes[0].VM.ID]; want == "" && got != "host " || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %q", host, got, want)
		}
	}
}
