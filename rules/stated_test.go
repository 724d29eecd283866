package rules_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/kvm"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/snapshot"
)

// FuzzStated judges whatever a definition states: each finding is of a rule of KVM, no worse than that allows, and has evidence.
func FuzzStated(f *testing.F) {
	paths, err := filepath.Glob("check/*/testdata/fires.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data := golden.Read(f, path)
		for _, file := range txtar.Parse(data).Files {
			if strings.HasSuffix(file.Name, ".xml") {
				f.Add(file.Data)
			}
		}
	}
	f.Add([]byte("<vcpu>2</vcpu><topology sockets='4096' dies='4096' cores='4096' threads='4096'/>"))
	host := func(t testing.TB) []byte { return capabilities(t, "kvm01", "nodes=2 cores=16 memory=256GB") }
	f.Fuzz(func(t *testing.T, data []byte) {
		fleet, err := kvm.ReadFS("kvm", fstest.MapFS{"kvm01/capabilities.xml": {Data: host(t)}, "kvm01/domains/x.xml": {Data: data}})
		if err != nil {
			return
		}
		r := rules.Run(fleet, rules.Options{})
		for _, x := range r.Findings {
			if one := r.Rule(x.Rule); one == nil || one.Stated == nil || x.Severity > one.Severity || len(x.Evidence) == 0 || x.Message == "" || x.Advice == "" {
				t.Errorf("%+v", x)
			}
		}
	})
}

