package asker

import (
	"bytes"
	"errors"
	"html"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/ask/plain"
	"example.org/homenode/internal/golden"
)

const fleetText = `release 8.0U3
cluster prod
host esx[01-02] nodes=2 cores=16 memory=768GB
vm sql01 host=esx01 vcpus=24 coresPerSocket=1 memory=512GB hotAdd=on
vm web[01-20] vcpus=4 memory=16GB
`

// dropped returns an asker that has opened these files, and the address of the answer.
func dropped(t *testing.T, files map[string]string) (*Asker, string, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	var names []string
	for name, text := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	a := &Asker{Now: time.Now}
	address, _, _, err := a.Drop(t.Context(), names)
	return a, address, err
}

// proposed returns the facts about hosts that the form of a page proposes; "" if it has none.
func proposed(r *Reply) string {
	_, rest, _ := strings.Cut(r.HTML, `name="assume-host" value="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// flagged matches a flag of the program, which a page does not have.
var flagged = regexp.MustCompile(`[^-\w]--[a-z][^<]{0,40}`)

// TestDrop drops files of every kind, alone and together, and looks at the page that opens.
func TestDrop(t *testing.T) {
	read := func(name string) string {
		b := golden.Read(t, filepath.Join("..", "..", name))
		return string(b)
	}
	capture, vmx := read("cmd/homenode/testdata/corpus/inputs/esx02.csv"), read("cmd/homenode/testdata/corpus/inputs/db01.vmx")
	kvm := map[string]string{}
	for _, name := range []string{"capabilities.xml", "domains/sql01.xml", "domains/web01.xml", "numastat.txt", "pids.txt"} {
		kvm["kvm/kvm01/"+name] = read("cmd/homenode/testdata/corpus/inputs/kvm/kvm01/" + name)
	}
	lscpu := "Architecture: x86_64\nCPU(s): 24\nSocket(s): 24\nCore(s) per socket: 1\nThread(s) per core: 1\nNUMA node(s): 1\nNUMA node0 CPU(s): 0-23\n"
	for _, tt := range []struct {
		name, address, shows string
		files                map[string]string
	}{
		{"fleet", "/", "sql01", map[string]string{"fleet.txt": fleetText}},
		{"capture", "/capture", "esx02", map[string]string{"esx02.csv": capture}},
		{"both", "/", "sql01", map[string]string{"esx02.csv": capture, "fleet.txt": fleetText}},
		{"vmx", "/file", "db01", map[string]string{"db01.vmx": vmx}},
		{"guest", "/file", "24", map[string]string{"lscpu.txt": lscpu}},
		{"folder of KVM hosts", "/", "numastat", kvm},
		{"folder of vm-support", "/", "20 cores", map[string]string{
			"esx-01/vmfs/volumes/5a1f/db01/db01.vmx": vmx, "esx-01/commands/vmware_-vl.txt": "VMware ESXi 8.0.3 build-24022510\nVMware ESXi 8.0 Update 3\n",
			"esx-01/commands/localcli_hardware-cpu-global-get.txt": "   CPU Packages: 2\n   CPU Cores: 40\n   CPU Threads: 80\n   Hyperthreading Active: true\n",
			"esx-01/commands/localcli_hardware-memory-get.txt":     "   Physical Memory: 240470433792 Bytes\n   Reliable Memory: 0 Bytes\n   NUMA Node Count: 2\n",
		}},
		{"folder with a capture", "/", "sql01", map[string]string{"all/esx02.csv": capture, "all/fleet.txt": fleetText}},
		{"folder of a fleet", "/", "sql01", map[string]string{"all/notes.txt": "call Bob", "all/fleet.txt": fleetText}},
		{"fleet with evidence", "/", "sql01", map[string]string{"fleet.txt": fleetText, "sql01": lscpu}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, address, err := dropped(t, tt.files)
			if err != nil || address != tt.address {
				t.Fatalf("opens %q, %v, want %q", address, err, tt.address)
			}
			r, err := a.Answer(t.Context(), address, "page")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(r.HTML, "<h1>") || !strings.Contains(r.HTML, tt.shows) || !slices.Contains(r.Pages, address) {
				t.Errorf("pages %q; %.2000s", r.Pages, r.HTML)
			}
			if kvm := strings.Contains(tt.name, "KVM"); kvm == slices.Contains(r.Pages, whatIfPath) && address == fleetPath {
				t.Errorf("the pages are %q", r.Pages)
			}
			if found := flagged.FindAllString(r.HTML, -1); found != nil && !strings.Contains(r.HTML, "virsh") {
				t.Errorf("the page names flags: %q", found)
			}
		})
	}
	for name, text := range map[string]string{"empty.csv": "", "noise.bin": "\x00\x01\x02", "notes.txt": "call Bob", "broken.json": `{"format": `, "broken.xlsx": "PK\x03\x04broken"} {
		t.Run(name, func(t *testing.T) {
			if _, address, err := dropped(t, map[string]string{name: text}); err == nil || !strings.Contains(err.Error(), "RVTools") {
				t.Errorf("opens %q, %v, want an error with the formats that are read", address, err)
			}
		})
	}
}

// TestDropMore drops files one after the other, which are read together if they belong together.
func TestDropMore(t *testing.T) {
	capture, err := os.ReadFile(filepath.Join("..", "..", "cmd/homenode/testdata/corpus/inputs/esx02.csv"))
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := dropped(t, map[string]string{"RVTools_tabvInfo.csv": "VM,CPUs,Memory,Host,Cluster,HW version\nsql01,24,65536,esx01,prod,19\n"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text, address string
		all                 []string
	}{
		{"RVTools_tabvHost.csv", "Host,Cluster,# CPU,Cores per CPU,# Cores,# Memory,ESX Version\nesx01,prod,2,16,32,261797,VMware ESXi 8.0.3 build-24022510\n", "/", []string{"RVTools_tabvInfo.csv", "RVTools_tabvHost.csv"}},
		{"cut.csv", "\"(PDH-CSV 4.0) (UTC)(0)\",\"cut", "/capture", []string{"RVTools_tabvInfo.csv", "RVTools_tabvHost.csv", "cut.csv"}},
		{"esx02.csv", string(capture), "/capture", []string{"RVTools_tabvInfo.csv", "RVTools_tabvHost.csv", "esx02.csv"}},
		{"db01.vmx", "numvcpus = \"24\"\n", "/file", []string{"db01.vmx"}},
		{"esx02.csv", string(capture), "/capture", []string{"esx02.csv"}},
		{"fleet.txt", fleetText, "/capture", []string{"esx02.csv", "fleet.txt"}},
	} {
		golden.Write(t, tt.name, []byte(tt.text))
		address, _, all, err := a.Drop(t.Context(), []string{tt.name})
		if err != nil || address != tt.address || !slices.Equal(all, tt.all) {
			t.Errorf("after %s %q are open at %s, %v", tt.name, all, address, err)
		}
		r, err := a.Answer(t.Context(), address, "page")
		if tt.name == "cut.csv" && err == nil && strings.Contains(r.HTML, "found no tick in cut.csv") {
			continue
		}
		if err != nil || slices.Contains(r.Pages, planPath) != (len(tt.all) > 1) {
			t.Errorf("after %s the pages are %+v, %v", tt.name, r, err)
		}
		if len(tt.all) > 1 {
			if r, err := a.Answer(t.Context(), planPath, "page"); err != nil || !strings.Contains(r.HTML, "<h1>The plan changes 1 VM") && !strings.Contains(r.HTML, "<h1>Nothing to change") {
				t.Errorf("after %s the plan is %+v, %v", tt.name, r, err)
			}
		}
	}
}

// TestHostless drops files of one VM without a host, whose page asks for one, and states it.
func TestHostless(t *testing.T) {
	for _, name := range []string{"cmd/homenode/testdata/corpus/inputs/db01.vmx", "source/planned/testdata/packer.json"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("..", "..", name))
			if err != nil {
				t.Fatal(err)
			}
			a, address, err := dropped(t, map[string]string{filepath.Base(name): string(b)})
			if err != nil || address != filePath {
				t.Fatalf("opens %q, %v", address, err)
			}
			if _, err := a.Answer(t.Context(), fleetPath, "page"); err == nil || !strings.Contains(err.Error(), "names no host") {
				t.Errorf("without a host: %v", err)
			}
			r, err := a.Answer(t.Context(), filePath, "page")
			if err != nil || proposed(r) == "" {
				t.Fatalf("proposes %q, %v", proposed(r), err)
			}
			r, err = a.Answer(t.Context(), "/?"+url.Values{"assume-host": {proposed(r)}}.Encode(), "page")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(r.HTML, "hot add") || strings.Contains(r.HTML, "are missing") || !strings.Contains(r.Command, "--assume-host") {
				t.Errorf("%s: %.3000s", r.Command, r.HTML)
			}
		})
	}
}

// TestAssumed drops exports that lack facts about hosts. With the facts that the page proposes, all VMs are judged.
func TestAssumed(t *testing.T) {
	const vms = "VM,CPUs,Memory,Host,Cluster\nsql01,24,65536,esx01,prod\nweb01,2,4096,esx02,prod\n"
	for _, tt := range []struct{ name, hosts, want string }{
		{"no release", "Host,Cluster,# CPU,Cores per CPU,# Cores,# Memory\nesx01,prod,2,16,32,261797\nesx02,prod,2,16,32,261797\n", "release=8.0U3"},
		{"a host without a row", "Host,Cluster,# CPU,Cores per CPU,# Cores,# Memory\nesx01,prod,2,16,32,261797\n", "nodes=2 cores=16 memory=261797MB release=8.0U3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, address, err := dropped(t, map[string]string{"RVTools_tabvInfo.csv": vms, "RVTools_tabvHost.csv": tt.hosts})
			if err != nil {
				t.Fatal(err)
			}
			r, err := a.Answer(t.Context(), address, "page")
			if err != nil || proposed(r) != tt.want {
				t.Fatalf("proposes %q, %v, want %q", proposed(r), err, tt.want)
			}
			if _, err = a.Answer(t.Context(), "/?"+url.Values{"assume-host": {proposed(r)}}.Encode(), "page"); err != nil || a.held.Result.VMs != 2 || len(a.held.Result.Fleet.Hosts) != 2 {
				t.Fatalf("%d VMs judged, %v", a.held.Result.VMs, err)
			}
			for _, c := range a.held.Result.Clusters {
				for _, v := range c.VMs {
					if v.Home == nil {
						t.Errorf("%s is judged on other hosts than its own", v.Name)
					}
				}
			}
		})
	}
}

// TestSave saves an answer in every form, the plan as a script, and a snapshot that holds no names.
func TestSave(t *testing.T) {
	a, _, err := dropped(t, map[string]string{"fleet.txt": fleetText})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ address, form, name, has string }{
		{"/", "csv", "homenode-assess.csv", "sql01"}, {"/", "xlsx", "homenode-assess.xlsx", "PK"}, {"/", "json", "homenode-assess.json", `"homenode-assessment"`}, {"/", "html", "homenode-assess.html", "<!DOCTYPE html>"},
		{"/vm?vm=sql01", "markdown", "homenode-explain.md", "sql01"}, {"/plan", "powercli", "homenode-plan.ps1", "sql01"}, {"/plan", "json", "homenode-plan.json", "sql01"},
		{"/what-if?what-if=vm%3Dsql01+hotAdd%3Doff", "csv", "homenode-assess.csv", "sql01"},
	} {
		r, err := a.Answer(t.Context(), tt.address, tt.form)
		if err != nil {
			t.Errorf("%s as %s: %v", tt.address, tt.form, err)
			continue
		}
		if !bytes.Contains(r.Data, []byte(tt.has)) {
			t.Errorf("%s as %s: %s: %.300q", tt.address, tt.form, r.Name, r.Data)
		}
		if r.Name != tt.name {
			t.Errorf("%s as %s is saved as %s, want %s", tt.address, tt.form, r.Name, tt.name)
		}
	}
	snap, key, err := a.Snapshot()
	if err != nil || bytes.Contains(snap, []byte("sql01")) || !bytes.Contains(key, []byte("sql01")) {
		t.Errorf("the snapshot has the names, or the key has not: %v", err)
	}
}

// TestLinks follows the links of the pages of a fleet: each leads to an answer about the object that it names.
func TestLinks(t *testing.T) {
	a, _, err := dropped(t, map[string]string{"fleet.txt": fleetText})
	if err != nil {
		t.Fatal(err)
	}
	link, objects := regexp.MustCompile(` href="(/[^"]*)"`), 0
	followed, next := map[string]bool{}, []string{"/"}
	for len(next) > 0 && len(followed) < 150 {
		address := next[0]
		if next = next[1:]; followed[address] {
			continue
		}
		followed[address] = true
		r, err := a.Answer(t.Context(), address, "page")
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if id := u.Query().Get(strings.TrimPrefix(u.Path, "/")); id != "" && u.Path != "/cluster" { // which has the table of its VMs and kinds of hosts
			if objects++; !strings.Contains(r.Title, id) {
				t.Errorf("%s is titled %q", address, r.Title)
			}
		}
		for _, m := range link.FindAllStringSubmatch(r.HTML, -1) {
			if to, _, _ := strings.Cut(html.UnescapeString(m[1]), "#"); !strings.Contains(to, ".sort=") {
				next = append(next, to)
			}
		}
	}
	if objects < 10 || !slices.ContainsFunc(slices.Collect(maps.Keys(followed)), func(to string) bool { return strings.HasPrefix(to, "/rule?") }) {
		t.Errorf("%d pages are about an object: %v", objects, followed)
	}
}

