package vsphere_test

import (
	"testing"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/source/vsphere"
)

// TestProtection reads Fault Tolerance with the role of the VM, encryption and the virtual TPM.
func TestProtection(t *testing.T) {
	vc := startLab(t, newFleet(2))
	a, b := virtualMachine(vc, "vm-0"), virtualMachine(vc, "vm-1")
	a.Runtime.FaultToleranceState = types.VirtualMachineFaultToleranceStateRunning
	a.Config.FtInfo = &types.FaultToleranceSecondaryConfigInfo{FaultToleranceConfigInfo: types.FaultToleranceConfigInfo{Role: 2}}
	a.Config.KeyId = &types.CryptoKeyId{KeyId: "k1"}
	a.Summary.Config.TpmPresent = types.NewBool(true)
	b.Runtime.FaultToleranceState = types.VirtualMachineFaultToleranceStateNotConfigured
	read := func() (out []string) {
		f, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range f.VMs {
			out = append(out, fact(v.FaultTolerance)+", "+fact(v.Encrypted)+", "+fact(v.TPM))
		}
		return out
	}
	for i, want := range []string{
		"secondary (read: config.ftInfo), true (read: config.keyId), true (read: summary.config.tpmPresent)",
		"off (read: runtime.faultToleranceState), false (read: config.keyId), false (unknown)",
	} {
		if got := read()[i]; got != want {
			t.Errorf("VM %d: found %s\nwant %s", i, got, want)
		}
	}
	a.Config.FtInfo = &types.FaultTolerancePrimaryConfigInfo{FaultToleranceConfigInfo: types.FaultToleranceConfigInfo{Role: 1}}
	if got := read()[0][:7]; got != "primary" {
		t.Errorf("found %s of the first of two", got)
	}
}
