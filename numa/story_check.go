package numa

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// MostLength is the longest story: a leap year.
const MostLength = 366 * 24 * time.Hour

// MaxTalkRate is the maximum communication rate of two VMs, per second. Values above it mean that the
// input is damaged.
const MaxTalkRate = 1e9

// Check returns an error for the first invalid part of s: an invalid fleet, a dangling reference, a
// time off the grid or out of order, a share outside [0, 1]. Sources call it before they return a
// story, so that the simulation can rely on its input.
func (s *Story) Check() error {
	if s.Fleet == nil {
		return errors.New("no fleet")
	}
	if err := s.Fleet.Check(); err != nil {
		return err
	}
	if err := s.checkTimes(); err != nil {
		return err
	}
	ids := &storyIDs{s.Fleet.HostsByID(), s.Fleet.VMsByID()}
	if err := s.checkStart(ids); err != nil {
		return err
	}
	at := time.Duration(0)
	for i := range s.Events {
		e := &s.Events[i]
		err := e.check(ids)
		switch {
		case err != nil:
		case e.At < at:
			err = fmt.Errorf("comes after an event at %s", at)
		case e.At > s.Length:
			err = fmt.Errorf("is after the end at %s", s.Length)
		case e.At%Step != 0:
			err = fmt.Errorf("is not at a multiple of %s", Step)
		}
		if err != nil {
			return fmt.Errorf("event %d, %s at %s: %w", i+1, e.Kind, e.At, err)
		}
		at = e.At
	}
	return nil
}

func (s *Story) checkTimes() error {
	switch {
	case s.Length <= 0 || s.Length > MostLength:
		return fmt.Errorf("length of %s, want more than 0 and at most %s", s.Length, MostLength)
	case s.Length%Step != 0:
		return fmt.Errorf("length of %s, want a multiple of %s", s.Length, Step)
	case s.Every <= 0 || s.Every > MostLength || s.Every%Step != 0:
		return fmt.Errorf("ticks every %s, want a multiple of %s", s.Every, Step)
	case s.Start.Location() != time.UTC:
		return fmt.Errorf("start in %s, want UTC", s.Start.Location())
	}
	return nil
}

// storyIDs are the hosts and VMs of a story by ID.
type storyIDs struct {
	hosts map[string]*Host
	vms   map[string]*VM
}

func (ids *storyIDs) vm(id string) error {
	if ids.vms[id] == nil {
		return fmt.Errorf("VM %q is not in the fleet", id)
	}
	return nil
}

func (ids *storyIDs) host(id string) error {
	if ids.hosts[id] == nil {
		return fmt.Errorf("host %q is not in the fleet", id)
	}
	return nil
}

// node returns an error when the host, whose nodes may be unknown, has no such node.
func (ids *storyIDs) node(host string, node int) error {
	if err := ids.host(host); err != nil {
		return err
	}
	h := ids.hosts[host]
	for _, n := range h.Nodes.Value {
		if n.ID == node {
			return nil
		}
	}
	if h.Nodes.Known() || node < 0 || node >= MaxNodes {
		return fmt.Errorf("host %q has no node %d", h.Name, node)
	}
	return nil
}

// checkStart checks the state at the start.
func (s *Story) checkStart(ids *storyIDs) error {
	for i, u := range s.Used {
		if err := ids.node(u.Host, u.Node); err != nil {
			return fmt.Errorf("used memory %d: %w", i+1, err)
		}
		if u.Memory < 0 || u.Memory > MaxHostMemory {
			return fmt.Errorf("used memory %d: %d bytes", i+1, int64(u.Memory))
		}
	}
	loaded := make(map[string]bool, len(s.Loads))
	for i := range s.Loads {
		l := &s.Loads[i]
		err := ids.vm(l.VM)
		if err == nil && loaded[l.VM] {
			err = errors.New("it has another")
		}
		if err == nil {
			err = l.Load.Check()
		}
		if err != nil {
			return fmt.Errorf("load of VM %q: %w", l.VM, err)
		}
		loaded[l.VM] = true
	}
	for i := range s.Talks {
		if err := s.Talks[i].check(ids); err != nil {
			return fmt.Errorf("talk %d: %w", i+1, err)
		}
	}
	if s.Unstated.Known() {
		if err := s.Unstated.Value.Check(); err != nil {
			return fmt.Errorf("load of VMs that are not described: %w", err)
		}
	}
	seen := make(map[string]bool, len(s.Seen))
	for i := range s.Seen {
		v := &s.Seen[i]
		err := v.check(ids)
		if err == nil && seen[v.VM] {
			err = errors.New("it is seen twice")
		}
		if err != nil {
			return fmt.Errorf("VM %q as it was seen: %w", v.VM, err)
		}
		seen[v.VM] = true
	}
	return nil
}

