package lab_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/vapi/rest"
	"github.com/vmware/govmomi/vapi/tags"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// TestSet: what keeps a tool from changing a VM can be set and is read.
func TestSet(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-2")
	vm := c.properties()
	if vm.Runtime.FaultToleranceState != "notConfigured" || vm.Runtime.RecordReplayState != "inactive" || vm.ResourceConfig == nil || vm.Snapshot != nil {
		t.Errorf("at first: fault tolerance %q, replay %q, resources %v, snapshots %v", vm.Runtime.FaultToleranceState, vm.Runtime.RecordReplayState, vm.ResourceConfig, vm.Snapshot)
	}
	vc.Set("vm-2", "runtime.question", types.VirtualMachineQuestionInfo{Id: "1", Text: "moved or copied?"})
	vc.Set("vm-2", "runtime.faultToleranceState", types.VirtualMachineFaultToleranceStateRunning)
	vc.Set("vm-2", "config.managedBy", types.ManagedByInfo{ExtensionKey: "com.vmware.vim.eam", Type: "agent"})
	vc.Set("vm-2", "config.template", true)
	vc.Set("vm-2", "snapshot", types.VirtualMachineSnapshotInfo{RootSnapshotList: []types.VirtualMachineSnapshotTree{{Name: "before"}}})
	vm = c.properties()
	if vm.Runtime.Question == nil || vm.Runtime.FaultToleranceState != "running" || vm.Config.ManagedBy == nil || !vm.Config.Template || vm.Snapshot == nil {
		t.Errorf("question %v, fault tolerance %s, managed by %v, template %v, snapshots %v", vm.Runtime.Question, vm.Runtime.FaultToleranceState, vm.Config.ManagedBy, vm.Config.Template, vm.Snapshot)
	}
	isFault[*types.InvalidState](t, "power on a template", c.wait(c.vm.PowerOn(t.Context())))
	isFault[*types.NotSupported](t, "change a template", c.reconfigure(types.VirtualMachineConfigSpec{NumCPUs: 20}))

	on := login(t, vc, "vm-1")
	boot := on.properties().Runtime.BootTime
	on.must(on.wait(on.vm.Suspend(t.Context())))
	isFault[*types.InvalidPowerState](t, "change a suspended VM", on.reconfigure(types.VirtualMachineConfigSpec{CpuHotAddEnabled: types.NewBool(false)}))
	on.must(on.wait(on.vm.PowerOn(t.Context())))
	if got := on.properties().Runtime.BootTime; got == nil || !got.Equal(*boot) {
		t.Errorf("boot time after suspend and resume: %v, want %v", got, boot)
	}
	on.must(on.wait(on.vm.CreateSnapshot(t.Context(), "before", "", false, false)))
	if on.properties().Snapshot == nil {
		t.Error("a snapshot made over the API is not there")
	}
}

// TestHostOptions: an option of Numa is set and read; unknown names and texts are refused; those of the fleet stay.
func TestHostOptions(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-1")
	m, err := object.NewHostSystem(c.Client.Client, types.ManagedObjectReference{Type: "HostSystem", Value: "host-1"}).ConfigManager().OptionManager(t.Context())
	c.must(err)
	update := func(key string, value any) error {
		return m.Update(t.Context(), []types.BaseOptionValue{&types.OptionValue{Key: key, Value: value}})
	}
	c.must(update("Numa.PreferHT", int64(1)))
	c.must(update("Numa.LocalityWeightActionAffinity", int64(0)))
	isFault[*types.InvalidName](t, "an invented option", update("Numa.Invented", int64(1)))
	isFault[*types.InvalidArgument](t, "a text", update("Numa.PreferHT", "1"))
	f, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{})
	c.must(err)
	for _, h := range f.Hosts[:2] {
		want := map[string]string{"host-1": "1", "host-2": "0"}[h.ID]
		if got, _ := h.Options.Value.Lookup("Numa.PreferHT"); got != want {
			t.Errorf("%s: Numa.PreferHT = %q, want %q", h.ID, got, want)
		}
		if got, _ := h.Options.Value.Lookup("LPage.LPageAlwaysTryForNPT"); got != "1" {
			t.Errorf("%s: the fleet's LPage.LPageAlwaysTryForNPT = %q, want 1", h.ID, got)
		}
	}
	var options mo.OptionManager
	c.must(m.Properties(t.Context(), m.Reference(), []string{"supportedOption"}, &options))
	if !slices.ContainsFunc(options.SupportedOption, func(o types.OptionDef) bool { return o.Key == "Numa.RebalanceEnable" }) {
		t.Error("supportedOption has no Numa.RebalanceEnable")
	}
}

