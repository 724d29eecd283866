package journal_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

var (
	most   = numa.Edit{Kind: numa.EditExtraConfig, Key: "numa.vcpu.maxPerVirtualNode", From: numa.Is("8"), To: numa.Is("12")}
	prefer = numa.Edit{Kind: numa.EditHostOption, Key: "Numa.PreferHT", To: numa.Is("1")}
)

func vm(edits ...numa.Edit) fix.Change {
	return fix.Change{VM: &fix.Target{Name: "sql01", ID: "vm-1"}, Edits: edits, Batch: 1}
}

func host(edits ...numa.Edit) fix.Change {
	return fix.Change{Host: &fix.Target{Name: "esx01", ID: "host-1"}, Edits: edits, Batch: 1}
}

func set(key, to string) numa.Edit {
	return numa.Edit{Kind: numa.EditExtraConfig, Key: key, To: numa.Is(to)}
}

func rule(key, to string) fix.Change {
	return fix.Change{Cluster: &fix.Target{Name: "prod", ID: "domain-c1"}, Edits: []numa.Edit{{Kind: numa.EditDRSRule, Key: key, To: numa.Is(to)}}, Batch: 1}
}

// named returns the name that homenode gives a rule that keeps VMs apart.
func named(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "homenode apart " + hex.EncodeToString(sum[:4])
}

// TestWritable holds what homenode writes: each setting of the closed list with its values, and nothing else.
func TestWritable(t *testing.T) {
	kind := func(k numa.EditKind, to string) numa.Edit { return numa.Edit{Kind: k, To: numa.Is(to)} }
	option := func(key, to string) numa.Edit { return numa.Edit{Kind: numa.EditHostOption, Key: key, To: numa.Is(to)} }
	good := []fix.Change{vm(hotAdd), vm(most), host(prefer), vm(set("numa.nodeAffinity", "0,1")), vm(set("NUMA.VCPU.PREFERHT", "true")), vm(set("sched.vcpu12.affinity", "0-3,8")),
		vm(numa.Edit{Kind: numa.EditExtraConfig, Key: "numa.autosize.cookie", From: numa.Is("240022"), To: numa.Value{}}), vm(kind(numa.EditMemory, "65536")),
		vm(kind(numa.EditCPUAffinity, "")), vm(numa.Edit{Kind: numa.EditMemory, From: numa.Is("1022"), To: numa.Is("1024")}), vm(numa.Edit{Kind: numa.EditLatency, From: numa.Is("custom"), To: numa.Is("low")}), vm(numa.Edit{Kind: numa.EditMemoryHotAdd, From: numa.Is("true"), To: numa.Is("false")}), host(option("Numa.InitialPlacementLoadThreshold", "100")), vm(kind(numa.EditCoresPerNUMANode, "0")),
		rule(named("apart vm-1,vm-2"), "apart vm-1,vm-2")}
	for name, value := range map[string]string{"memory": "1022", "hardware": "4", "latencySensitivity": "custom", "memoryHotAdd": "true", "iommu": "true", "memoryAffinity": "0,1", "cpuAffinity": "", "cpuReservation": "0", "numa.vcpu.min": "nine", "numa.evil": "x y", "sched.vcpu3.affinity": "0-3"} {
		c := vm(hotAdd)
		c.Basis = []fix.Known{{Name: name, Value: value}}
		good = append(good, c)
	}
	for _, c := range good {
		if err := planOf(c).Check(); err != nil {
			t.Errorf("%s: %v", c.Edits[0].Name(), err)
		}
	}
	bad := forgedPlans()
	for name, p := range bad {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fix.Read(bytes.NewReader(data)); err == nil {
			t.Errorf("%s: taken", name)
		} else if !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: no line: %v", name, err)
		}
	}
	t.Logf("%d forged plans are refused", len(bad))
}

