package anonymise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/product"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/snapshot"
)

// testFleet has names in every place that can hold one.
func testFleet() *numa.Fleet {
	settings := numa.Settings{
		{Key: "numa.vcpu.preferHT", Value: "TRUE"},
		{Key: "sched.swap.derivedName", Value: "/vmfs/volumes/5f0c1a2b-11223344-aaaa-0025b5ea0e13/Payroll DB/Payroll DB-9.vswp"},
	}
	config := numa.Config{
		VCPUs:          numa.ReadAt(24, "config.hardware.numCPU"),
		CoresPerSocket: numa.ReadAt(1, "config.hardware.numCoresPerSocket"),
		Memory:         numa.ReadAt(64*numa.GiB, "config.hardware.memoryMB"),
		CPUHotAdd:      numa.ReadAt(true, "config.cpuHotAddEnabled"),
		Power:          numa.ReadAt(numa.PoweredOn, "runtime.powerState"),
		GuestOS:        numa.ReadAt("windows2019srv_64Guest", "config.guestId"),
		Hardware:       numa.ReadAt(19, "config.version"),
		Settings:       numa.ReadAt(settings, "config.extraConfig"),
	}
	host := func(id, name string, release numa.Release) numa.Host {
		return numa.Host{
			ID: id, Name: name, Cluster: "domain-c7", At: "/Zurich/host/Finance/" + name,
			Release: numa.ReadAt(release, "config.product.version"), Cores: numa.ReadAt(20, "hardware.cpuInfo"), Threads: numa.ReadAt(40, "hardware.cpuInfo"),
			Packages: numa.ReadAt(2, "hardware.cpuInfo"), Memory: numa.ReadAt(128*numa.GiB, "hardware.memorySize"),
			Vendor: numa.ReadAt("Dell", "summary.hardware.vendor"), Options: numa.ReadAt(numa.Settings(nil), "config.option"),
			Nodes: numa.DerivedFrom([]numa.Node{
				{ID: 0, Package: 0, Cores: 10, Threads: 20, Memory: numa.ReadAt(64*numa.GiB, "esx71-notes.txt:3")},
				{ID: 1, Package: 1, Cores: 10, Threads: 20, Memory: numa.ReadAt(64*numa.GiB, "esx71-notes.txt:4")},
			}, "--nodes-per-socket '"+name+"=1'"),
		}
	}
	return &numa.Fleet{
		Source: "https://vc77.zurich.acme.example/sdk", Collected: "2025-03-03T10:11:12Z",
		Clusters: []numa.Cluster{{ID: "domain-c7", Name: "Finance", At: "/Zurich/host/Finance"}},
		Hosts: []numa.Host{
			host("host-12", "esx71.zurich.acme.example", numa.ESXi70+3),
			host("host-13", "ESX72.zurich.acme.example", numa.ESXi80),
			host("host-14", "192.0.2.14", numa.ESXi80),
		},
		VMs: []numa.VM{
			{ID: "vm-41", Name: "Payroll DB", Cluster: "domain-c7", Host: "host-12", Folder: "/Zurich/vm/Ledger Team", UUID: "4233AAF0-1b2c-3d4e-5f60-718293a4b5c6",
				Tags: []string{"owner:muller", "tier:gold"}, At: "/Zurich/vm/Ledger Team/Payroll DB", Config: config,
				Observed: []numa.Observation{{
					By: numa.ByVMwareLog, At: "[nfs-ledger] Payroll DB/vmware-3.log:812", Time: "2025-03-01T00:00:00Z", Host: "ESX71", Config: config,
					VPDCount: numa.ReadAt(2, "line 830"), VPDs: numa.ReadAt(slices.Repeat([]int{0, 1}, 12), "lines from 831 on"),
					Clients: numa.ReadAt([]numa.ClientSeen{{ID: 0, Home: 1, VCPUs: 24}}, "payroll db/sched.txt line 4"),
				}}},
			{ID: "vm-42", Name: "payroll db", Cluster: "domain-c7", Host: "host-13", At: "/Zurich/vm/payroll db", Config: config},
			{ID: "vm-43", Name: "web", Cluster: "domain-c7", Host: "host-14", Config: config},
		},
		Notes: []numa.Note{
			{At: "esx71.zurich.acme.example", Text: `host ESX71.ZURICH.acme.example (192.0.2.71, fe80::1:2, 00:50:56:aa:bb:cc) does not answer: "Muller rebooted it", see https://wiki.acme.example/x?y=1`},
			{Text: `VM Payroll DB on [nfs-ledger] old/Payroll.vmx is owned by ACME\muller (hans.muller@acme.example)`},
		},
	}
}

