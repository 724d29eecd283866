package machine

import (
	"encoding/binary"
	"testing"

	"example.org/homenode/internal/cpuid"
	"example.org/homenode/numa"
)

// registers returns text as CPUID has it, in the registers' order.
func registers(s string, n int) []uint32 {
	b := append([]byte(s), make([]byte, 4*n)...)
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

// processor returns a made-up processor under a hypervisor; without a signature it is bare metal.
func processor(leaf1 uint32, signature string, last uint32, root bool) leafFunc {
	return func(leaf, _ uint32) (eax, ebx, ecx, edx uint32) {
		switch v := registers("GenuineIntel", 3); leaf {
		case 0:
			return 0x1f, v[0], v[2], v[1]
		case 1:
			if signature != "" {
				ecx = hypervisorBit
			}
			return leaf1, 0, ecx, 0
		case hypervisorLeaf:
			v := registers(signature, 3)
			return last, v[0], v[1], v[2]
		case hypervFeatures:
			if root {
				return 0, createPartitions, 0, 0
			}
		case frequencyLeaf:
			return 2_596_102, 0, 0, 0
		case 0x80000000:
			return 0x80000008, 0, 0, 0
		case brandLeaf, brandLeaf + 1, brandLeaf + 2:
			v := registers("  Example(R) Gold\x1b[2J   6248 CPU @ 2.50GHz", 12)[4*(leaf-brandLeaf):]
			return v[0], v[1], v[2], v[3]
		}
		return 0, 0, 0, 0
	}
}

func TestByCPUID(t *testing.T) {
	const cascadeLake, genoa = 0x00050657, 0x00a10f11
	intel := Identity{CPU: "Example(R) Gold[2J 6248 CPU @ 2.50GHz", Vendor: "GenuineIntel", Family: 6, Model: 85, Stepping: 7}
	guestOf := func(name, signature string, emulated bool) Identity {
		id := intel
		where := "CPUID 0x40000000: " + signature
		id.Virtualised = numa.ReadAt(true, "CPUID 1: hypervisor bit")
		id.Hypervisor, id.Emulated = numa.ReadAt(name, where), numa.ReadAt(emulated, where)
		return id
	}
	vmware := guestOf("VMware", "VMwareVMware", false)
	vmware.TSCKHz = 2_596_102
	root := guestOf("Microsoft", "Microsoft Hv", false)
	root.Virtualised = numa.ReadAt(false, "CPUID 0x40000003: the root partition of Hyper-V, on the hardware itself")
	other := guestOf("EvmmEvmmEvmm", "EvmmEvmmEvmm", false)
	other.Emulated = numa.Fact[bool]{}
	amd := intel
	amd.Family, amd.Model, amd.Stepping = 25, 17, 1
	for _, tt := range []struct {
		cpu  leafFunc
		want Identity
	}{
		{processor(cascadeLake, "", 0, false), intel},
		{processor(genoa, "", 0, false), amd},
		{processor(cascadeLake, "VMwareVMware", 0x40000010, false), vmware},
		{processor(cascadeLake, "KVMKVMKVM", 0x40000001, false), guestOf("KVM", "KVMKVMKVM", false)},
		{processor(cascadeLake, "TCGTCGTCGTCG", 0x40000001, false), guestOf("QEMU", "TCGTCGTCGTCG", true)},
		{processor(cascadeLake, "Microsoft Hv", 0x40000010, false), guestOf("Microsoft", "Microsoft Hv", false)},
		{processor(cascadeLake, "Microsoft Hv", 0x4000000b, true), root},
		{processor(cascadeLake, "EvmmEvmmEvmm", 0xffffffff, false), other},
	} {
		var got Identity
		got.byCPUID(tt.cpu)
		if got != tt.want {
			t.Errorf("got  %+v\nwant %+v", got, tt.want)
		}
	}
}

// TestInstruction runs the real one.
func TestInstruction(t *testing.T) {
	if !cpuid.Has {
		t.Skip("CPUID is an instruction of amd64")
	}
	var id Identity
	id.byCPUID(leaves())
	if len(id.Vendor) < 8 || id.Family == 0 || id.CPU == "" {
		t.Errorf("got %+v", id)
	}
}
