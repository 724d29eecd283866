package fix_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix/apply"
	"example.org/homenode/source/vsphere/lab"
)

// TestRestless has a vCenter whose VM is another one at each read: the run comes to its end all the same, and overwrites nothing.
func TestRestless(t *testing.T) {
	s, p, before := started(t, "sql01")
	id := p.Changes[0].VM.ID
	var editing atomic.Bool
	var edits atomic.Int64
	s.vc.On(func(c lab.Call) types.BaseMethodFault {
		if c.Moment == lab.Arrives && c.Method == "RetrievePropertiesEx" && edits.Load() < 300 && editing.CompareAndSwap(false, true) {
			s.edit(id, &types.OptionValue{Key: "guestinfo.note", Value: fmt.Sprint(edits.Add(1))})
			editing.Store(false)
		}
		return nil
	})
	o := quick(apply.PowerGuest)
	o.Busy = 20 * time.Millisecond
	results, _, err := s.apply(p, o)
	s.vc.On(nil)
	if err != nil || edits.Load() >= 300 {
		t.Errorf("the run read until the VM rested, after %d changes: %v", edits.Load(), err)
	}
	outcomes(t, results, apply.Drift)
	before["sql01 guestinfo.note"] = fmt.Sprint(edits.Load())
	s.same("a VM without rest", before)
}
