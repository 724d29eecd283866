package rules_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/rules/finding"
)

// TestReach: hosts that take no VMs now shape no finding and no advice, hosts that are too small for a VM no plan, and where the place of the
// VM alone cures a finding, that comes first.
func TestReach(t *testing.T) {
	const large = "release 8.0U3\ncluster p\nhost h[1-3] nodes=2 cores=16 memory=512GB\n"
	for _, tt := range []struct {
		name, fleet string
		want        map[string]string // by rule, how the advice begins; "" for no finding
	}{
		{"hosts in maintenance and disconnected", large + `host h5 nodes=2 cores=8 memory=1TB connection=disconnected
host h6 nodes=2 cores=6 memory=1TB maintenance=on
vm v host=h2 vcpus=24 memory=200GB coresPerSocket=12 hw=21 hotAdd=on`,
			map[string]string{"N001": "Switch CPU hot add off, then power", "N013": ""}},
		{"a host in maintenance refuses it", large + `host h6 nodes=2 cores=6 threads=12 memory=1TB maintenance=on
vm v host=h3 vcpus=32 memory=100GB coresPerSocket=16 hw=21`,
			map[string]string{"N032": "", "N013": ""}},
		{"its own host is in maintenance", `release 8.0U3
host h nodes=2 cores=16 memory=512GB maintenance=on
vm v host=h vcpus=24 memory=200GB coresPerSocket=12 hw=21 hotAdd=on`,
			map[string]string{"N001": "Switch CPU hot add off"}},
		{"another host of its kind is in maintenance", `release 8.0U3
cluster p
host h1 nodes=2 cores=16 memory=512GB
host h[2-3] nodes=2 cores=8 memory=1TB
host h4 nodes=2 cores=8 memory=1TB maintenance=on
vm v host=h1 vcpus=12 memory=100GB coresPerSocket=12 hw=21`,
			map[string]string{"N014": "Keep the VM off h2 and h3 with a DRS rule (should), or: "}},
		{"a finer host has too few cores for it", `release 7.0U3
cluster p
host h2 nodes=4 packages=2 cores=8 memory=1TB
host h3 nodes=2 cores=32 memory=1TB
vm v host=h3 vcpus=48 memory=400GB coresPerSocket=24 hw=19`,
			map[string]string{"N009": "", "N013": "Keep the VM off h2 with a DRS rule (should)", "N014": "Keep the VM off h2 with a DRS rule (should)|"}},
		{"a smaller host refuses it", large + `host h6 nodes=2 cores=6 threads=12 memory=1TB
vm v host=h3 vcpus=32 memory=100GB coresPerSocket=16 hw=21`,
			map[string]string{"N032": "Keep the VM off h6 with a DRS rule (should)|"}},
		{"a virtual socket is too large elsewhere", large + `host h5 nodes=2 cores=8 memory=1TB
vm v host=h1 vcpus=12 memory=100GB coresPerSocket=12 hw=21`,
			map[string]string{"N009": "Keep the VM off h5 with a DRS rule (should), or: set"}},
		{"its own host has too little memory, others have room", `release 8.0U3
cluster p
host s1 nodes=2 cores=8 memory=256GB
host b[1-2] nodes=2 cores=24 memory=1TB
vm v host=s1 vcpus=8 memory=200GB coresPerSocket=8 hw=21`,
			map[string]string{"N005": "Move the VM to b1 or b2 and keep it off s1 with a DRS rule (should), or: give"}},
		{"one of the others hides its nodes", `release 7.0U3
cluster p
host s1 nodes=4 cores=14 memory=1TB
host b1 nodes=2 cores=40 memory=1TB
host b2 nodes=1 packages=2 cores=40 memory=1TB
vm v host=s1 vcpus=16 memory=64GB hotAdd=on hw=17`,
			map[string]string{"N001": "Switch CPU hot add off, then power off and on (a reboot is not enough): the guest then sees 2 NUMA nodes of 8 vCPU and 32 GB each. Better still: set cores per socket to 8 (2 sockets): a socket with its cache for each node that it sees (B-25), or: move the VM to b1 and keep it off s1"}},
		{"its own host has hyper-threading", `release 7.0U3
cluster p
host h1 nodes=2 cores=14 threads=28 memory=256GB
host h2 nodes=2 cores=14 threads=14 ht=off memory=256GB
vm v host=h1 vcpus=20 memory=20GB hw=19 coresPerSocket=20 numa.vcpu.preferHT=TRUE`,
			map[string]string{"N012": "Switch hyper-threading on: the VM then runs as 1 client (20 vCPU), two vCPUs on a core|"}},
		{"others have too few cores", `release 8.0U3
cluster p
host s1 nodes=2 cores=8 memory=256GB
host b[1-2] nodes=2 cores=24 memory=1TB
vm v host=s1 vcpus=20 memory=100GB coresPerSocket=10 hw=21`,
			map[string]string{"N013": "Move the VM to b1 or b2 and keep it off s1"}},
		{"its own host does not power it on", `release 8.0U3
cluster p
host s1 nodes=2 cores=8 threads=16 memory=256GB
host b1 nodes=2 cores=24 memory=1TB
vm v host=s1 vcpus=40 memory=100GB coresPerSocket=20 hw=21`,
			map[string]string{"N032": "Move the VM to b1 and keep it off s1 with a DRS rule (should), or"}},
		{"the most vCPUs are no multiple of its cores per socket", `release 7.0U3
cluster p
host h[1-2] nodes=2 cores=16 threads=32 memory=512GB
host h5 nodes=1 packages=1 cores=64 threads=128 memory=1TB
vm v host=h5 vcpus=80 memory=256GB coresPerSocket=40 hw=19`,
			map[string]string{"N013": "Use at most 64 vCPUs with 64 cores per socket (not on h1 and h2)|", "N032": "Keep the VM off h1 and h2 with a DRS rule (should)"}},
		{"where it runs a plan would only be tidier", `release 7.0U3
cluster p
host h1 nodes=2 cores=16 memory=512GB
host h2 nodes=2 cores=16 memory=512GB Numa.FollowCoresPerSocket=1
vm v host=h1 vcpus=24 memory=64GB coresPerSocket=4 hw=19`,
			map[string]string{"N008": "Keep the VM off h2 with a DRS rule (should)|"}},
		{"the larger host is full", `release 8.0U3
cluster p
host s1 nodes=2 cores=8 memory=256GB
host b1 nodes=2 cores=24 memory=1TB
vm v host=s1 vcpus=8 memory=200GB coresPerSocket=8 hw=21
vm w host=b1 vcpus=24 memory=900GB coresPerSocket=12 hw=21`,
			map[string]string{"N005": "Give the VM at most"}},
	} {
		r := runText(t, tt.fleet+"\n")
		for id, want := range tt.want {
			i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == id && f.VM == "v" && f.Severity > finding.Info })
			got := ""
			if i >= 0 {
				got = r.Findings[i].Advice + "|"
			}
			if (want == "") != (got == "") || !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s: %q, want %q", tt.name, id, got, want)
			}
		}
	}
}

