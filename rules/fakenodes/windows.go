package fakenodes

import "strings"

// systems lists the Windows systems before build 20348 that know processor groups:
// Windows 7 and Server 2008 R2 brought these, Server 2022 is build 20348. The IDs are
// those of the vSphere API (VirtualMachineGuestOsIdentifier); windows9 is Windows 10
// and its server, windows8 stands for 8 and 2012. The words stand in full names such
// as “Microsoft Windows Server 2016 or later (64-bit)”.
var systems = []struct {
	id    string
	words string
	name  string
}{
	{"windows7_64Guest", "Windows 7", "Windows 7"},
	{"windows7Server64Guest", "Windows Server 2008 R2", "Windows Server 2008 R2"},
	{"windows8_64Guest", "Windows 8", "Windows 8"},
	{"windows8Server64Guest", "Windows Server 2012", "Windows Server 2012"},
	{"windows9_64Guest", "Windows 10", "Windows 10"},
	{"windows9Server64Guest", "Windows Server 2016", "Windows Server 2016"},
	{"windows2019srv_64Guest", "Windows Server 2019", "Windows Server 2019"},
}

// windowsBefore20348 returns the name of the system with this guest ID or full name,
// when it is one that makes fake nodes. Others, 32-bit ones and unknown ones do not.
func windowsBefore20348(guest string) (name string, ok bool) {
	for _, s := range systems {
		if strings.EqualFold(guest, s.id) {
			return s.name, true
		}
		rest, found := strings.CutPrefix(strings.TrimPrefix(guest, "Microsoft "), s.words)
		// "Windows 10" is not "Windows 100", and 8.x is 8.
		if found && strings.Contains(rest, "64-bit") && (rest[0] < '0' || rest[0] > '9') {
			return s.name, true
		}
	}
	return "", false
}
