package lab_test

import (
	"net/url"
	"testing"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// as logs in with another account.
func (c client) as(u *url.URL) client {
	c.Helper()
	other, err := govmomi.NewClient(c.Context(), u, true)
	c.must(err)
	return client{c.T, other, object.NewVirtualMachine(other.Client, c.vm.Reference())}
}

// has asks whether the account has a privilege on the VM.
func (c client) has(privilege string) bool {
	c.Helper()
	session, err := c.SessionManager.UserSession(c.Context())
	c.must(err)
	res, err := methods.HasPrivilegeOnEntities(c.Context(), c.Client, &types.HasPrivilegeOnEntities{This: *c.ServiceContent.AuthorizationManager,
		Entity: []types.ManagedObjectReference{c.vm.Reference()}, SessionId: session.Key, PrivId: []string{privilege}})
	c.must(err)
	return res.Returnval[0].PrivAvailability[0].IsGranted
}

// TestPrivileges lets an account lack each privilege in turn: its call is refused, nothing is changed, and what it has is answered truly.
func TestPrivileges(t *testing.T) {
	reconfigure := func(spec types.VirtualMachineConfigSpec) func(client) error {
		return func(c client) error { return c.reconfigure(spec) }
	}
	cluster := func(c client) error {
		return c.wait(object.NewClusterComputeResource(c.Client.Client, types.ManagedObjectReference{Type: "ClusterComputeResource", Value: "domain-c1"}).
			Reconfigure(c.Context(), &types.ClusterConfigSpecEx{}, true))
	}
	options := func(c client) error {
		m, err := object.NewHostSystem(c.Client.Client, types.ManagedObjectReference{Type: "HostSystem", Value: "host-1"}).ConfigManager().OptionManager(c.Context())
		c.must(err)
		return m.Update(c.Context(), []types.BaseOptionValue{&types.OptionValue{Key: "Numa.PreferHT", Value: int64(1)}})
	}
	fields := func(c client) *object.CustomFieldsManager {
		m, err := object.GetCustomFieldsManager(c.Client.Client)
		c.must(err)
		return m
	}
	vc := serve(t)
	for _, tc := range []struct {
		what, vm, privilege, on string
		call                    func(client) error
	}{
		{"vCPUs", "vm-2", "VirtualMachine.Config.CPUCount", "vm-2", reconfigure(types.VirtualMachineConfigSpec{NumCPUs: 20})},
		{"cores per socket", "vm-2", "VirtualMachine.Config.CPUCount", "vm-2", reconfigure(types.VirtualMachineConfigSpec{NumCoresPerSocket: types.NewInt32(0)})},
		{"hot add", "vm-2", "VirtualMachine.Config.CPUCount", "vm-2", reconfigure(types.VirtualMachineConfigSpec{CpuHotAddEnabled: types.NewBool(false)})},
		{"memory", "vm-2", "VirtualMachine.Config.Memory", "vm-2", reconfigure(types.VirtualMachineConfigSpec{MemoryMB: 1024})},
		{"keys", "vm-2", "VirtualMachine.Config.AdvancedConfig", "vm-2", reconfigure(types.VirtualMachineConfigSpec{NumCPUs: 20, ExtraConfig: key("numa.vcpu.preferHT", "")})},
		{"affinity", "vm-2", "VirtualMachine.Config.Resource", "vm-2", reconfigure(types.VirtualMachineConfigSpec{CpuAffinity: &types.VirtualMachineAffinityInfo{AffinitySet: []int32{1}}})},
		{"rebootPowerOff", "vm-2", "VirtualMachine.Config.Settings", "vm-2", reconfigure(types.VirtualMachineConfigSpec{RebootPowerOff: types.NewBool(true)})},
		{"upgrade", "vm-2", "VirtualMachine.Config.UpgradeVirtualHardware", "vm-2", func(c client) error { return c.wait(c.vm.UpgradeVM(c.Context(), "vmx-21")) }},
		{"shutdown", "vm-1", "VirtualMachine.Interact.PowerOff", "vm-1", func(c client) error {
			err := c.vm.ShutdownGuest(c.Context())
			if err == nil {
				c.until("runtime.powerState", isOff)
			}
			return err
		}},
		{"power on", "vm-1", "VirtualMachine.Interact.PowerOn", "vm-1", func(c client) error { return c.wait(c.vm.PowerOn(c.Context())) }},
		{"reboot", "vm-1", "VirtualMachine.Interact.Reset", "vm-1", func(c client) error { return c.vm.RebootGuest(c.Context()) }},
		{"power off", "vm-1", "VirtualMachine.Interact.PowerOff", "vm-1", func(c client) error { return c.wait(c.vm.PowerOff(c.Context())) }},
		{"cold move", "vm-2", "Resource.ColdMigrate", "vm-2", func(c client) error { return c.wait(c.vm.Relocate(c.Context(), relocation("host-2"), "")) }},
		{"host option", "vm-1", "Host.Config.AdvancedConfig", "host-1", options},
		{"DRS", "vm-1", "Host.Inventory.EditCluster", "domain-c1", cluster},
		{"define an attribute", "vm-1", "Global.ManageCustomFields", "group-d1", func(c client) error {
			_, err := fields(c).Add(c.Context(), "changed by", "VirtualMachine", nil, nil)
			return err
		}},
		{"set an attribute", "vm-1", "Global.SetCustomField", "vm-1", func(c client) error {
			key, err := fields(c).FindKey(c.Context(), "changed by")
			c.must(err)
			return fields(c).Set(c.Context(), c.vm.Reference(), key, "plan")
		}},
	} {
		t.Run(tc.what, func(t *testing.T) {
			admin := login(t, vc, tc.vm)
			version, power := admin.properties().Config.ChangeVersion, admin.properties().Runtime.PowerState
			lacks := admin.as(vc.Add(lab.Account{User: "lacks", Password: "p", May: lab.AllBut(tc.privilege)}))
			f := isFault[*types.NoPermission](t, "without it", tc.call(lacks))
			if f != nil && (f.PrivilegeId != tc.privilege || f.Object == nil || f.Object.Value != tc.on) {
				t.Errorf("the fault names %s on %v, want %s on %s", f.PrivilegeId, f.Object, tc.privilege, tc.on)
			}
			reads := admin.as(vc.Add(lab.Account{User: "reads", Password: "p", May: lab.Only()}))
			isFault[*types.NoPermission](t, "with Read-only", tc.call(reads))
			if now := admin.properties(); now.Config.ChangeVersion != version || now.Runtime.PowerState != power {
				t.Error("a refused call changed the VM")
			}
			if lacks.has(tc.privilege) || reads.has(tc.privilege) || !admin.has(tc.privilege) || !lacks.has("VirtualMachine.Inventory.Create") || admin.has("VirtualMachine.Invented") {
				t.Error("HasPrivilegeOnEntities answers wrong")
			}
			admin.must(tc.call(admin))
		})
	}
	if t.Failed() {
		return
	}
	only := login(t, vc, "vm-2").as(vc.Add(lab.Account{User: "only", Password: "p", May: lab.Only("VirtualMachine.Config.CPUCount")}))
	only.must(only.reconfigure(types.VirtualMachineConfigSpec{NumCPUs: 10, NumCoresPerSocket: types.NewInt32(5)}))
}

// TestPrivilegeOfOneVM: an account can have a privilege on one object alone.
func TestPrivilegeOfOneVM(t *testing.T) {
	vc := serve(t)
	u := vc.Add(lab.Account{User: "some", Password: "p", May: func(_ string, on types.ManagedObjectReference) bool { return on.Value != "vm-2" }})
	c := login(t, vc, "vm-1").as(u)
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{Annotation: "mine"}))
	c.vm = object.NewVirtualMachine(c.Client.Client, types.ManagedObjectReference{Type: "VirtualMachine", Value: "vm-2"})
	isFault[*types.NoPermission](t, "vm-2", c.reconfigure(types.VirtualMachineConfigSpec{Annotation: "mine"}))
}

// TestAccounts: another password is refused, and Read-only reads a fleet.
func TestAccounts(t *testing.T) {
	vc := serve(t)
	u := vc.Add(lab.Account{User: "reads", Password: "p", May: lab.Only()})
	f, err := vsphere.Read(t.Context(), u, vsphere.Options{Insecure: true})
	if err != nil || len(f.VMs) != 2 {
		t.Fatalf("Read-only reads %v, %v", f, err)
	}
	u.User = url.UserPassword("reads", "x")
	if _, err := govmomi.NewClient(t.Context(), u, true); !fault.Is(err, &types.InvalidLogin{}) {
		t.Errorf("with another password: %v", err)
	}
}
