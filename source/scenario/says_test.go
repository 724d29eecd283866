package scenario

import (
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// TestNothingReserved says in each way that nothing is reserved.
func TestNothingReserved(t *testing.T) {
	for _, words := range []string{"memoryReservation=0 cpuReservation=0", "memoryReservation=none cpuReservation=none", "memoryReservation=0GB cpuReservation=None"} {
		f, err := Read("x", []byte("release 8.0U3\nhost h nodes=2 cores=18 memory=512GB\nvm a host=h vcpus=8 memory=64GB "+words+"\n"))
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		v := &f.VMs[0]
		if v.MemoryReservation != numa.ReadAt(numa.Bytes(0), "memoryReservation") || v.CPUReservation != numa.ReadAt(0, "cpuReservation") {
			t.Errorf("%s: %+v, %+v", words, v.MemoryReservation, v.CPUReservation)
		}
	}
}

// TestDottedWords reads settings and options as what-ifs spell them: a word with a dot is one.
func TestDottedWords(t *testing.T) {
	f, err := Read("x", []byte("release 8.0U3\nhost h nodes=2 cores=18 memory=512GB Numa.PreferHT=1\nvm a host=h vcpus=8 memory=64GB numa.vcpu.preferHT=TRUE\n"))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := f.VMs[0].Settings.Value.Lookup("numa.vcpu.preferHT"); !ok || v != "TRUE" {
		t.Errorf("setting: %q, %v", v, ok)
	}
	if v, ok := f.Hosts[0].Options.Value.Lookup("Numa.PreferHT"); !ok || v != "1" {
		t.Errorf("option: %q, %v", v, ok)
	}
}

// TestAutoHint names the word for what the API calls 0 cores per socket.
func TestAutoHint(t *testing.T) {
	_, err := Read("x", []byte("release 8.0U3\nhost h nodes=2 cores=18 memory=512GB\nvm a host=h vcpus=8 coresPerSocket=0\n"))
	if err == nil || !strings.Contains(err.Error(), "or auto: assigned at power-on") {
		t.Errorf("got %v", err)
	}
}
