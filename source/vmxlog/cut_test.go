package vmxlog

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// TestCut: in a log whose settings are not all there, a setting that is absent is unknown. They are all there when they have a heading or
// the beginning of the log above them, and another line below.
func TestCut(t *testing.T) {
	const at = "2024-03-01T10:00:00.000Z| vmx| I005: "
	const heading, sizes = at + "DICT --- CONFIGURATION /vmfs/volumes/1/a/a.vmx\n", at + "DICT numvcpus = \"24\"\n" + at + "DICT memSize = \"4096\"\n"
	const missing = ": those that it does not state are unknown, and not at their defaults"
	const cut = "the log is cut off within the settings" + missing
	for _, tt := range []struct {
		name, in    string
		whole       bool
		err, warned string
	}{
		{"whole", heading + sizes + at + "PowerOn\n", true, "", ""},
		{"below the beginning of the log", at + "Log for VMware ESX pid=1 version=7.0.3 build=build-21424296 option=Release\n" + sizes + at + "PowerOn\n", true, "", ""},
		{"an excerpt without stamps", strings.ReplaceAll(sizes, at, "") + "numaHost: 24 VCPUs 1 VPDs 2 PPDs\n", true, "", ""},
		{"such an excerpt that is cut", strings.ReplaceAll(sizes, at, ""), false, "", ""},
		{"cut at the end of a line", heading + sizes, false, "a.log:3: " + cut, ""},
		{"cut in a stamp", heading + sizes + at[:26], false, "a.log:3: " + cut, ""},
		{"cut in the word DICT", heading + sizes + at + "DIC", false, "a.log:3: " + cut, ""},
		{"cut in a value", heading + sizes + at + "DICT vcpu.hotadd = \"TR", false, "a.log:4: " + cut, "DICT vcpu.hotadd: the value has no closing quote: unknown"},
		{"another log behind the cut", heading + sizes + at + "Log for VMware ESX pid=2 version=7.0.3 build=build-21424296 option=Release\n", false, "a.log:3: " + cut, ""},
		{"begun within the settings", sizes + at + "PowerOn\n", false, "", "the log begins within the settings" + missing},
	} {
		l, err := Read("a.log", strings.NewReader(tt.in))
		if (err != nil || tt.err != "") && fmt.Sprint(err) != tt.err {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
		}
		c := l.VMs()[0].Config
		if c.CPUHotAdd.Known() != tt.whole || c.CoresPerSocket.Known() != tt.whole || c.VCPUs.Value != 24 {
			t.Errorf("%s: %+v", tt.name, c)
		}
		if got := strings.Join(warnings(l), "|"); !strings.HasSuffix(got, tt.warned) || tt.warned == "" && got != "" {
			t.Errorf("%s: %s, want %q", tt.name, got, tt.warned)
		}
	}
}

// TestForcingUMA: the line that says so states that hot add is on, where the setting is not there.
func TestForcingUMA(t *testing.T) {
	for _, line := range []string{"numa: Hot add is enabled and vNUMA hot add is disabled, forcing UMA.", "numa: Hot-add is enabled and vNUMA hot-add is disabled, forcing UMA.",
		"NUMA and VCPU hot add are incompatible.  Forcing UMA."} {
		v := read(t, "a.log", "DICT numvcpus = \"24\"\n"+line+"\nnumaHost: 24 VCPUs 1 VPDs 2 PPDs\n").VMs()[0]
		if want := numa.ReadAt(true, "line 2: forcing UMA"); v.CPUHotAdd != want || v.Observed[0].Config.CPUHotAdd != want {
			t.Errorf("%s: %+v, %+v", line, v.CPUHotAdd, v.Observed[0].Config.CPUHotAdd)
		}
	}
	v := read(t, "a.log", "DICT vcpu.hotadd = \"FALSE\"\nDICT numvcpus = \"24\"\nnuma: Hot add is enabled and vNUMA hot add is disabled, forcing UMA.\n").VMs()[0]
	if v.CPUHotAdd.Value {
		t.Errorf("a setting that is stated: %+v", v.CPUHotAdd)
	}
}
