package fix_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/cmd/homenode/serve"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
	"example.org/homenode/source/vsphere/write"
)

// A site is a simulated vCenter, which stores what ESXi would, and a session with it.
type site struct {
	testing.TB
	vc *lab.VCenter
	w  write.Writer
}

// serveFleet serves a fleet; nil is the demo.
func serveFleet(t testing.TB, f *numa.Fleet) *site {
	t.Helper()
	var err error
	if f == nil {
		f, err = demo.Fleet()
	}
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vc.Close)
	vc.AtPowerOn(serve.AtPowerOn)
	s := &site{TB: t, vc: vc}
	s.w = s.login(vc.URL)
	return s
}

// small has VMs that need each kind of step: two that have to be off, one that is off, one whose settings are written while it runs,
// one whose stored size is wrong, and one that stays as it is.
func small(t testing.TB) *numa.Fleet {
	t.Helper()
	return fleetOf(t, `release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=18 memory=512GB
vm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on
vm sql02 host=esx02 vcpus=36 coresPerSocket=1 memory=128GB hotAdd=on
vm off01 host=esx02 power=off vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on
vm grown01 host=esx01 vcpus=24 coresPerSocket=12 memory=64GB stored=6
vm web01 host=esx01 vcpus=4 memory=16GB
`)
}

func fleetOf(t testing.TB, text string) *numa.Fleet {
	t.Helper()
	f, err := scenario.Read("fleet.txt", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return f
}

func (s *site) login(u *url.URL) write.Writer {
	s.Helper()
	live, err := vsphere.Open(s.Context(), u, vsphere.Options{})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = live.Close(s.Context()) }) // the vCenter goes too
	return write.Writer{Live: live}
}

// plan makes a plan of the vCenter as it is now.
func (s *site) plan(o fix.Options) *fix.Plan {
	s.Helper()
	f, err := s.w.Fleet(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	p, err := fix.Make(s.Context(), f, o)
	if err != nil {
		s.Fatal(err)
	}
	var ids []string
	for i := range p.Changes {
		if v := p.Changes[i].VM; v != nil {
			ids = append(ids, v.ID)
		}
	}
	states, err := s.w.States(s.Context(), ids)
	if err != nil {
		s.Fatal(err)
	}
	if err := p.Guard(states); err != nil {
		s.Fatal(err)
	}
	return p
}

// only leaves one VM in a plan.
func only(p *fix.Plan, names ...string) *fix.Plan {
	out := *p
	out.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c fix.Change) bool { return !slices.Contains(names, c.Target().Name) })
	return &out
}

// quick are options for a vCenter that takes no time. Its guests answer at once, however slow the machine is: a test of guests that do not sets the timeout.
func quick(power apply.Power) apply.Options {
	return apply.Options{Power: power, Poll: time.Millisecond, Off: time.Minute, Tools: time.Minute, Busy: 2 * time.Second,
		Outage: 2 * time.Second, MaxFailures: 100}
}

// apply carries a plan out with a journal of its own, and returns the results by name, the path of the journal, and how the run ended.
func (s *site) apply(p *fix.Plan, o apply.Options) (map[string]apply.Result, string, error) {
	s.Helper()
	if err := p.Identify(); err != nil {
		s.Fatal(err)
	}
	j, err := journal.Create(s.TempDir(), p, time.Now)
	if err != nil {
		s.Fatal(err)
	}
	return s.run(j, nil, journal.Line{Step: journal.StepPlan, Plan: p.ID, Whole: p}, o)
}

func (s *site) run(j *journal.Journal, lines []journal.Line, first journal.Line, o apply.Options) (map[string]apply.Result, string, error) {
	s.Helper()
	if first.Step != "" {
		if err := j.Append(first); err != nil {
			s.Fatal(err)
		}
		lines = append(lines, first)
	}
	if o.Stops == nil {
		o.Stops = s.stops(lines)
	}
	list, stopped := apply.Run(s.Context(), s.w, j, lines, o)
	if err := j.Close(); err != nil {
		s.Fatal(err)
	}
	out := map[string]apply.Result{}
	for _, r := range list {
		out[r.Name] = r
	}
	return out, j.Path, stopped
}

// stops returns the VMs that run, of those that the plan of the last run says run, or any for a rollback.
func (s *site) stops(lines []journal.Line) map[string]bool {
	s.Helper()
	out, now := map[string]bool{}, s.settings()
	p, _ := apply.Remember(lines)
	for i := range p.Changes {
		if v := p.Changes[i].VM; v != nil && (v.Runs || p.Undoes != "") {
			out[v.ID] = now[v.Name+" power"] == string(types.VirtualMachinePowerStatePoweredOn)
		}
	}
	return out
}

// resume goes on with a journal.
func (s *site) resume(path string, o apply.Options) (map[string]apply.Result, error) {
	s.Helper()
	j, lines, err := journal.Open(path, time.Now)
	if err != nil {
		s.Fatal(err)
	}
	results, _, stopped := s.run(j, lines, journal.Line{}, o)
	return results, stopped
}

