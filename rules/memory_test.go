package rules_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario/given"
)

// TestOneMemory holds what is found of memory where explain, topo and the simulation had other answers.
func TestOneMemory(t *testing.T) {
	const two = "release 8.0U3\nhost h nodes=2 cores=16 memory=1024GB mhz=2500\n"
	for _, tt := range []struct {
		name, text string
		rule, vm   string
		severity   finding.Severity
		says       string // of the finding; empty for none of the rule
	}{
		{"the node with the most memory (C-4)", "release 8.0U3\nhost h nodes=2 cores=16 memory=384GB nodeMemory=288GB,96GB\nvm v host=h vcpus=8 memory=200GB hw=20 coresPerSocket=auto\n",
			"N005", "v", 0, ""},
		{"clients that share a node (C-5)", "release 6.0\nhost h nodes=2 cores=16 memory=256GB\nvm v host=h vcpus=12 coresPerSocket=4 memory=200GB hw=11\n",
			"N005", "v", finding.Medium, "18.0 GB on the home node of another client"},
		{"numa.nodeAffinity (C-12)", two + "vm v host=h vcpus=8 memory=600GB hw=20 numa.nodeAffinity=0\n",
			"N025", "v", finding.High, "88 GB do not fit any other node and are ballooned or swapped"},
		{"numa.nodeAffinity on a node without memory", "release 8.0U3\nhost h nodes=2 cores=16 nodeMemory=768GB,0\nvm v host=h vcpus=8 memory=64GB hw=20 numa.nodeAffinity=1\n",
			"N025", "v", finding.High, "64 GB do not fit any other node and are ballooned or swapped Clear numa.nodeAffinity"},
		{"a wide VM with a node without memory", "release 8.0U3\nhost h nodes=2 cores=16 nodeMemory=768GB,0\nvm v host=h vcpus=24 memory=256GB hw=20 coresPerSocket=12\n",
			"N005", "v", finding.High, "128 GB"},
		{"reservations together (B-30)", two + "vm a host=h vcpus=8 memory=1000GB hw=20 reserveAll=on\nvm b host=h vcpus=8 memory=100GB hw=20 reserveAll=on\n",
			"N032", "b", finding.High, "100 GB of reserved memory are more than the 13.2 GB that other VMs leave unreserved on h"},
		{"and no more than fits", two + "vm a host=h vcpus=8 memory=900GB hw=20 reserveAll=on\nvm b host=h vcpus=8 memory=100GB hw=20 reserveAll=on\n",
			"N032", "b", 0, ""},
		{"all memory of a host reserved (B-30)", "release 8.0U3\nhost h nodes=1 cores=16 memory=768GB\nvm v host=h vcpus=8 memory=768GB hw=20 reserveAll=on\n",
			"N032", "v", finding.High, "768 GB of reserved memory are more than the 759.7 GB that the host has to reserve"},
		{"a node of twelve (C-15)", "release 8.0U3\nhost h nodes=12 packages=4 cores=16 memory=3072GB\nvm v host=h vcpus=8 memory=256GB hw=20\n",
			"N005", "v", finding.Medium, "at most 235 GB: new memory leaves 20.9 GB of each node free"},
		{"a limit below the node keeps all of it local", two + "vm v host=h vcpus=8 memory=600GB memoryLimit=300GB hw=20\n", "N005", "v", 0, ""},
		{"the memory limit, though the host has room", two + "vm v host=h vcpus=8 memory=600GB memoryLimit=300GB hw=20\n",
			"N013", "v", finding.Medium, "up to 300 GB, whatever the host has free Remove the memory limit, or set the memory to at most 300 GB"},
		{"a limit above the node", two + "vm v host=h vcpus=8 memory=800GB memoryLimit=600GB hw=20\n",
			"N005", "v", finding.High, "its memory limit of 600 GB keeps the rest of its 800 GB out of the memory of the host"},
		{"a limit at the memory", two + "vm v host=h vcpus=8 memory=300GB memoryLimit=300GB hw=20\n", "N013", "v", 0, ""},
		{"a reservation above the limit", two + "vm v host=h vcpus=8 memory=300GB memoryReservation=200GB memoryLimit=100GB hw=20\n",
			"N032", "v", finding.Medium, "the memory reservation of 200 GB is above the memory limit of 100 GB"},
	} {
		said := ""
		for _, f := range runText(t, tt.text).Findings {
			if f.Rule == tt.rule && f.VM == tt.vm {
				said += f.Message + " " + f.Advice
				if f.Severity != tt.severity {
					t.Errorf("%s: %v %s", tt.name, f.Severity, said)
				}
			}
		}
		if !strings.Contains(said, tt.says) || tt.says == "" && said != "" {
			t.Errorf("%s: found %q, want %q", tt.name, said, tt.says)
		}
	}
}

// TestReclaimed: a memory limit is high where the source shows that it takes memory from the guest.
func TestReclaimed(t *testing.T) {
	f := given.Fleet(t, "s", []byte("release 8.0U3\nhost h nodes=2 cores=16 memory=1024GB\nvm v host=h vcpus=8 memory=64GB memoryLimit=32GB hw=20\n"))
	for _, want := range []finding.Severity{finding.Medium, finding.High} {
		r := rules.Run(f, rules.Options{})
		i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "N013" })
		if i < 0 || r.Findings[i].Severity != want {
			t.Errorf("%v: found %+v", want, r.Findings)
		}
		f.VMs[0].Reclaimed = numa.ReadAt(8*numa.GiB, "Ballooned")
	}
}
