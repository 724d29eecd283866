package script

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/whatif"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
)

// readers are the parts of the scripts that say what a VM has, and how a setting begins there.
func readers() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		reading("govc.sh", &inJQ):              regexp.MustCompile(`\b(\w+): \(`),
		reading("powercli.ps1", &inPowerShell): regexp.MustCompile(`'(\w+)' \{ (?:return|if)`),
		reading("ansible.yml", &inJinja):       regexp.MustCompile(`'(\w+)': \S`),
	}
}

// TestRead: each script reads every setting that it may have to compare: all that edits change, and all that a prediction rests on. One
// that it did not read would look as if somebody had changed it.
func TestRead(t *testing.T) {
	f := given.Fleet(t, "all", []byte(`release 8.0U3
cluster c
host h nodes=2 cores=24 memory=1TB mhz=2600
vm v host=h vcpus=32 memory=256GB coresPerSocket=4 hw=21 hotAdd=on memoryHotAdd=on vnumaHotAdd=on latency=medium iommu=on cpuAffinity=0-31 memoryAffinity=0 cpuReservation=40000 memoryReservation=256GB reserveAll=on
`))
	kinds := map[string]bool{identity: true}
	for _, p := range numa.VMFacts {
		if p.Edit != "" {
			kinds[string(p.Edit)] = true
		}
	}
	for kind := range fix.Privileges {
		if kind != numa.EditHostOption && kind != numa.EditDRSRule && kind != numa.EditExtraConfig {
			kinds[string(kind)] = true
		}
	}
	rests := 0
	for _, k := range planned(t, f, "numa.vcpu.maxPerMachineNode=20").Changes[0].Basis {
		kinds[k.Name] = true
		rests++
	}
	if rests < 13 {
		t.Fatalf("the plan rests on %d settings", rests)
	}
	for text, names := range readers() {
		read := map[string]bool{}
		for _, m := range names.FindAllStringSubmatch(text, -1) {
			read[m[1]] = true
		}
		for kind := range kinds {
			if !read[kind] && !strings.Contains(kind, ".") {
				t.Errorf("%s is not read by\n%s", kind, text)
			}
		}
	}
}

// planned returns the plan of a wish.
func planned(t *testing.T, f *numa.Fleet, wish string) *fix.Plan {
	t.Helper()
	change, err := whatif.Parse(wish)
	if err != nil {
		t.Fatal(err)
	}
	p, err := fix.Make(t.Context(), f, fix.Options{Set: []whatif.Change{change}, Resize: true})
	if err != nil || len(p.Changes) == 0 {
		t.Fatalf("%s: no change, %v", wish, err)
	}
	return p
}

// TestWritten: each tool writes every edit that it does not refuse, and each edit is written by a tool.
func TestWritten(t *testing.T) {
	values := map[numa.EditKind][2]string{numa.EditLatency: {"normal", "high"}, numa.EditCPUAffinity: {"", "0,1"}, numa.EditHostOption: {"0", "1"}, numa.EditExtraConfig: {"1", "2"}}
	for _, kind := range slices.Sorted(maps.Keys(fix.Privileges)) {
		v, known := values[kind]
		switch kind {
		case numa.EditDRSRule: // no script has it
			continue
		case numa.EditCPUHotAdd, numa.EditMemoryHotAdd, numa.EditVNUMAHotAdd, numa.EditReserveAll:
			v = [2]string{"false", "true"}
		default:
			if !known {
				v = [2]string{"8", "16"}
			}
		}
		e := numa.Edit{Kind: kind, From: numa.Is(v[0]), To: numa.Is(v[1])}
		c := fix.Change{VM: &fix.Target{ID: "vm-1"}, Edits: []numa.Edit{e}}
		if kind == numa.EditExtraConfig || kind == numa.EditHostOption {
			c.Edits[0].Key = "Numa.Test"
		}
		if kind == numa.EditHostOption {
			c.VM, c.Host = nil, &fix.Target{ID: "host-1"}
		}
		able := 0
		for _, name := range Tools {
			f := newForm(&fix.Plan{Changes: []fix.Change{c}}, name, Options{})
			if len(f.steps) == 0 {
				continue
			}
			able++
			s, text := &f.steps[0], string(printed(t, name, &fix.Plan{Changes: []fix.Change{c}}, Options{}))
			written := map[string]bool{
				"govc":      len(govcCommands(s)) > 0,
				"ansible":   strings.Contains(text, "- vmware.vmware.vm"),
				"terraform": arguments("terraform", s.edits, terraformNames) != "",
				"powercli":  kind == numa.EditHardware || kind == numa.EditHostOption || regexp.MustCompile(`'`+string(kind)+`' \{\s*\$spec`).MatchString(text),
			}
			if !written[name] {
				t.Errorf("%s: %s is neither refused nor written", name, kind)
			}
		}
		if able == 0 {
			t.Errorf("%s is written by no tool", kind)
		}
	}
}

// TestBest: the script that is recommended makes a change of the plan; none is where none does.
func TestBest(t *testing.T) {
	latency := numa.Edit{Kind: numa.EditLatency, From: numa.Is("normal"), To: numa.Is("high")}
	rule := numa.Edit{Kind: numa.EditDRSRule, Key: "apart", To: numa.Is("x")}
	for want, c := range map[string]fix.Change{
		"powercli ps1": {VM: &fix.Target{ID: "vm-1"}, Edits: []numa.Edit{latency}},
		" ":            {Cluster: &fix.Target{ID: "domain-c8"}, Edits: []numa.Edit{rule}},
	} {
		tool, ending := Best(&fix.Plan{Changes: []fix.Change{c}})
		if tool+" "+ending != want {
			t.Errorf("%v: %s, want %s", c.Edits, tool, want)
		}
	}
}