// TestProxmoxPages: Proxmox reserves the pages of a VM at its start, so that only those of 1 GB are doubtful, and low.
func TestProxmoxPages(t *testing.T) {
	for pages, want := range map[string]string{"2": "", "1024": "low node 1"} {
		conf := "cores: 8\nhugepages: " + pages + "\nmemory: 16384\nnuma: 1\nnuma0: cpus=0-7,hostnodes=1,memory=16384,policy=bind\n"
		fleet, err := kvm.ReadFS("kvm", fstest.MapFS{"kvm01/capabilities.xml": {Data: capabilities(t, "kvm01", "nodes=2 cores=16 memory=256GB pages=64,0")}, "kvm01/domains/a.conf": {Data: []byte(conf)}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range rules.Run(fleet, rules.Options{}).Findings {
			if f.Rule == "K016" && strings.Contains(f.Message, "from node 1, and 0 are reserved") {
				got += f.Severity.String() + " node 1"
			}
		}
		if got != want {
			t.Errorf("pages of %s MB: found %q, want %q", pages, got, want)
		}
	}
}

// TestStatedTemplate checks that a template of Proxmox is named and not judged.
func TestStatedTemplate(t *testing.T) {
	fleet, err := kvm.ReadFS("kvm", fstest.MapFS{"kvm01/capabilities.xml": {Data: capabilities(t, "kvm01", "nodes=2 cores=16 memory=256GB")},
		"kvm01/100.conf": {Data: []byte("name: golden\nsockets: 40\ncores: 1\nmemory: 4096\ntemplate: 1\n")}})
	if err != nil {
		t.Fatal(err)
	}
	r := rules.Run(fleet, rules.Options{})
	if len(r.Findings) > 0 || len(r.Unjudged) != 1 || !strings.Contains(r.Unjudged[0].Text, "golden: it is a template") {
		t.Errorf("found %v and %v", r.Findings, r.Unjudged)
	}
}

// TestAbsentCPUs: CPUs that the host lacks are found in every form, once, and count as no CPUs for the vCPUs.
func TestAbsentCPUs(t *testing.T) {
	const domain = "<domain type='kvm'><name>a</name><memory unit='GiB'>4</memory><vcpu cpuset='0,2,4,999'>4</vcpu><features><acpi/></features></domain>"
	for name, text := range map[string]string{
		"a.conf": "cores: 4\nmemory: 4096\naffinity: 0,2,4,999\nargs: -device x -smbios type=0\n",
		"b.conf": "cores: 4\nargs: -device x\naffinity: 0,2,4,999",
		"a.args": "taskset -c 0,2,4,999 qemu-system-x86_64 -smp 4 -m 4G\n",
		"a.xml":  domain,
		"b.xml":  strings.Replace(strings.Replace(domain, " cpuset='0,2,4,999'", "", 1), "<features>", "<cputune><vcpupin vcpu='0' cpuset='0,2,4,999'/><vcpupin vcpu='1' cpuset='0,2,4'/><vcpupin vcpu='2' cpuset='0,2,4'/><vcpupin vcpu='3' cpuset='0,2,4'/></cputune><features>", 1),
	} {
		fleet, err := kvm.ReadFS("kvm", fstest.MapFS{"kvm01/capabilities.xml": {Data: capabilities(t, "kvm01", "nodes=2 cores=16 memory=256GB")}, "kvm01/" + name: {Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range rules.Run(fleet, rules.Options{}).Findings {
			got = append(got, f.Rule+" "+f.Severity.String()+" "+f.Message)
		}
		if all := strings.Join(got, "\n"); strings.Count(all, "CPUs 999, which kvm01 has not") != 1 || !strings.Contains(all, "K010 high 4 of its 4 vCPUs may run on 3 CPUs") {
			t.Errorf("%s: found %s", name, all)
		}
	}
	for args, want := range map[string]bool{"-smp 8": true, "-cpu host -m 8G": true, "-cpu host,-smp -device x": false} {
		fleet, err := kvm.ReadBytes("a.conf", []byte("memory: 16384\ncores: 40\nnuma: 0\nargs: "+args+"\n"))
		if err != nil || len(fleet.VMs) != 1 || fleet.VMs[0].VCPUs.Value != 40 {
			t.Errorf("%s: %+v, %v", args, fleet, err)
			continue
		}
		if (fleet.VMs[0].Stated.Strays != nil) != want {
			t.Errorf("%s: strays %v", args, fleet.VMs[0].Stated.Strays)
		}
	}
}

// TestDefaultPages: huge pages without a size are those of the host's default, whose sizes are known or at least 2 MB.
func TestDefaultPages(t *testing.T) {
	for _, tt := range []struct{ host, cells, want string }{
		{"", "8192 8192", ""},
		{"", "8193 8191", "high"},
		{" pages=64,64", "8192 8192", ""},
		{" pages=64,64", "8704 7680", "high"},
	} {
		first, second, _ := strings.Cut(tt.cells, " ")
		xml := "<domain type='kvm'><name>a</name><memory unit='MiB'>16384</memory><memoryBacking><hugepages/></memoryBacking><vcpu>8</vcpu><features><acpi/></features>" +
			"<cpu><topology sockets='2' cores='4' threads='1'/><numa><cell id='0' cpus='0-3' memory='" + first + "' unit='MiB'/><cell id='1' cpus='4-7' memory='" + second + "' unit='MiB'/></numa></cpu></domain>"
		fleet, err := kvm.ReadFS("kvm", fstest.MapFS{"kvm01/capabilities.xml": {Data: capabilities(t, "kvm01", "nodes=2 cores=16 memory=256GB"+tt.host)}, "kvm01/domains/a.xml": {Data: []byte(xml)}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range rules.Run(fleet, rules.Options{}).Findings {
			if f.Rule == "K005" {
				got += f.Severity.String()
			}
		}
		if got != tt.want {
			t.Errorf("%q, cells of %s: found %q, want %q", tt.host, tt.cells, got, tt.want)
		}
	}
}

// TestSnapshot: a snapshot has everything of KVM that is judged, for every input of the repository.
func TestSnapshot(t *testing.T) {
	judged, inputs := map[string]bool{}, kvmInputs(t)
	for path, fleet := range inputs {
		fleet.Unread = []string{"kvm01/domains/lost.xml"}
		var file bytes.Buffer
		if err := snapshot.Write(&file, fleet); err != nil {
			t.Fatal(err)
		}
		again, err := snapshot.Read("kvm.json", &file)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		want, got := rules.Run(fleet, rules.Options{}), rules.Run(again, rules.Options{})
		if !reflect.DeepEqual(got.Judgement, want.Judgement) || !reflect.DeepEqual(got.Unjudged, want.Unjudged) || !reflect.DeepEqual(again, fleet) {
			t.Errorf("%s: of the snapshot found\n%+v\nof the folder\n%+v", path, got.Findings, want.Findings)
		}
		for _, f := range got.Findings {
			judged[f.Rule] = true
		}
	}
	for _, one := range rules.All {
		if one.Stated != nil && !judged[one.ID] {
			t.Errorf("%d inputs, and none lets %s find anything", len(inputs), one.ID)
		}
	}
}

// kvmInputs returns the fleets of KVM of all test data, by their files: those of the checks, and those that a txtar file or XML states.
func kvmInputs(t *testing.T) map[string]*numa.Fleet {
	t.Helper()
	out := map[string]*numa.Fleet{}
	for _, one := range rules.All {
		paths, err := filepath.Glob("check/" + one.Name + "/testdata/*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if one.Stated != nil {
				out[path] = kvmFleet(t, path)
			}
		}
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || out[path] != nil || !strings.Contains(path, "testdata") || ext != ".xml" && ext != ".txtar" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := fstest.MapFS{"kvm01/domains/x.xml": {Data: data}}
		for _, f := range txtar.Parse(data).Files {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
		if f, err := kvm.ReadFS("kvm", files); err == nil {
			out[path] = f
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestHypervisors: the rules of one hypervisor are silent about the other.
func TestHypervisors(t *testing.T) {
	for _, x := range rules.Run(kvmFleet(t, "check/nodepersocket/testdata/fires.txtar"), rules.Options{}).Findings {
		if !strings.HasPrefix(x.Rule, "K") {
			t.Errorf("%s judges KVM: %s", x.Rule, x.Message)
		}
	}
	f := given.Fleet(t, "x", []byte("release 8.0\nhost esx01 nodes=2 cores=16 memory=256GB\nvm a host=esx01 vcpus=24 coresPerSocket=1 memory=64GB hotAdd=on\n"))
	found := rules.Run(f, rules.Options{}).Findings
	for _, x := range found {
		if strings.HasPrefix(x.Rule, "K") {
			t.Errorf("%s judges ESXi: %s", x.Rule, x.Message)
		}
	}
	if len(found) == 0 {
		t.Error("nothing was found of ESXi: the test looks at nothing")
	}
}
