package vcenter

import (
	"context"
	"os"
	"testing"

	"homenode/numa"
	"homenode/source/scenario"
	"homenode/source/vsphere"
	"homenode/source/vsphere/lab"
)

// TestFetchLogs reads the vmware.log of one VM from the datastore of a simulated vCenter: what it
// shows is an observation of that VM, of no other.
func TestFetchLogs(t *testing.T) {
	f, err := scenario.Read("in", []byte("cluster prod\nhost esx01 cluster=prod nodes=2 cores=18 memory=512GB release=7.0U3\nvm db[01-03] host=esx01 vcpus=32 memory=64GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vc.Close)
	log, err := os.ReadFile("../../vmxlog/testdata/life.log")
	if err != nil {
		t.Fatal(err)
	}
	if err := vc.PutLog(t.TempDir(), f.VMs[0].ID, log); err != nil {
		t.Fatal(err)
	}
	own := vsphere.Options{Insecure: true}
	wanted := f.VMs[0].Name
	got, err := vsphere.Read(context.Background(), vc.URL, own)
	if err != nil {
		t.Fatal(err)
	}
	if err := fetchLogs(context.Background(), vc.URL, own, got, func(v *numa.VM) bool { return v.Name == wanted }); err != nil {
		t.Fatal(err)
	}
	for i := range got.VMs {
		if v := &got.VMs[i]; (len(v.Observed) > 0) != (v.Name == wanted) {
			t.Errorf("%s has %d observations; notes %v", v.Name, len(v.Observed), got.Notes)
		}
	}
	if err := fetchLogs(context.Background(), vc.URL, own, got, func(*numa.VM) bool { return false }); err != nil || got.Notes[len(got.Notes)-1].Text != "no VM is one whose vmware.log was to be fetched" {
		t.Errorf("%v, %v", got.Notes, err)
	}
}
