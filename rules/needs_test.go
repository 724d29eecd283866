package rules_test

import (
	"strings"
	"testing"

	"example.org/homenode/rules/finding"
)

// TestExclusiveAndShared: the whole of what a finding tells of cores: exclusive ones that a node has not, those that preferHT shares, and the sockets that
// SAP HANA is supported on.
func TestExclusiveAndShared(t *testing.T) {
	const high = "latency=high reserveAll=on cpuReservation=20800 numa.nodeAffinity=0 power=on\n"
	for _, tt := range []struct {
		name, fleet, rule string
		severity          finding.Severity
		text              string // of its message, its advice or its notice
	}{
		{"two VMs want more exclusive cores than their node has", "release 7.0U3\nhost h nodes=2 cores=14 memory=512GB mhz=2600\nvm a host=h vcpus=8 memory=64GB hw=19 " + high + "vm b host=h vcpus=8 memory=64GB hw=19 " + high,
			"N024", finding.Medium, "latency sensitivity High wants 16 of these cores"},
		{"threads serve those that share", "release 7.0U3\nhost h nodes=2 cores=14 memory=512GB mhz=2600 ht=on\nvm a host=h vcpus=8 memory=64GB hw=19 numa.nodeAffinity=0\nvm b host=h vcpus=8 memory=64GB hw=19 numa.nodeAffinity=0\n",
			"N024", finding.Low, "16 vCPUs on 14 cores"},
		{"removing a size leaves preferHT", "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB ht=on\nvm c host=h vcpus=24 memory=100GB hw=19 numa.vcpu.preferHT=TRUE numa.vcpu.maxPerVirtualNode=8\n",
			"N017", finding.Low, "its 24 vCPUs then share the 16 cores of 1 node"},
		{"memory and cores", "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB ht=on\nvm c host=h vcpus=24 memory=300GB hw=19 numa.vcpu.preferHT=TRUE\n", "N012", finding.High, "share the 16 cores"},
		{"SAP HANA on two halves", "release 7.0U3\nhost l nodes=2 packages=2 cores=28 memory=3TB\nvm c host=l vcpus=28 memory=1000GB hw=19 coresPerSocket=14 product=\"SAP HANA\" numa.vcpu.maxPerMachineNode=14\n",
			"N033", finding.Low, "fits 1 socket and runs as 2 × 14 vCPUs on parts of 2"},
	} {
		found := ""
		for _, f := range runText(t, tt.fleet).Findings {
			if f.Rule == tt.rule && f.Severity == tt.severity {
				found += f.Message + f.Advice + f.Notice
			}
		}
		if !strings.Contains(found, tt.text) {
			t.Errorf("%s: %q, want %q", tt.name, found, tt.text)
		}
	}
	r := runText(t, "release 7.0U3\nhost l nodes=2 packages=2 cores=28 memory=3TB\nvm c host=l vcpus=28 memory=1800GB hw=19 coresPerSocket=28 product=\"SAP HANA\" reserveAll=on\n")
	if _, plans := r.Proposals(); len(plans) != 0 {
		t.Errorf("SAP HANA of one socket is divided over two: %+v", plans[0].Needed)
	}
}
