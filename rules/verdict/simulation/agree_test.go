package simulation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/simulate"
	"homenode/rules/verdict/simulation"
	"homenode/source/story"
)

// aVM writes a host and a VM alone on it, with settings that move its clients and memory.
func aVM(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	fmt.Fprintf(&b, "release %s\nhost h nodes=%s cores=%s memory=%s\n", pick("6.7", "7.0U3", "8.0U3"), pick("2", "2", "4"), pick("8", "16", "24"), pick("128GB", "256GB", "512GB"))
	fmt.Fprintf(&b, "vm v host=h vcpus=%s memory=%s coresPerSocket=%s hotAdd=%s hw=19", pick("4", "8", "12", "16", "24", "32"), pick("16GB", "60GB", "100GB", "200GB", "400GB"), pick("1", "2", "4"), pick("on", "off"))
	for _, s := range []string{"numa.vcpu.preferHT=TRUE", "numa.consolidate=FALSE", "numa.nodeAffinity=0", "numa.vcpu.maxPerVirtualNode=4"} {
		if r.IntN(5) == 0 {
			b.WriteString(" set:" + s)
		}
	}
	return b.String() + "\nload * cpu=60%\nrun 1h every=1m\n"
}

// TestOneVerdict checks that what assess says of the remote memory of a VM alone on its host and the verdict on its simulation agree.
func TestOneVerdict(t *testing.T) {
	both, none := 0, 0
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
		if len(r.Outcome.Denied) > 0 {
			continue
		}
		said, worst := "", finding.Info
		fleet := rules.Run(s.Fleet, rules.Options{})
		for _, f := range fleet.Findings {
			if f.VM != "" && f.Severity >= finding.Medium {
				worst = max(worst, f.Severity)
				said += fmt.Sprintf(" %s %s %t %s", f.Rule, f.Severity, f.Far, f.Message)
			}
		}
		verdict, _ := simulation.Of(r).Verdict()
		harm := !strings.Contains(verdict, "NUMA does no harm")
		far, _ := r.Outcome.VMs[0].FarShare()
		l := fleet.Clusters[0].VMs[0].On[0].Layout
		fmt.Printf("%t %t far=%.2f pred=%.2f missed=%.2f |%s | %s | %s\n", worst >= finding.Medium, harm, far, l.FarShare(), float64(l.Memory.Missed())/float64(s.Fleet.VMs[0].Memory.Value), said, verdict, strings.Split(in, "\n")[2])
		_ = both
		_ = none
	}
}