func written(t *testing.T, f *numa.Fleet) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := snapshot.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestNothingLeaks(t *testing.T) {
	fleet := testFleet()
	before := written(t, fleet)
	out, key := Fleet(fleet, product.Public)
	after := written(t, out)
	if !bytes.Equal(written(t, fleet), before) {
		t.Error("the fleet that was given has changed")
	}
	low := bytes.ToLower(after)
	for _, secret := range []string{
		"payroll", "ledger", "muller", "esx71", "esx72", "zurich", "acme", "finance", "192.0.2", "fe80", "00:50:56", "4233aaf0", "718293a4b5c6", "vc77",
		"wiki", "nfs-", "gold", "rebooted", "5f0c1a2b", "host-12", "vm-41", "domain-c7", `"web"`, "hans", "vmfs",
	} {
		if i := bytes.Index(low, []byte(secret)); i >= 0 {
			t.Errorf("%q is in …%s…", secret, after[max(i-60, 0):min(i+60, len(after))])
		}
	}
	for _, name := range key.Names() {
		if len(name) > 3 && bytes.Contains(low, []byte(strings.ToLower(name))) {
			t.Errorf("%q is still there", name)
		}
	}
	for _, kept := range []string{"numa.vcpu.preferHT", "windows2019srv_64Guest", "config.hardware.numCPU", "2025-03-03T10:11:12Z", "lines from 831 on", `"Dell"`, "does not answer"} {
		if !bytes.Contains(after, []byte(kept)) {
			t.Errorf("%q is gone", kept)
		}
	}
	if err := out.Check(); err != nil {
		t.Error(err)
	}
	// Hosts of one domain keep one, the short name keeps its host, spellings match.
	h0, h1, seen := out.Hosts[0].Name, out.Hosts[1].Name, out.VMs[0].Observed[0].Host
	label, domain, _ := strings.Cut(h0, ".")
	if _, domain1, _ := strings.Cut(h1, "."); domain != domain1 || !strings.EqualFold(seen, label) || seen == label {
		t.Errorf("hosts %s and %s, seen on %s", h0, h1, seen)
	}
	if a, b := out.VMs[0].Name, out.VMs[1].Name; a == b || !strings.EqualFold(a, b) {
		t.Errorf("VMs %q and %q differ in more than case", a, b)
	}
}

func TestReveal(t *testing.T) {
	demoFleet := given.Demo(t)
	for name, fleet := range map[string]*numa.Fleet{"own": testFleet(), "demo": demoFleet, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			out, key := Fleet(fleet, product.Public)
			again, _ := Fleet(fleet, product.Public)
			if !bytes.Equal(written(t, out), written(t, again)) {
				t.Error("two runs differ")
			}
			var b bytes.Buffer
			if err := key.Write(&b); err != nil {
				t.Fatal(err)
			}
			key, err := ReadKey("fleet.key", &b)
			if err != nil {
				t.Fatal(err)
			}
			read, err := snapshot.Read("x", bytes.NewReader(written(t, out)))
			if err != nil {
				t.Fatal(err)
			}
			back, err := key.Fleet(read)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(written(t, back), written(t, fleet)) {
				t.Errorf("not the same bytes:\n%s\nwant\n%s", written(t, back), written(t, fleet))
			}
			// What is anonymous can be made so again.
			twice, key2 := Fleet(out, nil)
			if back, err = key2.Fleet(twice); err != nil || !bytes.Equal(written(t, back), written(t, out)) {
				t.Errorf("the second time: %v", err)
			}
		})
	}
}

