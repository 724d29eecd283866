package lab

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/internal/bounded"
)

// A Moment is a phase of a call in which a Hook runs.
type Moment int

const (
	// Arrives is before the call is executed. A fault rejects it.
	Arrives Moment = iota
	// Runs is when the task of a call begins: tasks for a VM's settings, power and place. While the hook waits, the task runs and another one of the
	// VM fails with TaskInProgress. A fault ends the task.
	Runs
	// Answers is after the call is executed and before its answer is sent. A fault other than Drop has no effect.
	Answers
)

// A Call is a client's request to the vCenter.
type Call struct {
	Moment Moment
	Method string // the API's name, such as ReconfigVM_Task
	Object types.ManagedObjectReference
	Needs  []Need // the required privileges, on Arrives
}

// A Hook is called at each Moment of every API call, and for every requested file (not REST); nil continues. It may wait: no lock is held, so it can
// change a VM over another session, expire the sessions or let a test kill its client. Calls come concurrently.
type Hook func(Call) types.BaseMethodFault

// Drop is the fault of a Hook that closes the connection instead of an answer: on Arrives the call is not executed, on Answers it is.
var Drop types.BaseMethodFault = &dropped{}

type dropped struct{ types.MethodFault }

// On sets the hook for all calls from now on, replacing the previous one; nil removes it. For example, the first reconfiguration is executed but its
// answer is lost:
//
//	vc.On(lab.Once(lab.Answers, "ReconfigVM_Task", func() types.BaseMethodFault { return lab.Drop }))
func (v *VCenter) On(hook Hook) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hook = hook
}

// Once returns a Hook that calls do at the first call of a method, at one moment. do may call the method itself.
func Once(at Moment, method string, do func() types.BaseMethodFault) Hook {
	var done atomic.Bool
	return func(c Call) types.BaseMethodFault {
		if c.Moment == at && c.Method == method && done.CompareAndSwap(false, true) {
			return do()
		}
		return nil
	}
}

// ask calls the hook.
func (v *VCenter) ask(c Call) types.BaseMethodFault {
	v.mu.Lock()
	hook := v.hook
	v.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(c)
}

// ExpireSessions ends all API sessions, as after a long idle time: the next call of each returns NotAuthenticated. When a Hook calls it on Arrives,
// that call already fails.
func (v *VCenter) ExpireSessions() {
	registry := v.Model.Map()
	ctx := *v.Model.Service.Context
	ctx.Session = &simulator.Session{Registry: simulator.NewRegistry(), Map: registry}
	for _, s := range v.sessions() {
		registry.SessionManager().TerminateSession(&ctx, &types.TerminateSession{SessionId: []string{s.Key}})
	}
}

// sessions returns the API sessions.
func (v *VCenter) sessions() []types.UserSession {
	registry := v.Model.Map()
	own := simulator.Session{Registry: simulator.NewRegistry(), Map: registry}
	return own.Get(registry.SessionManager().Self).(*simulator.SessionManager).SessionList
}

// Restart ends all sessions and closes the connections, like a restart of vCenter. It does not wait: calls under way are executed.
func (v *VCenter) Restart() {
	v.ExpireSessions()
	v.server.CloseClientConnections()
}

// serveSDK serves an API call and calls the hook before it sends the answer.
func (v *VCenter) serveSDK(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	hooked := v.hook != nil
	v.mu.Unlock()
	if !hooked {
		v.Model.Service.ServeSDK(w, r)
		return
	}
	body, err := io.ReadAll(bounded.Reader(r.Body, bounded.Written))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	held := &heldAnswer{header: w.Header(), status: http.StatusOK}
	v.Model.Service.ServeSDK(held, r)
	c := callOf(body)
	c.Moment = Answers
	if v.ask(c) == Drop {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(held.status)
	_, _ = w.Write(held.body.Bytes()) // the client may have gone
}

// A heldAnswer buffers an answer.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *heldAnswer) Header() http.Header         { return h.header }
func (h *heldAnswer) WriteHeader(status int)      { h.status = status }
func (h *heldAnswer) Write(b []byte) (int, error) { return h.body.Write(b) }

// callOf parses the method and its object from a request: the first element of the body, and the first in that.
func callOf(request []byte) (c Call) {
	d := xml.NewDecoder(bytes.NewReader(request))
	for body := false; ; {
		token, err := d.Token()
		if err != nil {
			return c
		}
		e, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case !body:
			body = e.Name.Local == "Body"
		case c.Method == "":
			c.Method = e.Name.Local
		default:
			for _, a := range e.Attr {
				if a.Name.Local == "type" {
					c.Object.Type = a.Value
				}
			}
			_ = d.DecodeElement(&c.Object.Value, &e) // a malformed request was rejected before
			return c
		}
	}
}

// handle runs before the simulator's own handler of every call: it calls the hook, checks privileges, and sends calls whose behaviour differs from
// the simulator's to vmMethods.
func (v *VCenter) handle(ctx *simulator.Context, m *simulator.Method) (mo.Reference, types.BaseMethodFault) {
	c := Call{Method: m.Name, Object: m.This}
	if ctx.Session != nil && ctx.Session.UserName != "" {
		c.Needs = v.needs(m)
	}
	switch fault := v.ask(c); {
	case fault == Drop:
		panic(http.ErrAbortHandler)
	case fault != nil:
		return nil, fault
	}
	if ctx.Session == nil {
		return nil, nil // only the login proceeds
	}
	if !v.known(ctx) {
		return nil, &types.NotAuthenticated{NoPermission: types.NoPermission{Object: &m.This, PrivilegeId: "System.View"}}
	}
	if fault := v.permit(ctx, m); fault != nil {
		return nil, fault
	}
	if req, ok := m.Body.(*types.UpdateOptions); ok {
		if fault := v.refuseOptions(ctx, req); fault != nil {
			return nil, fault
		}
	}
	if (m.This.Type == "VirtualMachine" && replaced[m.Name] || m.Name == "PowerOnMultiVM_Task" || m.Name == "LogUserEvent") && ctx.Map.Get(m.This) != nil {
		m.This = methodsOfVM
	}
	return nil, nil
}

// known reports whether the session of a call still exists. Calls within the process have no user.
func (v *VCenter) known(ctx *simulator.Context) bool {
	if ctx.Session.UserName == "" {
		return true
	}
	manager := v.Model.Map().SessionManager()
	body := manager.SessionIsActive(ctx, &types.SessionIsActive{This: manager.Self, SessionID: ctx.Session.Key, UserName: ctx.Session.UserName})
	return body.(*methods.SessionIsActiveBody).Res.Returnval
}