// rollback takes back what the journal has.
func (s *site) rollback(path string, o apply.Options) (map[string]apply.Result, error) {
	s.Helper()
	j, lines, err := journal.Open(path, time.Now)
	if err != nil {
		s.Fatal(err)
	}
	undo := undo(s, path)
	results, _, stopped := s.run(j, lines, journal.Line{Step: journal.StepPlan, Plan: undo.ID, Whole: undo, Undo: true}, o)
	return results, stopped
}

// settings returns everything that a fix can change, of every VM and host by name, as the vCenter has it. What ESXi writes itself at a
// power-on, and which of its sizes are automatic, is left out.
func (s *site) settings() map[string]string {
	s.Helper()
	out := map[string]string{}
	ctx := simulator.Context{}
	registry := s.vc.Model.Map()
	for _, o := range registry.All("VirtualMachine") {
		vm := o.(*simulator.VirtualMachine)
		registry.WithLock(&ctx, vm, func() {
			set := func(key string, v any) { out[vm.Name+" "+key] = fmt.Sprint(v) }
			c := vm.Config
			set("power", vm.Runtime.PowerState)
			set("hardware", c.Version)
			set("vcpus", c.Hardware.NumCPU)
			set("memory", c.Hardware.MemoryMB)
			cores := value(c.Hardware.NumCoresPerSocket)
			if value(c.Hardware.AutoCoresPerSocket) {
				cores = 0
			}
			set("coresPerSocket", cores)
			set("cpuHotAdd", value(c.CpuHotAddEnabled))
			set("memoryHotAdd", value(c.MemoryHotAddEnabled))
			set("reboot", value(c.RebootPowerOff))
			nodes := types.VirtualMachineVirtualNumaInfo{}
			if c.NumaInfo != nil {
				nodes = *c.NumaInfo
			}
			perNode := value(nodes.CoresPerNumaNode)
			if value(nodes.AutoCoresPerNumaNode) {
				perNode = 0
			}
			set("coresPerNode", perNode)
			set("vnumaHotAdd", value(nodes.VnumaOnCpuHotaddExposed))
			if c.CpuAffinity != nil && len(c.CpuAffinity.AffinitySet) > 0 {
				set("affinity", c.CpuAffinity.AffinitySet)
			}
			if c.LatencySensitivity != nil {
				set("latency", c.LatencySensitivity.Level)
			}
			set("reserveAll", value(c.MemoryReservationLockedToMax))
			for name, a := range map[string]*types.ResourceAllocationInfo{"cpuReservation": c.CpuAllocation, "memoryReservation": c.MemoryAllocation} {
				if a != nil {
					set(name, value(a.Reservation))
				}
			}
			for _, one := range c.ExtraConfig {
				key := strings.ToLower(one.GetOptionValue().Key)
				if !strings.HasPrefix(key, "numa.autosize.") {
					set(key, one.GetOptionValue().Value)
				}
			}
		})
	}
	for _, o := range registry.All("HostSystem") {
		host := o.(*simulator.HostSystem)
		m := registry.Get(*host.ConfigManager.AdvancedOption).(*simulator.OptionManager)
		registry.WithLock(&ctx, m, func() {
			for _, one := range m.Setting {
				out[host.Name+" "+one.GetOptionValue().Key] = fmt.Sprint(one.GetOptionValue().Value)
			}
		})
	}
	return out
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// differences returns what is other than before, less what allowed says.
func differences(before, now map[string]string, allowed func(key string) bool) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if now[key] != before[key] && (allowed == nil || !allowed(key)) {
			out = append(out, fmt.Sprintf("%s: %q, was %q", key, now[key], before[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if _, ok := before[key]; !ok && (allowed == nil || !allowed(key)) {
			out = append(out, fmt.Sprintf("%s: %q, was absent", key, now[key]))
		}
	}
	return out
}

// same fails when something is other than before.
func (s *site) same(when string, before map[string]string) {
	s.Helper()
	if d := differences(before, s.settings(), nil); d != nil {
		s.Errorf("%s:\n%s", when, strings.Join(d, "\n"))
	}
}

// calls counts what is written, by method and object, beside a hook.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *calls) count(method, object string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[method+" "+object]
}

// watch counts the calls that change something, and lets the hook see all.
func (s *site) watch(hook lab.Hook) *calls {
	c := &calls{n: map[string]int{}}
	s.vc.On(func(call lab.Call) types.BaseMethodFault {
		if call.Moment == lab.Arrives {
			c.mu.Lock()
			c.n[call.Method+" "+call.Object.Value]++
			c.mu.Unlock()
		}
		if hook == nil {
			return nil
		}
		return hook(call)
	})
	return c
}

// outcomes fails when a result is none of those.
func outcomes(t testing.TB, results map[string]apply.Result, want ...apply.Outcome) {
	t.Helper()
	if len(results) == 0 {
		t.Error("no results")
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		if r := results[name]; !slices.Contains(want, r.Outcome) || r.Off {
			t.Errorf("%s: %s (left off: %v): %s", name, r.Outcome, r.Off, r.Why)
		}
	}
}

// save writes a plan where --plan reads it.
func save(t testing.TB, p *fix.Plan) string {
	t.Helper()
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "plan.json")
	golden.Write(t, path, data)
	return path
}
