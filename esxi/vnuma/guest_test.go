package vnuma

import (
	"slices"
	"strconv"
	"testing"

	"example.org/homenode/numa"
)

// TestParseCookie checks the 12 published values of the rule book, B-9 and what is none.
func TestParseCookie(t *testing.T) {
	for _, tt := range []struct {
		cookie     string
		vcpus, cps int
		ok         bool
	}{
		{"100001", 10, 0, true}, {"120001", 12, 0, true}, {"160001", 16, 0, true}, {"40001", 4, 0, true}, {"10001", 1, 0, true},
		{"360022", 36, 2, true}, {"120062", 12, 6, true}, {"80042", 8, 4, true}, {"120122", 12, 12, true},
		{"40022", 4, 2, true}, {"20022", 2, 2, true}, {"20012", 2, 1, true}, {"10012", 1, 1, true},
		{"200001", 20, 0, true}, {"1440012", 144, 1, true}, {"9600642", 960, 64, true},
		{"", 0, 0, false}, {"x", 0, 0, false}, {"-120062", 0, 0, false}, {"0", 0, 0, false},
		{"1", 0, 0, false}, {"12", 0, 0, false}, // no vCPUs
		{"120000", 0, 0, false}, {"120002", 0, 0, false}, {"120003", 0, 0, false}, {"120063", 0, 0, false},
		{"99999999999", 0, 0, false}, {"9223372036854775808", 0, 0, false}, {"40969999", 0, 0, false}, {"40960012", 4096, 1, true},
	} {
		vcpus, cps, ok := ParseCookie(tt.cookie)
		if vcpus != tt.vcpus || cps != tt.cps || ok != tt.ok {
			t.Errorf("ParseCookie(%q) = %d, %d, %v; want %d, %d, %v", tt.cookie, vcpus, cps, ok, tt.vcpus, tt.cps, tt.ok)
		}
	}
}

// FuzzParseCookie demands that a cookie is understood exactly when its numbers
// make it again.
func FuzzParseCookie(f *testing.F) {
	for _, s := range []string{"120001", "120062", "10012", "1", "120000", "-1", "0120062", "+120062"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		vcpus, cps, ok := ParseCookie(s)
		if !ok {
			if vcpus != 0 || cps != 0 {
				t.Errorf("ParseCookie(%q) = %d, %d, false", s, vcpus, cps)
			}
			return
		}
		n, _ := strconv.Atoi(s) // ParseCookie understood it
		if again := int(cookieOf(&Guest{CookieVCPUs: int32(vcpus), CookieCPS: int32(cps)})); again != n {
			t.Errorf("ParseCookie(%q) = %d, %d, which is %d", s, vcpus, cps, again)
		}
		if vcpus < 1 || vcpus > numa.MaxVCPUs || cps < 0 || cps > 999 {
			t.Errorf("ParseCookie(%q) = %d, %d", s, vcpus, cps)
		}
	})
}

