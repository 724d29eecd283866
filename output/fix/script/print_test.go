package script

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	goyaml "go.yaml.in/yaml/v4"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/demo"
)

// small is a plan with every kind of edit and names that break careless quoting.
func small() *fix.Plan {
	yes, no := numa.Is("true"), numa.Is("false")
	vm := func(id, name string, edits ...numa.Edit) fix.Change {
		return fix.Change{VM: &fix.Target{Name: name, ID: id, UUID: "50" + id, Runs: true}, Findings: []string{"N001", "N008"}, Edits: edits, Batch: 1,
			Basis: []fix.Known{{Name: "vcpus", Value: "36"}, {Name: "memory", Value: "262144"}, {Name: "numa.vcpu.min", Value: "9"}}, Layout: []fix.Effect{{Hosts: []string{"esx01", "esx02"}}}}
	}
	set := func(key, from, to string) numa.Edit {
		return numa.Edit{Kind: numa.EditExtraConfig, Key: key, From: numa.Value{Text: from, Set: from != ""}, To: numa.Value{Text: to, Set: to != ""}}
	}
	return &fix.Plan{
		Format: fix.Format, Version: fix.Version, ID: "7f3c0a11b2c3d4e5", Made: "2026-11-22T10:00:00Z", Source: "vc01.example.com", By: "homenode 1.4.0",
		Changes: []fix.Change{
			{Host: &fix.Target{Name: "esx01", ID: "host-9"}, Findings: []string{"H019"}, Batch: 1, Edits: []numa.Edit{{Kind: numa.EditHostOption, Key: "Numa.LocalityWeightActionAffinity", From: numa.Is("130"), To: numa.Is("0")}}},
			vm("vm-812", "$(rm -rf ~)\n'@ ’; exit", numa.Edit{Kind: numa.EditCPUHotAdd, From: yes, To: no}, set("numa.vcpu.preferHT", "", "TRUE"), set("numa.autosize.cookie", "360012", "")),
			vm("vm-813", "{{ jinja }} ${hcl}", numa.Edit{Kind: numa.EditCoresPerSocket, From: numa.Is("1"), To: numa.Is("18")}, numa.Edit{Kind: numa.EditMemory, From: numa.Is("4096"), To: numa.Is("8192")},
				numa.Edit{Kind: numa.EditMemoryHotAdd, From: no, To: yes}, numa.Edit{Kind: numa.EditVCPUs, From: numa.Is("36"), To: numa.Is("18")}),
			vm("vm-814", "auto", numa.Edit{Kind: numa.EditCoresPerSocket, From: numa.Is("18"), To: numa.Is("0")}, numa.Edit{Kind: numa.EditCoresPerNUMANode, To: numa.Is("18")},
				numa.Edit{Kind: numa.EditVNUMAHotAdd, To: yes}, numa.Edit{Kind: numa.EditCPUAffinity, From: numa.Is("0,1"), To: numa.Is("")}),
			vm("vm-816", "reserved", numa.Edit{Kind: numa.EditLatency, From: numa.Is("normal"), To: numa.Is("high")}, numa.Edit{Kind: numa.EditMemoryReservation, From: numa.Is("131072"), To: numa.Is("262144")},
				numa.Edit{Kind: numa.EditReserveAll, From: no, To: yes}, numa.Edit{Kind: numa.EditCPUReservation, From: numa.Is("40000"), To: numa.Is("83200")}),
			vm("vm-817", "all reserved", numa.Edit{Kind: numa.EditReserveAll, From: no, To: yes}),
			vm("vm-815", "old", numa.Edit{Kind: numa.EditHardware, From: numa.Is("7"), To: numa.Is("8")}, set("it's {{ 1 }} ${x}", "\"ü\"", "$(id)")),
		},
		Left: []fix.Left{{VM: "hana01", ID: "vm-7", Rule: "N005", Why: "it has snapshots, which keep the old settings"}, {VM: "hana01", ID: "vm-7", Rule: "N001", Why: "it has snapshots, which keep the old settings"},
			{VM: "vCLS-1\n$(id)", Why: "vSphere manages it (vCLS)"}},
	}
}

func printed(t *testing.T, tool string, p *fix.Plan, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, tool, p, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestScripts prints the small plan for every tool, there and back.
func TestScripts(t *testing.T) {
	for _, tool := range Tools {
		golden.Equal(t, printed(t, tool, small(), Options{}), filepath.Join("testdata", tool+".golden"))
		golden.Equal(t, printed(t, tool, small(), Options{Undo: true, Power: true}), filepath.Join("testdata", tool+"-undo.golden"))
	}
	var b bytes.Buffer
	if err := Profile(&b, small()); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, b.Bytes(), filepath.Join("testdata", "profile.golden"))
}

