package rules_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSoftMemory: memory that should come from a node, and does not have to, is counted against it; advice names only room that there is.
func TestSoftMemory(t *testing.T) {
	const host = "nodes=2 cores=16 threads=32 memory=256GB"
	one := func(name string, gb int, tune string) string {
		return fmt.Sprintf("<domain type='kvm'><name>%s</name><memory unit='GiB'>%d</memory><vcpu cpuset='0-15'>8</vcpu>%s<features><acpi/></features><cpu><topology sockets='1' cores='8' threads='1'/></cpu></domain>", name, gb, tune)
	}
	tune := func(mode string) string { return "<numatune><memory mode='" + mode + "' nodeset='0'/></numatune>" }
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"a.xml", one("a", 100, tune("preferred")), "b.xml", one("b", 100, tune("preferred"))}, "K017 medium 200 GB of memory should come from node 0 of kvm01, where it is preferred or its vCPUs are pinned, and 128 GB is there: 72 GB come from other nodes: that of a, b; Bind VMs with at least 72 GB of it to another node"},
		{[]string{"a.xml", one("a", 60, tune("preferred")), "b.xml", one("b", 100, "")}, "160 GB of memory should come from node 0"},
		{[]string{"a.xml", one("a", 60, tune("strict")), "b.xml", one("b", 100, "")}, "160 GB of memory should come from node 0"},
		{[]string{"a.xml", one("a", 28, tune("preferred")), "b.xml", one("b", 100, "")}, ""},
		{[]string{"a.xml", one("a", 100, tune("strict")), "b.xml", one("b", 100, tune("strict"))}, "K017 high 200 GB of memory is bound to node 0"},
		{[]string{"a.xml", one("a", 100, ""), "b.xml", one("b", 100, ""), "c.xml", one("c", 100, "")}, "Run VMs with at least 44 GB of it on another host, and bind 128 GB to other nodes of this"},
	} {
		got := ""
		for line := range strings.Lines(judged(t, host, c.files...)) {
			if strings.HasPrefix(line, "K017") {
				got += line
			}
		}
		if (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: found %s, want %s", c.files, got, c.want)
		}
	}
}

// TestSocketsInCells: the advice for sockets in several cells is not what is so already, and is true: after it no socket is in several.
func TestSocketsInCells(t *testing.T) {
	in := func(vcpus int, topology, first, second string) string {
		return fmt.Sprintf("<domain type='kvm'><name>a</name><memory unit='GiB'>8</memory><vcpu>%d</vcpu><features><acpi/></features><cpu><topology %s/><numa><cell id='0' cpus='%s' memory='4' unit='GiB'/><cell id='1' cpus='%s' memory='4' unit='GiB'/></numa></cpu></domain>",
			vcpus, topology, first, second)
	}
	for _, c := range []struct{ in, want, cured string }{
		{in(24, "sockets='1' cores='24' threads='1'", "0-11", "12-23"), "State a socket, or a die, for each cell", in(24, "sockets='2' cores='12' threads='1'", "0-11", "12-23")},
		{in(24, "sockets='2' cores='12' threads='1'", "0-5,12-17", "6-11,18-23"), "; List vCPUs 0-11 in cell 0 and vCPUs 12-23 in cell 1\n", in(24, "sockets='2' cores='12' threads='1'", "0-11", "12-23")},
		{in(24, "sockets='1' cores='24' threads='1'", "0-5,12-17", "6-11,18-23"), "List vCPUs 0-11 in cell 0 and vCPUs 12-23 in cell 1, and state a socket for each cell", in(24, "sockets='2' cores='12' threads='1'", "0-11", "12-23")},
		{in(8, "sockets='2' cores='2' threads='2'", "0,2,4,6", "1,3,5,7"), "the threads of core 0, vCPUs 0 and 1, are in cells 0 and 1; List vCPUs 0-3 in cell 0 and vCPUs 4-7 in cell 1\n", in(8, "sockets='2' cores='2' threads='2'", "0-3", "4-7")},
		{in(24, "sockets='1' cores='12' threads='2'", "0-10", "11-23"), "the threads of core 5, vCPUs 10 and 11, are in cells 0 and 1; List vCPUs 0-11 in cell 0 and vCPUs 12-23 in cell 1, and state a socket", in(24, "sockets='2' cores='6' threads='2'", "0-11", "12-23")},
		{in(10, "sockets='1' cores='5' threads='2'", "0-4", "5-9"), "Use a number of vCPUs that is a multiple of 4, with as many in each cell, and a socket for each cell", in(12, "sockets='2' cores='3' threads='2'", "0-5", "6-11")},
	} {
		const host = "nodes=2 cores=32 memory=512GB"
		if got := judged(t, host, "a.xml", c.in); !strings.Contains(got, "K008") || !strings.Contains(got, c.want) {
			t.Errorf("%s: found %s, want %s", c.in, got, c.want)
		}
		if got := judged(t, host, "a.xml", c.cured); strings.Contains(got, "K008") {
			t.Errorf("%s: found %s", c.cured, got)
		}
	}
}
