package fleet_test

import (
	"io"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/output/fleet"
	"example.org/homenode/output/format"
	"example.org/homenode/rules"
	"example.org/homenode/rules/verdict/matrix"
	"example.org/homenode/source/scenario/given"
)

const mixed = `release 7.0U3
cluster mixed
host esx[01-02] nodes=2 cores=20 memory=768GB
host esx03 nodes=4 cores=10 memory=768GB
host old01 release=6.7 nodes=2 cores=20 memory=768GB
vm erp[1-2] host=esx01 vcpus=36 coresPerSocket=2 memory=256GB stored=18
vm mart host=esx03 vcpus=20 memory=96GB
vm bw host=esx02 vcpus=20 memory=96GB stored=20 hw=14
vm web[1-5] host=esx01 vcpus=4 memory=16GB
vm lost cluster=mixed vcpus=16 memory=64GB
`

func TestMatrix(t *testing.T) {
	const head = `mixed
VM       VCPUS  esx01 and esx02           esx03                     old01
                2×20 cores 384 GB 7.0 U3  4×10 cores 192 GB 7.0 U3  2×20 cores 384 GB 6.7
`
	const signs = `
● home, = the same as at home, ▼ worse, ▲ better, ≠ other, – it does not power on there.
2×16: 2 clients of 16 vCPU; blind: the guest sees 1 node; sees: other nodes than clients; +50 %: memory on another node.
`
	for _, tt := range []struct {
		name string
		o    matrix.Options
		want string
	}{
		{"kinds", matrix.Options{}, head + `erp1 +1     36  ● 2×18                    ▼ 3×10+6 sees 2×18 +58 %  –
mart        20  ≠ 1×20                    ● 2×10                    –
bw          20  ● 1×20                    ▼ 2×10 blind +50 %        =
lost        16  1×16                      ≠ 2×8                     –
web1 +4      4  ● 1×4                     =                         –
Each cell: the VM alone after a power cycle on that host. Predicted, not observed.` + signs},
		{"moved", matrix.Options{Event: vnuma.VMotionIn}, head + `erp1 +1     36  ● 2×18                    ▼ 3×10+6 sees 2×18 +58 %  –
mart        20  ≠ 1×20 sees 2×10          ● 2×10                    –
bw          20  ● 1×20                    ▼ 2×10 blind +50 %        =
lost        16  1×16                      ≠ 2×8                     –
web1 +4      4  ● 1×4                     =                         –
Each cell: the VM alone after vMotion to that host: the guest keeps its nodes. Predicted, not observed.` + signs},
		{"each host and VM", matrix.Options{Hosts: true, All: true}, `mixed
VM    VCPUS  esx01                     esx02                     esx03                     old01
             2×20 cores 384 GB 7.0 U3  2×20 cores 384 GB 7.0 U3  4×10 cores 192 GB 7.0 U3  2×20 cores 384 GB 6.7
erp1     36  ● 2×18                    =                         ▼ 3×10+6 sees 2×18 +58 %  –
erp2     36  ● 2×18                    =                         ▼ 3×10+6 sees 2×18 +58 %  –
mart     20  ≠ 1×20                    ≠ 1×20                    ● 2×10                    –
bw       20  =                         ● 1×20                    ▼ 2×10 blind +50 %        =
lost     16  1×16                      1×16                      ≠ 2×8                     –
web1      4  ● 1×4                     =                         =                         –
web2      4  ● 1×4                     =                         =                         –
web3      4  ● 1×4                     =                         =                         –
web4      4  ● 1×4                     =                         =                         –
web5      4  ● 1×4                     =                         =                         –
Each cell: the VM alone after a power cycle on that host. Predicted, not observed.` + signs},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := fleet.Matrix([]*matrix.Matrix{matrixOf(t, tt.o)}, "fleet.txt", "")
			got := string(written(t, func(w io.Writer) error { return format.Write(w, "table", a, format.Options{Width: 200}) }))
			if _, got, _ = strings.Cut(got, "\n\n"); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func matrixOf(t *testing.T, o matrix.Options) *matrix.Matrix {
	t.Helper()
	f := given.Fleet(t, "fleet.txt", []byte(mixed))
	for i := range f.VMs { // one that is on no host
		if f.VMs[i].Name == "lost" {
			f.VMs[i].Host = ""
		}
	}
	return matrix.Of(rules.Run(f, rules.Options{}).Clusters[0], o)
}