// TestRefused asks for pages that do not exist and for files by name, which are errors.
func TestRefused(t *testing.T) {
	a, _, err := dropped(t, map[string]string{"fleet.txt": fleetText})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{"/nosuch": "no such page", "/vm?vm=nosuch": "nosuch", "/what-if?what-if=@fleet.txt": "reads no files", "/shape?vm=x&host=2x16c/768GB": "“VM”", "/plan?max-parallel=x": "“VMs at a time”: found", "/capture": "none is open", "/?assume-host=@x": "reads no files", "/?product=sql01": "“Software in guests”", "/shape?vm=24x512GB&host=2x16c/768GB&release=x": "release: found", "/shape": "the sentence above", "%zz": "no such page"} {
		r, err := a.Answer(t.Context(), address, "page")
		if err == nil && strings.Contains(r.HTML, `role="alert"`) && strings.Contains(r.HTML, "<form") { // in which it can be changed
			err = errors.New(r.HTML)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want an error with %q", address, r, err, want)
		}
	}
	if r, err := a.Answer(t.Context(), "/", "page"); err != nil || !strings.Contains(r.HTML, "sql01") {
		t.Errorf("after these the fleet is not shown: %v", err)
	}
	if _, err := (&Asker{Now: time.Now}).Answer(t.Context(), "/", "page"); err == nil {
		t.Error("a fleet is shown before a file was dropped")
	}
}

// TestTexts checks that only texts speak of controls: no attribute of a tag, and nothing in a picture, where names of VMs are.
func TestTexts(t *testing.T) {
	const html = `<p title="db --details">see --details, <a href="/vm?vm=db--details">db</a></p><svg class="picture"><text>db --details</text></svg><p>--details`
	want := strings.NewReplacer("see --details", "see “report” below", "<p>--details", "<p>“report” below").Replace(html)
	if got := plain.HTML(html, spoken); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
