package simulation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/simulate"
	"example.org/homenode/rules/verdict/simulation"
	"example.org/homenode/source/story"
)

// aVM writes a host and a VM alone on it, with settings that move its clients and memory.
func aVM(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	fmt.Fprintf(&b, "release %s\nhost h nodes=%s cores=%s memory=%s\n", pick("6.7", "7.0U3", "8.0U3"), pick("2", "2", "4"), pick("8", "16", "24"), pick("128GB", "256GB", "512GB"))
	fmt.Fprintf(&b, "vm v host=h vcpus=%s memory=%s coresPerSocket=%s hotAdd=%s hw=19", pick("4", "8", "12", "16", "24", "32"), pick("16GB", "60GB", "100GB", "200GB", "400GB"), pick("1", "2", "4"), pick("on", "off"))
	for _, s := range []string{"numa.vcpu.preferHT=TRUE", "numa.consolidate=FALSE", "numa.nodeAffinity=0", "numa.vcpu.maxPerVirtualNode=4"} {
		if r.IntN(5) == 0 {
			b.WriteString(" " + s)
		}
	}
	return b.String() + "\nload * cpu=60%\nrun 1h every=1m\n"
}

// TestOneVerdict checks that what assess says of a VM alone on its host and the verdict on its simulation agree. Between a tenth and a
// hundredth of far memory either may speak: assess asks what it costs, a recording for how long. Whether vCPUs that share cores wait
// hangs on the load (N013, N025).
func TestOneVerdict(t *testing.T) {
	harmed, fine := 0, 0
	for seed := range uint64(300) {
		in := aVM(rand.New(rand.NewPCG(seed, 5)))
		s, err := story.Read("test", []byte(in))
		if err != nil {
			t.Fatalf("%v in\n%s", err, in)
		}
		r, err := simulate.Run(t.Context(), s, simulate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var costly []string
		off, waits := false, false
		for _, f := range rules.Run(s.Fleet, rules.Options{}).Findings {
			off = off || f.Rule == "N032"
			switch {
			case f.VM == "" || f.Severity < finding.Medium:
			case f.Rule == "N013" || strings.Contains(f.Message, "wait while others idle"):
				waits = true
			default:
				costly = append(costly, f.Rule+" "+f.Message)
			}
		}
		if off != (len(r.Outcome.Denied) > 0) {
			t.Errorf("N032 %t, denied %v in\n%s", off, r.Outcome.Denied, in)
		}
		if off {
			continue
		}
		verdict, _ := simulation.Of(r).Verdict()
		harm := !strings.Contains(verdict, "NUMA does no harm")
		switch far, _ := r.Outcome.VMs[0].FarShare(); {
		case far >= 0.1:
			harmed++
			if !harm || costly == nil {
				t.Errorf("%.0f %% far: assess finds %q, simulate says %s in\n%s", 100*far, costly, verdict, in)
			}
		case far < 0.01 && !waits:
			fine++
			if harm != (costly != nil) {
				t.Errorf("%.0f %% far: assess finds %q, simulate says %s in\n%s", 100*far, costly, verdict, in)
			}
		}
	}
	if harmed < 50 || fine < 50 {
		t.Errorf("%d VMs have far memory and %d have none", harmed, fine)
	}
}

// TestNotPoweredOn checks that a VM which assess says does not power on does not run, and that the verdict says why: at the start, at
// an event, by its own settings and by what others reserve.
func TestNotPoweredOn(t *testing.T) {
	const host = "release 8.0U3\ncluster c\nhost h nodes=2 cores=16 memory=512GB mhz=2000\n"
	for _, tt := range []struct{ vms, want string }{
		{"vm v host=h vcpus=48 hw=7 memory=64GB\n", "v (48 vCPUs are more than the 8 of virtual hardware 7)"},
		{"vm v host=h vcpus=48 hw=7 memory=64GB power=off\nat 10m power-on v\n", "v (48 vCPUs are more than the 8 of virtual hardware 7)"},
		{"vm a host=h vcpus=8 memory=64GB cpuReservation=60000\nvm v host=h vcpus=8 memory=64GB cpuReservation=8000\n", "v (8000 MHz of reserved CPU are more than the 4000 MHz that other VMs leave unreserved)"},
		{"vm a host=h vcpus=8 memory=400GB reserveAll=on\nvm v host=h vcpus=8 memory=200GB reserveAll=on power=off\nat 10m power-on v\n", "v (200 GB of reserved memory are more than"},
		{"vm v host=h vcpus=10 coresPerSocket=4 memory=64GB\n", "v (10 vCPUs are no multiple of 4 cores per socket)"},
	} {
		s, err := story.Read("test", []byte(host+tt.vms+"run 1h every=1m\n"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(t.Context(), s, simulate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := len(s.Fleet.VMs) - 1
		verdict, rest := simulation.Of(r).Verdict()
		if text := verdict + rest; r.Outcome.VMs[v].Steps != 0 || !strings.Contains(text, "1 VM does not power on: "+tt.want) {
			t.Errorf("v ran %d steps: %s, want %q in\n%s", r.Outcome.VMs[v].Steps, text, tt.want, tt.vms)
		}
	}
}
