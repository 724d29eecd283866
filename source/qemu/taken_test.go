package qemu

import (
	"strings"
	"testing"

	"example.org/homenode/source/definition"
)

// TestTaken: arguments that let QEMU take all memory when it starts.
func TestTaken(t *testing.T) {
	const nodes = " -object memory-backend-ram,id=a,size=4G,%A -object memory-backend-ram,id=b,size=4G,%B -numa node,memdev=a,cpus=0-1 -numa node,memdev=b,cpus=2-3"
	backends := func(a, b string) string { return strings.NewReplacer(",%A", a, ",%B", b).Replace(nodes) }
	for args, want := range map[string]bool{
		"":                        false,
		"-overcommit mem-lock=on": true, "-overcommit cpu-pm=on,mem-lock=on": true, "-overcommit mem-lock=off": false, "-overcommit mem-lock=on-fault": false,
		"-realtime mlock=on": true, "-realtime mlock=off": false,
		"-mem-prealloc": true, "-mem-prealloc" + backends("", ""): true,
		backends(",prealloc=on", ",prealloc=yes"): true, backends(",prealloc=on", ""): false, backends("", ""): false,
		"-machine q35,memory-backend=m -object memory-backend-ram,id=m,size=8G,prealloc=on":                                    true,
		`-object '{"qom-type":"memory-backend-ram","id":"m","size":8589934592,"prealloc":true}' -machine q35,memory-backend=m`: true,
	} {
		docs, err := Read("vm.args", strings.NewReader("qemu-system-x86_64 -smp 4,sockets=1,cores=4 -m 8G "+args+"\n"))
		if err != nil || len(docs) != 1 {
			t.Errorf("%s: %v", args, err)
		} else if got := docs[0].(*definition.VM).Stated.Taken; got != want {
			t.Errorf("%s: taken %v, want %v", args, got, want)
		}
	}
}