// TestInstead: a plan for other hosts, or for a host that is too small, names the place that cures its findings as well; one that a medium
// finding on the VM's own host needs names none.
func TestInstead(t *testing.T) {
	const hosts = "release 7.0U3\ncluster p\nhost a1 nodes=2 cores=16 memory=512GB\nhost b1 nodes=2 cores=24 memory=768GB\n"
	for vm, want := range map[string]string{
		"host=b1 vcpus=20 memory=128GB coresPerSocket=20":           "keep the VM off a1 with a DRS rule (should)",
		"host=a1 vcpus=8 memory=300GB coresPerSocket=8":             "move the VM to b1 and keep it off a1 with a DRS rule (should)",
		"host=a1 vcpus=24 memory=128GB coresPerSocket=12 hotAdd=on": "",
	} {
		_, plans := runText(t, hosts+"vm v "+vm+" hw=19\n").Proposals()
		if len(plans) != 1 || plans[0].Instead != want {
			t.Errorf("%s: %d plans, %+v, want %q", vm, len(plans), plans, want)
		}
	}
	// What a plan of changes does is what is called needed: less where more is for other hosts, and nothing for the sake of a low finding.
	for _, tt := range []struct {
		fleet, own string
		later      bool
	}{
		{"release 7.0U3\ncluster c\nhost h[1-2] nodes=2 cores=20 memory=1TB\nhost h3 nodes=4 cores=14 memory=1TB\nvm a host=h1 vcpus=30 memory=100GB hw=19 coresPerSocket=6\n", "set cores per socket to 15 (2 sockets)", false},
		{"release 8.0U2\nhost h nodes=2 cores=16 memory=512GB\nvm a host=h vcpus=24 memory=128GB hw=20 coresPerSocket=24\n", "", true},
		{"release 8.0U2\nhost h nodes=2 cores=16 memory=512GB\nvm a host=h vcpus=24 memory=128GB hw=20 coresPerSocket=24 power=off\n", "", false},
		{"cluster c\nrelease 6.0\nhost h1 nodes=2 cores=10 memory=256GB\nrelease 7.0U3\nhost h2 nodes=2 cores=20 memory=256GB\nvm a host=h2 vcpus=16 memory=20GB hw=11 coresPerSocket=4 stored=4\n", "", false}, // its own part brings N014
	} {
		_, plans := runText(t, tt.fleet).Proposals()
		if len(plans) != 1 || (strings.Join(plans[0].Needed, ", ") == tt.own) != (plans[0].Wider != nil) || (plans[0].Wider != nil) != (tt.own != "") || plans[0].Later != tt.later || (plans[0].Effect[0].Needed == "2×15") != (tt.own != "") {
			t.Errorf("%s: %d plans, %+v, want %q and %v", tt.fleet, len(plans), plans[0], tt.own, tt.later)
		}
	}
}
