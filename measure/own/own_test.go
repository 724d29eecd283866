package own_test

import (
	"slices"
	"strings"
	"testing"

	"homenode/esxi/vnuma"
	"homenode/measure/own"
	"homenode/rules"
	"homenode/source/scenario"
)

const hosts = `
cluster prod
host secret-esx1 cluster=prod nodes=2 cores=20 memory=1TB release=8.0U3
host secret-esx2 cluster=prod nodes=4 cores=10 memory=1TB release=8.0U3
`

func scored(t *testing.T, in string) *own.Score {
	t.Helper()
	f, err := scenario.Read("in", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	return own.Of(rules.Run(f, rules.Options{}), vnuma.Choices{})
}

func TestScore(t *testing.T) {
	s := scored(t, hosts+`
vm secret-a host=secret-esx1 vcpus=24 hw=20 stored=12
vm secret-b host=secret-esx1 vcpus=24 hw=20
vm secret-c host=secret-esx1 vcpus=24 hw=20 stored=8
vm secret-d host=secret-esx1 vcpus=16 hw=19
vm secret-e host=secret-esx1 vcpus=16 hw=19
vm unseen host=secret-esx1 vcpus=4 hw=19
seen secret-b by=vmware.log start=power-on host=secret-esx1 vcpus=24 nodes=2x12 clients=2x12
seen secret-d by=lscpu nodes=16
seen secret-e by=vmware.log start=power-on host=secret-esx1 vcpus=16 nodes=4x4 clients=4x4
`)
	if got, want := s.All, (own.Group{Name: "all", Seen: 5, Agree: 3, Explained: 1, Unexplained: 1}); got != want || s.VMs != 6 || s.Sure != 2 {
		t.Errorf("%+v of %d VMs, %d without a stored size; want %+v of 6, 2", got, s.VMs, s.Sure, want)
	}
	want := []own.Group{{Name: "vmx-19", Seen: 2, Agree: 1, Unexplained: 1}, {Name: "vmx-20", Seen: 3, Agree: 2, Explained: 1}}
	if !slices.Equal(s.Hardware, want) {
		t.Errorf("hardware %+v, want %+v", s.Hardware, want)
	}
	for _, d := range s.Differences {
		if d.VM != "secret-c" && d.VM != "secret-e" {
			t.Errorf("difference %+v", d)
		}
		if d.VM == "secret-c" && (len(d.Reasons) != 1 || !strings.Contains(d.Reasons[0], "secret-esx2")) {
			t.Errorf("reasons of secret-c: %q", d.Reasons)
		}
	}
}

// TestStoredBefore explains a size that was stored before a setting changed.
func TestStoredBefore(t *testing.T) {
	s := scored(t, hosts+`
vm a host=secret-esx1 vcpus=24 hw=19 coresPerSocket=6 stored=6 numa.consolidate=FALSE
vm b host=secret-esx1 vcpus=24 hw=20 stored=24 hotAdd=off
`)
	want := map[string]string{"a": "stored while", "b": "numa.vcpu.preferHT was the other way"}
	for _, d := range s.Differences {
		if !slices.ContainsFunc(d.Reasons, func(r string) bool { return strings.Contains(r, want[d.VM]) }) {
			t.Errorf("%s: %q, want %q", d.VM, d.Reasons, want[d.VM])
		}
		delete(want, d.VM)
	}
	if len(want) > 0 {
		t.Errorf("no difference of %v", want)
	}
}
