package lab

import (
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// LogUserEvent adds an event of the kind GeneralUserEvent, which the simulator's event manager does not support.
func (m *vmMethods) LogUserEvent(ctx *simulator.Context, req *types.LogUserEvent) soap.HasFault {
	e := &types.GeneralUserEvent{GeneralEvent: types.GeneralEvent{Message: req.Msg}}
	e.Vm = &types.VmEventArgument{Vm: req.Entity}
	manager := ctx.Map.EventManager()
	ctx.WithLock(manager, func() { manager.PostEvent(ctx, &types.PostEvent{This: req.This, EventToPost: e}) })
	return &methods.LogUserEventBody{Res: &types.LogUserEventResponse{}}
}
