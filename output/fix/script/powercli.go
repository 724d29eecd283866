package script

import (
	"bytes"
	"fmt"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// powercli prints scripts for PowerShell with VMware PowerCLI.
var powercli = &tool{
	about: []string{"For PowerShell with VMware PowerCLI, after Connect-VIServer to that vCenter. All edits of a VM are one ReconfigVM_Task with its",
		"change version: vCenter makes all or none, and none when somebody else was faster."},
	cannot: func(*fix.Change, numa.Edit) string { return "" },
	finds:  true,
	print: func(b *bytes.Buffer, f *form) {
		comment(b, "", f.comments()...)
		comment(b, "", "", "Exit code 0: all VMs are as planned. 1: drift or an error. 2: some were left as they are, and named.")
		b.WriteString(reading("powercli.ps1", &inPowerShell))
		fmt.Fprintf(b, "\n$power = $%t\n$left = @(", f.power)
		for i, l := range f.unmade {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(words.PowerShell(l))
		}
		b.WriteString(")\n$changes = @(\n")
		for i := range f.steps {
			f.steps[i].powershell(b)
		}
		b.WriteString(")\n" + part("powercli-end.ps1"))
	},
}

// powershell prints the step as a PowerShell hash table.
func (s *step) powershell(b *bytes.Buffer) {
	comment(b, "    ", title(s))
	kind := kindVM
	if s.host {
		kind = kindHost
	}
	fmt.Fprintf(b, "    @{ Kind = %s; Id = %s; Off = $%t%s; Rows = @(\n", words.PowerShell(kind), words.PowerShell(s.id), s.needs == numa.NeedsOff, map[bool]string{true: "; ByUuid = $true"}[s.byUUID])
	for _, r := range s.rows {
		fmt.Fprintf(b, "        @{ What = %s; Key = %s; From = %s; To = %s", words.PowerShell(r.What), words.PowerShell(r.Key), words.PowerShell(r.From), words.PowerShell(r.To))
		for _, flag := range []struct {
			name string
			set  bool
		}{{"Loose", r.Loose}, {"Gone", r.Gone}, {"Quiet", r.Quiet}} {
			if flag.set {
				b.WriteString("; " + flag.name + " = $true")
			}
		}
		for _, e := range s.edits {
			if string(e.Kind) == r.What && e.Key == r.Key {
				fmt.Fprintf(b, "; Write = $true; Set = %s", words.PowerShell(e.To.Text))
			}
		}
		b.WriteString(" }\n")
	}
	b.WriteString("    ) }\n")
}