// TestNewGuestSettings reads each setting in its forms.
func TestNewGuestSettings(t *testing.T) {
	base := Guest{VCPUs: 12, CoresPerSocket: 1, Hardware: 13, Memory: 8 * gib}
	with := func(change func(*Guest)) Guest {
		g := base
		change(&g)
		return g
	}
	const number, truth = ", want a number of vCPUs: taken as unset", ", want TRUE or FALSE: taken as unset"
	for _, tt := range []struct {
		key, value string
		want       Guest
		problem    string
	}{
		{"numa.vcpu.min", "4", with(func(g *Guest) { g.Min = 4 }), ""},
		{"NUMA.VCPU.MIN", " 4 ", with(func(g *Guest) { g.Min = 4 }), ""},
		{"numa.vcpu.min", "", base, ""},
		{"numa.vcpu.min", "four", base, `numa.vcpu.min: found "four"` + number},
		{"numa.vcpu.min", "-1", base, `numa.vcpu.min: found "-1"` + number},
		{"numa.vcpu.min", "4097", base, `numa.vcpu.min: found "4097"` + number},
		{"numa.vcpu.min", "99999999999999999999", base, `numa.vcpu.min: found "99999999999999999999"` + number},
		{"numa.vcpu.maxPerVirtualNode", "6", with(func(g *Guest) { g.MaxPerVirtualNode = 6 }), ""},
		{"numa.vcpu.maxPerMachineNode", "6", with(func(g *Guest) { g.MaxPerMachineNode = 6 }), ""},
		{"numa.vcpu.maxPerClient", "6", with(func(g *Guest) { g.MaxPerClient = 6 }), ""},
		{"numa.vcpu.coresPerNode", "6", with(func(g *Guest) { g.CoresPerNode = 6 }), ""},
		{"numa.vcpu.coresPerNode", "0", base, ""},
		{"numa.autosize.vcpu.maxPerVirtualNode", "6", with(func(g *Guest) { g.Stored = 6 }), ""},
		{"numa.autosize.cookie", "120062", with(func(g *Guest) { g.CookieVCPUs, g.CookieCPS = 12, 6 }), ""},
		{"numa.autosize.cookie", "", base, ""},
		{"numa.autosize.cookie", "120000", base, `numa.autosize.cookie: found "120000", want a cookie such as 120062: the stored size is void`},
		{"numa.autosize", "TRUE", with(func(g *Guest) { g.Autosize = true }), ""},
		{"numa.autosize", "FALSE", base, ""},
		{"numa.autosize.once", "FALSE", with(func(g *Guest) { g.SizeEachTime = true }), ""},
		{"numa.autosize.once", "TRUE", base, ""},
		{"numa.vcpu.followcorespersocket", "1", with(func(g *Guest) { g.Follow = true }), ""},
		{"numa.vcpu.preferHT", "yes", with(func(g *Guest) { g.PreferHT = true }), ""},
		{"numa.vcpu.preferHT", "maybe", base, `numa.vcpu.preferHT: found "maybe"` + truth},
		{"numa.consolidate", "0", with(func(g *Guest) { g.Spread = true }), ""},
		{"numa.consolidate", "FALSCH", base, `numa.consolidate: found "FALSCH"` + truth},
		{"numa.allowHotadd", "on", with(func(g *Guest) { g.VNUMAHotAdd = true }), ""},
		{"vmx.reboot.PowerCycle", "TRUE", with(func(g *Guest) { g.PowerCycleReboot = true }), ""},
		{"sched.cpu.affinity", "all", base, ""},
		{"sched.cpu.affinity", "0-3", with(func(g *Guest) { g.Affinity = true }), ""},
		{"sched.mem.affinity", "1", with(func(g *Guest) { g.Affinity = true }), ""},
		{"numa.nodeAffinity", "0", with(func(g *Guest) { g.AllowedNodes = 1 }), ""}, // stays NUMA-managed (C-12)
	} {
		v := vmOf(&base)
		v.Settings = numa.ReadAt(numa.Settings{{Key: tt.key, Value: tt.value}}, "settings")
		got, problems, err := NewGuest(&v)
		if err != nil || got != tt.want {
			t.Errorf("%s=%q: %+v, %v\nwant %+v", tt.key, tt.value, got, err, tt.want)
		}
		var want []string
		if tt.problem != "" {
			want = []string{tt.problem}
		}
		if !slices.Equal(problems, want) {
			t.Errorf("%s=%q: problems %q, want %q", tt.key, tt.value, problems, want)
		}
	}
}

// TestNewGuestUnknown assumes only what is not stated.
func TestNewGuestUnknown(t *testing.T) {
	if _, _, err := NewGuest(&numa.VM{Name: "db01"}); err == nil || err.Error() != "VM db01: the vCPU count is unknown" {
		t.Errorf("no vCPUs: %v", err)
	}
	v := numa.VM{Config: numa.Config{VCPUs: numa.ReadAt(4, "vcpus")}}
	g, problems, err := NewGuest(&v)
	want := Guest{VCPUs: 4, CoresPerSocket: 1,
		assumes: AssumedCPS | AssumedHotAdd | AssumedHardware | AssumedSettings | AssumedAutoCPS | AssumedAffinity}
	if g != want || problems != nil || err != nil {
		t.Errorf("only vCPUs: %+v, %q, %v\nwant %+v", g, problems, err, want)
	}
	// Hardware 19 cannot have automatic cores per socket (B-18); automatic ones
	// need no number.
	v.Hardware = numa.ReadAt(19, "hw")
	if g, _, _ := NewGuest(&v); g.assumes != AssumedCPS|AssumedHotAdd|AssumedSettings|AssumedAffinity {
		t.Errorf("hardware 19 assumes %v", g.assumes.Names())
	}
	v.AutoCoresPerSocket = numa.ReadAt(true, "auto")
	if g, _, _ := NewGuest(&v); g.assumes != AssumedHotAdd|AssumedSettings|AssumedAffinity || !g.AutoCPS {
		t.Errorf("automatic cores per socket assume %v", g.assumes.Names())
	}
	// Cores per NUMA node count only when they are said to be set by hand.
	v.CoresPerNUMANode = numa.ReadAt(2, "cores")
	for _, tt := range []struct {
		auto numa.Fact[bool]
		want int32
	}{{numa.Fact[bool]{}, 0}, {numa.ReadAt(true, "auto"), 0}, {numa.ReadAt(false, "auto"), 2}} {
		v.AutoCoresPerNUMANode = tt.auto
		if g, _, _ := NewGuest(&v); g.CoresPerNode != tt.want {
			t.Errorf("automatic %+v: CoresPerNode = %d, want %d", tt.auto, g.CoresPerNode, tt.want)
		}
	}
}
