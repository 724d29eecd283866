package script

import (
	"bytes"
	"fmt"
	"strings"

	"homenode/numa"
)

// powercli prints scripts for PowerShell with VMware PowerCLI.
var powercli = &tool{
	about: []string{"For PowerShell with VMware PowerCLI, after Connect-VIServer to that vCenter. All edits of a VM are one ReconfigVM_Task with its",
		"change version: vCenter makes all or none, and none when somebody else was faster."},
	cannot: func(numa.Edit) string { return "" },
	reads:  func(*row) bool { return true },
	print: func(b *bytes.Buffer, f *form) {
		comment(b, "", f.comments()...)
		comment(b, "", "", "Exit code 0: all VMs are as planned. 1: drift or an error. 2: some were left as they are, and named.")
		b.WriteString(part("powercli.ps1"))
		fmt.Fprintf(b, "\n$power = $%t\n$left = @(", f.power)
		for i, l := range f.unmade {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(powershell(l))
		}
		b.WriteString(")\n$changes = @(\n")
		for i := range f.steps {
			f.steps[i].powershell(b)
		}
		b.WriteString(")\n" + part("powercli-end.ps1"))
	},
}

// powershell prints the step as a table of PowerShell.
func (s *step) powershell(b *bytes.Buffer) {
	comment(b, "    ", title(s))
	kind := kindVM
	if s.host {
		kind = kindHost
	}
	fmt.Fprintf(b, "    @{ Kind = %s; Id = %s; Off = $%t; Rows = @(\n", powershell(kind), powershell(s.id), s.needs == numa.NeedsOff)
	for _, r := range s.rows {
		fmt.Fprintf(b, "        @{ What = %s; Key = %s; From = %s; To = %s", powershell(r.What), powershell(r.Key), powershell(r.From), powershell(r.To))
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
				fmt.Fprintf(b, "; Write = $true; Set = %s", powershell(e.To.Text))
			}
		}
		b.WriteString(" }\n")
	}
	b.WriteString("    ) }\n")
}

// powershell returns an expression of PowerShell for the text, in ASCII: how a file without a byte order mark is read differs by
// version, and PowerShell takes typographic quotes for quotes.
func powershell(s string) string {
	var parts []string
	plain := func(r rune) bool { return r >= ' ' && r <= '~' }
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return !plain(r) })
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			parts = append(parts, "'"+strings.ReplaceAll(s[:n], "'", "''")+"'")
			s = s[n:]
			continue
		}
		for _, r := range s {
			parts = append(parts, fmt.Sprintf("[char]::ConvertFromUtf32(0x%x)", r))
			s = s[len(string(r)):]
			break
		}
	}
	switch len(parts) {
	case 0:
		return "''"
	case 1:
		if parts[0][0] == '\'' {
			return parts[0]
		}
	}
	return "('' + " + strings.Join(parts, " + ") + ")"
}
