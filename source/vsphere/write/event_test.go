package write_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/vmware/govmomi/event"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/types"

	"homenode/numa"
	"homenode/source/scenario"
	"homenode/source/vsphere"
	"homenode/source/vsphere/lab"
	"homenode/source/vsphere/write"
)

// TestRecord: who asked for a change stands among the events of the VM, by an account that may log them; without that
// privilege, and where nobody is named, the change is made all the same.
func TestRecord(t *testing.T) {
	f, err := scenario.Read("fleet", []byte("cluster prod\nhost esx1 cluster=prod packages=2 cores=32 memory=512GB release=8.0U3\nvm a[1-3] host=esx1 vcpus=4 memory=8GB coresPerSocket=1 power=off\n"))
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	defer vc.Close()
	logs := vc.Add(lab.Account{User: "logs", Password: "p", May: lab.AllBut()})
	lacks := vc.Add(lab.Account{User: "lacks", Password: "p", May: lab.AllBut("Global.LogEvent")})
	named := write.Named(t.Context(), "homenode 0f3a anna (file)")
	for _, tt := range []struct {
		ctx  context.Context
		vm   string
		as   *url.URL
		want string
	}{
		{named, "a1", logs, "homenode 0f3a anna (file): coresPerSocket 1 → 4"},
		{named, "a2", lacks, ""},
		{t.Context(), "a3", logs, ""},
	} {
		live, err := vsphere.Open(t.Context(), tt.as, vsphere.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := write.Writer{Live: live}
		edit := numa.Edit{Kind: numa.EditCoresPerSocket, From: numa.Is("1"), To: numa.Is("4")}
		if err := w.Reconfigure(tt.ctx, tt.vm, []numa.Edit{edit}, "", nil); err != nil {
			t.Fatalf("%s: %v", tt.vm, err)
		}
		states, err := w.States(t.Context(), []string{tt.vm})
		if err != nil || states[tt.vm].VM.CoresPerSocket.Value != 4 {
			t.Errorf("%s: %v, %v", tt.vm, states[tt.vm].VM.CoresPerSocket, err)
		}
		if got := said(t, live, tt.vm); got != tt.want {
			t.Errorf("the events of %s say %q, want %q", tt.vm, got, tt.want)
		}
		if err := live.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// said returns what users said among the events of a VM.
func said(t *testing.T, live *vsphere.Live, vm string) (text string) {
	t.Helper()
	err := live.Call(t.Context(), "events", func(ctx context.Context, c *vim25.Client) error {
		all, err := event.NewManager(c).QueryEvents(ctx, types.EventFilterSpec{Entity: &types.EventFilterSpecByEntity{
			Entity: types.ManagedObjectReference{Type: "VirtualMachine", Value: vm}, Recursion: types.EventFilterSpecRecursionOptionSelf}})
		for _, e := range all {
			if e, ok := e.(*types.GeneralUserEvent); ok {
				text += e.Message
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