// TestTwice refuses a plan that has a field twice: a reader of the file and homenode could see different edits.
func TestTwice(t *testing.T) {
	data, err := json.Marshal(planOf(vm(hotAdd)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fix.Read(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	twice := bytes.Replace(data, []byte(`"edits":[`), []byte(`"edits":[],"edits":[`), 1)
	if _, err := fix.Read(bytes.NewReader(twice)); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a field twice: %v", err)
	}
}

// TestCase refuses a plan with a field whose name has another case: a reviewer sees one value, and homenode would write the other.
func TestCase(t *testing.T) {
	data, err := json.Marshal(planOf(vm(hotAdd)))
	if err != nil {
		t.Fatal(err)
	}
	for was, is := range map[string]string{`"to":false`: `"to":false,"TO":true`, `"from":true`: `"From":true`, `"edits":`: `"Edits":`, `"changes":`: `"changes":[],"CHANGES":`, `"atOnce":`: `"atonce":`} {
		forged := bytes.Replace(data, []byte(was), []byte(is), 1)
		if bytes.Equal(forged, data) {
			t.Fatalf("%s is not in the plan", was)
		}
		if _, err := fix.Read(bytes.NewReader(forged)); err == nil || !strings.Contains(err.Error(), "line 1: ") || !strings.Contains(err.Error(), "found ") {
			t.Errorf("%s: %v", is, err)
		}
	}
}

// TestUndoingPlan refuses a plan that says that it takes another back: only a journal knows what was written.
func TestUndoingPlan(t *testing.T) {
	p := planOf(vm(hotAdd))
	p.Undoes = "0123456789abcdef"
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	if _, err := fix.Read(&text); err == nil || !strings.Contains(err.Error(), "--rollback") {
		t.Errorf("taken: %v", err)
	}
}

// TestNoPlan checks that the error for a file that is no plan names the line.
func TestNoPlan(t *testing.T) {
	for _, text := range []string{"\ufeff{}", "\n{\"format\": }", ""} {
		if _, err := fix.Read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestHidden writes no character that turns or hides text as it is, and reads the plan as it was.
func TestHidden(t *testing.T) {
	c := vm(hotAdd)
	c.VM.Name = "sql\u202e01\u200b"
	var text bytes.Buffer
	if err := planOf(c).Write(&text); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\u202e\u200b") {
		t.Errorf("found hidden characters in %q", text.String())
	}
	if p, err := fix.Read(&text); err != nil || p.Changes[0].VM.Name != c.VM.Name {
		t.Errorf("read back: %v", err)
	}
}

// forgedPlans are plans whose IDs fit, and that no homenode made.
func forgedPlans() map[string]*fix.Plan {
	out := map[string]*fix.Plan{}
	add := func(name string, p *fix.Plan) { out[name] = p }
	for _, key := range []string{"isolation.tools.copy.disable", "isolation.tools.paste.disable", "guestinfo.evil", "disk.EnableUUID", "RemoteDisplay.vnc.enabled", "RemoteDisplay.vnc.port", "ethernet0.filter0.name",
		"scsi0:0.fileName", "svga.vgaOnly", "tools.setInfo.sizeLimit", "mks.enable3d", "monitor_control.pseudo_perfctr", "vhv.enable", "uuid.action", "bios.bootOrder", "log.fileName", "sched.swap.dir",
		"numa.evil", "numa.vcpu.maxPerVirtualNodes", "numa", "numa.", "", "sched.vcpu-1.affinity", "sched.vcpu99999.affinity", "sched.vcpu0.affinity.x", "sched.mem.pshare.enable", "cpuid.1.ecx", "cpuid.coresPerSocket", "vcpu.hotadd",
		"numa.autosize.coo\u212aie", "\uff4euma.vcpu.preferHT", "numa.\u0441onsolidate", "numa.vcpu.preferHT\n", " numa.vcpu.preferHT", "numa.vcpu.preferHT\x00"} {
		add("key "+fmt.Sprintf("%q", key), planOf(vm(set(key, "TRUE"))))
		add("removed "+fmt.Sprintf("%q", key), planOf(vm(numa.Edit{Kind: numa.EditExtraConfig, Key: key, From: numa.Is("FALSE")})))
	}
	add("removed "+fix.RebootKey, planOf(vm(numa.Edit{Kind: numa.EditExtraConfig, Key: "VMX.reboot.powercycle", From: numa.Is("TRUE")})))
	for key, values := range map[string][]string{
		"numa.vcpu.preferHT": {"", "1", "FAL\u017fE", "\uff34RUE", "yes", "TRUE\nguestinfo.evil = 1", "TRUE "}, "numa.nodeAffinity": {"-1", "+1", "0,\u0661", "64", "0;1", "0,,1", "3-1", "0,1\n"}, "numa.vcpu.min": {"-1", "+9", "-0", "\u0669", "nine", "4097", "9.0", "0x9", "99999999999999999999"},
		"numa.vcpu.maxPerVirtualNode": {"-8", "8 8", "$(reboot)"}, "cpuid.numSMT": {"0", "3"}, fix.RebootKey: {"TRUE", "FALSE", "SOFT", "1"}, "sched.cpu.affinity": {"0,a", "999999999"}} {
		for _, v := range values {
			add(fmt.Sprintf("%s = %q", key, v), planOf(vm(set(key, v))))
		}
	}
	for _, e := range []numa.Edit{{Kind: numa.EditVCPUs, To: numa.Is("0")}, {Kind: numa.EditVCPUs, To: numa.Is("100000")}, {Kind: numa.EditMemory, To: numa.Is("-4")}, {Kind: numa.EditHardware, To: numa.Is("2")},
		{Kind: numa.EditCPUHotAdd, To: numa.Is("maybe")}, {Kind: numa.EditVCPUs}, {Kind: numa.EditMemory}, {Kind: numa.EditLatency, To: numa.Is("highest")}, {Kind: numa.EditIOMMU, To: numa.Is("true")}, {Kind: numa.EditMemoryAffinity, To: numa.Is("0")},
		{Kind: "annotation", To: numa.Is("x")}, {Kind: "", To: numa.Is("x")}, prefer, {Kind: numa.EditDRSRule, Key: "homenode apart 00000000", To: numa.Is("apart vm-1,vm-2")}, {Kind: numa.EditCPUAffinity, To: numa.Is("0,-1")},
		{Kind: numa.EditCPUAffinity, To: numa.Is("0-7")}, {Kind: numa.EditCPUAffinity, To: numa.Is("all")}, {Kind: numa.EditCPUAffinity, To: numa.Is("0, 1")}, {Kind: numa.EditHardware, To: numa.Is("99")}, {Kind: numa.EditHardware, To: numa.Is("5")},
		{Kind: numa.EditVCPUs, To: numa.Is("4096")}, {Kind: numa.EditMemory, To: numa.Is("67108864")}, {Kind: numa.EditCoresPerSocket, To: numa.Is("33")}, {Kind: numa.EditCoresPerSocket, To: numa.Is("7")}} {
		add(fmt.Sprintf("vm %s %v", e.Kind, e.To), planOf(vm(e)))
	}
	for _, e := range []numa.Edit{hotAdd, most, {Kind: numa.EditHostOption, Key: "Config.HostAgent.plugins.hostsvc.esxAdminsGroup", To: numa.Is("evil")}, {Kind: numa.EditHostOption, Key: "Security.AccountLockFailures", To: numa.Is("0")},
		{Kind: numa.EditHostOption, Key: "UserVars.SuppressShellWarning", To: numa.Is("1")}, {Kind: numa.EditHostOption, Key: "Numa.PreferHT", To: numa.Is("2")}, {Kind: numa.EditHostOption, Key: "Numa.PreferHT", To: numa.Is("on")}, {Kind: numa.EditHostOption, Key: "Mem.\u017fhareForceSalting", To: numa.Is("1")},
		{Kind: numa.EditHostOption, Key: "Numa.PreferHT"}, {Kind: numa.EditHostOption, Key: "Mem.ShareForceSalting", To: numa.Is("3")}} {
		add(fmt.Sprintf("host %s %s %v", e.Kind, e.Key, e.To), planOf(host(e)))
	}
	for name, c := range map[string]fix.Change{
		"rule of somebody else": rule("Domain controllers", "apart vm-1,vm-2"), "rule of another name": rule("homenode apart 00000000", "apart vm-1,vm-2"), "rule that is none": rule("homenode must 00000000", "must vm-1 on host-1"),
		"rule without members": rule("homenode apart 00000000", "apart "), "no object": {Edits: []numa.Edit{hotAdd}, Batch: 1}, "two objects": {VM: &fix.Target{ID: "vm-1"}, Host: &fix.Target{ID: "host-1"}, Edits: []numa.Edit{hotAdd}, Batch: 1},
		"no ID": {VM: &fix.Target{Name: "sql01"}, Edits: []numa.Edit{hotAdd}, Batch: 1}, "an ID with an escape": {VM: &fix.Target{ID: "vm-1\x1b[2J"}, Edits: []numa.Edit{hotAdd}, Batch: 1}, "no edits": vm(), "twice the same": vm(hotAdd, hotAdd),
		"twice the same key": vm(set("numa.vcpu.min", "8"), set("NUMA.vcpu.min", "9")), "a batch that is none": {VM: &fix.Target{ID: "vm-1"}, Edits: []numa.Edit{hotAdd}, Batch: 1 << 20}} {
		add(name, planOf(c))
	}
	add("one VM twice", planOf(vm(hotAdd), vm(most)))
	unfounded := vm(hotAdd)
	unfounded.Basis = []fix.Known{}
	add("no basis", planOf(unfounded))
	unseen := vm(hotAdd)
	unseen.Layout = []fix.Effect{{Hosts: []string{"esx01"}}}
	add("a layout on a host that the plan does not describe", planOf(unseen))
	for name, c := range map[string]fix.Change{"more vCPUs than a VM has": {Layout: []fix.Effect{{After: fix.Layout{VPDs: []int{1 << 30}}}}}, "clients without vCPUs": {Layout: []fix.Effect{{Now: fix.Layout{PPDs: []int{16, -16}}}}},
		"700 % of the memory remote": {Layout: []fix.Effect{{Now: fix.Layout{FarShare: 7}}}}, "a stored size that is none": {Layout: []fix.Effect{{Now: fix.Layout{Stores: -1}}}},
		"better than its layouts": {Layout: []fix.Effect{{Now: fix.Layout{FarShare: 0.5}, After: fix.Layout{FarShare: 0.5}}}, Expects: &fix.Expects{Measure: fix.MeasureFarShare, From: 0.5}}} {
		c.VM, c.Edits = vm().VM, []numa.Edit{hotAdd}
		add("a prediction of "+name, planOf(c))
	}
	for name, values := range map[string][]string{"memory": {"", "393216\n  provisioner \"local-exec\" {}", "-4", "+4", "4.0", "0x10", "99999999999", "${x}"}, "vcpus": {"a", "4097"}, "hardware": {"vmx-19", "100"}, "coresPerSocket": {"2 "},
		"coresPerNUMANode": {"\u0669"}, "cpuReservation": {"1;id"}, "memoryReservation": {"$(id)"}, "cpuHotAdd": {"yes"}, "vnumaHotAdd": {"1"}, "iommu": {"on"}, "reserveAll": {"true\n"}, "memoryHotAdd": {"on"}, "latencySensitivity": {"highest", "low }"},
		"cpuAffinity": {"0-7", "a"}, "memoryAffinity": {"64", "0, 1"}, "numa.vcpu.preferHT": {"TRUE\nx", "\x1b[2J"}, "sched.cpu.affinity": {"0\r"}, "annotation": {"x"}, "guestinfo.x": {"1"}, "numa.x\n": {"1"}, "": {""}} {
		for _, v := range values {
			for which, c := range map[string]fix.Change{"predictedFrom": {Basis: []fix.Known{{Name: name, Value: v}}}, "storedSizes": {Stored: []fix.Known{{Name: name, Value: v}}}} {
				c.VM, c.Edits = vm().VM, []numa.Edit{hotAdd}
				add(fmt.Sprintf("%s %q = %q", which, name, v), planOf(c))
			}
		}
	}
	for kind, from := range map[numa.EditKind]string{numa.EditMemory: "4096 }", numa.EditVCPUs: "8\u2028", numa.EditCPUReservation: "{{ x }}", numa.EditReserveAll: "no", numa.EditLatency: "low, x"} {
		to := map[numa.EditKind]string{numa.EditReserveAll: "true", numa.EditLatency: "high"}
		add(fmt.Sprintf("%s was %q", kind, from), planOf(vm(numa.Edit{Kind: kind, From: numa.Is(from), To: numa.Is(cmp.Or(to[kind], "8"))})))
	}
	for _, n := range []int{-1, 0, 1 << 30} {
		p := planOf(vm(hotAdd))
		p.Asked.AtOnce = n
		if err := p.Identify(); err != nil {
			panic(err)
		}
		add(fmt.Sprintf("%d at once", n), p)
	}
	other := planOf(vm(hotAdd))
	other.Version = 2
	if err := other.Identify(); err != nil {
		panic(err)
	}
	add("another version", other)
	wrong := planOf(vm(hotAdd))
	wrong.ID = "0123456789abcdef"
	add("another ID", wrong)
	return out
}

// forge writes a journal whose hashes fit.
func forge(t testing.TB, lines ...journal.Line) string {
	var out bytes.Buffer
	prev := ""
	for i, l := range lines {
		l.N, l.Sum, l.Time = i+1, prev, at
		for range 2 {
			data, err := json.Marshal(l)
			if err != nil {
				t.Fatal(err)
			}
			if l.Sum == prev {
				sum := sha256.Sum256(data)
				l.Sum = hex.EncodeToString(sum[:])
				continue
			}
			out.Write(append(data, '\n'))
		}
		prev = l.Sum
	}
	path := filepath.Join(t.TempDir(), "forged.journal")
	golden.Write(t, path, out.Bytes())
	return path
}

// TestForgedDowntime refuses a plan that says another downtime of a VM that runs than its edits need.
func TestForgedDowntime(t *testing.T) {
	for said, want := range map[string]bool{"power off, change, power on": true, "a power cycle": false, "none": false, "none: the VM is powered off": false, "": false} {
		c := vm(hotAdd)
		c.VM.Runs, c.Downtime = true, said
		if err := planOf(c).Check(); (err == nil) != want {
			t.Errorf("%q: %v", said, err)
		}
	}
}

// TestForgedJournals refuses journals whose hashes fit and that no run wrote, with their line.
func TestForgedJournals(t *testing.T) {
	p := planOf(vm(hotAdd, most))
	begin := journal.Line{Step: journal.StepPlan, Plan: p.ID, Whole: p}
	intent := journal.Line{Step: journal.StepIntent, Plan: p.ID, Target: "vm-1", Name: "sql01", Do: "reconfigure", Edits: []numa.Edit{hotAdd}}
	if _, err := journal.Read(forge(t, begin, intent)); err != nil {
		t.Fatalf("what a run writes: %v", err)
	}
	change := func(do func(*journal.Line)) []journal.Line {
		l := intent
		do(&l)
		return []journal.Line{begin, l}
	}
	forged := map[string][]journal.Line{
		"no plan":                     {intent},
		"a plan without its whole":    {{Step: journal.StepPlan, Plan: p.ID}},
		"a plan of another ID":        {{Step: journal.StepPlan, Plan: "x", Whole: p}},
		"a rollback of nothing":       {{Step: journal.StepPlan, Plan: p.ID, Whole: p, Undo: true}},
		"two plans":                   {begin, begin},
		"another power":               {{Step: journal.StepPlan, Plan: p.ID, Whole: p, Power: "reset"}},
		"another VM":                  change(func(l *journal.Line) { l.Target = "vm-2" }),
		"a power-on of another VM":    change(func(l *journal.Line) { l.Target, l.Do, l.Edits = "vm-2", "powerOn", nil }),
		"another plan":                change(func(l *journal.Line) { l.Plan = "x" }),
		"no action":                   change(func(l *journal.Line) { l.Do = "" }),
		"another action":              change(func(l *journal.Line) { l.Do = "destroy" }),
		"another step":                change(func(l *journal.Line) { l.Step = "begin" }),
		"an edit that is not planned": change(func(l *journal.Line) { l.Edits = []numa.Edit{set("numa.vcpu.min", "2")} }),
		"another former value":        change(func(l *journal.Line) { e := most; e.From = numa.Is("2"); l.Edits = []numa.Edit{e} }),
		"a key that is not written":   change(func(l *journal.Line) { l.Edits = []numa.Edit{set("guestinfo.evil", "1")} }),
		"a reboot key that was otherwise": change(func(l *journal.Line) {
			e := set(fix.RebootKey, "TRUE")
			e.From = numa.Is("evil")
			l.Edits = []numa.Edit{e}
		}),
		"a reboot key that was set before": change(func(l *journal.Line) {
			l.Edits = []numa.Edit{{Kind: numa.EditExtraConfig, Key: fix.RebootKey, From: numa.Is("TRUE")}}
		}),
		"an edit twice": change(func(l *journal.Line) { l.Edits = []numa.Edit{hotAdd, hotAdd} }),
		"an outcome that is none": change(func(l *journal.Line) {
			*l = journal.Line{Step: journal.StepEnd, Plan: p.ID, Target: "vm-1", State: "perfect"}
		}),
		"an end without outcome":        change(func(l *journal.Line) { *l = journal.Line{Step: journal.StepEnd, Plan: p.ID, Target: "vm-1"} }),
		"a host with an escape":         change(func(l *journal.Line) { l.Host = "\x1b[2J" }),
		"a plan inside":                 change(func(l *journal.Line) { l.Whole = p }),
		"a rollback of another VM":      {begin, undoing(p.ID, planOf(fix.Change{VM: &fix.Target{ID: "vm-9"}, Edits: []numa.Edit{hotAdd.Undo()}}))},
		"a rollback to another value":   {begin, undoing(p.ID, planOf(vm(hotAdd.Undo(), set(most.Key, "2"))))},
		"a rollback of another setting": {begin, undoing(p.ID, planOf(vm(set("numa.vcpu.min", "2"))))},
		"a rollback in a line of a run": {begin, func() journal.Line { l := undoing(p.ID, planOf(vm(hotAdd.Undo()))); l.Undo = false; return l }()},
	}
	back, err := p.Undo(func(*fix.Change) []numa.Edit { return []numa.Edit{hotAdd} })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Read(forge(t, begin, intent, undoing(p.ID, back))); err != nil {
		t.Fatalf("what a rollback writes: %v", err)
	}
	other := *back
	forged["a rollback of another plan"] = []journal.Line{begin, intent, undoing("0123456789abcdef", &other)}
	part := *back
	part.Changes = []fix.Change{back.Changes[0]}
	part.Changes[0].Edits = append(back.Changes[0].Edits[:1:1], set("numa.vcpu.min", "2"))
	forged["a rollback with a setting more"] = []journal.Line{begin, intent, undoing(p.ID, &part)}
	for name, p := range forgedPlans() {
		forged["plan: "+name] = []journal.Line{{Step: journal.StepPlan, Plan: p.ID, Whole: p}}
	}
	for name, of := range forgedPlans() {
		forged["rollback: "+name] = []journal.Line{begin, undoing(p.ID, of)}
	}
	for name, lines := range forged {
		if _, err := journal.Read(forge(t, lines...)); err == nil {
			t.Errorf("%s: taken", name)
		} else if !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: no line: %v", name, err)
		}
	}
	path := forge(t, begin, intent)
	for name, want := range map[string]bool{p.ID + "-20261128T000000Z.journal": true, "copy-of-a-journal.journal": true, "0123456789abcdef-20261128T000000Z.journal": false} {
		to := filepath.Join(t.TempDir(), name)
		if err := os.Link(path, to); err != nil {
			t.Fatal(err)
		}
		if _, err := journal.Read(to); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "line 1: it is the journal of the plan "+p.ID) {
			t.Errorf("the journal of %s at %s: %v", p.ID, name, err)
		}
	}
	t.Logf("%d forged journals are refused", len(forged))
}

// undoing returns the line of a rollback of the plan with an ID.
func undoing(of string, p *fix.Plan) journal.Line {
	p.Undoes = of
	if err := p.Identify(); err != nil {
		panic(err)
	}
	return journal.Line{Step: journal.StepPlan, Plan: p.ID, Whole: p, Undo: true}
}

// FuzzJournal reads journals and plans that anybody may have written: what is taken can be gone on with, taken back and judged without a panic.
func FuzzJournal(f *testing.F) {
	p := planOf(vm(hotAdd, most), host(prefer))
	begin := journal.Line{Step: journal.StepPlan, Plan: p.ID, Whole: p}
	done := journal.Line{Step: journal.StepDone, Plan: p.ID, Target: "vm-1", Do: "reconfigure", Edits: []numa.Edit{hotAdd, most}}
	end := journal.Line{Step: journal.StepEnd, Plan: p.ID, Target: "vm-1", State: "done"}
	for _, lines := range [][]journal.Line{{begin}, {begin, done, end}, {begin, done, end, undoing(p.ID, planOf(vm(most.Undo(), hotAdd.Undo()))), {Step: journal.StepIntent, Plan: "x", Target: "vm-1"}}} {
		data := golden.Read(f, forge(f, lines...))
		f.Add(data)
	}
	for _, text := range []string{"[{}]", "[null]", "null", "{}", `{"n":1,"sum":"","step":"plan","whole":null}`, `{"n":1,"sum":"","step":"plan","whole":{}}`,
		`{"format":"homenode-plan","version":1,"changes":[null]}`, `{"format":"homenode-plan","version":1,"changes":[{"vm":null,"edits":[{}]}]}`} {
		f.Add([]byte(text + "\n"))
	}
	path := filepath.Join(f.TempDir(), "x.journal")
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := fix.Read(bytes.NewReader(data)); err == nil {
			p.Needs(true)
			if _, err := p.Undo(func(*fix.Change) []numa.Edit { return []numa.Edit{hotAdd} }); err != nil {
				t.Error(err)
			}
		}
		golden.Write(t, path, data)
		lines, err := journal.Read(path)
		if err != nil {
			return
		}
		r, err := apply.RollbackOf(lines, nil)
		if err == nil {
			_, err = r.Rest()
		}
		if err != nil {
			t.Error(err)
		}
	})
}
