package vnuma

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// The samples of vmware.log are published lines of real VMs. They are not part of
// this repository; the test reads them where they lie beside the checkout.
const samples = "../../../shared/samples/vmware-log"

// sample says what the log itself does not: the host.
type sample struct {
	release      string
	nodes, cores int
	nodeGB       int64
	event        Event
	// only restricts the comparison to lines with this text, for hosted products
	// and excerpts.
	only string
	// missing are predicted lines that the excerpt lacks, and why.
	missing, reason string
}

// The hosts of the samples: rule book B-7 and the posts named in B-8 to B-17.
var sampleHosts = map[string]sample{
	"esxi60_12vcpu_2vpd.txt": {release: "6.0", nodes: 2, cores: 10, nodeGB: 64},
	"esxi60_12vcpu_hotadd_1vpd_2ppd.txt": {release: "6.0", nodes: 2, cores: 10, nodeGB: 64,
		missing: "NUMA and VCPU hot add are incompatible.  Forcing UMA.", reason: "the excerpt holds the lines numa: and numaHost:"},
	"esxi60_16vcpu_2vpd.txt":                       {release: "6.0", nodes: 2, cores: 10, nodeGB: 64},
	"esxi65_16vcpu_cps2_2vpd.txt":                  {release: "6.5", nodes: 2, cores: 10, nodeGB: 64},
	"esxi65_8vcpu_consolidate_false_1vpd_2ppd.txt": {release: "6.5", nodes: 2, cores: 12, nodeGB: 64},
	"esxi65_8vcpu_hotadd.txt": {release: "6.5", nodes: 2, cores: 10, nodeGB: 64,
		missing: "NUMA and VCPU hot add are incompatible.  Forcing UMA.", reason: "the excerpt holds the lines numa: and numaHost:"},
	"esxi65_forcing_uma_line.txt":  {release: "6.5", nodes: 2, cores: 10, nodeGB: 64, only: "Forcing UMA"},
	"esxi7_20vcpu_1vpd_1ppd.txt":   {release: "7.0.3", nodes: 2, cores: 20, nodeGB: 64},
	"esxi7_20vcpu_2vpd_2ppd.txt":   {release: "7.0.3", nodes: 2, cores: 20, nodeGB: 64},
	"esxi8_12vcpu_manual_2vpd.txt": {release: "8.0", nodes: 2, cores: 20, nodeGB: 256},
	// Workstation and Player share the code of a contemporary ESXi.
	"player155_pipe_dialect.log":                 {release: "7.0", nodes: 1, cores: 4, only: "ConfigDB"},
	"player162_linux_numa_topology.log":          {release: "7.0.3", nodes: 1, cores: 6, event: FirstPowerOn, only: "ConfigDB"},
	"player175_first_poweron_invalid_cookie.log": {release: "8.0.2", nodes: 1, cores: 6, event: FirstPowerOn, only: "ConfigDB"},
	"workstation162_hotadd_forcing_uma.log":      {release: "7.0.3", nodes: 1, cores: 4, only: "forcing UMA"},
	"workstation17_hotadd_forcing_uma.log":       {release: "8.0", nodes: 1, cores: 4, only: "forcing UMA"},
}

// dictLine is a setting of the VM as vmware.log prints it at power-on.
var dictLine = regexp.MustCompile(`DICT\s+(\S+) = "(.*)"`)

// loggedForm is where a line's text begins, behind the envelope of a log.
var loggedForm = regexp.MustCompile(`(?:^|vmx(?:\| I125:)? )(numa(?:Host)?: .*|NUMA and VCPU .*|ConfigDB: Setting numa\..*)$`)