// TestDRS: a rule and groups are made and taken away by key.
func TestDRS(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-1")
	cluster := object.NewClusterComputeResource(c.Client.Client, types.ManagedObjectReference{Type: "ClusterComputeResource", Value: "domain-c1"})
	vms := []types.ManagedObjectReference{c.vm.Reference(), {Type: "VirtualMachine", Value: "vm-2"}}
	add := types.ArrayUpdateSpec{Operation: types.ArrayUpdateOperationAdd}
	c.must(c.wait(cluster.Reconfigure(t.Context(), &types.ClusterConfigSpecEx{
		GroupSpec: []types.ClusterGroupSpec{
			{ArrayUpdateSpec: add, Info: &types.ClusterVmGroup{ClusterGroupInfo: types.ClusterGroupInfo{Name: "wide"}, Vm: vms}},
			{ArrayUpdateSpec: add, Info: &types.ClusterHostGroup{ClusterGroupInfo: types.ClusterGroupInfo{Name: "four nodes"}, Host: []types.ManagedObjectReference{*relocation("host-1").Host}}},
		},
		RulesSpec: []types.ClusterRuleSpec{{ArrayUpdateSpec: add, Info: &types.ClusterAntiAffinityRuleSpec{ClusterRuleInfo: types.ClusterRuleInfo{Name: "apart", Enabled: types.NewBool(true)}, Vm: vms}}},
	}, true)))
	config, err := cluster.Configuration(t.Context())
	c.must(err)
	if len(config.Group) != 2 || len(config.Rule) != 1 {
		t.Fatalf("%d groups and %d rules, want 2 and 1", len(config.Group), len(config.Rule))
	}
	c.must(c.wait(cluster.Reconfigure(t.Context(), &types.ClusterConfigSpecEx{
		RulesSpec: []types.ClusterRuleSpec{{ArrayUpdateSpec: types.ArrayUpdateSpec{Operation: types.ArrayUpdateOperationRemove, RemoveKey: config.Rule[0].GetClusterRuleInfo().Key}}},
		GroupSpec: []types.ClusterGroupSpec{{ArrayUpdateSpec: types.ArrayUpdateSpec{Operation: types.ArrayUpdateOperationRemove, RemoveKey: "wide"}}},
	}, true)))
	config, err = cluster.Configuration(t.Context())
	c.must(err)
	if len(config.Group) != 1 || len(config.Rule) != 0 {
		t.Errorf("%d groups and %d rules after removal, want 1 and none", len(config.Group), len(config.Rule))
	}
}

// TestLabels: a tag and a custom attribute are set, read with the fleet, and refused to an account without the privilege.
func TestLabels(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-1")
	r := rest.NewClient(c.Client.Client)
	c.must(r.Login(t.Context(), vc.URL.User))
	m := tags.NewManager(r)
	category, err := m.CreateCategory(t.Context(), &tags.Category{Name: "homenode", Cardinality: "MULTIPLE", AssociableTypes: []string{"VirtualMachine"}})
	c.must(err)
	id, err := m.CreateTag(t.Context(), &tags.Tag{Name: "changed", CategoryID: category})
	c.must(err)

	u := vc.Add(lab.Account{User: "lacks", Password: "p", May: lab.AllBut("InventoryService.Tagging.AttachTag", "InventoryService.Tagging.CreateTag")})
	other := rest.NewClient(c.as(u).Client.Client)
	c.must(other.Login(t.Context(), u.User))
	lacks := tags.NewManager(other)
	if err := lacks.AttachTag(t.Context(), id, c.vm.Reference()); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("attach without the privilege: %v, want 403", err)
	}
	if _, err := lacks.CreateTag(t.Context(), &tags.Tag{Name: "more", CategoryID: category}); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("create without the privilege: %v, want 403", err)
	}
	if list, err := lacks.ListAttachedTags(t.Context(), c.vm.Reference()); err != nil || len(list) != 0 {
		t.Errorf("attached tags: %v, %v; want none", list, err)
	}

	c.must(m.AttachTag(t.Context(), id, c.vm.Reference()))
	fields, err := object.GetCustomFieldsManager(c.Client.Client)
	c.must(err)
	def, err := fields.Add(t.Context(), "changed by", "VirtualMachine", nil, nil)
	c.must(err)
	c.must(fields.Set(t.Context(), c.vm.Reference(), def.Key, "plan 7f3c"))
	f, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{})
	c.must(err)
	v := f.FindVMs("vm-1")[0]
	if !slices.Contains(v.Tags, "changed") || !slices.Contains(v.Attributes, numa.Attribute{Name: "changed by", Value: "plan 7f3c"}) {
		t.Errorf("tags %v, attributes %v", v.Tags, v.Attributes)
	}
	c.must(m.DetachTag(t.Context(), id, c.vm.Reference()))
	if list, err := m.ListAttachedTags(t.Context(), c.vm.Reference()); err != nil || len(list) != 0 {
		t.Errorf("tags after detaching: %v, %v", list, err)
	}
}
