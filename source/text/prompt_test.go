package text

import "testing"

func TestCutPrompt(t *testing.T) {
	for _, tt := range []struct {
		line                string
		host, command, name string
		ok                  bool
	}{
		{"[root@esx03:~] sched-stats -t numa-clients", "esx03", "sched-stats -t numa-clients", "sched-stats", true},
		{"[root@esx03:~]", "esx03", "", "", true},
		{"  [root@w4-hs4:/vmfs/volumes/a b]  memstats -r vm-stats ", "w4-hs4", "memstats -r vm-stats", "memstats", true},
		{"[root@db01 ~]# lscpu", "db01", "lscpu", "lscpu", true},
		{"[me@db01.example.com tmp]$ sudo /usr/bin/lscpu -e", "db01.example.com", "sudo /usr/bin/lscpu -e", "lscpu", true},
		{"root@db01:~# numactl -H", "db01", "numactl -H", "numactl", true},
		{"me@db01:/var/log$ lscpu", "db01", "lscpu", "lscpu", true},
		{"db01:~ # lscpu -p", "db01", "lscpu -p", "lscpu", true},
		{`C:\>coreinfo`, "", "coreinfo", "coreinfo", true},
		{`PS C:\Users\me> .\Coreinfo64.exe -n`, "", `.\Coreinfo64.exe -n`, "coreinfo64", true},
		{`[sql01]: PS C:\Users\me\Documents> coreinfo -s`, "sql01", "coreinfo -s", "coreinfo", true},
		{"~ # vsish -e get /memory/memInfo", "", "vsish -e get /memory/memInfo", "vsish", true},
		{"# lscpu -e", "", "lscpu -e", "lscpu", true},
		{"$ echo", "", "echo", "echo", false},
		{"# The following is the parsable format", "", "The following is the parsable format", "the", false},
		{"# CPU,Core,Socket,Node", "", "CPU,Core,Socket,Node", "cpu,core,socket,node", false},
		{"0000:af:00.0", "", "", "", false},
		{"[12:04] started", "", "", "", false},
		{"Model name: A@B", "", "", "", false},
		{"", "", "", "", false},
	} {
		p, ok := CutPrompt(tt.line, "lscpu")
		if p.Host.Text != tt.host || p.Command != tt.command || p.Name() != tt.name || ok != tt.ok {
			t.Errorf("CutPrompt(%q) = %+v (%s), %v; want %q, %q (%s), %v",
				tt.line, p, p.Name(), ok, tt.host, tt.command, tt.name, tt.ok)
		}
	}
}

func TestIsBanner(t *testing.T) {
	for _, line := range []string{
		"login as: root", `Using username "root".`, "Last login: Mon Mar  2 08:11:02 2026 from 192.0.2.7", "root@esx01's password: ",
		"Keyboard-interactive authentication prompts from server:", "End of keyboard-interactive prompts from server", "Pre-authentication banner message from server:",
		"The time and date of this login have been sent to the system logs.", "WARNING:", "   All commands run on the ESXi shell are logged and may be included in",
		"   support bundles. Do not provide passwords directly on the command line.", "   Most tools can prompt for secrets or accept them from standard input.",
		"VMware offers supported, powerful system administration tools.  Please", "see www.vmware.com/go/sysadmintools for details.",
		"The ESXi Shell can be disabled by an administrative user. See the", "vSphere Security documentation for more information.",
	} {
		if !IsBanner(line) {
			t.Errorf("%q is no banner", line)
		}
	}
	for _, line := range []string{"", "CPU Packages: 2", "NUMA node(s): 1", "vm.1 2 0 0 3", "WARNING: something else", "Login failed", "passwords"} {
		if IsBanner(line) {
			t.Errorf("%q is a banner", line)
		}
	}
}
