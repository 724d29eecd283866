package speed

import (
	"fmt"
	"strings"
	"testing"

	"homenode/numa"
)

// fleet returns hosts of 3 and 2.6 GHz with VMs "name host folder vcpus limit reservation".
func fleet(lines ...string) *numa.Fleet {
	host := func(name string, mhz int) numa.Host {
		return numa.Host{ID: name, Name: name, Cores: numa.ReadAt(36, ""), CoreMHz: numa.ReadAt(mhz, "")}
	}
	f := &numa.Fleet{Hosts: []numa.Host{host("fast", 3000), host("slow", 2600)}}
	for _, line := range lines {
		var name, host, folder string
		var vcpus, limit, reservation int
		if _, err := fmt.Sscan(line, &name, &host, &folder, &vcpus, &limit, &reservation); err != nil {
			panic(err)
		}
		v := numa.VM{ID: name, Name: name, Folder: folder}
		if host != "-" {
			v.Host = host
		}
		v.Power, v.VCPUs = numa.ReadAt(numa.PoweredOn, ""), numa.ReadAt(vcpus, "")
		v.CPULimit, v.CPUReservation = numa.ReadAt(limit, ""), numa.ReadAt(reservation, "")
		f.VMs = append(f.VMs, v)
	}
	return f
}

func TestLimits(t *testing.T) {
	f := fleet(
		"a1 fast acme 4 4000 800",
		"a2 fast acme 8 8000 1600",
		"a3 fast acme 8 4000 1600", // of 4 vCPUs
		"a4 slow acme 2 2000 0",
		"b1 slow beta 4 12000 0", // whole cores of the other host: does not act
		"b2 fast beta 4 10400 0", // whole cores of slow, on fast
		"c1 fast gamma 4 -1 600",
		"d1 - delta 2 2000 0", // of no host
		"e1 fast eps 1 3000 0",
	)
	f.VMs = append(f.VMs, numa.VM{ID: "u", Name: "u", Config: numa.Config{VCPUs: numa.ReadAt(2, "")}}) // limit unknown
	f.VMs = append(f.VMs, numa.VM{ID: "t", Name: "t", Config: numa.Config{Template: numa.ReadAt(true, ""), CPULimit: numa.ReadAt(100, "")}})
	f.VMs[8].Power.Value = numa.PoweredOff
	got := LimitsOf(f)
	var b strings.Builder
	for _, l := range got.List {
		fmt.Fprintf(&b, "%s %d × %v of %v, held %v %t %s\n", l.VM, l.VCPUs, l.PerVCPU, l.Core, l.Held, l.Acts, l.Odd)
	}
	const want = `a3 8 × 500 MHz of 3 GHz, held 83 % true 500 MHz a vCPU, most of acme have 1 GHz: the limit of 4 vCPUs
a1 4 × 1 GHz of 3 GHz, held 67 % true 
a2 8 × 1 GHz of 3 GHz, held 67 % true 
a4 2 × 1 GHz of 2.6 GHz, held 62 % true 
b2 4 × 2.6 GHz of 3 GHz, held 13 % true whole cores of 2.6 GHz: of another host type than its own with 3 GHz
b1 4 × 3 GHz of 2.6 GHz, held 0 % false 
d1 2 × 1 GHz of 0 Hz, held 0 % false 
e1 1 × 3 GHz of 3 GHz, held 0 % false 
`
	if b.String() != want {
		t.Errorf("found\n%swant\n%s", b.String(), want)
	}
	if got.VMs != 10 || got.Unknown != 1 || got.Acting != 5 || got.Odd != 2 || got.NoCore != 1 {
		t.Errorf("%d VMs, %d unknown, %d acting, %d odd, %d without core; want 10, 1, 5, 2, 1", got.VMs, got.Unknown, got.Acting, got.Odd, got.NoCore)
	}
	vms, reserved := got.Sheets("fleet", true)
	if unknown := append(vms.Unknown(), reserved.Unknown()...); unknown != nil {
		t.Errorf("nothing has %q", unknown)
	}
	hosts := fmt.Sprint(got.Hosts)
	if want := "[{fast 4 4.6 GHz 108 GHz 4.3 % 26.4 GHz} {slow 0 0 Hz 93.6 GHz 0 % 14 GHz}]"; hosts != want {
		t.Errorf("hosts %s, want %s", hosts, want)
	}
}

// Half of a folder is not most of it, nor is one VM.
func TestUsual(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		odd   int
	}{
		{[]string{"a fast f 4 4000 0", "b fast f 4 4000 0", "c fast f 4 2000 0", "d fast f 4 2400 0"}, 0},
		{[]string{"a fast f 4 4000 0", "b fast f 4 4000 0", "c fast f 4 2000 0"}, 1},
		{[]string{"a fast f 4 4000 0", "b fast g 4 2000 0"}, 0},
	} {
		if got := LimitsOf(fleet(tt.lines...)).Odd; got != tt.odd {
			t.Errorf("%q: %d look left over, want %d", tt.lines, got, tt.odd)
		}
	}
}

func TestNoLimits(t *testing.T) {
	got := LimitsOf(fleet("a fast f 4 -1 0", "b slow f 4 -1 0"))
	if got.VMs != 2 || len(got.List) != 0 || len(got.Hosts) != 0 {
		t.Errorf("found %+v, want two VMs without a limit", got)
	}
}
