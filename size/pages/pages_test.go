package pages

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

const mib, gib = numa.MiB, numa.GiB

// TestCount reckons with a host whose figures are those of published samples where they
// have one: PShare 12920 shared, 4321 common, 8599 saved (two nodes, 65189 MB), and a VM of
// FetchStats with COWH.
func TestCount(t *testing.T) {
	state := numa.Soft
	h := Host{
		Name: "esx01", Nodes: 2, Memory: to(65189 * mib), Free: to(4646 * mib), MinFree: to(1263 * mib), State: &state,
		Shared: to(12920 * mib), Common: to(4321 * mib),
		VMs: []VM{
			{Name: "hinted", Granted: to(29102080 * numa.KiB), Shared: to(737160 * numa.KiB), Saved: to(736064 * numa.KiB), Zero: to(726844 * numa.KiB), Hint: to(4302180 * numa.KiB)},
			{Name: "large", Granted: to(8 * gib), Consumed: to(8 * gib), Shared: to(numa.Bytes(0)), Saved: to(numa.Bytes(0)), Zero: to(1 * gib), Large: to(3 * gib)},
		},
	}
	got := Count([]Host{h})
	hosts, vms := got.Sheets("file", PublishedGain(), true)
	if unknown := append(hosts.Unknown(), vms.Unknown()...); unknown != nil {
		t.Errorf("nothing has %q", unknown)
	}
	c := got.Hosts[0]
	for _, tt := range []struct {
		what string
		got  *numa.Bytes
		want numa.Bytes
	}{
		{"saved", c.Saved, 8599 * mib},
		{"consumed", c.Consumed, (29102080-736064)*numa.KiB + 8*gib},
		{"one copy", c.OneCopy, 4321*mib - 4321*mib/2},
		{"left", c.Limits.Left, (4646 - 4*1263) * mib},
		{"private", c.VMs[0].Private, (29102080 - 737160) * numa.KiB},
		{"private of large", c.VMs[1].Private, 8 * gib},
	} {
		if tt.got == nil || *tt.got != tt.want {
			t.Errorf("%s: found %v, want %v", tt.what, tt.got, tt.want)
		}
	}
	if g, want := *c.VMs[0].Gain, (Gain{0, 4302180 * numa.KiB, ByHints}); g != want {
		t.Errorf("found %+v, want %+v", g, want)
	}
	if g, want := *c.VMs[1].Gain, (Gain{1 * gib, 3 * gib, ByLarge}); g != want {
		t.Errorf("found %+v, want %+v", g, want)
	}
	if g, want := *got.Sum.Gain, (Gain{1 * gib, 4302180*numa.KiB + 3*gib, ByLarge}); g != want {
		t.Errorf("found %+v, want %+v", g, want)
	}
	if c.Large != nil || c.Size != nil {
		t.Errorf("found large %v, size %v, want none: not all VMs state them", c.Large, c.Size)
	}
	want := []string{`Group Memory(*)\Copy On Write Hint MBytes`}
	if !reflect.DeepEqual(c.Missing, want) {
		t.Errorf("found %q, want %q", c.Missing, want)
	}
}

// TestComplete leaves out the host of which too little is known.
func TestComplete(t *testing.T) {
	full := Host{Name: "a", Shared: to(3 * gib), Common: to(1 * gib), VMs: []VM{{Granted: to(4 * gib), Shared: to(3 * gib), Saved: to(2 * gib)}}}
	all := Count([]Host{{Name: "b", Shared: to(gib)}, full, full})
	got := all.Complete()
	if all.Sum.Saved != nil || len(got.Hosts) != 2 || *got.Sum.Saved != 4*gib || *got.Sum.Consumed != 4*gib || *got.Sum.Gain != (Gain{0, 2 * gib, ByPrivate}) {
		t.Errorf("found %+v of %d hosts", got.Sum, len(got.Hosts))
	}
}

// TestCountNothing has a VM of which nothing is stated: nothing is known then, not 0.
func TestCountNothing(t *testing.T) {
	got := Count([]Host{{Name: "a", VMs: []VM{{Name: "x"}}}, {Name: "b"}})
	if got.Sum != (Sum{}) || got.Hosts[0].Saved != nil || got.Hosts[0].Limits != nil || len(got.Hosts[0].Missing) != 9 {
		t.Errorf("found %+v", got)
	}
	if b, _ := json.Marshal(got.Sum); string(b) != "{}" {
		t.Errorf("found %s, want {}", b)
	}
}

