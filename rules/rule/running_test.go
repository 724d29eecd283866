package rule

import (
	"testing"

	"example.org/homenode/numa"
)

func TestNames(t *testing.T) {
	var vms []*VM
	for n, want := range []string{"", "a", "a and b", "a, b and c", "a, b, c and d", "a, b, c and 2 more"} {
		if got := Names(vms); got != want {
			t.Errorf("Names of %d = %q, want %q", n, got, want)
		}
		vms = append(vms, &VM{VM: &numa.VM{Name: string(rune('a' + n))}})
	}
}

func TestRunning(t *testing.T) {
	h := &numa.Host{}
	vm := func(host *numa.Host, power numa.Fact[numa.PowerState]) *VM {
		return &VM{VM: &numa.VM{Config: numa.Config{Power: power}}, Host: host}
	}
	on, off := numa.ReadAt(numa.PoweredOn, ""), numa.ReadAt(numa.PoweredOff, "")
	c := Cluster{VMs: []*VM{vm(h, on), vm(h, off), vm(nil, on), vm(h, numa.Fact[numa.PowerState]{}), vm(&numa.Host{}, on)}}
	if got := c.Running(h); len(got) != 2 || got[0] != c.VMs[0] || got[1] != c.VMs[3] {
		t.Errorf("Running returned %d VMs, want the first and the fourth", len(got))
	}
}