// TestUndo checks that the undo of a script is the script of the undone plan, and the undo of that writes what the first did.
func TestUndo(t *testing.T) {
	p := small()
	undone, err := p.Undo(func(c *fix.Change) []numa.Edit { return c.Edits })
	if err != nil {
		t.Fatal(err)
	}
	undone.ID = p.ID
	if undone.Changes[0].Target().ID != "vm-815" {
		t.Errorf("the undo begins with %s, want the last change", undone.Changes[0].Target().ID)
	}
	for _, tool := range Tools {
		body := func(script []byte) string { // but the line that says what it is
			return regexp.MustCompile(`(?m)^# (Plan|Takes back plan) .*$`).ReplaceAllString(string(script), "")
		}
		if a, b := body(printed(t, tool, p, Options{Undo: true})), body(printed(t, tool, undone, Options{})); a != b {
			t.Errorf("%s: the undo is another script than that of the undone plan", tool)
		}
	}
}

// plans returns the small plan and that of the demo, both there and back.
func plans(t *testing.T) []*fix.Plan {
	t.Helper()
	f, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.VMs {
		f.VMs[i].Name += hostile[i%len(hostile)]
	}
	p, err := fix.Make(t.Context(), f, fix.Options{Host: true, Now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	return []*fix.Plan{small(), p}
}

// TestAllSaid checks for every tool that each change of the plan is in the script or in its head with a reason.
func TestAllSaid(t *testing.T) {
	for _, p := range plans(t) {
		for _, tool := range Tools {
			for _, undo := range []bool{false, true} {
				o := Options{Undo: undo}
				text := string(printed(t, tool, p, o))
				for _, c := range p.Changes {
					if id := c.Target().ID; !strings.Contains(text, id) {
						t.Errorf("%s, undo %t: %s is not mentioned", tool, undo, id)
					}
				}
				for _, l := range p.Left {
					if !undo && l.Severity != finding.Info.String() && !strings.Contains(text, commented(l.Why)[2:len(commented(l.Why))-1]) {
						t.Errorf("%s: %q is not said", tool, l.Why)
					}
				}
			}
		}
	}
}

// TestSyntax reads every script with what reads such files: sh -n, PowerShell's rules of quoting, and PowerShell itself where it is.
func TestSyntax(t *testing.T) {
	for _, p := range plans(t) {
		for _, undo := range []bool{false, true} {
			o := Options{Undo: undo, Power: undo}
			cmd := exec.CommandContext(t.Context(), "sh", "-n")
			cmd.Stdin = bytes.NewReader(printed(t, "govc", p, o))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("govc: %v\n%s", err, out)
			}
			if err := goyaml.Unmarshal(printed(t, "ansible", p, o), new(goyaml.Node)); err != nil {
				t.Errorf("ansible: %v", err)
			}
			checkPowerShell(t, printed(t, "powercli", p, o))
		}
	}
}

func checkPowerShell(t *testing.T, code []byte) {
	t.Helper()
	tokens, err := lex(string(code))
	if err != nil {
		t.Fatal(err)
	}
	// All that comes from the plan is in single quotes or comments: the rest is the same for all plans.
	var rest []string
	for _, k := range tokens {
		if k.kind == word || k.kind == expands {
			rest = append(rest, k.text)
		}
	}
	_, data, _ := strings.Cut(strings.Join(rest, " "), "$left =")
	data, _, _ = strings.Cut(data, "$script:status = 0")
	allowed := regexp.MustCompile(`^(@|\(|\)|\{|\}|,|;|\+|=|Kind|Id|ByUuid|Off|Rows|What|Key|From|To|Loose|Gone|Quiet|Write|Set|\$true|\$false|\$changes)$`)
	for w := range strings.FieldsSeq(data) {
		if !allowed.MatchString(w) {
			t.Errorf("found %q as code among the data", w)
		}
	}
	if pwsh, err := exec.LookPath("pwsh"); err == nil {
		file := filepath.Join(t.TempDir(), "fix.ps1")
		golden.Write(t, file, code)
		out, err := exec.CommandContext(t.Context(), pwsh, "-NoProfile", "-Command", "$e = $null; [void][Management.Automation.Language.Parser]::ParseFile('"+file+"', [ref]$null, [ref]$e); if ($e) { $e; exit 1 }").CombinedOutput()
		if err != nil {
			t.Errorf("pwsh: %v\n%s", err, out)
		}
	}
}

// TestTerraform holds the arguments against those of the provider and of Packer's plugin, and the form against terraform fmt.
func TestTerraform(t *testing.T) {
	known := map[string]map[string]bool{}
	data := golden.Read(t, "testdata/arguments.txt")
	for line := range strings.Lines(string(data)) {
		if of, names, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			known[of] = map[string]bool{}
			for name := range strings.FieldsSeq(names) {
				known[of][name] = true
			}
		}
	}
	block, argument := regexp.MustCompile(`^(?:resource|source) "([a-z_-]+)" `), regexp.MustCompile(`^  (\w+) += `)
	for _, p := range plans(t) {
		var profile bytes.Buffer
		if err := Profile(&profile, p); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{"script": printed(t, "terraform", p, Options{}), "undo": printed(t, "terraform", p, Options{Undo: true}), "profile": profile.Bytes()} {
			of, n := "", 0
			for line := range strings.Lines(string(text)) {
				if m := block.FindStringSubmatch(line); m != nil {
					of = m[1]
				} else if m := argument.FindStringSubmatch(line); m != nil {
					n++
					if !known[of][m[1]] {
						t.Errorf("%s: %s has no argument %s", name, of, m[1])
					}
				}
			}
			if n == 0 {
				t.Errorf("%s: no arguments found", name)
			}
			formatted(t, name, text)
		}
	}
}

