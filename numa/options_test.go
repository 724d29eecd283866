package numa_test

import (
	"testing"

	"example.org/homenode/numa"
)

func TestMitigationOf(t *testing.T) {
	const xeon, epyc = "Intel(R) Xeon(R) Gold 6148 CPU", "AMD EPYC 7742"
	set := func(pairs ...string) (s numa.Settings) {
		for i := 0; i < len(pairs); i += 2 {
			s = append(s, numa.Setting{Key: pairs[i], Value: pairs[i+1]})
		}
		return s
	}
	for _, tt := range []struct {
		name    string
		cpu     string
		release numa.Release
		options numa.Settings
		want    numa.Mitigation
	}{
		{"nothing set", xeon, numa.ESXi70, nil, numa.NoMitigation},
		{"version 1", xeon, numa.ESXi70, set("VMkernel.Boot.hyperthreadingMitigation", "TRUE"), numa.SCAv1},
		{"bare, in any case of letters", xeon, numa.ESXi70, set("hyperThreadingMitigation", " true "), numa.SCAv1},
		{"as a number", xeon, numa.ESXi70, set("hyperthreadingMitigation", "1"), numa.SCAv1},
		{"switched off", xeon, numa.ESXi70, set("hyperthreadingMitigation", "FALSE", "hyperthreadingMitigationIntraVM", "FALSE"), numa.NoMitigation},
		{"version 2", xeon, numa.ESXi70, set("hyperthreadingMitigation", "TRUE", "hyperthreadingMitigationIntraVM", "FALSE"), numa.SCAv2},
		{"version 1 said in full", xeon, numa.ESXi70, set("hyperthreadingMitigation", "TRUE", "hyperthreadingMitigationIntraVM", "TRUE"), numa.SCAv1},
		{"before 6.7 U2 there is no version 2", xeon, numa.ESXi67U2 - 1, set("hyperthreadingMitigation", "TRUE", "hyperthreadingMitigationIntraVM", "FALSE"), numa.SCAv1},
		{"from 6.7 U2 on there is", xeon, numa.ESXi67U2, set("hyperthreadingMitigation", "TRUE", "hyperthreadingMitigationIntraVM", "FALSE"), numa.SCAv2},
		{"no L1TF in AMD's", epyc, numa.ESXi70, set("hyperthreadingMitigation", "TRUE"), numa.NoMitigation},
		{"unknown processor", "", numa.ESXi70, set("hyperthreadingMitigation", "TRUE"), numa.SCAv1},
		{"forced", epyc, numa.ESXi70, set("forceHyperthreadingMitigation", "TRUE"), numa.SCAv2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := numa.Host{Release: numa.ReadAt(tt.release, "test"), CPUModel: numa.ReadAt(tt.cpu, "test"), Options: numa.ReadAt(tt.options, "test")}
			if got := numa.MitigationOf(&h); got != tt.want {
				t.Errorf("MitigationOf = %d, want %d", got, tt.want)
			}
		})
	}
}
