package numa_test

import (
	"fmt"

	"example.org/homenode/numa"
)

// Facts carry where they come from; what no source states is unknown, which is neither zero nor false.
func Example() {
	vm := numa.VM{Name: "sql01"}
	vm.Config.VCPUs = numa.ReadAt(32, "sql01.vmx:14")
	fmt.Println(vm.VCPUs.Value, vm.VCPUs.Origin)
	fmt.Println(vm.CoresPerSocket.Known(), vm.CoresPerSocket.Or(1))
	homes := numa.SetOf(0, 2)
	fmt.Println(homes, homes.Has(1), homes.Len())
	fmt.Println(256*numa.GiB, numa.Share(32, 3, 0), numa.Share(32, 3, 2))
	// Output:
	// 32 read: sql01.vmx:14
	// false 1
	// 0,2 false 2
	// 256 GB 11 10
}