// TestCountIdentities holds for any counters: a gain is never negative, never more than is
// consumed, and saved is shared less common.
func TestCountIdentities(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	any := func() *numa.Bytes {
		if r.IntN(4) == 0 {
			return nil
		}
		return to(numa.Bytes(r.Int64N(int64(64 * gib))))
	}
	for range 20000 {
		h := Host{Name: "h", Nodes: r.IntN(4), Memory: any(), Free: any(), Shared: any(), Common: any()}
		for range r.IntN(4) {
			h.VMs = append(h.VMs, VM{Granted: any(), Consumed: any(), Shared: any(), Saved: any(), Zero: any(), Hint: any(), Large: any()})
		}
		c := Count([]Host{h}).Hosts[0]
		if c.Saved != nil && *c.Saved != max(0, *h.Shared-*h.Common) {
			t.Fatalf("%+v: saved %v", h, *c.Saved)
		}
		if g := c.Gain; g != nil && (g.Low < 0 || g.Low > g.High || c.Consumed != nil && g.High > *c.Consumed) {
			t.Fatalf("%+v: gain %+v of %v", h, *g, c.Consumed)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		release               numa.Release
		memory                numa.Bytes
		minFree, brk, balloon numa.Bytes
	}{
		// 899 MB and 1 % of the rest; a host of 130961 MB shows 1920 MB in esxtop.
		{numa.ESXi60, 130961 * mib, 899*mib + (130961-28672)*mib/100, 4 * (899*mib + (130961-28672)*mib/100), (899*mib + (130961-28672)*mib/100) * 64 / 100},
		{numa.ESXi55, 130961 * mib, 899*mib + (130961-28672)*mib/100, 899*mib + (130961-28672)*mib/100, (899*mib + (130961-28672)*mib/100) * 64 / 100},
	} {
		got := LimitsOf(tt.memory, tt.release)
		if got.MinFree != tt.minFree || got.Break != tt.brk || got.Balloon != tt.balloon || !got.Reckoned {
			t.Errorf("%v: found %+v, want %v, %v, %v", tt.release, got, tt.minFree, tt.brk, tt.balloon)
		}
	}
}

// TestScan checks the arithmetic of C-22: 1024 pages a second are 4 MiB.
func TestScan(t *testing.T) {
	s := DefaultScan()
	for _, tt := range []struct {
		what      string
		got, want any
	}{
		{"64 GB at 4 MiB/s", s.Pass(64 * gib), 16384 * time.Second},
		{"8 GB take the hour", s.Pass(8 * gib), time.Hour},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: found %v, want %v", tt.what, tt.got, tt.want)
		}
	}
}

func TestChecks(t *testing.T) {
	for _, c := range Checks() {
		if v := c.Verdict(); v == "MISSED" {
			t.Errorf("%s, %s: printed %s, computed %v", c.ID, c.What, c.Printed, c.Computed)
		}
	}
}

// TestEstimate checks the estimate of a share: small pages bound it, and published shares are of guests that ask for few large pages.
func TestEstimate(t *testing.T) {
	half := unit.Exactly(unit.Share(0.5), unit.Given, "--gain", "")
	published := unit.Exactly(unit.Share(0.5), unit.Published, "", "")
	large := unit.Exactly(unit.Share(0.75), unit.Given, "", "")
	for _, tt := range []struct {
		q    Request
		want string
	}{
		{Request{Memory: 100 * gib, Consumed: 60 * gib, Gain: half, Large: &large}, "large == 75 * GiB && small == 25 * GiB && ofAllotted == 25 * GiB && ofConsumed == 25 * GiB"},
		{Request{Memory: 100 * gib, Gain: half, VM: 64 * gib, Host: 130961 * mib}, "passSeconds == 16384 && limits.break == 4 * limits.minFree && ofAllotted == 50 * GiB"},
		{Request{Memory: 100 * gib, Gain: published, Large: &large}, "abs(ofAllotted / GiB - 12.5 / (1 - 40 / 1536.0)) < 1e-9"},
	} {
		r := Estimate(&tt.q)
		if unknown := r.Unknown(); unknown != nil {
			t.Fatalf("nothing has %q", unknown)
		}
		if r.Get(tt.want) != true {
			t.Errorf("%s does not hold: %v", tt.want, r.Values)
		}
	}
}