func (v *SeenVM) check(ids *storyIDs) error {
	if err := ids.vm(v.VM); err != nil {
		return err
	}
	if err := ids.host(v.Host); err != nil {
		return err
	}
	for n := range v.Homes.All() {
		if err := ids.node(v.Host, n); err != nil {
			return err
		}
	}
	if v.Local < 0 || v.Remote < 0 || v.Local > MaxVMMemory || v.Remote > MaxVMMemory {
		return fmt.Errorf("%d bytes local and %d remote", int64(v.Local), int64(v.Remote))
	}
	for _, n := range v.OnNode {
		if err := ids.node(v.Host, n.Node); err != nil {
			return err
		}
		if n.Guest < 0 || n.Guest > MaxVMMemory {
			return fmt.Errorf("%d bytes on node %d", int64(n.Guest), n.Node)
		}
	}
	return nil
}

// Check returns an error for the first invalid value of l, whatever its VM.
func (l *Load) Check() error {
	d := &l.CPU
	for _, s := range []struct {
		name  string
		share float64
	}{
		{"least CPU", d.Low}, {"CPU", d.High}, {"noise", d.Noise}, {"active", l.Active},
		{"zero", l.Zero}, {"common", l.Common}, {"pages of zeros and common pages", l.Zero + l.Common}, {"large pages", l.AsksLarge},
	} {
		if !isShare(s.share) {
			return fmt.Errorf("%s of %g, want a share in [0, 1]", s.name, s.share)
		}
	}
	switch {
	case d.Low > d.High:
		return fmt.Errorf("CPU from %g to %g", d.Low, d.High)
	case d.Peak < 0 || d.Peak >= 24*time.Hour:
		return fmt.Errorf("peak at %s, want a time of day", d.Peak)
	case l.Memory > MaxVMMemory:
		return fmt.Errorf("memory of %d bytes", int64(l.Memory))
	case l.Over < 0 || l.Over > MostLength || l.Over%Step != 0:
		return fmt.Errorf("memory grows over %s, want a multiple of %s", l.Over, Step)
	case l.Workload != "" && !slices.Contains(Workloads, l.Workload):
		return fmt.Errorf("workload %q, want one of %s", l.Workload, strings.Join(Workloads, ", "))
	case l.Common > 0 && l.Image == "":
		return errors.New("common pages without an image")
	}
	for i, p := range d.Points {
		switch {
		case !isShare(p.Share):
			return fmt.Errorf("CPU of %g at %s, want a share in [0, 1]", p.Share, p.At)
		case i > 0 && p.At <= d.Points[i-1].At:
			return fmt.Errorf("CPU at %s does not come after that at %s", p.At, d.Points[i-1].At)
		}
	}
	return nil
}

// isShare is false for NaN too.
func isShare(x float64) bool { return x >= 0 && x <= 1 }

func (t *Talk) check(ids *storyIDs) error {
	if err := ids.vm(t.A); err != nil {
		return err
	}
	if err := ids.vm(t.B); err != nil {
		return err
	}
	if t.A == t.B {
		return fmt.Errorf("VM %q with itself", t.A)
	}
	if !(t.Rate >= 0 && t.Rate <= MaxTalkRate) { // also for NaN
		return fmt.Errorf("rate of %g a second", t.Rate)
	}
	return nil
}

// check returns an error for a missing field of the event's kind, or for an invalid value.
func (e *Event) check(ids *storyIDs) error {
	if e.VM != "" {
		if err := ids.vm(e.VM); err != nil {
			return err
		}
	}
	if e.Host != "" {
		if err := ids.host(e.Host); err != nil {
			return err
		}
	}
	switch e.Kind {
	case PowerOn, PowerOff, Cycle, Reboot, VMotion, Resize, HotAdd, LoadChange:
		if e.VM == "" {
			return errors.New("no VM")
		}
	case TalkChange:
		if e.Talk == nil {
			return errors.New("no talk")
		}
		return e.Talk.check(ids)
	case OptionChange, Maintenance, LeaveMaintenance, Fail, Repair:
		if e.Host == "" {
			return errors.New("no host")
		}
	default:
		return fmt.Errorf("kind %d", e.Kind)
	}
	switch {
	case e.Kind == VMotion && e.Host == "":
		return errors.New("no host to move to")
	case e.Link < 0 || e.Dirty < 0:
		return errors.New("a rate below 0")
	case e.Kind == OptionChange && len(e.Options) == 0:
		return errors.New("no options")
	case e.Kind == LoadChange && e.Load == nil:
		return errors.New("no load")
	case e.Kind == LoadChange:
		return e.Load.Check()
	case (e.Kind == Resize || e.Kind == HotAdd) && e.Config == nil:
		return errors.New("no configuration")
	case e.Kind == Resize || e.Kind == HotAdd:
		return (&VM{Config: *e.Config}).Check()
	}
	return nil
}
