package published

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// compared prints a comparison: each field with its prediction, each open one with
// its reason.
func compared(t *testing.T, text string) string {
	t.Helper()
	cases, err := Read("case.txtar", []byte("-- case --\nid c\nkind observed\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return printed(Compare(&cases[0], vnuma.Choices{}))
}

func printed(c *Comparison) string {
	var b strings.Builder
	for _, f := range c.Fields {
		if f.Agrees {
			fmt.Fprintf(&b, "%s = %s\n", f.Name, f.Observed)
		} else {
			fmt.Fprintf(&b, "%s = %s, MISS: predicted %s\n", f.Name, f.Observed, f.Predicted)
		}
		if why := reason(c.Case, f.Name, vnuma.Choices{}); why != "" && !f.Agrees {
			fmt.Fprintf(&b, "  %s\n", why)
		}
	}
	for _, o := range c.Open {
		fmt.Fprintf(&b, "open: %s: %s\n", o.Name, o.Why)
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	const twoTimesTen = "host sockets=2 cores_per_socket=10 mem_per_node_gb=64\n"
	for _, tt := range []struct{ name, in, want string }{
		{"agrees", "release 7.0\n" + twoTimesTen + "vm vcpus=12\n-- observed --\nvpd_count=2\nvcpus_per_node=[6,6]\nwide=true", `
vcpus_per_node = [6 6]
vpd_count = 2
wide = true
`},
		{"a wrong observation is a miss", "release 7.0\n" + twoTimesTen + "vm vcpus=12\n-- observed --\nvpd_count=3\nvcpus_per_node=[10,2]\nwide=false\nhome_nodes=[0]", `
home_nodes = [0], MISS: predicted 2 of 2 nodes
vcpus_per_node = [10 2], MISS: predicted [6 6]
vpd_count = 3, MISS: predicted 2
wide = false, MISS: predicted true
`},
		{"a wrong observation of the host", "release 7.0\nhost sockets=2 numa_nodes_per_socket=2 mem_gb=256\nvm vcpus=4\n-- observed --\nhost_numa_nodes=2\nhost_packages=2\nmemory_per_host_node_gb=128", `
host_numa_nodes = 2, MISS: predicted 4
host_packages = 2
memory_per_host_node_gb = 128, MISS: predicted 64
`},
		{"what is not predicted is open", "release 7.0\n" + twoTimesTen + "vm vcpus=12\n-- observed --\npassmark_cpu=14039\nvpd_count=2\n", `
vpd_count = 2
open: passmark_cpu: a measurement, not a topology: not predicted
`},
		{"the cores decide and are not stated", "release 7.0\nhost sockets=2\nvm vcpus=12\n-- observed --\nvpd_count=2\nnuma_managed=true", `
numa_managed = true
open: vpd_count: depends on what the case does not state: 2 or 1
`},
		{"the vCPUs are not stated", "release 7.0\n" + twoTimesTen + "-- observed --\nvpd_count=2\nhost_packages=2", `
host_packages = 2
open: vpd_count: the vCPU count is not stated
`},
		{"recommended", "kind recommended\nrelease 7.0\n" + twoTimesTen + "vm vcpus=12\n-- observed --\nvpd_count=2", `
open: vpd_count: a recommendation, not an observation
`},
		{"nodes that are sockets", "release 6.0\nhost sockets=2 cores_per_socket=12\nvm vcpus=24 cores_per_socket=6\n-- observed --\nvpd_count=4\nvcpus_per_node=[6,6,6,6]", `
vcpus_per_node = [6 6 6 6]
vpd_count = 4
`},
		{"a miss that a choice explains", "release 4.1\nhost sockets=2 cores_per_socket=6\nvm vcpus=8\n-- observed --\nvcpus_per_ppd=[6,2]", `
vcpus_per_ppd = [6 2], MISS: predicted [4 4]
  F-2, sources disagree: ESX 4.1 splits evenly, 8 vCPUs on 6-core nodes are 4+4 (VMware KB 309166); the case follows: ESX 4.1 fills nodes, 6+2 (Denneman 2011)
`},
		{"a stored size", "release 7.0\n" + twoTimesTen + "vm vcpus=16 extra.numa.autosize.vcpu.maxPerVirtualNode=\"16\"\n-- observed --\nvpd_count=1\nppd_count=2\nautosize_max_per_virtual_node=16", `
autosize_max_per_virtual_node = 16
ppd_count = 2
vpd_count = 1
`},
		{"a stored size of another vCPU count", "release 7.0\n" + twoTimesTen + "vm vcpus=16 extra.numa.autosize.vcpu.maxPerVirtualNode=\"20\" extra.numa.autosize.cookie=\"200012\"\n-- observed --\nvpd_count=2\nvcpus_per_vpd=[8,8]", `
vcpus_per_vpd = [8 8]
vpd_count = 2
`},
		{"a move, with the host before", "event vmotion\nrelease 7.0\nfrom sockets=2 cores_per_socket=20\nhost sockets=4 cores_per_socket=14\nvm vcpus=36\n-- observed --\nvpd_count=2\nvcpus_per_node=[18,18]\nppd_count=3\nvcpus_per_ppd=[12,12,12]\nautosize_max_per_virtual_node=18\nwide=true", `
autosize_max_per_virtual_node = 18
ppd_count = 3
vcpus_per_node = [18 18]
vcpus_per_ppd = [12 12 12]
vpd_count = 2
wide = true
`},
		{"a move, with what was stored before", "event vmotion\nrelease 7.0\nhost sockets=4 cores_per_socket=14\nvm vcpus=36 extra.numa.autosize.vcpu.maxPerVirtualNode=\"18\" extra.numa.autosize.cookie=\"360022\"\n-- observed --\nvpd_count=2\nppd_count=3\nautosize_cookie=360022", `
autosize_cookie = 360022
ppd_count = 3
vpd_count = 2
`},
		{"a move from nowhere", "event vmotion\nrelease 7.0\nhost sockets=4 cores_per_socket=14\nvm vcpus=36\n-- observed --\nvpd_count=2", `
open: vpd_count: the host before the vMotion is not stated
`},
		{"a move between hosts whose cores are open", "event vmotion\nrelease 7.0\nfrom sockets=2\nhost sockets=4 cores_per_socket=14\nvm vcpus=36\n-- observed --\nvpd_count=2\nppd_count=3", `
ppd_count = 3
open: vpd_count: depends on what the case does not state: 2 or 1
`},
		{"memory beyond a node", "release 6.5\nhost sockets=2 cores_per_socket=12 mem_per_node_gb=64\nvm vcpus=8 mem_gb=96\n-- observed --\nlocal_mem_gb=64\nremote_mem_gb=32\nlocal_mem_kb=[67108864,0]\nremote_mem_kb=33554432\nperformance_penalty=true", `
local_mem_gb = 64
local_mem_kb = [67108864 0]
performance_penalty = true
remote_mem_gb = 32
remote_mem_kb = 33554432
`},
		{"memory within the bounds of a loaded host", "release 6.5\nhost sockets=2 cores_per_socket=12 mem_per_node_gb=64\nvm vcpus=8 mem_gb=96\n-- observed --\nlocal_mem_gb=50\nremote_mem_gb=46", `
local_mem_gb = 50
remote_mem_gb = 46
`},
		{"memory outside the bounds", "release 6.5\nhost sockets=2 cores_per_socket=12 mem_per_node_gb=64\nvm vcpus=8 mem_gb=96\n-- observed --\nlocal_mem_gb=80\nremote_mem_gb=0", `
local_mem_gb = 80, MISS: predicted at most 63
  F-5, sources disagree: memory beyond a node does not make more clients; the case follows: memory beyond a node makes more clients (Denneman 2022, prose; Dos Santos 2023, 768 GB)
remote_mem_gb = 0, MISS: predicted at least 17
  F-5, sources disagree: memory beyond a node does not make more clients; the case follows: memory beyond a node makes more clients (Denneman 2022, prose; Dos Santos 2023, 768 GB)
`},
		{"memory of the node not stated", "release 6.5\nhost sockets=2 cores_per_socket=12\nvm vcpus=8 mem_gb=96\n-- observed --\nlocal_mem_gb=64\ngst_nd_mb=[49152,49152]", `
open: gst_nd_mb: the memory of the VM or of a node is not stated
open: local_mem_gb: the memory of the VM or of a node is not stated
`},
		{"memory of the nodes beyond one", "release 6.5\nhost sockets=2 cores_per_socket=12 mem_per_node_gb=64\nvm vcpus=8 mem_gb=96\n-- observed --\ngst_nd_mb=[65536,32768]", `
open: gst_nd_mb: the memory goes beyond a node: where is not predicted
`},
		{"memory of the nodes", "release 6.5\n" + twoTimesTen + "vm vcpus=12 mem_gb=32\n-- observed --\ngst_nd_mb=[16440,16384]\nmemory_per_node_gb=[16,16]", `
gst_nd_mb = [16440 16384]
memory_per_node_gb = [16 16]
`},
		{"memory that is not touched yet", "release 6.5\n" + twoTimesTen + "vm vcpus=12 mem_gb=32\n-- observed --\ngst_nd_mb=[100,50]\nn_pct_local=100", `
n_pct_local = 100
open: gst_nd_mb: what is resident before all is touched is not predicted: 150 of 32768 MB
`},
		{"consolidation off", "release 6.5\nhost sockets=2 cores_per_socket=12 mem_per_node_gb=64\nvm vcpus=8 mem_gb=96 extra.numa.consolidate=\"FALSE\"\n-- observed --\nvpd_count=1\nvcpus_per_ppd=[4,4]", `
vcpus_per_ppd = [4 4]
vpd_count = 1
`},
		{"the threshold lowered", "release 6.7\nhost sockets=1 cores_per_node=6 numa_nodes_per_socket=4 cpu_model=\"AMD EPYC 7401\"\nvm vcpus=8 extra.numa.vcpu.min=\"6\"\n-- observed --\nvpd_count=2\nvcpus_per_node=[4,4]", `
vcpus_per_node = [4 4]
vpd_count = 2
`},
		{"EPYC and an update not stated", "release 6.7,6.7U2\nhost sockets=1 cores_per_node=6 numa_nodes_per_socket=4 cpu_model=\"AMD EPYC 7401\"\nvm vcpus=8\n-- observed --\nvpd_count=2\nppd_count=2", `
ppd_count = 2
open: vpd_count: depends on what the case does not state: 1 or 2
`},
		{"a prime", "release 6.5\n" + twoTimesTen + "vm vcpus=21\n-- observed --\nvpd_count=2\nvcpus_per_node=[11,10]", `
vcpus_per_node = [11 10]
vpd_count = 2
`},
		{"assigned at power on", "release 8.0\nhardware 20\nhost sockets=2 cores_per_socket=72\nvm vcpus=144 auto_cores_per_socket=true\n-- observed --\nvpd_count=2\nguest_sockets=2\nguest_cores_per_socket=72", `
guest_cores_per_socket = 72
guest_sockets = 2
vpd_count = 2
`},
		{"cores of a node set by hand", "release 8.0\nhost sockets=2 cores_per_socket=72\nvm vcpus=144 extra.numa.vcpu.coresPerNode=\"36\"\n-- observed --\nvcpus_per_node=[36,36,36,36]", `
vcpus_per_node = [36 36 36 36]
`},
		{"too much is open", "vm vcpus_max=4096\n-- observed --\nvpd_count=1", `
open: vpd_count: too much is open: more than 50000 readings
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := compared(t, tt.in); got != tt.want[1:] {
				t.Errorf("got:\n%swant:%s", got, tt.want)
			}
		})
	}
}

// TestObservations are observed values of every odd form: each is compared or open,
// with a reason that shows it.
func TestObservations(t *testing.T) {
	var fields []string
	for name := range fieldOf {
		fields = append(fields, name)
	}
	for name := range hostFields {
		fields = append(fields, name)
	}
	for _, name := range fields {
		for _, odd := range []any{
			[]any{}, []any{nil}, []any{[]any{1.0}}, map[string]any{}, map[string]any{"a": 1.0}, "", "many", -1.0, 1e300, true, "12", []any{"6", "6"}, []any{6.0, nil},
			[]any{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0}, "vCPU9-1 VPD9/PPD9",
		} {
			c := Case{ID: "c", Kind: "observed", Releases: []numa.Release{numa.ESXi70}, Host: Host{Sockets: 2, CoresPerSocket: 10, GB: 128}, VM: VM{VCPUs: 12, GB: 32}, Observed: map[string]any{name: odd}}
			got := Compare(&c, vnuma.Choices{})
			if len(got.Fields)+len(got.Open) != 1 {
				t.Errorf("%s of %v: %s", name, odd, printed(got))
			}
		}
	}
}
