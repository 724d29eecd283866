package fix_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/whatif"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

var now = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// planOf reads a fleet from the text of a scenario and plans it.
func planOf(t *testing.T, text string, o fix.Options) (*numa.Fleet, *fix.Plan) {
	t.Helper()
	f, err := scenario.Read("fleet", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := fix.Make(t.Context(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	return f, p
}

func planned(t *testing.T, o fix.Options) *fix.Plan {
	t.Helper()
	f, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	o.Now = now
	p, err := fix.Make(t.Context(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCurable holds the plan of the demo against a list of what an administrator can cure with settings of VMs, written
// by hand from the pages of the rules: at least 90 % of it is in the changes, when low findings are worth downtime too.
func TestCurable(t *testing.T) {
	curable := map[string]string{
		"N001": "sap01 sap02 old01 sql01 sql02 sql03 sql04 sql05", "N004": "follow01", "N005": "hana01", "N006": "stream01",
		"N007": "sap01 sap02", "N008": "sap01 sap02 batch02", "N009": "follow01 hana02", "N010": "mart01 clone01 clone02 clone03", "N011": "legacy01",
		"N012": "oracle01 lab02", "N015": "app37 app38 app39 app40", "N017": "manual01", "N018": "spread01", "N019": "batch02", "N020": "cache01",
		"N022": "sap01 sap02", "N023": "pin01 pin02", "N025": "nic01 nic02", "N032": "ci03",
	}
	p := planned(t, fix.Options{Better: true})
	cured := map[string]bool{}
	for _, c := range p.Changes {
		for _, rule := range c.Findings {
			cured[rule+" "+c.VM.Name] = true
		}
	}
	all, hit := 0, 0
	for rule, names := range curable {
		for name := range strings.FieldsSeq(names) {
			all++
			if cured[rule+" "+name] {
				hit++
			} else {
				t.Logf("%s of %s is not cured", rule, name)
			}
		}
	}
	if hit*10 < all*9 {
		t.Errorf("%d of %d curable findings are in the changes", hit, all)
	}
	for _, l := range p.Left {
		if cured[l.Rule+" "+l.VM] && l.Rule != "N033" { // that one becomes less severe
			t.Errorf("%s of %s is cured and left", l.Rule, l.VM)
		}
		if l.Why == "" {
			t.Errorf("%s of %s%s is left without a reason", l.Rule, l.VM, l.Host)
		}
	}
}

// TestStable makes a plan twice, later: the same ID; written, edited and read again.
func TestStable(t *testing.T) {
	p := planned(t, fix.Options{})
	f, _ := demo.Fleet()
	f.Collected = "2026-11-23T10:00:00Z"
	again, err := fix.Make(t.Context(), f, fix.Options{Now: now.Add(time.Hour)})
	if err != nil || again.ID != p.ID || again.Made == p.Made {
		t.Errorf("IDs %s and %s, made %s and %s, %v", p.ID, again.ID, p.Made, again.Made, err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	q, err := fix.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if second, _ := json.Marshal(q); !bytes.Equal(data, second) {
		t.Error("a plan that is read and written is another")
	}
}

// TestEveryByte alters each field of a plan, one at a time, also those that others derive: each is refused with its line and the reason.
func TestEveryByte(t *testing.T) {
	var text bytes.Buffer
	p := planned(t, fix.Options{Better: true, Host: true, Upgrade: true})
	p.Left = p.Left[:1]
	if err := p.Drop(func(c *fix.Change) bool {
		return c.VM != nil && !slices.Contains([]string{"vm-1", "vm-2"}, c.VM.ID) && c.Stored == nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	data := text.Bytes()
	if _, err := fix.Read(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	altered := map[string]bool{} // by pointer without numbers
	number := regexp.MustCompile(`/\d+`)
	for d := jsontext.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.ReadToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		at, end := number.ReplaceAllString(string(d.StackPointer()), ""), d.InputOffset()
		kind := token.Kind()
		if in, n := d.StackIndex(d.StackDepth()); in == '{' && n%2 == 1 {
			at += " (name)"
		}
		is := map[jsontext.Kind]string{'"': `"x"`, '0': "7919", 't': "false", 'f': "true", 'n': `"x"`, '}': `,"x":1}`, ']': `,null]`}[kind]
		if is == "" || altered[at+string(kind)] {
			continue
		}
		altered[at+string(kind)] = true
		was := token.String()
		if kind == '"' {
			was = string(data[bytes.LastIndexByte(data[:end-1], '"'):end])
		}
		forged := slices.Concat(data[:int(end)-len(was)], []byte(is), data[end:])
		if _, err := fix.Read(bytes.NewReader(forged)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %s instead of %.40s: %v", at, is, was, err)
		}
	}
	if !altered["/made\""] || !altered["/changes/edits/needs\""] || !altered["/predictedOn/shape\""] {
		t.Errorf("altered only %v", altered)
	}
	edited := bytes.Replace(data, []byte(`"needs": "off"`), []byte(`"needs": "on"`), 1)
	if _, err := fix.Read(bytes.NewReader(edited)); err == nil || !strings.Contains(err.Error(), `/needs: found "on", want "off"`) {
		t.Errorf("a derived field: %v", err)
	}
	t.Logf("%d fields", len(altered))
}

// TestOptions checks what is never done by default.
func TestOptions(t *testing.T) {
	for _, c := range planned(t, fix.Options{}).Changes {
		if c.VM == nil {
			t.Errorf("host %s is changed without Host", c.Host.Name)
		}
	}
	hosts := 0
	for _, c := range planned(t, fix.Options{Host: true}).Changes {
		if c.Host != nil {
			hosts++
			if c.Edits[0].Kind != numa.EditHostOption || c.Batch == 0 {
				t.Errorf("host %s: %+v", c.Host.Name, c)
			}
		}
	}
	if hosts == 0 {
		t.Error("with Host no host is changed")
	}
	p := planned(t, fix.Options{AtOnce: 4, Apart: []string{"kafka*"}})
	in := map[int][]string{}
	for _, c := range p.Changes {
		in[c.Batch] = append(in[c.Batch], c.VM.Cluster+"/"+c.VM.Name)
	}
	largest := 0
	for batch, names := range in {
		largest = max(largest, len(names))
		kafka := 0
		for _, n := range names {
			if strings.HasPrefix(n, "epyc/kafka") {
				kafka++
			}
			if cluster, _, _ := strings.Cut(n, "/"); !strings.HasPrefix(names[0], cluster+"/") {
				t.Errorf("batch %d has VMs of two clusters: %v", batch, names)
			}
		}
		if kafka > 1 {
			t.Errorf("batch %d has VMs that are kept apart: %v", batch, names)
		}
	}
	// What DRS keeps apart is kept apart without being asked.
	f, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	first := slices.IndexFunc(p.Changes, func(c fix.Change) bool { return c.VM.Cluster != "" })
	a, b := p.Changes[first].VM, p.Changes[first+1].VM
	for i := range f.Clusters {
		if f.Clusters[i].Name == a.Cluster {
			f.Clusters[i].Apart = []numa.Group{{Name: "two", VMs: []string{a.ID, b.ID}}}
		}
	}
	kept, err := fix.Make(t.Context(), f, fix.Options{AtOnce: 4, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	before, after := p.Changes[first:first+2], kept.Changes[first:first+2]
	if before[0].Batch != before[1].Batch || after[0].Batch == after[1].Batch || after[1].VM.ID != b.ID {
		t.Errorf("%s and %s: batches %d and %d without a rule, %d and %d with one", a.Name, b.Name, before[0].Batch, before[1].Batch, after[0].Batch, after[1].Batch)
	}
	if largest != 4 {
		t.Errorf("the largest batch has %d VMs, want 4", largest)
	}
}

// TestPrice plans the demo as it is: each change cures or eases a finding of medium severity or more, or needs no downtime.
func TestPrice(t *testing.T) {
	f := given.Demo(t)
	worth := map[string]bool{} // rule and VM
	for _, one := range rules.Run(f, rules.Options{}).Findings {
		if one.Severity >= finding.Medium {
			worth[one.Rule+" "+one.VMID] = true
		}
	}
	p := planned(t, fix.Options{})
	if len(p.Changes) < 10 {
		t.Fatalf("%d changes", len(p.Changes))
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		ok := strings.HasPrefix(c.Downtime, "none") || len(c.Eases) > 0
		for _, id := range c.Findings {
			ok = ok || worth[id+" "+c.VM.ID]
		}
		if !ok {
			t.Errorf("%s costs %q and cures only %v", c.VM.Name, c.Downtime, c.Findings)
		}
	}
}

// TestUnscheduled has hosts whose NUMA scheduler is off, which has no clients there: no VM is stopped to fit it to them.
func TestUnscheduled(t *testing.T) {
	for options, want := range map[string]int{"": 0, " Numa.RebalanceCoresTotal=2 Numa.RebalanceCoresNode=1": 1, " Numa.RebalanceCoresTotal=2 Numa.RebalanceCoresNode=1 Numa.RebalanceEnable=0": 0} {
		_, p := planOf(t, "release 7.0U3\nhost h nodes=2 cores=1 memory=64GB"+options+"\nvm v host=h vcpus=2 memory=8GB\n", fix.Options{Now: now})
		if len(p.Changes) != want {
			t.Errorf("options %q: %d changes, want %d; left %v", options, len(p.Changes), want, p.Left)
		}
	}
}

// TestWish gives VMs what somebody asks for: it is planned with what it brings, unless vSphere refuses it.
func TestWish(t *testing.T) {
	const host = "host h nodes=2 cores=8 memory=256GB\n"
	for _, tt := range []struct{ release, vm, set, want, brings string }{
		{"5.1", "vcpus=2 memory=16GB hw=9", "numa.vcpu.maxPerVirtualNode=1 numa.vcpu.maxPerMachineNode=1", "numa.vcpu.maxPerMachineNode numa.vcpu.maxPerVirtualNode", "N017 (low)"},
		{"5.1", "vcpus=16 memory=16GB hw=9", "hotAdd=on numa.vcpu.maxPerMachineNode=4", "cpuHotAdd numa.vcpu.maxPerMachineNode", "N001 (high)"},
		{"5.1", "vcpus=8 memory=200GB hw=9", "numa.nodeAffinity=0", "numa.nodeAffinity", "N025 (high)"},
		{"7.0U3", "vcpus=12 memory=150GB", "host=h Numa.PreferHT=1", "Numa.PreferHT", "N012 (high)"},
		{"7.0U3", "vcpus=8 memory=16GB\nhost i nodes=2 cores=8 memory=256GB Numa.PreferHT=1\nvm w host=i vcpus=12 memory=150GB", "host=i Numa.PreferHT=0", "Numa.PreferHT", "cures N012"},
		{"8.0U3", "vcpus=8 memory=16GB hw=21", "numa.vcpu.coresPerNode=3", "", ""},
	} {
		change, err := whatif.Parse(tt.set)
		if err != nil {
			t.Fatal(err)
		}
		_, p := planOf(t, "release "+tt.release+"\n"+host+"vm v host=h "+tt.vm+"\n", fix.Options{Now: now, Set: []whatif.Change{change}, Host: true})
		var got []string
		brings := ""
		for i := range p.Changes {
			for _, e := range p.Changes[i].Edits {
				got = append(got, e.Name())
			}
			brings = strings.Join(p.Changes[i].Brings, " ") + " cures " + strings.Join(p.Changes[i].Findings, " ")
		}
		if strings.Join(got, " ") != tt.want || !strings.Contains(brings, tt.brings) {
			t.Errorf("%s on %s: %v, brings %q, left %v", tt.set, tt.vm, got, brings, p.Left)
		}
	}
}

// TestWishes asks for what vSphere refuses or ignores, and for what fix does not write: each is an error or a line that says so, and none is dropped in silence.
func TestWishes(t *testing.T) {
	f := given.Fleet(t, "fleet", []byte(`release 8.0U3
cluster prod
host e1 nodes=2 packages=2 cores=16 memory=512GB ht=on mhz=2900
vm a1 host=e1 vcpus=16 memory=64GB hw=19
vm f4 host=e1 vcpus=4 memory=16GB ft=primary
vm tm host=e1 vcpus=16 memory=64GB hotAdd=on template=yes power=off
vm li host=e1 vcpus=4 memory=16GB cpuLimit=12000
vm lm host=e1 vcpus=4 memory=16GB memoryLimit=8GB
`))
	for _, c := range []struct{ wish, want string }{
		{"vm=a1 hw=13", "cannot be lowered"},
		{"vm=a1 host=prod vcpus=8", "fix moves no VM"},
		{"vm=a1 latency=high", "left: it would not power on"},
		{"vm=a1 latency=low numa.vcpu.preferHT=TRUE", "1 changes"},
		{"vm=a1 memoryReservation=64GB", "1 changes"},
		{"vm=a1 cpuReservation=2900", "1 changes"},
		{"vm=a1 reserveAll=yes", "1 changes"},
		{"vm=a1 iommu=on", "fix does not write it"},
		{"vm=a1 cpuLimit=2900", "fix does not write it"},
		{"vm=a1 memoryLimit=8GB", "fix does not write it"},
		{"vm=lm memoryReservation=9GB", "the memory reservation of 9 GB is above the memory limit of 8 GB: vSphere refuses that"},
		{"vm=a1 firmware=efi", "fix does not write it"},
		{"vm=a1 guest=windows", "fix does not write it"},
		{"host=e1 power=Balanced", "fix does not write it"},
		{"host=e1 nodesPerSocket=2", "fix does not write it"},
		{"host=e1 release=9.0", "fix does not write it"},
		{"vm=a1 sched.cpu.affinity=0-15", "ignores it as a setting"},
		{"vm=a1 sched.mem.affinity=1", "ignores it as a setting"},
		{"vm=a1 cpuid.coresPerSocket=4", "ignores it as a setting"},
		{"vm=a1 monitor.idleLoopSpinBeforeHalt=TRUE", "no setting that homenode writes"},
		{"vm=a1 cpuAffinity=0-99", "PCPU 64 is not on e1"},
		{"vm=a1 memory=2001MB", "multiple of 4"},
		{"host=e1 Numa.PreferHT=5", "from 0 to 1"},
		{"vm=f4 memory=32GB", "left: Fault Tolerance"},
		{"vm=tm hotAdd=off", "left: it is a template"},
		{"vm=a1 memory=128GB", "1 changes"},
		{"vm=li cpuReservation=13000", "the CPU reservation of 13000 MHz is above the CPU limit of 12000 MHz: vSphere refuses that"},
		{"vm=li cpuReservation=12000", "1 changes"},
		{"vm=li memoryReservation=17GB", "the memory reservation of 17 GB is above the memory of the VM, 16 GB: vSphere refuses that"},
		{"vm=li memoryReservation=16GB", "1 changes"},
		{"vm=li cpuAffinity=0-2", "the CPU affinity has 3 PCPUs, fewer than the 4 vCPUs: vSphere refuses that"},
	} {
		change, err := whatif.Parse(c.wish)
		if err != nil {
			t.Fatal(err)
		}
		p, err := fix.Make(t.Context(), f, fix.Options{Now: now, Set: []whatif.Change{change}, Resize: true, Upgrade: true, Host: true})
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case len(p.Left) > 0:
			got = "left: " + p.Left[0].Why
		default:
			got = fmt.Sprintf("%d changes", len(p.Changes))
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.wish, got, c.want)
		}
	}
}
