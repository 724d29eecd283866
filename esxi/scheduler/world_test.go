package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
	"example.org/homenode/source/story"
)

// tell runs a story and returns its why-log and the last tick of each host.
func tell(t *testing.T, text string) (log []string, last map[string]string) {
	t.Helper()
	s, err := story.Read("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	last = map[string]string{}
	o, err := scheduler.Run(context.Background(), s, scheduler.Options{Log: true, Observe: func(_ int, x *numa.Tick, _ *scheduler.Look) {
		var b strings.Builder
		for _, v := range x.VMs {
			fmt.Fprintf(&b, "%s %s %d+%d MB ready %.2f\n", v.Name, v.Homes, v.Local/numa.MiB, v.Remote/numa.MiB, v.Ready)
		}
		last[x.Host] = b.String()
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range o.Decisions {
		name := ""
		if d.VM >= 0 {
			name = s.Fleet.VMs[d.VM].Name
		}
		log = append(log, fmt.Sprintf("%v %s.%d %s: %s", d.At, name, d.Client, d.Kind, d.Why(s.Fleet)))
	}
	return log, last
}

// TestSpill checks the early spill of e-spill: with 12.5 GB free a node gave new
// memory away; the model keeps 13,009 MB.
func TestSpill(t *testing.T) {
	log, last := tell(t, `release 6.0
host esx01 nodes=2 cores=12 nodeMemory=132000MB
vm cli3 host=esx01 vcpus=12 memory=110GB
run 15m every=5m
used esx01 node=0 memory=24334MB
used esx01 node=1 memory=24400MB
load cli3 cpu=0% memory=100GB active=0%
`)
	if got, want := last["esx01"], "cli3 0 94656+7743 MB ready 0.00\n"; got != want {
		t.Errorf("last tick\n%s\nwant\n%s\n%s", got, want, strings.Join(log, "\n"))
	}
}
