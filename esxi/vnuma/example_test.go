package vnuma_test

import (
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/source/scenario"
)

// A VM with CPU hot add that is larger than a node: the guest sees one node, carried by two clients.
func Example() {
	fleet, err := scenario.Read("fleet.txtar", []byte("release 7.0U3\nhost esx01 nodes=2 cores=18 memory=1024GB\nvm sql01 host=esx01 vcpus=32 coresPerSocket=2 memory=256GB hotAdd=on\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	layout, steps, _, err := vnuma.Explain(&fleet.VMs[0], &fleet.Hosts[0], &vnuma.Case{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("guest sees", layout.VPDs, "carried by", layout.PPDs, "on", layout.HomeNodes, "home nodes")
	for _, s := range steps {
		if s.Decides {
			fmt.Println(s.Because+":", s.Result, "("+s.Rules+")")
		}
	}
	// Output:
	// guest sees 32 carried by 2 × 16 on 2 home nodes
	// CPU hot add is on: 1 virtual node, whatever the size (B-15)
}
