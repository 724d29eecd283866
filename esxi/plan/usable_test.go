package plan_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
)

// planOf returns the plan of the first VM of a scenario on its first host.
func planOf(t *testing.T, text string) (vnuma.Guest, vnuma.Machine, plan.Plan) {
	t.Helper()
	f, err := scenario.Read("usable", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := vnuma.NewGuest(&f.VMs[0])
	if err != nil {
		t.Fatal(err)
	}
	m, err := vnuma.NewMachine(&f.Hosts[0])
	if err != nil {
		t.Fatal(err)
	}
	return g, m, plan.Best(&g, []vnuma.Machine{m}, vnuma.Choices{})
}

// TestBestUsable: the plan keeps what the software in the guest needs and cures what it
// cannot use.
func TestBestUsable(t *testing.T) {
	const large = "release 8.0U3\nhost a nodes=2 cores=72 memory=2048GB\n"
	for _, tt := range []struct {
		name, host, vm string
		steps, after   string
		sockets        int
	}{
		{"a size by hand that SQL Server needs stays (KB 374613)", large,
			`vcpus=144 coresPerSocket=36 memory=512GB hw=20 numa.vcpu.maxPerVirtualNode=36 product="SQL Server 2022 Standard"`, "", "4 × 36", 4},
		{"the same without a product goes", large,
			`vcpus=144 coresPerSocket=36 memory=512GB hw=20 numa.vcpu.maxPerVirtualNode=36`, "remove numa.vcpu.maxPerVirtualNode", "2 × 72", 2},
		{"70 vCPUs of SQL Server 2022 are divided", "release 7.0U3\nhost a nodes=2 cores=96 memory=2048GB\n",
			`vcpus=70 coresPerSocket=70 memory=512GB product="SQL Server 2025 Enterprise"`, "numa.vcpu.maxPerVirtualNode = 35", "2 × 35", 2},
		{"24 sockets of SQL Server Standard", "release 7.0U3\nhost a nodes=2 cores=32 memory=512GB\n",
			`vcpus=24 memory=64GB product="SQL Server 2019 Standard"`, "set cores per socket to 24 (1 socket)", "24", 1},
		{"Windows 11 Pro uses two sockets: 12 would cut nodes of 8", "release 7.0U3\nhost a nodes=4 cores=8 memory=512GB\n",
			`vcpus=24 coresPerSocket=8 memory=64GB product="Windows 11 Pro"`, "set cores per socket to 24 (1 socket)", "3 × 8", 1},
		{"SQL Server Standard uses four: 6 would cut nodes of 4", "release 7.0U3\nhost a nodes=8 cores=4 memory=512GB\n",
			`vcpus=24 coresPerSocket=4 memory=64GB product="SQL Server 2019 Standard"`, "set cores per socket to 8 (3 sockets)", "6 × 4", 3},
		{"Windows 10 may be Pro, which uses two sockets: no third one", "release 8.0U3\nhost a nodes=8 cores=8 memory=512GB\n",
			`vcpus=24 coresPerSocket=12 memory=64GB hw=20 hotAdd=on product="Windows 10"`, "set cores per socket to 24 (1 socket)", "3 × 8", 1},
		{"what runs in a Windows may be SQL Server Standard: hot add alone goes", "release 8.0U3\nhost a nodes=8 cores=8 memory=512GB\n",
			`vcpus=48 coresPerSocket=24 memory=64GB hw=20 hotAdd=on guest=windows2019srvNext_64Guest`, "switch CPU hot add off", "6 × 8", 2},
		{"Windows before build 20348 splits nodes", "release 7.0U3\nhost a nodes=2 cores=96 memory=2048GB\n",
			`vcpus=72 coresPerSocket=72 memory=512GB guest=windows2019srv_64Guest`, "numa.vcpu.maxPerVirtualNode = 36", "2 × 36", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, m, p := planOf(t, tt.host+"vm v "+tt.vm+"\n")
			steps := strings.Join(p.Edit.Steps(&g, &m), ", ")
			if p.Better != (tt.steps != "") || !strings.Contains(steps, tt.steps) || p.After[0].VPDs.String() != tt.after || p.After[0].VSockets.Len() != tt.sockets {
				t.Errorf("%q: nodes %v, %d sockets; want %q, %s, %d", steps, p.After[0].VPDs, p.After[0].VSockets.Len(), tt.steps, tt.after, tt.sockets)
			}
		})
	}
}

// TestBestNeverBreaks: whatever the VM, host and limits, the plan leaves the software in the
// guest no worse off.
func TestBestNeverBreaks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 22))
	for range 300 {
		m := host(t, []numa.Release{numa.ESXi65, numa.ESXi70, numa.ESXi80}[r.IntN(3)], 1+r.IntN(4), 4*(1+r.IntN(24)))
		g := vnuma.Guest{VCPUs: 2 * int32(1+r.IntN(80)), CoresPerSocket: 1, Hardware: 13 + int32(r.IntN(9)), HotAdd: r.IntN(3) == 0,
			Usable: vnuma.Usable{PerNode: []int32{0, 8, 64}[r.IntN(3)], Sockets: []int32{0, 1, 2, 4}[r.IntN(4)]}}
		if r.IntN(2) == 0 {
			g.MaxPerVirtualNode = g.VCPUs / 2
		}
		p := plan.Best(&g, []vnuma.Machine{m}, vnuma.Choices{})
		if !p.Edit.CanUse(&g, &m, vnuma.Choices{}) {
			t.Fatalf("%+v on %s: the plan %+v is worse for the guest: nodes %v, sockets %v", g, m.Shape(), p.Edit, p.After[0].VPDs, p.After[0].VSockets)
		}
	}
}

// TestNodesOfSmallVM: NUMA Nodes of a VM below numa.vcpu.min come with that setting, so that the advice
// holds with both sides of F-29; a larger VM needs none.
func TestNodesOfSmallVM(t *testing.T) {
	const h = "release 8.0U3\nhost a nodes=2 cores=16 memory=256GB\n"
	for vm, min := range map[string]int{"vm v host=a vcpus=8 memory=160GB hw=20": 8, "vm v host=a vcpus=12 memory=160GB hw=20": 0} {
		g, m, p := planOf(t, h+vm)
		if p.Edit.PerNode == 0 || p.Edit.Min != min {
			t.Errorf("%s: %+v, want NUMA nodes by hand and numa.vcpu.min %d", vm, p.Edit, min)
		}
		after := p.Edit.Apply(g)
		if l := vnuma.Predict(&after, &m, &vnuma.Case{Choices: vnuma.Choices{NodesNeedMin: true}}); l.VPDs.Len() != 2 {
			t.Errorf("%s: after the plan, read the other way, %v", vm, l.VPDs)
		}
	}
}
