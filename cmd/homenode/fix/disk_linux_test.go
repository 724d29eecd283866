package fix_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/source/vsphere/lab"
)

// TestFullDisk fills the disk of the journal at each call of a run: no VM is begun then, the one under way is powered on, and when there is
// room --resume goes on. It needs the right to mount.
func TestFullDisk(t *testing.T) {
	rounds := 0
	for _, method := range []string{"HasPrivilegeOnEntities", "ShutdownGuest", "ReconfigVM_Task", "PowerOnVM_Task"} {
		s, p, before := started(t)
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1500k"); err != nil {
			t.Skipf("no right to mount: %v", err)
		}
		defer func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		}()
		other := filepath.Join(dir, "other")
		fill := func() types.BaseMethodFault {
			f, err := os.Create(other)
			if err != nil {
				t.Error(err)
				return nil
			}
			for block := make([]byte, 4096); err == nil; {
				_, err = f.Write(block)
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Error(err)
			}
			_ = f.Close() // it is full
			return nil
		}
		j, err := journal.Create(dir, p, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		s.vc.On(lab.Once(lab.Arrives, method, fill))
		results, path, err := s.run(j, nil, journal.Line{Step: journal.StepPlan, Plan: p.ID, Whole: p}, quick(apply.PowerGuest))
		s.vc.On(nil)
		if err == nil || !strings.Contains(err.Error(), "the journal cannot be written") {
			t.Errorf("full at %s: %v, %v", method, err, results)
		}
		for key, v := range s.settings() {
			if strings.HasSuffix(key, " power") && v != before[key] {
				t.Errorf("full at %s: %s is %s", method, key, v)
			}
		}
		left := 0
		for _, r := range results {
			if r.Outcome == apply.NotBegun {
				left++
			}
		}
		if left == 0 {
			t.Errorf("full at %s: all were begun: %v", method, results)
		}
		if _, err := journal.Create(dir, p, time.Now); err == nil {
			t.Errorf("a journal was made on a full disk")
		}
		if list, _ := filepath.Glob(filepath.Join(dir, "*.journal")); len(list) != 1 {
			t.Errorf("journals %v", list)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
		if results, err = s.resume(path, quick(apply.PowerGuest)); err != nil {
			t.Error(err)
		}
		outcomes(t, results, apply.Done)
		results, _ = s.rollback(path, quick(apply.PowerGuest))
		outcomes(t, results, apply.Done)
		s.same("full at "+method+", after the rollback", before)
		rounds++
	}
	t.Logf("%d rounds: no VM left off, all done when there was room", rounds)
}
