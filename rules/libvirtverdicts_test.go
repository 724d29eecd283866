package rules_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/kvm"
)

// unheld are messages of libvirt about parts of a definition that are not read, since none bears on where vCPUs and memory are, or that
// only some releases give.
var unheld = []string{
	"label", "address is not supported for model", // devices
	"memory device count", // a doubt: of 9.0
	"numerical overflow", "'sibling id 1' under NUMA 'cell id 0'",
	"hugepages of sizes 2048 and 2048 intersect", // a second copy, of which the first is read
}

// TestLibvirtVerdicts holds each of 1,000 changes of a definition against what libvirt made of it: what it refuses has a finding of high
// severity, what it takes is not said to be refused.
func TestLibvirtVerdicts(t *testing.T) {
	data := golden.Read(t, "testdata/libvirtverdicts.txt")
	unescape := strings.NewReplacer(`\n`, "\n")
	base, n := "", 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		f := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case len(f) != 5:
			base = unescape.Replace(line)
			continue
		}
		at, err1 := strconv.Atoi(f[1])
		length, err2 := strconv.Atoi(f[2])
		if err1 != nil || err2 != nil || at+length > len(base) {
			t.Fatalf("%s", line)
		}
		in := base[:at] + unescape.Replace(f[3]) + base[at+length:]
		fleet, err := kvm.ReadBytes("a.xml", []byte(in))
		refused, said := err != nil || len(fleet.VMs) == 0, fmt.Sprint(err)
		if !refused {
			for _, one := range rules.Run(fleet, rules.Options{}).Findings {
				if one.Severity == finding.High && (one.Rule == "K013" && !strings.Contains(one.Message, "QEMU from 7.1") && !strings.Contains(one.Message, "QEMU starts") || strings.Contains(one.Message, "libvirt refuses")) {
					refused, said = true, said+one.Rule+" "+one.Message+"; "
				}
			}
		}
		if slices.ContainsFunc(unheld, func(s string) bool { return strings.Contains(f[4], s) }) {
			continue
		}
		if n++; refused != (f[0] == "refused") {
			t.Errorf("libvirt: %s %s\n%q for %q, byte %d: found %s", f[0], f[4], f[3], base[at:at+length], at, said)
		}
	}
	if n < 980 {
		t.Errorf("%d changes", n)
	}
}
