package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"homenode/rules"
	"homenode/source/kvm"
)

// judged returns the findings about the VM of a definition on a host, a line each: "K016 high …".
func judged(t *testing.T, host, name, text string) string {
	t.Helper()
	fleet, err := kvm.ReadFS("kvm", fstest.MapFS{"kvm01/capabilities.xml": {Data: capabilities(t, "kvm01", host)}, "kvm01/" + name: {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range rules.Run(fleet, rules.Options{}).Findings {
		fmt.Fprintln(&out, f.Rule, f.Severity, f.Message+"; "+f.Advice)
	}
	return out.String()
}

// TestHugetlbfs: memory of a file in hugetlbfs is huge pages of its node's pool, and none of its ordinary pages.
func TestHugetlbfs(t *testing.T) {
	const host = "nodes=2 cores=32 memory=512GB pages=200,200"
	args := func(path string, gb int) string {
		in := fmt.Sprintf("-m %dG -smp 16,sockets=2", 2*gb)
		for i := range 2 {
			in += fmt.Sprintf(" -object memory-backend-file,id=m%d,size=%dG,mem-path=%s,host-nodes=%d,policy=bind -numa node,cpus=%d-%d,memdev=m%d", i, gb, path, i, 8*i, 8*i+7, i)
		}
		return in
	}
	for _, path := range []string{"/dev/hugepages/libvirt/qemu/1-a", "/dev/hugepages1G", "/run/hugepages/kvm/1048576kB"} {
		if got := judged(t, host, "a.args", args(path, 190)); strings.Contains(got, "K004") || strings.Contains(got, "K016") || strings.Contains(got, "K017") {
			t.Errorf("%s: found %s", path, got)
		}
		if got := judged(t, host, "a.args", args(path, 210)); !strings.Contains(got, "K016 high cell 0 takes 210 pages of 1 GB from node 0, and 200 are reserved") {
			t.Errorf("%s: found %s", path, got)
		}
	}
	if got := judged(t, host, "a.args", "-m 450G -smp 4 -mem-path /dev/hugepages1G"); !strings.Contains(got, "K016 high the VM takes 450 pages") {
		t.Errorf("the memory of a VM: found %s", got)
	}
}