// TestSameFindings judges both fleets: the findings are the same but for names.
func TestSameFindings(t *testing.T) {
	demoFleet := given.Demo(t)
	for name, fleet := range map[string]*numa.Fleet{"own": testFleet(), "demo": demoFleet} {
		out, key := Fleet(fleet, product.Public)
		want, got := rules.Run(fleet, rules.Options{}), rules.Run(out, rules.Options{})
		if len(want.Findings) < 3 {
			t.Fatalf("%s: %d findings are too few to compare", name, len(want.Findings))
		}
		a, b := judged(t, want.Findings, strings.Clone), judged(t, got.Findings, key.Text)
		if !slices.Equal(a, b) {
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Errorf("%s: %d and %d findings; the first that differ:\n%s\n%s", name, len(a), len(b), a[i], b[i])
					break
				}
			}
		}
		if got.Pairs != want.Pairs || got.VMs != want.VMs || len(got.Unjudged) != len(want.Unjudged) {
			t.Errorf("%s: %d pairs of %d VMs, want %d of %d", name, got.Pairs, got.VMs, want.Pairs, want.VMs)
		}
	}
}

// judged writes findings with their original names, sorted.
func judged(t *testing.T, findings []finding.Finding, reveal func(string) string) []string {
	t.Helper()
	var out []string
	for _, f := range findings {
		f.On = slices.Sorted(slices.Values(f.On))
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, reveal(string(b)))
	}
	slices.Sort(out)
	return out
}

func TestTextForms(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"line 12:24", "line 12:24"},
		{"config.hardware.numCPU", "config.hardware.numCPU"},
		{"vInfo!B2", "vInfo!B2"},
		{"28 cores in equal parts on 2 nodes", "28 cores in equal parts on 2 nodes"},
		{"at 10:11:12", "at 10:11:12"},
		{"10.1.2.3:443", "address-0001:443"},
		{"2001:db8:0:0:0:0:0:1 and ::1", "address-0001 and address-0002"},
		{`C:\Users\me\x.log:3`, "place-0001:3"},
		{"see db9.corp.local.", "see place-0001."},
		{`found "Ünlü", want`, `found "phrase-0001", want`},
		{"4C4C4544-0054-5810-8033-B3C04F48354A", "identity-0001"},
	} {
		f := &numa.Fleet{Notes: []numa.Note{{Text: tt.in}}}
		out, key := Fleet(f, nil)
		if got := out.Notes[0].Text; got != tt.want {
			t.Errorf("%q became %q, want %q", tt.in, got, tt.want)
		}
		if got := key.Text(out.Notes[0].Text); got != tt.in {
			t.Errorf("%q came back as %q", tt.in, got)
		}
	}
}

func TestKeyErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "found no key of homenode: k:1:1: found the end of the file: it is cut short"},
		{`{"hello": 1}`, `found no key of homenode: k:1:2: found "hello", which no key has here`},
		{`{"format": "x"}`, `k: found format "x", want "homenode-key"`},
		{`{"format": "homenode-key", "version": 2}`, "k: found version 2, this program reads 1"},
		{`{"format": "homenode-key", "version": 1, "tag": "("}`, `k: found tag "(", want none or x`},
		{`{"format": "homenode-key", "version": 1, "names": {"a": "b"}}`, `k: found "a", want a pseudonym such as host-0001`},
	} {
		if _, err := ReadKey("k", strings.NewReader(tt.in)); err == nil || err.Error() != tt.want {
			t.Errorf("ReadKey(%s): %v, want %s", tt.in, err, tt.want)
		}
	}
	one, _ := Fleet(testFleet(), product.Public)
	_, other := Fleet(&numa.Fleet{Source: "host-1"}, nil)
	if _, err := other.Fleet(one); err == nil || err.Error() != "the key does not know Domainx-0001, Folderx-0003, Hostx-0002, Machinex-0001, addressx-0001 and 33 more: it belongs to another fleet" {
		t.Errorf("error %v", err)
	}
	if _, err := other.Fleet(testFleet()); err == nil {
		t.Error("a fleet without pseudonyms was revealed")
	}
}

func FuzzText(f *testing.F) {
	f.Add("host esx71 (192.0.2.1) /vmfs/a", "esx71")
	f.Add("Ésx1 host-0001 hostx-0002", "ésx1")
	f.Fuzz(func(t *testing.T, text, name string) {
		fleet := &numa.Fleet{Source: text, VMs: []numa.VM{{ID: "1", Name: name, At: text}, {ID: name + "2", Name: strings.ToUpper(name)}}, Notes: []numa.Note{{Text: text + name}}}
		out, key := Fleet(fleet, product.Public)
		back, err := key.Fleet(out)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, fleet) {
			t.Fatalf("got %v\nwant %v\nvia %v", back, fleet, out)
		}
	})
}

