package open

import (
	"example.org/homenode/internal/golden"
	"path/filepath"
	"strings"
	"testing"
)

// TestElsewhere names the command that reads a file.
func TestElsewhere(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ name, text, want string }{
		{"a.csv", "Name,NumCpu,MemoryMB\ndb01,8,4096\n", "homenode serve --fleet PATH shows it"},
		{"a.json", `{"virtualMachines":[{"name":"db01","config":{"hardware":{"numCPU":8}}}]}`, "homenode assess PATH reads it"},
		{"a.txt", "host h nodes=2 cores=18 memory=512GB\n", "is an inventory"},
		{"a.xlsx", "PK\x03\x04", "damaged or cut off"},
		{"empty.xlsx", "", "the file is empty"},
		{"report.xlsx", "<html><table><tr><th>VM</th></tr></table></html>", "found HTML or XML under the name of a workbook"},
		{"lscpu.txt", "NUMA node(s): 1\nCPU(s): 2\nOn-line CPU(s) list: 0-1\n", "homenode explain PATH prints it"},
		{"top.csv", "\"(PDH-CSV 4.0) (UTC)(0)\",\"x\"\n", "homenode capture PATH reads it"},
		{"plan.json", "{\n  \"format\": \"homenode-plan\",", "homenode fix SOURCE --plan PATH"},
		{"cut.json", "{\n\"format\": \"homenode-snapshot\",", "is an inventory"},
		{"answer.json", "{\n  \"format\": \"homenode-assessment\",", "an answer of this program (homenode-assessment)"},
		{"b.csv", "a,b\n1,2\n", ""},
	} {
		path := filepath.Join(dir, tt.name)
		golden.Write(t, path, []byte(tt.text))
		got := strings.ReplaceAll(Elsewhere(path), path, "PATH")
		if !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q in it", tt.name, got, tt.want)
		}
		if _, err := File(path); err != nil && strings.Contains(Way(err, path).Error(), "homenode assess "+path) {
			t.Errorf("%s: the error names the command that refused it: %v", tt.name, Way(err, path))
		}
	}
}

// TestParts reads a file of VMs and one of hosts as one fleet, beside another source.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for name, text := range map[string]string{"vms.csv": "Name,NumCpu,MemoryMB,VMHost\ndb01,8,4096,esx01\n", "hosts.csv": "Host,Sockets,Cores,MemoryGB,Version\nesx01,2,32,512,7.0.3\n",
		"fleet.txt": "release 8.0U3\nhost h nodes=2 cores=18 memory=512GB\n"} {
		paths = append(paths, filepath.Join(dir, name))
		golden.Write(t, paths[len(paths)-1], []byte(text))
	}
	f, unread, err := Fleet(t.Context(), paths, Options{})
	if err != nil || unread != nil || len(f.VMs) != 1 || len(f.Hosts) != 2 || f.VMs[0].Host == "" {
		t.Fatalf("%+v, %v, %v", f, unread, err)
	}
}

// TestRefusals describes a file that no reader takes, and lists what is read.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ name, text, want string }{
		{"a.csv", "Name,State\ndb01,on\n", "found a table with 2 columns: Name, State; no column states vCPUs"},
		{"a.json", `{"a":1}`, "found JSON whose objects have 1 column: a"},
		{"a.xml", "<a/>", "found XML that begins with"},
		{"b.txt", "\nName  PowerState Num CPUs MemoryGB\n----  ---------- -------- --------\na     PoweredOn  2        8,000\n", "found PowerCLI console output saved as text"},
		{"c.txt", "\nPowerState : PoweredOn\nNumCpu     : 2\nName       : a\n", "use Export-Csv or ConvertTo-Json instead"},
		{"a.txt", "hello", `found text that begins with "hello"`},
	} {
		path := filepath.Join(dir, tt.name)
		golden.Write(t, path, []byte(tt.text))
		_, err := File(path)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "a SOURCE is "+want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		parts := Anything(path, nil)
		if len(parts) != 1 || parts[0].Err == nil || !strings.Contains(parts[0].Err.Error(), tt.want) || !strings.Contains(parts[0].Err.Error(), "evidence is homenode measure") {
			t.Errorf("%s: %+v", tt.name, parts)
		}
	}
}

// TestWayOnce: a reason that the error states already is not said again.
func TestWayOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.xls")
	golden.Write(t, path, []byte("<html>"))
	_, err := File(path)
	if got := Way(err, path).Error(); strings.Count(got, "found HTML") != 1 {
		t.Error(got)
	}
}
