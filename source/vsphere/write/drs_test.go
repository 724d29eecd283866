package write_test

import (
	"reflect"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
	"example.org/homenode/source/vsphere/write"
)

// TestDRSRules adds a rule of each kind and removes them again: no group stays.
func TestDRSRules(t *testing.T) {
	f, err := scenario.Read("fleet", []byte("cluster prod\nhost esx[1-2] cluster=prod packages=2 cores=32 memory=512GB release=8.0U3\nvm a[1-3] host=esx1 vcpus=4 memory=8GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(f)
	if err != nil {
		t.Fatal(err)
	}
	defer vc.Close()
	live, err := vsphere.Open(t.Context(), vc.URL, vsphere.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = live.Close(t.Context()) }()
	w := write.Writer{Live: live}
	cluster := f.Clusters[0].ID
	var edits, undo []numa.Edit
	var names []string
	for name, text := range map[string]string{"one": "apart a1,a2", "two": "together a2,a3", "three": "prefer a1,a3 on esx2"} {
		e := numa.Edit{Kind: numa.EditDRSRule, Key: name, To: numa.Is(text)}
		edits, undo, names = append(edits, e), append(undo, e.Undo()), append(names, name)
	}
	if err := w.SetDRSRules(t.Context(), cluster, edits); err != nil {
		t.Fatal(err)
	}
	set, err := w.DRSRules(t.Context(), cluster, names)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		if got, _ := set.Lookup(e.Key); got != e.To.Text {
			t.Errorf("%s is %q, want %q", e.Key, got, e.To.Text)
		}
	}
	read, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := read.Clusters[0].Apart, []numa.Group{{Name: "one", VMs: []string{"a1", "a2"}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("kept apart: %v, want %v", got, want)
	}
	if err := w.SetDRSRules(t.Context(), cluster, undo); err != nil {
		t.Fatal(err)
	}
	if set, err = w.DRSRules(t.Context(), cluster, names); err != nil || len(set) != 0 {
		t.Errorf("after their removal: %v, %v", set, err)
	}
	// The same names are free again: the groups are gone too.
	if err := w.SetDRSRules(t.Context(), cluster, edits); err != nil {
		t.Errorf("once more: %v", err)
	}
}
