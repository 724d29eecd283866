package numa

import (
	"encoding/json"
	"testing"
)

func TestFactJSON(t *testing.T) {
	for _, tt := range []struct {
		name string
		fact Fact[int]
		want string
	}{
		{"unknown", Fact[int]{}, `null`},
		{"read", ReadAt(12, "config.hardware.numCPU"), `{"value":12,"read":"config.hardware.numCPU"}`},
		{"a read zero is not unknown", ReadAt(0, "x"), `{"value":0,"read":"x"}`},
		{"derived", DerivedFrom(6, "cores, packages"), `{"value":6,"derived":"cores, packages"}`},
		{"assumed", AssumedFor(1, "no source says"), `{"value":1,"assumed":"no source says"}`},
		{"without a place", ReadAt(3, ""), `{"value":3,"read":""}`},
	} {
		b, err := json.Marshal(tt.fact)
		if err != nil || string(b) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, b, err, tt.want)
		}
	}
}

func TestFactOr(t *testing.T) {
	if got := (Fact[bool]{Value: true}).Or(false); got {
		t.Error("a value without an origin counts")
	}
	if got := ReadAt(0, "x").Or(8); got != 0 {
		t.Errorf("a read zero is %d", got)
	}
	for _, tt := range []struct {
		origin Origin
		want   string
	}{
		{Origin{}, "unknown"}, {Origin{Read, "config"}, "read: config"}, {Origin{Derived, ""}, "derived"}, {Origin{Assumed, "why"}, "assumed: why"},
	} {
		if got := tt.origin.String(); got != tt.want {
			t.Errorf("%+v is %q, want %q", tt.origin, got, tt.want)
		}
	}
}

func TestBytesString(t *testing.T) {
	for _, tt := range []struct {
		b    Bytes
		want string
	}{
		{0, "0 B"}, {1, "1 B"}, {1023, "1023 B"}, {KiB, "1 KB"}, {1536, "1.5 KB"}, {MiB - 1, "1024.0 KB"},
		{65423 * MiB, "63.9 GB"}, {65536 * MiB, "64 GB"}, {64 * GiB, "64 GB"}, {96 * GiB, "96 GB"}, {12416 * MiB, "12.1 GB"},
		{768 * GiB, "768 GB"}, {1536 * GiB, "1536 GB"}, {TiB, "1 TB"}, {24 * TiB, "24 TB"}, {TiB + GiB, "1025 GB"},
		{TiB + MiB, "1024.0 GB"}, {-64 * GiB, "-64 GB"}, {-1536, "-1.5 KB"}, {MaxHostMemory, "1024 TB"},
	} {
		if got := tt.b.String(); got != tt.want {
			t.Errorf("%d: %q, want %q", int64(tt.b), got, tt.want)
		}
	}
}

func TestSettings(t *testing.T) {
	s := Settings{{"numa.vcpu.min", "4"}, {"numa.empty", ""}, {"numa.vcpu.min", "5"}}
	for _, tt := range []struct {
		key, want string
		ok        bool
	}{{"numa.vcpu.min", "4", true}, {"NUMA.VCPU.MIN", "4", true}, {"numa.empty", "", true}, {"numa", "", false}, {"", "", false}} {
		if got, ok := s.Lookup(tt.key); got != tt.want || ok != tt.ok {
			t.Errorf("Lookup(%q) = %q, %v; want %q, %v", tt.key, got, ok, tt.want, tt.ok)
		}
	}
	for key, want := range map[string]bool{
		"numa.autosize.cookie": true, "Numa.consolidate": true, "cpuid.coresPerSocket": true, "sched.cpu.affinity": true,
		"vmx.reboot.PowerCycle": true, "vcpu.hotadd": true, "monitor_control.x": true, "chipset.motherboardLayout": true,
		"numa": false, "guestinfo.password": false, "ethernet0.address": false, "": false,
	} {
		if got := KeepSetting(key); got != want {
			t.Errorf("KeepSetting(%q) = %v", key, got)
		}
	}
	for key, want := range map[string]bool{
		"Numa.PreferHT": true, "LPage.freePagesThresholdForRemote": true, "Mem.MemMinFreePct": true, "Cpu.AllowWideVsmp": true,
		"VMkernel.Boot.hyperthreadingMitigation": true, "Net.TcpipHeapSize": false, "VMkernel.Boot.useNUMAInfo": true, "usenumainfo": true, "fakeNUMAnodes": true, "VMkernel.Boot.logPort": false, "VMkernel.Boot.": false, "PreferHT": false, "Cpu.Other": false,
	} {
		if got := KeepOption(key); got != want {
			t.Errorf("KeepOption(%q) = %v", key, got)
		}
	}
}

func TestFactReadJSON(t *testing.T) {
	for _, want := range []Fact[int]{{}, ReadAt(12, "x"), ReadAt(0, ""), DerivedFrom(6, "y"), AssumedFor(1, "why")} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := ReadAt(99, "before")
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v; want %+v", b, got, err, want)
		}
	}
	for in, want := range map[string]string{
		`{"value":1}`:                          "found 0 origins, want one of read, derived or assumed",
		`{"value":1,"read":"a","assumed":"b"}`: "found 2 origins, want one of read, derived or assumed",
	} {
		var f Fact[int]
		if err := json.Unmarshal([]byte(in), &f); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}