func formatted(t *testing.T, name string, text []byte) {
	t.Helper()
	t.Run("fmt", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), testdeps.Program(t, "terraform"), "fmt", "-check", "-diff", "-")
		cmd.Stdin = bytes.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: terraform fmt: %v\n%s", name, err, out)
		}
	})
}

// TestRefused checks what no script may carry.
func TestRefused(t *testing.T) {
	for name, change := range map[string]fix.Change{
		"scripts do not change rules of DRS; homenode fix --apply can": {Cluster: &fix.Target{Name: "prod", ID: "domain-c8"}, Edits: []numa.Edit{{Kind: numa.EditDRSRule, Key: "apart", To: numa.Is("x")}}},
		"the source states no MoRef of it":                             {VM: &fix.Target{ID: "vm-9", Name: "vm-9", Named: true}},
		"its ID is none of a vCenter":                                  {VM: &fix.Target{ID: "vm-1'; id"}},
		"the plan does not know which value it had":                    {VM: &fix.Target{ID: "vm-1"}, Edits: []numa.Edit{{Kind: numa.EditVCPUs, To: numa.Is("4")}}},
		`vcpus: found "4; id", want a number`:                          {VM: &fix.Target{ID: "vm-1"}, Edits: []numa.Edit{{Kind: numa.EditVCPUs, From: numa.Is("2"), To: numa.Is("4; id")}}},
		"it has characters that scripts cannot carry":                  {VM: &fix.Target{ID: "vm-1"}, Edits: []numa.Edit{{Kind: numa.EditExtraConfig, Key: "a\x00b", To: numa.Is("1")}}},
	} {
		p := &fix.Plan{Changes: []fix.Change{change}}
		for _, tool := range Tools {
			f := newForm(p, tool, Options{})
			if len(f.steps) > 0 || len(f.left) != 1 || !strings.Contains(f.left[0], name) {
				t.Errorf("%s: %d steps, left %q, want %q", tool, len(f.steps), f.left, name)
			}
		}
	}
	p := &fix.Plan{Changes: []fix.Change{{VM: &fix.Target{ID: "500B85C1-ef0d", UUID: "500b85c1-EF0D"}}, {VM: &fix.Target{Name: "db", ID: "db", Named: true, UUID: "500B85C1-ef0d-4a11-8c4e-0123456789ab"}}}}
	for tool, want := range map[string][]string{"ansible": {"export it again with VM ID", "; govc, powercli and terraform can, by its UUID"}, "govc": {"its UUID is none of a vCenter"}, "powercli": {"its UUID is none of a vCenter"}, "terraform": {"its UUID is none of a vCenter"}} {
		f := newForm(p, tool, Options{})
		if len(f.left) != len(want) || len(f.steps) != 2-len(want) || !strings.Contains(f.left[0], want[0]) || !strings.HasSuffix(f.left[len(want)-1], want[len(want)-1]) {
			t.Errorf("%s: %d steps, left %q, want %q", tool, len(f.steps), f.left, want)
		}
	}
	if err := Write(new(bytes.Buffer), "perl", small(), Options{}); err == nil || err.Error() != `no scripts for "perl": there are ansible, govc, powercli, terraform` {
		t.Error(err)
	}
}
