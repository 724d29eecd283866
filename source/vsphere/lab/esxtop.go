package lab

import (
	"fmt"
	"strings"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// An Esxtop answers a command of the service "Esxtop" (CounterInfo, FetchStats, FreeStats) for the
// host with this ID. An error becomes a fault.
type Esxtop func(host, command string) (string, error)

// A serviceManager is the service manager of the vCenter: it lists a service for each host.
type serviceManager struct {
	mo.ServiceManager
	services map[string]types.ServiceManagerServiceInfo // by location, "vmware.host.<name>"
}

// ServeEsxtop adds the service "Esxtop" to the hosts. Call it before the first request.
func (v *VCenter) ServeEsxtop(answer Esxtop) error {
	content := v.Model.ServiceContent
	if content.ServiceManager == nil {
		return fmt.Errorf("the simulator has no service manager")
	}
	m := &serviceManager{services: map[string]types.ServiceManagerServiceInfo{}}
	m.Self = *content.ServiceManager
	registry := v.Model.Map()
	for _, e := range registry.All("HostSystem") {
		h := e.(*simulator.HostSystem)
		c := &simpleCommand{host: h.Self.Value, answer: answer}
		c.Self = types.ManagedObjectReference{Type: "SimpleCommand", Value: "esxtop-" + h.Self.Value}
		c.Entity = types.ServiceManagerServiceInfo{ServiceName: "Esxtop", Location: []string{"vmware.host." + h.Name}, Service: c.Self, Description: "simulated"}
		registry.Put(c)
		m.services[c.Entity.Location[0]] = c.Entity
	}
	registry.Put(m)
	return nil
}

// QueryServiceList returns the services of a host.
func (m *serviceManager) QueryServiceList(_ *simulator.Context, req *types.QueryServiceList) soap.HasFault {
	res := &types.QueryServiceListResponse{}
	for _, location := range req.Location {
		if s, ok := m.services[location]; ok && (req.ServiceName == "" || req.ServiceName == s.ServiceName) {
			res.Returnval = append(res.Returnval, s)
		}
	}
	return &methods.QueryServiceListBody{Res: res}
}

// A simpleCommand is the service of one host.
type simpleCommand struct {
	mo.SimpleCommand
	host   string
	answer Esxtop
}

// ExecuteSimpleCommand answers one command.
func (c *simpleCommand) ExecuteSimpleCommand(_ *simulator.Context, req *types.ExecuteSimpleCommand) soap.HasFault {
	text, err := c.answer(c.host, strings.Join(req.Arguments, " "))
	if err != nil {
		return &methods.ExecuteSimpleCommandBody{Fault_: simulator.Fault(err.Error(), &types.HostConnectFault{})}
	}
	return &methods.ExecuteSimpleCommandBody{Res: &types.ExecuteSimpleCommandResponse{Returnval: text}}
}
