// Command govc is the part of govmomi's govc that the benchmark of the collection
// and the scripts of plans (output/fix/script, in tests) run. It is a module of its own: homenode does not need its libraries.
package main

import (
	"os"

	"github.com/vmware/govmomi/cli"
	_ "github.com/vmware/govmomi/cli/host/option" // host.option.ls, host.option.set
	_ "github.com/vmware/govmomi/cli/object"      // collect
	_ "github.com/vmware/govmomi/cli/vm"          // vm.change, vm.power, vm.upgrade
)

func main() { os.Exit(cli.Run(os.Args[1:])) }
