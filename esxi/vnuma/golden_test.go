package vnuma_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
)

// TestExplain compares the traces and log lines of scenarios with what a person
// has read. Each file is one characteristic case:
//
//	-- in --       the fleet (package scenario)
//	-- case --     vm NAME, host NAME, event NAME, from HOST, choice F-n
//	-- trace --    the decisions and their facts
//	-- log --      what vmware.log will hold
func TestExplain(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			vm, host, c := readCase(t, path)
			l, trace, problems, err := vnuma.Explain(vm, host, &c)
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			g, _, _ := vnuma.NewGuest(vm)  // Explain read it
			m, _ := vnuma.NewMachine(host) // Explain read it
			golden.Section(t, []byte(traceText(&l, trace)), path, "trace")
			log := strings.Join(vnuma.LogLines(&l, &g, &m), "\n")
			if log != "" {
				log += "\n"
			}
			golden.Section(t, []byte(log), path, "log")
		})
	}
}

// readCase returns the VM, host and case that the section "case" names.
func readCase(t *testing.T, path string) (vm *numa.VM, host *numa.Host, c vnuma.Case) {
	t.Helper()
	b := golden.Read(t, path)
	fleet := given.Fleet(t, filepath.Base(path), b)
	for _, f := range txtar.Parse(b).Files {
		if f.Name != "case" {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			word, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			ok := true
			switch word {
			case "vm":
				vm = fleet.FindVMs(name)[0]
				host = fleet.FindHosts(vm.Host)[0]
			case "host":
				host = fleet.FindHosts(name)[0]
			case "event":
				c.Event, ok = vnuma.ParseEvent(name)
			case "from":
				from, err := vnuma.NewMachine(fleet.FindHosts(name)[0])
				c.From, ok = &from, err == nil
			case "choice":
				ok = c.Choices.Take(name) == nil
			default:
				ok = false
			}
			if !ok {
				t.Fatalf("%s: found %q in the section case", path, line)
			}
		}
	}
	return vm, host, c
}

// traceText writes a trace as a reviewer reads it: the result, then each step with
// its facts; ← marks the step that decides what the guest sees.
func traceText(l *vnuma.Layout, trace vnuma.Trace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "VPDs %v, PPDs %v, vSockets %v", l.VPDs, l.PPDs, l.VSockets)
	if l.Managed {
		fmt.Fprintf(&b, ", home nodes %d of %d, memory %v\n", l.HomeNodes, l.Nodes, l.Memory.Placement)
	} else {
		fmt.Fprintf(&b, ", not managed, memory %v\n", l.Memory.Placement)
	}
	for _, s := range trace {
		fmt.Fprintf(&b, "[%s] %s → %s", s.Rules, s.Because, s.Result)
		if s.Choice != "" {
			fmt.Fprintf(&b, " (%s)", s.Choice)
		}
		if s.Decides {
			b.WriteString(" ←")
		}
		b.WriteByte('\n')
		for _, f := range s.Facts {
			fmt.Fprintf(&b, "\t%s = %s, %v (%s)\n", f.Name, f.Value, f.Origin, f.At)
		}
	}
	for _, text := range l.Assumes.Texts() {
		fmt.Fprintf(&b, "assumed: %s\n", text)
	}
	return b.String()
}
