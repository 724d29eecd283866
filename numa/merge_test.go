package numa

import (
	"reflect"
	"slices"
	"testing"
)

// part returns a fleet as a vCenter numbers it: each one has a domain-c1, a
// host-1 and a vm-1.
func part(source, collected, cluster, host, uuid string) *Fleet {
	return &Fleet{
		Source: "https://" + source, Collected: collected,
		Clusters: []Cluster{{ID: "domain-c1", Name: cluster, At: source + " domain-c1"}},
		Hosts: []Host{
			{ID: "host-1", Name: host, Cluster: "domain-c1", At: source + " host-1"},
			{ID: "host-2", Name: "localhost.localdomain"},
		},
		VMs: []VM{
			{ID: "vm-1", Name: "db01", Cluster: "domain-c1", Host: "host-1", UUID: uuid},
			{ID: "vm-2", Name: "web", Host: "host-2"},
			{ID: "vm-3", Name: "lost"},
		},
		Notes: []Note{{At: source + " host-1", Text: "not responding"}, {Text: "no settings"}},
	}
}

func TestMerge(t *testing.T) {
	a := part("vc01", "2026-11-02T10:00:00Z", "Prod", "esx01.example.com", "5009-a")
	a.Part, a.Clusters[0].Part = &Running{VMs: 2}, &Running{VMs: 1}
	b := part("vc02", "2026-11-02T10:00:07Z", "prod", "esx02.example.com", "5009-b")
	want := &Fleet{
		Source: "https://vc01, https://vc02", Collected: "2026-11-02T10:00:00Z", Part: &Running{VMs: 2},
		Clusters: []Cluster{{ID: "vc01/domain-c1", Name: "vc01/Prod", At: "vc01 domain-c1", Part: &Running{VMs: 1}}, {ID: "vc02/domain-c1", Name: "vc02/prod", At: "vc02 domain-c1"}},
		Hosts: []Host{
			{ID: "vc01/host-1", Name: "esx01.example.com", Cluster: "vc01/domain-c1", At: "vc01 host-1"},
			{ID: "vc01/host-2", Name: "localhost.localdomain"},
			{ID: "vc02/host-1", Name: "esx02.example.com", Cluster: "vc02/domain-c1", At: "vc02 host-1"},
			{ID: "vc02/host-2", Name: "localhost.localdomain"},
		},
		VMs: []VM{
			{ID: "vc01/vm-1", Name: "db01", Cluster: "vc01/domain-c1", Host: "vc01/host-1", UUID: "5009-a"},
			{ID: "vc01/vm-2", Name: "web", Host: "vc01/host-2"},
			{ID: "vc01/vm-3", Name: "lost"},
			{ID: "vc02/vm-1", Name: "db01", Cluster: "vc02/domain-c1", Host: "vc02/host-1", UUID: "5009-b"},
			{ID: "vc02/vm-2", Name: "web", Host: "vc02/host-2"},
			{ID: "vc02/vm-3", Name: "lost"},
		},
		Notes: []Note{{"vc01 host-1", "not responding"}, {"vc01", "no settings"}, {"vc02 host-1", "not responding"}, {"vc02", "no settings"}},
	}
	got, err := Merge([]Part{{"vc01", a}, {"vc02", b}})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Merge() = %+v, %v\nwant %+v", got, err, want)
	}
	if a.VMs[0].ID != "vm-1" || a.Clusters[0].Name != "Prod" || a.Notes[1].At != "" {
		t.Errorf("Merge changed its argument: %+v", a)
	}
	if f := got.FindVMs("vc02/prod/db01"); len(f) != 1 || f[0].ID != "vc02/vm-1" {
		t.Errorf("FindVMs by cluster = %v", f)
	}
}

// TestMergeOne merges what is left when another source could not be read: IDs do
// not depend on that.
func TestMergeOne(t *testing.T) {
	got, err := Merge([]Part{{"vc01", part("vc01", "", "prod", "esx01", "u")}})
	if err != nil || got.VMs[0].ID != "vc01/vm-1" || got.Clusters[0].Name != "prod" || len(got.Notes) != 2 {
		t.Errorf("Merge of one = %+v, %v", got, err)
	}
}

// TestMergeTwins merges a vCenter with an older export of it and an ESXi host of it.
func TestMergeTwins(t *testing.T) {
	vc := part("vc01", "2026-11-02T10:00:00Z", "prod", "ESX01.example.com", "5009-A")
	vc.Hosts = append(vc.Hosts, Host{ID: "host-3", Name: "esx03.example.com"})
	vc.VMs = append(vc.VMs, VM{ID: "vm-4", Name: "twin", UUID: "5009-a"}) // inside one source it is another matter
	export := part("export.xlsx", "2026-11-01T08:00:00Z", "prod", "esx01.example.com", "")
	export.Hosts = append(export.Hosts, Host{ID: "host-3", Name: "esx03.example.com"})
	esx := part("esx01", "", "alone", "esx01.example.com", "5009-a")
	vc.Notes, export.Notes, esx.Notes = nil, nil, nil
	got, err := Merge([]Part{{"vc01", vc}, {"export", export}, {"esx01", esx}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Note{
		{"", "the sources are of different times: vc01 2026-11-02T10:00:00Z, export 2026-11-01T08:00:00Z"},
		{"export", "2 hosts are also in vc01 (told by name), such as esx01.example.com: they count twice"},
		{"esx01", "host esx01.example.com is also in vc01 (told by name): it counts twice"},
		{"esx01", "VM db01 is also in vc01 (told by UUID): it counts twice"},
	}
	if !slices.Equal(got.Notes, want) {
		t.Errorf("notes %q\nwant %q", got.Notes, want)
	}
	if got.Collected != "2026-11-01T08:00:00Z" {
		t.Errorf("collected %s, want the oldest", got.Collected)
	}
	names := []string{got.Clusters[0].Name, got.Clusters[1].Name, got.Clusters[2].Name}
	if !slices.Equal(names, []string{"vc01/prod", "export/prod", "alone"}) {
		t.Errorf("clusters %q", names)
	}
}

func TestMergeRefuses(t *testing.T) {
	broken := part("vc02", "", "prod", "esx02", "u")
	broken.VMs[0].Host = "host-9"
	for _, tt := range []struct {
		parts []Part
		want  string
	}{
		{nil, "no fleet to merge"},
		{[]Part{{"a", part("vc01", "", "p", "h", "u")}, {"a", part("vc02", "", "p", "h", "u")}}, `merge https://vc02: id "a" is used twice`},
		{[]Part{{"a", part("vc01", "", "p", "h", "u")}, {"", part("vc02", "", "p", "h", "u")}}, `merge https://vc02: no id`},
		{[]Part{{"a", part("vc01", "", "p", "h", "u")}, {"b", broken}}, `merge: VM "db01": host "b/host-9" is not in the fleet`},
	} {
		if f, err := Merge(tt.parts); f != nil || err == nil || err.Error() != tt.want {
			t.Errorf("Merge() = %v, %v; want %s", f, err, tt.want)
		}
	}
}
