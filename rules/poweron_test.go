package rules_test

import (
	"strings"
	"testing"
)

// TestPowerOnElsewhere: a VM that does not get its reservation on its host is sent only to hosts that are known to have it beside their VMs: there it powers on.
func TestPowerOnElsewhere(t *testing.T) {
	const hosts = "release 7.0U3\ncluster c\nhost e[1-3] nodes=2 cores=16 memory=512GB mhz=2600\nhost e4 nodes=2 cores=16 memory=512GB\n"
	for _, tt := range []struct{ name, vms, want, not string }{
		{"memory", "vm a host=e1 vcpus=16 memory=200GB reserveAll=on\nvm b host=e2 vcpus=16 memory=200GB reserveAll=on\nvm v host=e1 vcpus=20 memory=400GB reserveAll=on\n",
			"power it on on e3 or e4", "e2"},
		{"memory that others use", "vm b2 host=e2 vcpus=16 memory=300GB\nvm b3 host=e3 vcpus=16 memory=300GB\nvm b4 host=e4 vcpus=16 memory=300GB\n" +
			"vm a host=e1 vcpus=16 memory=200GB reserveAll=on\nvm v host=e1 vcpus=20 memory=400GB reserveAll=on\n",
			"move or switch off other VMs of the host", "power it"},
		{"no host", "vm a[1-4] vcpus=16 memory=200GB reserveAll=on\nvm v host=e1 vcpus=20 memory=400GB reserveAll=on\n",
			"move or switch off other VMs of the host", "power it"},
		{"CPU, and a host whose frequency is unknown", "vm a host=e1 vcpus=8 memory=8GB cpuReservation=60000\nvm b host=e2 vcpus=8 memory=8GB cpuReservation=60000\nvm v host=e1 vcpus=8 memory=8GB cpuReservation=40000\n",
			"power it on on e3", "e4"},
	} {
		said := ""
		for _, f := range runText(t, hosts+tt.vms).Findings {
			if f.Rule == "N032" && f.VM == "v" {
				said += f.Advice
			}
		}
		if !strings.Contains(said, tt.want) || strings.Contains(said, tt.not) {
			t.Errorf("%s: %q, want %q", tt.name, said, tt.want)
		}
	}
}

// TestFrequencyUnknown: a VM whose power-on depends on an unknown frequency is not silently taken as one that powers on, unless it runs.
func TestFrequencyUnknown(t *testing.T) {
	for words, want := range map[string]string{
		"cpuReservation=40000":                            "40000 MHz of CPU are reserved, and the frequency of its host is unknown",
		"cpuReservation=20000 latency=high reserveAll=on": "20000 MHz of CPU are reserved, and the frequency of its host is unknown",
		"cpuReservation=40000 power=on":                   "",
		"cpuReservation=40000 mhz":                        "",
		"cpuReservation=20000":                            "", // any 32 cores have it
		"cpuReservation=0":                                "",
	} {
		host := "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB"
		if vm, known := strings.CutSuffix(words, " mhz"); known {
			words, host = vm, host+" mhz=2600"
		}
		said := ""
		for _, f := range runText(t, host+"\nvm v host=h vcpus=16 memory=100GB coresPerSocket=16 "+words+"\n").Findings {
			if f.Rule == "N032" {
				said += f.Message
			}
		}
		if !strings.HasSuffix(said, want) || want == "" && said != "" {
			t.Errorf("%s: %q, want %q", words, said, want)
		}
	}
}

// TestProtectedBefore60: Fault Tolerance of 5.x protects VMs of one vCPU.
func TestProtectedBefore60(t *testing.T) {
	for in, want := range map[string]string{
		"release 5.5\nvcpus=2 memory=16GB hw=10":  "Fault Tolerance is on, and protects VMs of at most 1 vCPU: the VM has 2",
		"release 5.5\nvcpus=1 memory=16GB hw=10":  "",
		"release 5.5\nvcpus=1 memory=100GB hw=10": "Fault Tolerance is on, and protects VMs of at most 64 GB: the VM has 100 GB",
		"release 6.5\nvcpus=4 memory=16GB hw=13":  "",
		"release 6.5\nvcpus=8 memory=16GB hw=13":  "Fault Tolerance is on, and protects VMs of at most 4 vCPUs: the VM has 8",
	} {
		release, vm, _ := strings.Cut(in, "\n")
		said := ""
		for _, f := range runText(t, release+"\nhost h nodes=2 cores=16 memory=512GB mhz=2600\nvm v host=h ft=primary "+vm+"\n").Findings {
			if f.Rule == "N032" {
				said += f.Message
			}
		}
		if said != want {
			t.Errorf("%s: %q, want %q", in, said, want)
		}
	}
}
