package vmxlog

import (
	"example.org/homenode/internal/golden"
	"os"
	"path/filepath"
	"testing"
)

// samples are published lines of real logs, which lie beside the checkout.
const samples = "../../../shared/samples/vmware-log"

// TestSamples compares what is read of each published log with what a person
// reads in it.
func TestSamples(t *testing.T) {
	if _, err := os.Stat(samples); err != nil {
		t.Skipf("no published logs beside the checkout: %v", err)
	}
	files, err := filepath.Glob(samples + "/*")
	if second, _ := filepath.Glob(samples + "/../second/*.log"); err == nil {
		files = append(files, second...)
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples in %s: %v", samples, err)
	}
	const six = "[0 0 0 0 0 0 1 1 1 1 1 1]"
	const cookie10 = "numa.autosize.cookie is of 10 vCPUs, numvcpus is 12: the stored size is void"
	want := map[string]struct{ observation, warning string }{
		"esxi60_12vcpu_2vpd.txt": {
			"vmware.log f:1  host= start=power-on vcpus=12 memory=40 GB VPDs=" + six + " PPDs=" + six + " counts=2/2/12 slices=[]", ":7:34 " + cookie10},
		"esxi60_12vcpu_hotadd_1vpd_2ppd.txt": {
			"vmware.log f:1  host= start=power-on vcpus=12 memory=24 GB VPDs=[0 0 0 0 0 0 0 0 0 0 0 0] PPDs=[0 0 0 0 0 0 0 0 0 0 0 0] counts=1/2/12 slices=[]",
			":18 the VCPU lines name 1 PPDs, the summary (line 19) counts 2"},
		"esxi60_16vcpu_2vpd.txt": {
			"vmware.log f:1  host= start=power-on vcpus=16 memory=12 GB VPDs=[0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1] PPDs=[0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1] counts=2/2/16 slices=[]", ""},
		"esxi65_16vcpu_cps2_2vpd.txt": {
			"vmware.log f:1  host= start=power-on vcpus=16 memory=12 GB VPDs=[0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1] PPDs=[0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1] counts=2/2/0 slices=[]", ""},
		"esxi65_8vcpu_consolidate_false_1vpd_2ppd.txt": {
			"vmware.log f:1  host= start=power-on vcpus=8 memory=96 GB VPDs=[0 0 0 0 0 0 0 0] PPDs=[0 0 0 0 1 1 1 1] counts=1/2/0 slices=[]", ""},
		"esxi65_8vcpu_hotadd.txt": {
			"vmware.log f:1  host= start=power-on vcpus=8 memory=32 GB VPDs=[0 0 0 0 0 0 0 0] PPDs=[0 0 0 0 0 0 0 0] counts=1/1/0 slices=[]", ""},
		"esxi65_forcing_uma_line.txt": {
			"vmware.log f:1 2017-04-14T07:33:29.270Z host= start= vcpus=0 memory=0 B VPDs=[] PPDs=[] counts=1/0/0 slices=[]", ""},
		"esxi7_20vcpu_1vpd_1ppd.txt": {
			"vmware.log f:1  host= start=power-on vcpus=20 memory=64 GB VPDs=[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0] PPDs=[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0] counts=1/1/0 slices=[64 GB]", ""},
		"esxi7_20vcpu_2vpd_2ppd.txt": {
			"vmware.log f:1  host= start=power-on vcpus=20 memory=64 GB VPDs=[0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 1 1] PPDs=[0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 1 1] counts=2/2/0 slices=[32 GB 32 GB]", ""},
		"esxi8_12vcpu_manual_2vpd.txt": {
			"vmware.log f:1  host= start=power-on vcpus=12 memory=384 GB VPDs=" + six + " PPDs=" + six + " counts=2/2/0 slices=[192 GB 192 GB]", ""},
		"player155_pipe_dialect.log": {
			"vmware.log f:1 2020-05-21T20:05:59.865-07:00 host= start=power-on vcpus=2 memory=2 GB VPDs=[] PPDs=[] counts=0/0/0 slices=[]", ""},
		"player162_linux_numa_topology.log": {
			"vmware.log f:1 2022-08-01T14:54:44.897Z host= start=first power-on vcpus=2 memory=2 GB VPDs=[] PPDs=[] counts=1/0/0 slices=[]", ""},
		"player175_first_poweron_invalid_cookie.log": {
			"vmware.log f:1 2024-01-23T05:04:34.513Z host= start=first power-on vcpus=2 memory=1 GB VPDs=[] PPDs=[] counts=1/0/0 slices=[]", ""},
		"workstation162_hotadd_forcing_uma.log": {
			"vmware.log f:1 2024-03-13T00:43:51.456Z host= start=power-on vcpus=8 memory=12.1 GB VPDs=[] PPDs=[] counts=1/0/0 slices=[]", ""},
		"workstation17_hotadd_forcing_uma.log": {
			"vmware.log f:1 2023-09-19T17:43:14.792Z host= start=power-on vcpus=2 memory=2 GB VPDs=[] PPDs=[] counts=1/0/0 slices=[]", ""},
		"player1762_reusing_virtual_numa_topology.log": {
			"vmware.log f:1 2025-04-02T21:28:59.867Z host= start=power-on vcpus=1 memory=1.4 GB VPDs=[] PPDs=[] counts=1/0/0 slices=[]", ""},
		"workstation16_hotadd_resume_from_vmss.log": {
			"vmware.log f:1 2021-04-12T18:00:01.588-04:00 host= start=checkpoint vcpus=2 memory=2 GB VPDs=[] PPDs=[] counts=1/0/0 slices=[]", ""},
		"workstation176_4to1vcpu_resized_cookie_written.log": {
			"vmware.log f:1 2025-11-20T18:12:54.747Z host= start=power-on vcpus=1 memory=2 GB VPDs=[] PPDs=[] counts=1/0/0 slices=[]",
			":61:70 numa.autosize.cookie is of 4 vCPUs, numvcpus is 1: the stored size is void"},
		"workstation71_host_win32_dialect.log": {
			"vmware.log f:1  host= start=power-on vcpus=1 memory=1 GB VPDs=[] PPDs=[] counts=0/0/0 slices=[]", ""},
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			w, ok := want[filepath.Base(path)]
			if !ok {
				t.Fatal("this sample has not been read yet")
			}
			b := golden.Read(t, path)
			if !Detect(b) {
				t.Error("not detected")
			}
			l := read(t, "f", string(b))
			equal(t, "observations", summaries(l), []string{w.observation})
			got := ""
			if list := warnings(l); len(list) > 0 {
				got = list[0]
			}
			if got != w.warning {
				t.Errorf("warning %q, want %q", got, w.warning)
			}
		})
	}
}
