package fix_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/source/vsphere/lab"
)

// TestStillPowersOn kills a run while its last task powers a VM on, and lets that task end at each call of the rollback in turn: the VM is as it was.
func TestStillPowersOn(t *testing.T) {
	for nth := range int64(16) {
		s := serveFleet(t, small(t))
		folder, before := t.TempDir(), s.settings()
		p := s.plan(fix.Options{Now: now})
		c, ends := make(chan *child, 1), make(chan struct{})
		s.vc.On(func(call lab.Call) types.BaseMethodFault {
			if call.Moment == lab.Runs && call.Method == "PowerOnVM_Task" {
				one := <-c
				one.kill()
				<-ends
			}
			return nil
		})
		one := s.begin(folder, "--plan", save(t, p), "--apply", "--yes", fmt.Sprint(len(p.Changes)), "--power", "guest")
		c <- one
		<-one.ends
		var calls atomic.Int64
		s.vc.On(func(call lab.Call) types.BaseMethodFault {
			if call.Moment == lab.Arrives && call.Method == "RetrievePropertiesEx" && calls.Add(1) == nth+1 {
				close(ends)
				time.Sleep(20 * time.Millisecond) // the task ends before this call is answered
			}
			return nil
		})
		path := journalIn(folder)
		back := s.begin(folder, "--rollback", path, "--yes", fmt.Sprint(len(undo(t, path).Changes)), "--power", "guest")
		if code := back.code(); code != 0 {
			t.Errorf("at call %d: exit %d:\n%s", nth, code, back.out.String())
		}
		s.vc.On(nil)
		if calls.Load() <= nth {
			close(ends)
		}
		s.same(fmt.Sprintf("at call %d of %d", nth, calls.Load()), before)
		s.vc.Close()
	}
}
