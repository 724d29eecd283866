// Command govc is the part of govmomi's govc that the benchmark of the collection
// runs. It is a module of its own: homenode does not need its libraries.
package main

import (
	"os"

	"github.com/vmware/govmomi/cli"
	_ "github.com/vmware/govmomi/cli/object" // the command collect
)

func main() { os.Exit(cli.Run(os.Args[1:])) }
