package optimise_test

import (
	"context"
	"fmt"

	"example.org/homenode/change/optimise"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
)

// A cluster of two hosts, all of whose VMs run on one.
func Example() {
	f, err := scenario.Read("cluster", []byte(`release 8.0
cluster prod
host esx[1-2] nodes=2 cores=16 memory=512GB
vm sql[1-3]   host=esx1 vcpus=12 memory=160GB
vm dwh        host=esx2 vcpus=24 memory=128GB hotAdd=on`))
	if err != nil {
		fmt.Println(err)
		return
	}
	half := func(*numa.VM) (float64, numa.Origin) {
		return 0.5, numa.Origin{Kind: numa.Assumed, Where: "half of each vCPU"}
	}
	p, _, err := optimise.FromFleet(context.Background(), f, "prod", half, optimise.Constraints{Apart: [][]string{{"sql1", "sql2"}}, MemoryPercent: 120})
	if err != nil {
		fmt.Println(err)
		return
	}
	proposal, err := optimise.Solve(context.Background(), p, optimise.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("before:", proposal.Before)
	for i, s := range proposal.Steps {
		what := "vMotion to " + p.Hosts[s.To].Name
		if s.Shape >= 0 {
			what = "power cycle"
		}
		fmt.Printf("%d. %s, %s: %s\n", i+1, p.VMs[s.VM].Name, what, s.Why)
	}
	fmt.Println("after:", proposal.After)
	fmt.Println("at most", proposal.Bound.Gap, "from the optimum")
	// Output:
	// before: 66.9 GB remote, 64 GB far, 0.00 cores short, total 134000, constraints broken by 1
	// 1. sql1, vMotion to esx2: it mends a broken constraint; memory of sql3 away from its vCPUs: from 66.9 GB to 0 B
	// 2. dwh, power cycle: its memory away from its vCPUs goes from 64 GB to 0 B
	// after: 0 B remote, 0 B far, 0.00 cores short, total 4352
	// at most 128 from the optimum
}
