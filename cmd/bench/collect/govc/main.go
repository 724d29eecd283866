// Command govc is the subset of govmomi's govc that the collection benchmark and the plan scripts (output/fix/script, in
// tests) run. It is a separate module, so that homenode does not depend on its libraries.
package main

import (
	"os"

	"github.com/vmware/govmomi/cli"
	_ "github.com/vmware/govmomi/cli/host/option" // host.option.ls, host.option.set
	_ "github.com/vmware/govmomi/cli/object"      // collect
	_ "github.com/vmware/govmomi/cli/vm"          // vm.change, vm.power, vm.upgrade
)

func main() { os.Exit(cli.Run(os.Args[1:])) }
