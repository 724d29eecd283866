package kvm

import (
	"fmt"
	"strings"
	"testing"
)

// TestPending: a VM of Proxmox counts as it starts the next time, and a note says so; snapshots count never.
func TestPending(t *testing.T) {
	const now = "cores: 2\nsockets: 2\nmemory: 4096\nnuma: 1\nnuma0: cpus=0-1,memory=2048\nnuma1: cpus=2-3,memory=2048\naffinity: 0-3\n\n"
	const snapshot = "\n[before]\ncores: 1\nsockets: 1\nmemory: 512\n"
	for in, want := range map[string]string{
		"":                          "[2 2] of 4 GB in 4 GB, on [0 1 2 3], 0 notes",
		"[PENDING]\nmemory: 8192\n": "[2 2] of 4 GB in 8 GB, on [0 1 2 3], 1 notes",
		"[PENDING]\ncores: 4\nnuma0: cpus=0-3,memory=3072\nnuma1: cpus=4-7,memory=3072\nmemory: 6144\n": "[4 4] of 6 GB in 6 GB, on [0 1 2 3], 1 notes",
		"[PENDING]\ndelete: numa1,!affinity\nsockets: 1\n":                                              "[2] of 2 GB in 4 GB, on [], 1 notes",
		"[PENDING]\ndelete: numa\n": "[4] of 4 GB in 4 GB, on [0 1 2 3], 1 notes",
	} {
		f := fleetOf(t, "a.conf", now+in+snapshot)
		s := f.VMs[0].Stated
		sum := s.Cells[0].Memory
		for _, c := range s.Cells[1:] {
			sum += c.Memory
		}
		if got := fmt.Sprintf("%v of %s in %s, on %v, %d notes", s.Sizes(), sum, s.Shape.Memory, s.CPUs[0], len(f.Notes)); got != want {
			t.Errorf("%s: found %s, want %s", in, got, want)
		}
		if in != "" && (f.Notes[0].Text == "" || !strings.Contains(f.Notes[0].At, "a.conf:9")) {
			t.Errorf("%s: found the note %+v", in, f.Notes)
		}
	}
}
