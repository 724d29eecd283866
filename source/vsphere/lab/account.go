package lab

import (
	"net/url"
	"slices"
	"strings"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/source/privilege"
)

// An Account is a user of the vCenter other than its administrator, who has all privileges.
type Account struct {
	User, Password string
	// May reports whether it has a privilege on an object. Only and AllBut return functions that ignore the object.
	May func(privilege string, on types.ManagedObjectReference) bool
}

// Only returns a May for an account with Read-only and these privileges.
func Only(privileges ...string) func(string, types.ManagedObjectReference) bool {
	return func(p string, _ types.ManagedObjectReference) bool {
		return slices.Contains(privilege.ReadOnly, p) || slices.Contains(privileges, p)
	}
}

// AllBut returns a May for an administrator who lacks these privileges.
func AllBut(privileges ...string) func(string, types.ManagedObjectReference) bool {
	return func(p string, _ types.ManagedObjectReference) bool { return !slices.Contains(privileges, p) }
}

// Add adds or changes an account, and returns the address to log in with it. For example, one with all privileges except shutting VMs down:
//
//	u := vc.Add(lab.Account{User: "fixer", Password: "secret", May: lab.AllBut("VirtualMachine.Interact.PowerOff")})
func (v *VCenter) Add(a Account) *url.URL {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.accounts[a.User] = a
	u := *v.URL
	u.User = url.UserPassword(a.User, a.Password)
	return &u
}

// mayLogIn reports whether an account exists.
func (v *VCenter) mayLogIn(login *types.Login) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	a, ok := v.accounts[login.UserName]
	return login.UserName == user && login.Password == password || ok && login.Password == a.Password
}

// may reports whether a user has a privilege on an object. The vCenter knows only the privileges of the role Administrator, with their exact
// spelling.
func (v *VCenter) may(name, privilege string, on types.ManagedObjectReference) bool {
	v.mu.Lock()
	a, ok := v.accounts[name]
	v.mu.Unlock()
	known := slices.Contains(v.privileges, privilege) || strings.HasPrefix(privilege, unlisted)
	return known && (!ok || a.May(privilege, on))
}

// An authorization reports the actual privileges of an account.
type authorization struct {
	*simulator.AuthorizationManager
	v *VCenter
}

// newAuthorization replaces that of the simulator.
func newAuthorization(v *VCenter) *authorization {
	m := v.Model.Map().Get(*v.Model.ServiceContent.AuthorizationManager).(*simulator.AuthorizationManager)
	v.privileges = object.AuthorizationRoleList(m.RoleList).ByName("Admin").Privilege
	for _, id := range v.privileges {
		group, name := "", id
		if i := strings.LastIndex(id, "."); i >= 0 {
			group, name = id[:i], id[i+1:]
		}
		m.PrivilegeList = append(m.PrivilegeList, types.AuthorizationPrivilege{PrivId: id, Name: name, PrivGroupName: group})
	}
	return &authorization{m, v}
}

// available returns a user's privileges on an object.
func (m *authorization) available(name string, on types.ManagedObjectReference, ids []string) types.EntityPrivilege {
	p := types.EntityPrivilege{Entity: on}
	for _, id := range ids {
		p.PrivAvailability = append(p.PrivAvailability, types.PrivilegeAvailability{PrivId: id, IsGranted: m.v.may(name, id, on)})
	}
	return p
}

// HasPrivilegeOnEntities reports the privileges of a session's user. Only the calling session is supported.
func (m *authorization) HasPrivilegeOnEntities(ctx *simulator.Context, req *types.HasPrivilegeOnEntities) soap.HasFault {
	if req.SessionId != ctx.Session.Key {
		return &methods.HasPrivilegeOnEntitiesBody{Fault_: simulator.Fault("", &types.InvalidArgument{InvalidProperty: "sessionId"})}
	}
	res := &types.HasPrivilegeOnEntitiesResponse{}
	for _, e := range req.Entity {
		if ctx.Map.Get(e) == nil {
			return &methods.HasPrivilegeOnEntitiesBody{Fault_: simulator.Fault("", &types.ManagedObjectNotFound{Obj: e})}
		}
		res.Returnval = append(res.Returnval, m.available(ctx.Session.UserName, e, req.PrivId))
	}
	return &methods.HasPrivilegeOnEntitiesBody{Res: res}
}

// HasPrivilegeOnEntity is HasPrivilegeOnEntities for one object.
func (m *authorization) HasPrivilegeOnEntity(ctx *simulator.Context, req *types.HasPrivilegeOnEntity) soap.HasFault {
	if req.SessionId != ctx.Session.Key {
		return &methods.HasPrivilegeOnEntityBody{Fault_: simulator.Fault("", &types.InvalidArgument{InvalidProperty: "sessionId"})}
	}
	res := &types.HasPrivilegeOnEntityResponse{}
	for _, p := range m.available(ctx.Session.UserName, req.Entity, req.PrivId).PrivAvailability {
		res.Returnval = append(res.Returnval, p.IsGranted)
	}
	return &methods.HasPrivilegeOnEntityBody{Res: res}
}

// HasUserPrivilegeOnEntities reports the privileges of a user.
func (m *authorization) HasUserPrivilegeOnEntities(req *types.HasUserPrivilegeOnEntities) soap.HasFault {
	res := &types.HasUserPrivilegeOnEntitiesResponse{}
	for _, e := range req.Entities {
		res.Returnval = append(res.Returnval, m.available(req.UserName, e, req.PrivId))
	}
	return &methods.HasUserPrivilegeOnEntitiesBody{Res: res}
}

// FetchUserPrivilegeOnEntities lists the privileges of a user.
func (m *authorization) FetchUserPrivilegeOnEntities(req *types.FetchUserPrivilegeOnEntities) soap.HasFault {
	res := &types.FetchUserPrivilegeOnEntitiesResponse{}
	for _, e := range req.Entities {
		one := types.UserPrivilegeResult{Entity: e}
		for _, id := range m.v.privileges {
			if m.v.may(req.UserName, id, e) {
				one.Privileges = append(one.Privileges, id)
			}
		}
		res.Returnval = append(res.Returnval, one)
	}
	return &methods.FetchUserPrivilegeOnEntitiesBody{Res: res}
}
