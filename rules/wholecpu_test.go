package rules_test

import (
	"slices"
	"testing"
)

// TestWholeCPU: a VM that reserves the whole CPU of its host is judged once: nobody knows whether it powers on, as long as it does not run; more than that, beyond the
// percent by which the frequency is known, does not power on, and the advised value is certain to.
func TestWholeCPU(t *testing.T) {
	const host = "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB mhz=2599\n"
	for _, tt := range []struct {
		name, vms string
		want      []string
	}{
		{"a core is left", "vm v host=h vcpus=32 memory=64GB hw=19 coresPerSocket=16 cpuReservation=80569 power=off\n", nil},
		{"nothing is left", "vm v host=h vcpus=32 memory=64GB hw=19 coresPerSocket=16 cpuReservation=83168 power=off\n", []string{"N032 low"}},
		{"the frequency is rounded", "vm v host=h vcpus=32 memory=64GB hw=19 coresPerSocket=16 cpuReservation=83200 power=off\n", []string{"N032 low"}},
		{"it runs", "vm v host=h vcpus=32 memory=64GB hw=19 coresPerSocket=16 cpuReservation=83200 power=on\n", nil},
		{"too much", "vm v host=h vcpus=32 memory=64GB hw=19 coresPerSocket=16 cpuReservation=90000 power=off\n", []string{"N032 high"}},
		{"with exclusive cores", "vm v host=h vcpus=32 memory=64GB hw=19 coresPerSocket=16 cpuReservation=83200 latency=high reserveAll=on power=off\n", []string{"N026 low"}},
		{"and running, alone", "vm v host=h vcpus=32 memory=64GB hw=19 coresPerSocket=16 cpuReservation=83200 latency=high reserveAll=on power=on\n", []string{"N026 low"}},
		{"and running, beside others", "vm v host=h vcpus=32 memory=64GB hw=19 coresPerSocket=16 cpuReservation=83200 latency=high reserveAll=on power=on\nvm w host=h vcpus=4 memory=8GB power=on\n", []string{"N026 medium"}},
	} {
		r := runText(t, host+tt.vms)
		got := slices.DeleteFunc(fired(r, r.Fleet.VMs[0].ID), func(f string) bool { return f[:4] != "N032" && f[:4] != "N026" })
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
