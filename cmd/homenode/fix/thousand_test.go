package fix_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/source/vsphere/lab"
)

// TestThousand changes many VMs in waves of 8, without faults and with faults in 5 % of the calls that change something; then it goes on
// until all are done. make prove changes 1,000.
func TestThousand(t *testing.T) {
	vms := 40
	if testdeps.KillRounds(0) > 0 {
		vms = 1000
	}
	var b strings.Builder
	b.WriteString("release 7.0U3\ncluster prod\nhost esx[01-10] nodes=2 cores=18 memory=4096GB\n")
	for i := range vms {
		fmt.Fprintf(&b, "vm v%04d host=esx%02d vcpus=24 coresPerSocket=2 memory=16GB hotAdd=on\n", i, i%10+1)
	}
	for _, faults := range []bool{false, true} {
		s := serveFleet(t, fleetOf(t, b.String()))
		p := s.plan(fix.Options{Now: now, AtOnce: 8})
		if len(p.Changes) != vms {
			t.Fatalf("%d changes", len(p.Changes))
		}
		o := quick(apply.PowerGuest)
		o.MaxFailures = 10 * vms
		o.Off, o.Tools = 10*time.Second, 10*time.Second
		var mu sync.Mutex
		r, injected := rand.New(rand.NewPCG(5, 5)), 0
		if faults {
			s.vc.On(func(c lab.Call) types.BaseMethodFault {
				task := c.Method == "ReconfigVM_Task" || c.Method == "PowerOnVM_Task"
				if !task && c.Method != "ShutdownGuest" || c.Moment == lab.Runs && !task {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				if r.IntN(20) > 0 {
					return nil
				}
				injected++
				if c.Moment == lab.Runs {
					return &types.InvalidState{}
				}
				return lab.Drop
			})
		}
		begin := time.Now()
		results, path, err := s.apply(p, o)
		count := func() map[apply.Outcome]int {
			out := map[apply.Outcome]int{}
			for _, res := range results {
				out[res.Outcome]++
			}
			return out
		}
		first, runs := count(), 1
		for ; count()[apply.Done] < vms && runs < 20; runs++ {
			results, err = s.resume(path, o)
		}
		wall := time.Since(begin)
		s.vc.On(nil)
		if err != nil {
			t.Error(err)
		}
		outcomes(t, results, apply.Done)
		if !faults && runs > 1 {
			t.Errorf("outcomes %v without faults", first)
		}
		if again := s.plan(fix.Options{Now: now}); len(again.Changes) > 0 {
			t.Errorf("%d changes are left", len(again.Changes))
		}
		for key, v := range s.settings() {
			if strings.HasSuffix(key, " power") && v != "poweredOn" {
				t.Errorf("%s is %s", key, v)
			}
		}
		t.Logf("%d VMs, %d faults: %v, all done after %d runs, %v", vms, injected, first, runs, wall.Round(time.Millisecond))
	}
}
