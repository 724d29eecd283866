package evidence_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/source/evidence"
)

// TestRead reads one small file of each kind, and files that are none.
func TestRead(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"lscpu", "CPU(s): 2\nOn-line CPU(s) list: 0-1\nNUMA node(s): 1\nNUMA node0 CPU(s): 0-1\n", "lscpu"},
		{"UTF-16", "\xff\xfen\x00o\x00d\x00e\x00 \x000\x00 \x00c\x00p\x00u\x00s\x00:\x00 \x000\x00\n\x00a\x00v\x00a\x00i\x00l\x00a\x00b\x00l\x00e\x00:\x00 \x001\x00 \x00n\x00o\x00d\x00e\x00s\x00 \x00(\x000\x00)\x00\n\x00", "numactl -H"},
		{"vmware.log", "2026-03-01T08:00:01.000Z In(05) vmx DICT numvcpus = \"2\"\n2026-03-01T08:00:01.000Z In(05) vmx PowerOn\n", "vmware.log"},
		{"bare lines of a log", "DICT                  numvcpus = \"2\"\nnumaHost: 2 VCPUs 1 VPDs 1 PPDs\n", "vmware.log"},
		{".vmx", ".encoding = \"UTF-8\"\nconfig.version = \"8\"\nnumvcpus = \"2\"\n", ".vmx"},
		{"sched-stats", "groupName groupID clientID homeNode affinity nWorlds vmmWorlds localMem remoteMem currLocal cummLocal\nvm.1 2 0 0 3 4 4 1024 0 100 100\n", "sched-stats -t numa-clients"},
		{"esxcli", "   CPU Packages: 2\n   CPU Cores: 20\n   CPU Threads: 40\n   Hyperthreading Active: true\n", "esxcli hardware cpu global get"},
		{"MLC", "Intel(R) Memory Latency Checker - v3.9a\nMeasuring idle latencies (in ns)...\n\t\tNuma node\nNuma node\t     0\t\n       0\t  78.5\t\n", "Intel MLC"},
	} {
		docs, err := evidence.Documents(tt.name, strings.NewReader(tt.text))
		if err != nil || len(docs) != 1 || docs[0].File().Format != tt.want || docs[0].File().Name != tt.name {
			t.Errorf("%s: %d documents, %v", tt.name, len(docs), err)
			continue
		}
		if len(docs[0].File().Facts) == 0 {
			t.Errorf("%s: no facts", tt.name)
		}
	}
	for _, text := range []string{"a poem\n", "\x7fELF\x00\x00", "{}", "key = \"value\"\n", "1,2,3\n"} {
		if docs, err := evidence.Documents("x", strings.NewReader(text)); !errors.Is(err, evidence.ErrUnknown) || docs != nil {
			t.Errorf("%q: %d documents, %v", text, len(docs), err)
		}
	}
	for text, want := range map[string]string{
		`"(PDH-CSV 4.0) (UTC)(0)","\\\\esx01\\Memory\\Free MBytes"` + "\n": "x: found esxtop batch CSV, which shows what happened over time: homenode capture x reads it",
		"|Server|TimeStampInUsec,U64|Time,S64|\n":                          "x: found esxtop CounterInfo, which shows what happened over time: homenode capture x reads it",
		"==NUM-OF-OBJ==\n|Server|PCPU,1|\n":                                "x: found esxtop FetchStats, which shows what happened over time: homenode capture x reads it",
	} {
		if docs, err := evidence.Documents("x", strings.NewReader(text)); !errors.Is(err, evidence.ErrUnknown) || err.Error() != want || docs != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := evidence.Documents("x", strings.NewReader("\n \n")); err == nil || err.Error() != "x: found an empty file, want one of "+evidence.Names() {
		t.Errorf("empty: %v", err)
	}
}

// overTime are the folders of samples that homenode capture reads.
var overTime = []string{"esxtop", "esxtop-fetchstats"}

// folders are what the files of each folder of samples are read as; a folder
// without formats is of other readers, or of none yet.
var folders = map[string][]string{
	"coreinfo":          {"Coreinfo"},
	"esxcli":            {"esxcli hardware cpu global get", "esxcli hardware memory get", "esxcli hardware pci list", "esxcli system coredump file list"},
	"esxi-advanced":     nil,
	"esxtop":            nil,
	"esxtop-fetchstats": nil,
	"esxtop-screen":     {"esxtop memory screen"},
	"fio":               {"fio JSON"},
	"hammerdb":          {"HammerDB"},
	"hcibench":          {"HCIBench"},
	"iometer":           {"Iometer results.csv"},
	"lscpu":             {"lscpu", "lscpu -J", "lscpu -e"},
	"memstats":          {"memstats"},
	"mlc":               {"Intel MLC"},
	"numactl":           {"numactl -H"},
	"passmark":          {"PassMark"},
	"rvtools":           nil,
	"sched-stats":       {"sched-stats -t numa-clients", "sched-stats -t numa-cnode", "sched-stats -t numa-pnode"},
	"vm-support":        nil,
	"vmware-log":        {"vmware.log"},
	"vmx":               {".vmx"},
	"vsish":             {"vsish"},
	"vsphere-api":       nil,
}

// TestSamples checks that every published file is taken for what it is, and no other
// file for one.
func TestSamples(t *testing.T) {
	const root = "../../../shared/samples"
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no published files beside the checkout: %v", err)
	}
	paths, err := filepath.Glob(root + "/*/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples in %s: %v", root, err)
	}
	for _, path := range paths {
		folder := filepath.Base(filepath.Dir(path))
		if folder == "kvm" || folder == "second" || folder == "advice" {
			continue // other hypervisors, files of several kinds, and advice in words
		}
		want, ok := folders[folder]
		if !ok {
			t.Errorf("%s: unknown folder", path)
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := evidence.Documents(path, f)
		if e := f.Close(); e != nil {
			t.Error(e)
		}
		if capture := err != nil && strings.Contains(err.Error(), "homenode capture "); capture != slices.Contains(overTime, filepath.Base(filepath.Dir(path))) {
			t.Errorf("%s: homenode capture is named: %v", path, err)
		}
		switch {
		case want == nil && !errors.Is(err, evidence.ErrUnknown):
			t.Errorf("%s: read as %d documents, %v", path, len(docs), err)
		case want != nil && (err != nil || len(docs) == 0):
			t.Errorf("%s: %d documents, %v", path, len(docs), err)
		case want != nil && !slices.Contains(want, docs[0].File().Format):
			t.Errorf("%s: read as %s", path, docs[0].File().Format)
		}
	}
}