func BenchmarkFleet10000VMs(b *testing.B) {
	small := given.Demo(b)
	fleet := *small
	fleet.VMs = nil
	for i := range 10000 {
		v := small.VMs[i%len(small.VMs)]
		v.Name, v.ID, v.At = fmt.Sprintf("app%05d", i), fmt.Sprintf("vm-%d", i), fmt.Sprintf("/dc/vm/app%05d", i)
		fleet.VMs = append(fleet.VMs, v)
	}
	for b.Loop() {
		if out, _ := Fleet(&fleet, nil); len(out.VMs) != 10000 {
			b.Fatal(len(out.VMs))
		}
	}
}

// TestPseudonyms goes on with a key: names keep their pseudonyms, and new ones get others.
func TestPseudonyms(t *testing.T) {
	demoFleet, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	for name, fleet := range map[string]*numa.Fleet{"own": testFleet(), "demo": demoFleet} {
		out, key := Fleet(fleet, product.Public)
		var b bytes.Buffer
		if err := key.Write(&b); err != nil {
			t.Fatal(err)
		}
		if key, err = ReadKey("key", &b); err != nil {
			t.Fatal(err)
		}
		p := key.Pseudonyms(product.Public)
		more := *fleet
		more.VMs = append(slices.Clone(fleet.VMs), numa.VM{ID: "vm-77", Name: "newcomer"})
		more.Notes = append(slices.Clone(fleet.Notes), numa.Note{Text: "VM newcomer, seen beside Stranger"})
		stranger := p.VM("Stranger")
		got := p.Fleet(&more)
		last := got.VMs[len(fleet.VMs)].Name
		if text := got.Notes[len(fleet.Notes)].Text; !strings.HasSuffix(text, " "+last+", seen beside "+stranger) || last == stranger {
			t.Errorf("%s: found %q and %s", name, text, last)
		}
		if p.Key().Text(last+" "+stranger) != "newcomer Stranger" || p.Len() < len(key.Names())+3 {
			t.Errorf("%s: the key has %d names of %d", name, p.Len(), len(key.Names()))
		}
		got.VMs, got.Notes = got.VMs[:len(fleet.VMs)], got.Notes[:len(fleet.Notes)]
		if !bytes.Equal(written(t, got), written(t, out)) {
			t.Errorf("%s: not as before:\n%s\nwant\n%s", name, written(t, got), written(t, out))
		}
	}
}

// TestProducts keeps the products that anybody may read, wherever a VM states them, and nothing else of what owners write.
func TestProducts(t *testing.T) {
	vm := func(id, stated, attribute, tag string) numa.VM {
		v := numa.VM{ID: id, Name: id}
		if stated != "" {
			v.Product = numa.ReadAt(stated, "product")
		}
		if attribute != "" {
			v.Attributes = []numa.Attribute{{Name: "Product", Value: attribute}}
		}
		if tag != "" {
			v.Tags = []string{tag}
		}
		return v
	}
	f := &numa.Fleet{VMs: []numa.VM{vm("a", "SQL Server 2022 Std", "", ""), vm("b", "", "SAP HANA", ""), vm("c", "", "", "product:Oracle EE"),
		vm("d", "SQL Server of Contoso", "", ""), vm("e", "", "Contoso ERP", "")}}
	out, key := Fleet(f, product.Public)
	for i, want := range []string{"SQL Server 2022 Std", "SAP HANA", "Oracle EE"} {
		if got := out.VMs[i].Software().Value; got != want {
			t.Errorf("product of %s: got %q, want %q", f.VMs[i].ID, got, want)
		}
	}
	for i := range out.VMs {
		if text := fmt.Sprint(out.VMs[i]); strings.Contains(text, "Contoso") {
			t.Errorf("found the name of the owner in %s", text)
		}
	}
	back, err := key.Fleet(out)
	if err != nil || !reflect.DeepEqual(back, f) {
		t.Errorf("revealed: %v\n%+v\nwant\n%+v", err, back, f)
	}
}