// readSample returns the VM of a log and its NUMA lines.
func readSample(t *testing.T, path string) (numa.VM, []string) {
	t.Helper()
	b := golden.Read(t, path)
	v := numa.VM{ID: "vm", Name: "vm", Config: numa.Config{CPUHotAdd: numa.ReadAt(false, "DICT"), CoresPerSocket: numa.ReadAt(1, "DICT")}}
	var settings numa.Settings
	var lines []string
	for text := range strings.Lines(string(b)) {
		text = strings.TrimRight(text, "\r\n")
		if m := loggedForm.FindStringSubmatch(text); m != nil {
			lines = append(lines, m[1])
		}
		m := dictLine.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[2]) // not all values are numbers
		switch strings.ToLower(m[1]) {
		case "numvcpus":
			v.VCPUs = numa.ReadAt(n, "DICT")
		case "memsize":
			v.Memory = numa.ReadAt(numa.Bytes(n)*numa.MiB, "DICT")
		case "cpuid.corespersocket":
			v.CoresPerSocket = numa.ReadAt(n, "DICT")
		case "vcpu.hotadd":
			v.CPUHotAdd = numa.ReadAt(strings.EqualFold(m[2], "TRUE"), "DICT")
		case "virtualhw.version":
			v.Hardware = numa.ReadAt(n, "DICT")
		}
		if numa.KeepSetting(m[1]) {
			settings = append(settings, numa.Setting{Key: m[1], Value: m[2]})
		}
	}
	v.Settings = numa.ReadAt(settings, "DICT")
	return v, lines
}

// once drops the second print of the memory slices: 7.0 and 8.0 log them twice.
func once(lines []string) []string {
	i := slices.IndexFunc(lines, func(s string) bool { return strings.HasSuffix(s, " mem slices") })
	if i < 0 {
		return lines
	}
	block := lines[i:]
	if half := len(block) / 2; len(block)%2 == 0 && slices.Equal(block[:half], block[half:]) {
		return lines[:i+half]
	}
	return lines
}

// TestConfirmLogs compares the lines that vmware.log of real VMs holds with those
// predicted.
func TestConfirmLogs(t *testing.T) {
	if _, err := os.Stat(samples); err != nil {
		t.Skipf("no published logs beside the checkout: %v", err)
	}
	files, err := filepath.Glob(samples + "/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples in %s: %v", samples, err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			s, ok := sampleHosts[name]
			if !ok {
				t.Fatal("the host of this sample is not known here")
			}
			vm, logged := readSample(t, path)
			if !vm.VCPUs.Known() && s.only != "" { // one line, of a VM with CPU hot add
				vm.VCPUs, vm.CPUHotAdd = numa.ReadAt(12, "sample"), numa.ReadAt(true, "sample")
			}
			m := machineOf(t, testRelease(t, s.release), s.nodes, s.cores, 2*s.cores, s.nodeGB*gib)
			want := confirmed(t, &vm, &m, s)
			got := once(logged)
			if s.only != "" {
				got = slices.DeleteFunc(got, func(line string) bool { return !strings.Contains(line, s.only) })
			}
			if !slices.Equal(got, want) {
				t.Errorf("logged\n%s\npredicted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// confirmed returns the lines that the sample should hold.
func confirmed(t *testing.T, vm *numa.VM, m *Machine, s sample) []string {
	t.Helper()
	g, problems, err := NewGuest(vm)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	l := Predict(&g, m, &Case{Event: s.event})
	// A stored size that was used is what the power-on would write.
	if l.Why == ByStored && (l.Stored.Size != int(g.Stored) || l.Stored.Cookie != int(cookieOf(&g))) {
		t.Errorf("stored %d and %d, predicted %d and %d", g.Stored, cookieOf(&g), l.Stored.Size, l.Stored.Cookie)
	}
	lines := LogLines(&l, &g, m)
	if l.Stored.Written && s.event == FirstPowerOn {
		lines = append(lines,
			`ConfigDB: Setting numa.autosize.cookie = "`+strconv.Itoa(l.Stored.Cookie)+`"`,
			`ConfigDB: Setting numa.autosize.vcpu.maxPerVirtualNode = "`+strconv.Itoa(l.Stored.Size)+`"`)
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		return line == s.missing || s.only != "" && !strings.Contains(line, s.only)
	})
}
