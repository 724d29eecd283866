package vmx

import (
	"strings"
	"testing"
)

// TestCut: of a file that is cut off, what it does not state is unknown.
func TestCut(t *testing.T) {
	const begin = "virtualHW.version = \"19\"\ndisplayName = \"a\"\n"
	for _, end := range []string{`numvcpus = "1`, `memSize = "4096"` + "\nnumvcp", `vcpu.hotadd = "`} {
		v, err := Read("a.vmx", strings.NewReader(begin+end))
		if err == nil || !strings.Contains(err.Error(), ":1: the file is cut off: ") {
			t.Fatal(err)
		}
		if c := v.VM().Config; c.VCPUs.Known() || c.CPUHotAdd.Known() || c.CoresPerSocket.Known() {
			t.Errorf("%q: %+v", end, c)
		}
	}
	v, err := Read("a.vmx", strings.NewReader(begin+`numvcpus = "16"`))
	if err != nil || v.VM().VCPUs.Value != 16 || !v.VM().CPUHotAdd.Known() {
		t.Errorf("%+v, %v", v, err)
	}
}
